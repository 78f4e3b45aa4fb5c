//! How results are shown: format, colour, width.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use serde::Serialize;

use super::write_json;

/// What a command prints on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// For programs: every number at full precision.
    Json,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Clone, Copy)]
pub struct View {
    pub format: Format,
    pub color: bool,
    /// Columns of the terminal, or 80.
    pub width: usize,
}

/// A narrower terminal is taken for one of this width.
const MIN_WIDTH: usize = 40;
/// Lines longer than this are hard to read.
const MAX_WIDTH: usize = 120;

impl View {
    /// What suits standard output.
    pub fn new(format: Format, color: Color) -> Self {
        let plain = set("NO_COLOR") || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let color = match color {
            Color::Auto => io::stdout().is_terminal() && !plain,
            Color::Always => true,
            Color::Never => false,
        };
        Self { format, color, width: width() }
    }

    /// Writes a result: as indented JSON, or as the text that is made of it. Errors: what the writer says.
    pub fn show(
        &self,
        out: &mut dyn Write,
        result: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        match self.format {
            Format::Json => write_json(out, result),
            Format::Table => Ok(out.write_all(text().as_bytes())?),
        }
    }

    pub fn paint(&self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("{}{text}{}", style.render(), style.render_reset())
        } else {
            text.to_owned()
        }
    }
}

pub const HEADING: Style = Style::new().bold();
/// For what is only in the first of two.
pub const REMOVED: Style = AnsiColor::Red.on_default().strikethrough();
/// For what is only in the second of two.
pub const ADDED: Style = AnsiColor::Green.on_default().bold();
/// For what is in both, in another place.
pub const MOVED: Style = AnsiColor::Yellow.on_default();
/// For what is left out or said by the way.
pub const QUIET: Style = Style::new().dimmed();

fn width() -> usize {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let terminal = || Some(terminal_size::terminal_size()?.0.0.into());
    columns().or_else(terminal).unwrap_or(80).clamp(MIN_WIDTH, MAX_WIDTH)
}

fn set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}
