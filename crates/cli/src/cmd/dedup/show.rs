//! What a run found, on the terminal or as JSON.

use std::io::Write;

use benzer_dedup::job::{Options, Summary};

use crate::view::View;

pub(super) fn show(
    options: &Options,
    summary: &Summary,
    _view: &View,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let _ = options;
    writeln!(out, "{:#?}", summary)?;
    Ok(())
}
