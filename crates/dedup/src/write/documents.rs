//! The documents of all inputs, one output file for each input, in the order in which they were read.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use super::kept::{Keeper, Source};
use super::outputs::{Cutter, LineRelay, Outputs, Placer, Spare};
use super::verdicts::RunVerdicts;
use crate::corpus::Corpus;
use crate::documents::Row;
use crate::error::{Error, Result};
use benzer_flow::workers::in_parallel;
use benzer_flow::{Listener, relay};
use benzer_io::read::{Format, Input, RawBatch};
use benzer_io::rewrite::{CompressedWriter, Verdict, table};
use benzer_storage::{FileWriter, Files, Settler};

/// Refuses marks that a format has no place for.
pub(crate) fn check_annotation(inputs: &[Arc<Input>]) -> Result<()> {
    let plain = inputs.iter().find(|input| matches!(input.format(), Some(Format::Lines | Format::File)));
    match plain {
        Some(input) => Err(Error::parameter(
            "annotate",
            "used with jsonl, csv, parquet or arrow (clusters.parquet of a --dry-run has the same)",
            format!("plain text in `{}`", input.path.display()),
        )),
        None => Ok(()),
    }
}

/// Writes documents as they were, or with marks.
pub(crate) struct DocumentWriter<'a> {
    pub files: &'a Files,
    /// Outputs go below it, at the relative paths of the inputs.
    pub root: PathBuf,
    pub corpus: &'a Corpus,
    pub verdicts: &'a RunVerdicts<'a>,
    pub threads: usize,
    pub listener: &'a dyn Listener,
}

impl DocumentWriter<'_> {
    /// Writes all outputs: lines that are held or found again, or else those of the batches that `reread` gives, which are not of tables; tables from their files.
    pub fn write<R>(&self, reread: Option<R>, settler: &mut Settler) -> Result<()>
    where
        R: Iterator<Item = benzer_io::Result<RawBatch>> + Send,
    {
        let kept = 0..self.corpus.batches.len();
        let n_lines = match reread {
            None => self.lines(kept.map(|i| Ok(Source::Kept(i))), settler)?,
            Some(reread) => self.lines(reread.map(|batch| Ok(Source::Read(Box::new(batch?)))), settler)?,
        };
        if let Some(rereader) = &self.corpus.rereader {
            rereader.check()?;
            // Now, while the disk is waited for.
            rereader.release();
        }
        let n_rows = n_lines + self.tables(n_lines, settler)?;
        match n_rows == u64::from(self.corpus.documents.len()) {
            true => Ok(()),
            false => Err(benzer_io::Error::Changed.into()),
        }
    }

    fn outputs(&self) -> Outputs<'_> {
        Outputs { files: self.files, root: &self.root, inputs: &self.corpus.inputs }
    }

    /// Writes what is in lines; how many documents that are.
    fn lines(
        &self,
        source: impl Iterator<Item = Result<Source>> + Send,
        settler: &mut Settler,
    ) -> Result<u64> {
        let spare = Spare::default();
        let keeper = Keeper { corpus: self.corpus, verdicts: self.verdicts };
        let relay = LineRelay { keeper, outputs: self.outputs(), spare: &spare };
        let mut cutter = Cutter::new(self.outputs(), self.verdicts.annotates);
        let mut placer = Placer { spare: &spare, settler, file: None };
        let cut = |kept: Option<_>, tasks: &mut _| {
            match kept {
                Some(kept) => cutter.cut(kept, tasks)?,
                None => cutter.finish(tasks)?,
            }
            self.report(cutter.end.into())
        };
        relay::run(self.threads, &relay, source, cut, |done| placer.place(done))?;
        Ok(cutter.n_rows)
    }

    fn report(&self, rows: u64) -> Result<()> {
        self.listener.reached(rows);
        if self.listener.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Writes what is kept of tables, after so many other documents: several at once, the largest first; how many rows they have.
    fn tables(&self, n_before: u64, settler: &mut Settler) -> Result<u64> {
        let is_table = |input: &&Arc<Input>| input.format().is_some_and(Format::is_table);
        let mut tables: Vec<&Input> =
            self.corpus.inputs.iter().filter(is_table).map(|input| &**input).collect();
        tables.sort_by_key(|input| Reverse(input.bytes));
        let at_once = self.threads.min(tables.len()).max(1);
        let (settler, n_rows, is_failed) = (Mutex::new(settler), AtomicU64::new(0), AtomicBool::new(false));
        let table = |input: &Input| -> Result<()> {
            let (out, n) = self.table(input, self.threads / at_once)?;
            settler.lock().unwrap_or_else(PoisonError::into_inner).take(out)?;
            self.report(n_before + n_rows.fetch_add(n, Relaxed) + n)
        };
        let one = |i: usize, (): &mut ()| match is_failed.load(Relaxed) {
            true => Ok(()),
            false => table(tables[i]).inspect_err(|_| is_failed.store(true, Relaxed)),
        };
        in_parallel(tables.len(), at_once, || (), one).into_iter().collect::<Result<()>>()?;
        Ok(n_rows.into_inner())
    }

    /// Writes what is kept of a table; how many rows it had.
    fn table(&self, input: &Input, threads: usize) -> Result<(FileWriter, u64)> {
        let (outputs, number) = (self.outputs(), input.number);
        let rows = self.verdicts.rows_of(number)?;
        let mut out = CompressedWriter::new(outputs.create(number)?, outputs.compression(number));
        let mut failure = None;
        let mut verdicts = rows.clone().map_while(|row| {
            self.verdict(Row(row)).map(Some).unwrap_or_else(|error| {
                failure = Some(error);
                None
            })
        });
        let written = match self.verdicts.annotates {
            true => table::rewrite_annotated(input, &mut out, &mut verdicts, threads),
            false => table::rewrite(input, &mut out, &mut verdicts, threads),
        };
        drop(verdicts);
        // What ended the verdicts is why the rows were too few.
        failure.map_or(Ok(()), Err)?;
        written?;
        Ok((out.finish()?, rows.len() as u64))
    }

    fn verdict(&self, row: Row) -> Result<Verdict> {
        let (line, annotation) = (self.verdicts.line(row)?, self.verdicts.annotation(row)?);
        Ok(Verdict { line, keep: !self.verdicts.is_removed(row), annotation })
    }
}
