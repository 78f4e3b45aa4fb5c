//! Whether a sketch file is still what was written.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use benzer_io::Error;

use super::{MAGIC, Result, SketchReader};

/// Reads a whole sketch file and says what is wrong with it, if anything; nothing if the file is something else.
///
/// # Errors
/// A file that cannot be opened.
pub fn check(path: &Path) -> benzer_io::Result<Option<Result<()>>> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(|error| Error::open(path, error))?;
    let read = file.take(MAGIC.len() as u64).read_to_end(&mut start);
    read.map_err(|error| Error::open(path, error))?;
    if start != MAGIC {
        return Ok(None);
    }
    let read = || -> Result<()> {
        let mut reader = SketchReader::open(path)?;
        while let Some(block) = reader.next_block()? {
            block.records().try_for_each(|record| record.sketch(reader.header()).map(drop))?;
        }
        Ok(())
    };
    Ok(Some(read()))
}
