//! Verdicts as they are needed: for the rows of one row group or record batch at a time.

use std::iter::Peekable;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::read::Input;
use crate::rewrite::{Annotation, Verdict};

/// The verdicts on a file, in the order of its rows.
pub(super) struct Verdicts<'a> {
    verdicts: Peekable<&'a mut (dyn Iterator<Item = Verdict> + Send)>,
    input: &'a Input,
    /// Whether rows are annotated, known from the first verdict.
    pub(super) is_annotated: bool,
    /// Whether there is a verdict at all.
    pub(super) is_empty: bool,
}

/// What becomes of consecutive rows.
pub(super) struct Kept {
    /// One for each row up to the last kept one: a damaged file may say that it has more rows than there is memory.
    pub(super) rows: Vec<bool>,
    pub(super) n_rows: usize,
    pub(super) n: usize,
    /// One for each kept row, if rows are annotated.
    pub(super) annotations: Vec<Annotation>,
}

/// Consecutive rows of which the last ones are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Run {
    /// How many to pass at first.
    pub(super) skip: usize,
    /// How many to keep then.
    pub(super) keep: usize,
}

impl<'a> Verdicts<'a> {
    pub(super) fn new(verdicts: &'a mut (dyn Iterator<Item = Verdict> + Send), input: &'a Input) -> Self {
        let mut verdicts = verdicts.peekable();
        let first = verdicts.peek();
        let is_annotated = first.is_some_and(|verdict| verdict.annotation.is_some());
        let is_empty = first.is_none();
        Self { verdicts, input, is_annotated, is_empty }
    }

    /// The same for rows that are annotated, even if there are none.
    pub(super) fn annotated(
        verdicts: &'a mut (dyn Iterator<Item = Verdict> + Send),
        input: &'a Input,
    ) -> Self {
        Self { is_annotated: true, ..Self::new(verdicts, input) }
    }

    /// What becomes of the rows of this range, counted from 0.
    pub(super) fn take(&mut self, range: Range<u64>) -> Result<Kept> {
        let n_rows = (range.end - range.start) as usize;
        let mut kept = Kept { rows: Vec::new(), n_rows, n: 0, annotations: Vec::new() };
        let mut next = range.start;
        while let Some(verdict) = self.verdicts.next_if(|verdict| verdict.line <= range.end) {
            let row = verdict.line.checked_sub(1).filter(|&row| row >= next);
            let Some(row) = row else {
                return Err(self.error("verdicts", "in the order of the rows", verdict.line));
            };
            next = row + 1;
            match (verdict.keep, verdict.annotation) {
                (true, Some(annotation)) if self.is_annotated => kept.annotations.push(annotation),
                (true, None) if !self.is_annotated => {}
                (true, _) => return Err(self.error("annotation", "there for all rows or for none", row + 1)),
                (false, _) => continue,
            }
            kept.rows.resize((row - range.start) as usize, false);
            kept.rows.push(true);
            kept.n += 1;
        }
        Ok(kept)
    }

    /// The row of the next verdict, counted from 1.
    pub(super) fn next_row(&mut self) -> Option<u64> {
        self.verdicts.peek().map(|verdict| verdict.line)
    }

    fn error(&self, name: &'static str, expected: &str, row: u64) -> Error {
        Error::parameter(name, expected, format!("row {row} of `{}`", self.input.path.display()))
    }
}

impl Kept {
    /// The kept rows as runs.
    pub(super) fn runs(&self) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut run = Run { skip: 0, keep: 0 };
        for &is_kept in &self.rows {
            match is_kept {
                true => run.keep += 1,
                false if run.keep > 0 => {
                    runs.push(run);
                    run = Run { skip: 1, keep: 0 };
                }
                false => run.skip += 1,
            }
        }
        runs.extend((run.keep > 0).then_some(run));
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_with_the_last_kept_row() {
        let runs = |rows: &[u8]| {
            let rows: Vec<bool> = rows.iter().map(|&row| row == 1).collect();
            let kept = Kept { n: 0, n_rows: rows.len(), rows, annotations: Vec::new() };
            kept.runs().into_iter().map(|run| (run.skip, run.keep)).collect::<Vec<_>>()
        };
        assert_eq!(runs(&[0, 0, 1, 1, 0, 1, 0, 0]), [(2, 2), (1, 1)]);
        assert_eq!(runs(&[1, 0, 0, 1]), [(0, 1), (2, 1)]);
        assert_eq!(runs(&[0, 0]), []);
    }
}
