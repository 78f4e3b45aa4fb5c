//! `rejects.jsonl`: every line that is no document, with its place and the reason.

use serde::Serialize;

use crate::read::{Batch, Reject};

/// Appends all rejected lines of a batch.
pub fn reject_lines(batch: &Batch, out: &mut Vec<u8>) {
    for (i, reject) in batch.rejects().iter().enumerate() {
        reject_line(reject, batch.rejected_line(i), out);
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

/// Appends a rejected line as one line of JSON.
fn reject_line(reject: &Reject, raw: Option<&[u8]>, out: &mut Vec<u8>) {
    let row = RejectRow {
        file: reject.file.display().to_string(),
        line: reject.line,
        offset: reject.offset,
        reason: reject.reason.to_string(),
        raw: raw.map(String::from_utf8_lossy),
    };
    serde_json::to_writer(&mut *out, &row).expect("strings and numbers can always be written");
    out.push(b'\n');
}
