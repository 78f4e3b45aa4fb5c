//! Where does a document end in bytes that come piece by piece? Lines, records, or only with the file.

use crate::read::csv::Scanner;
use crate::read::format::Format;
use crate::read::reject::RejectReason;

/// Finds the ends of documents.
#[derive(Debug)]
pub(super) enum Cutter {
    /// After each newline.
    Lines,
    /// After each record.
    Records(Scanner),
    /// At the end of the file.
    Whole,
}

impl Cutter {
    pub(super) fn new(format: Format) -> Self {
        match format {
            Format::Csv { delimiter } => Self::Records(Scanner::new(delimiter)),
            Format::File => Self::Whole,
            _ => Self::Lines,
        }
    }

    /// The position after the last end in these bytes, which go on where the last ones ended.
    pub(super) fn last_end(&mut self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Lines => memchr::memrchr(b'\n', bytes).map(|i| i + 1),
            Self::Records(scanner) => scanner.last_end(bytes),
            Self::Whole => None,
        }
    }

    /// The position after the first end in these bytes.
    pub(super) fn next_end(&mut self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Lines => memchr::memchr(b'\n', bytes).map(|i| i + 1),
            Self::Records(scanner) => scanner.next_end(bytes),
            Self::Whole => None,
        }
    }

    /// Why a document of so many bytes is not read.
    pub(super) fn too_long(&self, bytes: u64, max: u64) -> RejectReason {
        match self {
            Self::Lines => RejectReason::LineTooLong { bytes, max },
            Self::Records(_) => RejectReason::TooLong { what: "record", bytes, max },
            Self::Whole => RejectReason::TooLong { what: "file", bytes, max },
        }
    }
}
