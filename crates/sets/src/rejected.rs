//! Lines that are not what they must be.

use std::sync::Arc;

use benzer_io::read::{Batch, Document, Input, Reject, RejectReason};

/// So many characters of a bad line are shown.
const SHOWN: usize = 40;

/// A rejected line.
#[derive(Debug)]
pub struct Rejected {
    /// Where and why.
    pub reject: Reject,
    /// Its bytes, where they are held.
    pub line: Option<Vec<u8>>,
}

impl Rejected {
    /// The lines of a batch that are not documents.
    pub(crate) fn of_batch(batch: &Batch) -> Vec<Self> {
        let lines = (0..batch.rejects().len()).map(|i| batch.rejected_line(i).map(<[u8]>::to_vec));
        let rejects = batch.rejects().iter().cloned().zip(lines);
        rejects.map(|(reject, line)| Self { reject, line }).collect()
    }

    /// A document that is not what it must be.
    pub(crate) fn unfit(inputs: &[Arc<Input>], document: &Document<'_>, expected: &str, got: &str) -> Self {
        let shown: String = got.chars().take(SHOWN).collect();
        let got = if shown.len() < got.len() { format!("{shown}...") } else { shown };
        let reject = Reject {
            file: Arc::clone(&inputs[document.input as usize].path),
            input: document.input,
            line: document.line,
            offset: document.offset,
            reason: RejectReason::NotASet { expected: expected.to_owned(), got },
        };
        Self { reject, line: Some(document.raw.as_bytes().to_vec()) }
    }
}
