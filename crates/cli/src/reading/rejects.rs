//! Lines that cannot be read: named, counted, and kept where they are wanted.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use benzer_io::places;
use benzer_sets::Rejected;
use benzer_storage::{FileWriter, Files};
use serde::Serialize;

use crate::Usage;
use crate::output::{grouped, printable};

const NAMED: usize = 5;

/// The lines that were rejected: the first ones for the terminal, all for a file.
pub(crate) struct Rejects {
    strict: bool,
    path: Option<PathBuf>,
    file: Option<FileWriter>,
    first: Vec<String>,
    n_rejected: u64,
}

#[derive(Serialize)]
struct RejectLine<'a> {
    file: String,
    line: u64,
    offset: u64,
    reason: String,
    raw: Option<std::borrow::Cow<'a, str>>,
}

impl Rejects {
    /// With `strict`, the first one is an error.
    pub fn new(path: Option<&Path>, strict: bool) -> anyhow::Result<Self> {
        let file = path.map(|path| Files::new().create(path)).transpose()?;
        Ok(Self { strict, path: path.map(Path::to_owned), file, first: Vec::new(), n_rejected: 0 })
    }

    pub fn n_rejected(&self) -> u64 {
        self.n_rejected
    }

    pub fn first(&self) -> Option<&str> {
        self.first.first().map(String::as_str)
    }

    pub fn add(&mut self, Rejected { reject, line }: &Rejected) -> anyhow::Result<()> {
        ensure!(!self.strict, "{reject} (--strict, so nothing was written)");
        self.n_rejected += 1;
        if self.first.len() < NAMED {
            self.first.push(printable(&reject.to_string()));
        }
        if let Some(file) = &mut self.file {
            let row = RejectLine {
                file: reject.file.display().to_string(),
                line: reject.line,
                offset: reject.offset,
                reason: reject.reason.to_string(),
                raw: line.as_deref().map(String::from_utf8_lossy),
            };
            file.append(&[serde_json::to_vec(&row)?.as_slice(), b"\n"].concat())?;
        }
        Ok(())
    }

    /// Says how many there were, and names the first ones.
    pub fn finish(&mut self) -> anyhow::Result<()> {
        for reject in &self.first {
            talk!("rejected: {reject}");
        }
        if self.n_rejected > 0 {
            let all = match &self.path {
                Some(file) => format!("all of them are in `{}`", file.display()),
                None => "`--rejects FILE` keeps them all".to_owned(),
            };
            let lines = if self.n_rejected == 1 { "line" } else { "lines" };
            talk!("{} {lines} rejected; {all}", grouped(self.n_rejected));
        }
        self.file.take().map(FileWriter::commit).transpose()?;
        Ok(())
    }
}

/// Refuses to write over an input, over the other output, or over a file of rejects that is none.
pub(crate) fn check_places(
    output: Option<&Path>,
    rejects: Option<&Path>,
    inputs: &[PathBuf],
) -> anyhow::Result<()> {
    for (flag, path) in [("--output", output), ("--rejects", rejects)] {
        let Some(path) = path else { continue };
        places::check_file(path, inputs).map_err(|error| Usage::new(format!("{flag} {error}")))?;
    }
    let Some(rejects) = rejects else { return Ok(()) };
    if output.is_some_and(|output| places::real(rejects) == places::real(output)) {
        bail!(Usage::new("--rejects and --output name the same file; write the rejects to another name"));
    }
    ensure!(
        is_replaceable(rejects),
        "`{}` exists and is not a file of rejects; move it away, or write to another name",
        rejects.display()
    );
    Ok(())
}

/// True if there is no file, an empty one, or one whose first line is a rejected line as this command writes it.
fn is_replaceable(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return true };
    let mut first = String::new();
    let read = std::io::BufReader::new(file.take(1 << 20)).read_line(&mut first);
    read.is_ok_and(|n| n == 0)
        || serde_json::from_str::<serde_json::Value>(&first)
            .is_ok_and(|row| ["file", "line", "offset", "reason"].iter().all(|key| row.get(key).is_some()))
        || std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}
