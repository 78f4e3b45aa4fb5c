//! `rejects.jsonl`: every line that is no document, with its place and the reason.

use serde::Serialize;

use crate::read::Batch;

/// Appends all rejected lines of a batch.
pub fn reject_lines(batch: &Batch, out: &mut Vec<u8>) {
    for (i, reject) in batch.rejects().iter().enumerate() {
        let row = RejectRow {
            file: reject.file.display().to_string(),
            line: reject.line,
            offset: reject.offset,
            reason: reject.reason.to_string(),
            raw: batch.rejected_line(i).map(String::from_utf8_lossy),
        };
        serde_json::to_writer(&mut *out, &row).expect("strings and numbers can always be written");
        out.push(b'\n');
    }
}

/// A rejected line as JSON.
#[derive(Debug, Serialize)]
struct RejectRow<'a> {
    file: String,
    line: u64,
    offset: u64,
    reason: String,
    raw: Option<std::borrow::Cow<'a, str>>,
}
