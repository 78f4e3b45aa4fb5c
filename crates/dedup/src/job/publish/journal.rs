//! What is in the store already: a line for each object that was sent, with what the store called it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use benzer_io::store::Stored;
use benzer_storage::{Error, FileEntry, Files};
use serde::{Deserialize, Serialize};

use crate::error::Result;

const NAME: &str = "uploaded.jsonl";

#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    sent: HashMap<String, Line>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    name: String,
    checksum: String,
    version: String,
}

impl Journal {
    pub(super) fn create(work: &Path) -> Result<Self> {
        Self::with(work, HashMap::new(), File::options().write(true).create(true).truncate(true))
    }

    /// The journal of an interrupted upload, to go on with. A line that was cut off is none.
    pub(super) fn open(work: &Path) -> Result<Self> {
        let lines =
            File::open(work.join(NAME)).ok().into_iter().flat_map(|file| BufReader::new(file).lines());
        let lines = lines.map_while(std::result::Result::ok);
        let sent = lines.filter_map(|line| serde_json::from_str::<Line>(&line).ok());
        let sent = sent.map(|line| (line.name.clone(), line)).collect();
        Self::with(work, sent, File::options().append(true).create(true))
    }

    fn with(work: &Path, sent: HashMap<String, Line>, how: &std::fs::OpenOptions) -> Result<Self> {
        let path = work.join(NAME);
        let mut file = how.open(&path).map_err(|error| Error::disk("write", &path, error))?;
        // A line that was cut off ends here.
        writeln!(file).map_err(|error| Error::disk("write", &path, error))?;
        Ok(Self { path, file: Mutex::new(file), sent })
    }

    /// Whether a file was sent, and what was sent is still what is in the store.
    pub(super) fn has(&self, name: &str, entry: &FileEntry, there: Option<&Stored>) -> bool {
        let Some((line, there)) = self.sent.get(name).zip(there) else { return false };
        line.checksum == checksum(entry) && line.version == there.version && entry.stamp.bytes == there.bytes
    }

    pub(super) fn add(&self, name: &str, entry: &FileEntry, version: &str) -> Result<()> {
        let line = Line { name: name.to_owned(), checksum: checksum(entry), version: version.to_owned() };
        let mut line = serde_json::to_vec(&line).expect("strings can always be written");
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line).map_err(|error| Error::disk("write", &self.path, error).into())
    }
}

pub(super) fn remove(files: &Files, work: &Path) -> Result<()> {
    Ok(files.remove(&work.join(NAME))?)
}

fn checksum(entry: &FileEntry) -> String {
    format!("{:016x}", entry.stamp.checksum)
}
