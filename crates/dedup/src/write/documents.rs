//! The documents of all inputs, one output file for each input, in the order in which they were read.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::verdicts::RunVerdicts;
use crate::documents::Row;
use crate::error::{Error, Result};
use benzer_io::read::{Batch, Compression, Format, Input};
use benzer_io::rewrite::{LineWriter, Verdict, table};
use benzer_io::rewrite::{annotate_csv, annotate_csv_header, annotate_json};
use benzer_storage::{Files, Stamp};

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

pub(crate) struct DocumentWriter<'a> {
    files: &'a Files,
    root: PathBuf,
    inputs: &'a [Arc<Input>],
    verdicts: &'a RunVerdicts<'a>,
    row: Row,
    current: Option<(u32, Output)>,
    stamps: Vec<(PathBuf, Stamp)>,
    line: Vec<u8>,
}

enum Output {
    /// Records are appended.
    Lines(Box<LineWriter>),
    /// The file appears if its document is kept.
    File,
    /// It was written from the input as a whole.
    Table,
}

impl<'a> DocumentWriter<'a> {
    /// Outputs go below `root`, at the relative paths of the inputs.
    pub fn new(
        files: &'a Files,
        root: PathBuf,
        inputs: &'a [Arc<Input>],
        verdicts: &'a RunVerdicts<'a>,
    ) -> Self {
        Self {
            files,
            root,
            inputs,
            verdicts,
            row: Row(0),
            current: None,
            stamps: Vec::new(),
            line: Vec::new(),
        }
    }

    pub fn row(&self) -> u32 {
        self.row.0
    }

    /// Writes the documents of the next batch, whose lines are given beside it.
    pub fn batch(&mut self, batch: &Batch, lines: &[u8]) -> Result<()> {
        let mut i = 0;
        while let Some((input, _)) = batch.place_of(i) {
            self.go_to(input)?;
            i += match self.verdicts.annotates {
                false if matches!(self.current, Some((_, Output::Lines(_)))) => {
                    self.run(batch, lines, i, input)?
                }
                _ => self.one(batch, i)?,
            };
        }
        Ok(())
    }

    /// Writes consecutive lines of one input as long as nothing lies between them, all at once; gives how many documents are done.
    fn run(&mut self, batch: &Batch, lines: &[u8], first: usize, input: u32) -> Result<usize> {
        let Some((_, Output::Lines(out))) = &mut self.current else { return Ok(0) };
        let (mut n, mut run): (usize, Option<Range<usize>>) = (0, None);
        while let Some((_, place)) = batch.place_of(first + n).filter(|(other, _)| *other == input) {
            if !self.verdicts.is_removed(self.row) {
                // Every line is followed by a newline.
                run = Some(match run {
                    Some(run) if run.end == place.start => run.start..place.end + 1,
                    before => {
                        out.append(&lines[before.unwrap_or_default()])?;
                        place.start..place.end + 1
                    }
                });
            }
            n += 1;
            self.row.0 += 1;
        }
        out.append(&lines[run.unwrap_or_default()])?;
        Ok(n)
    }

    fn one(&mut self, batch: &Batch, i: usize) -> Result<usize> {
        if let Some(document) = batch.document(i) {
            let row = self.row;
            self.row.0 += 1;
            let input = &self.inputs[document.input as usize];
            match &mut self.current {
                Some((_, Output::Lines(out))) => {
                    let Some(annotation) = self.verdicts.annotation(row)? else { return Ok(1) };
                    self.line.clear();
                    match input.format() {
                        Some(Format::Csv { delimiter }) => {
                            annotate_csv(document.raw, delimiter, &annotation, &mut self.line);
                        }
                        _ => annotate_json(document.raw, &annotation, &mut self.line),
                    }
                    self.line.push(b'\n');
                    out.append(&self.line)?;
                }
                Some((_, Output::File)) if !self.verdicts.is_removed(row) => {
                    let mut out = self.create(&input.relative, input.compression())?;
                    out.append(document.raw.as_bytes())?;
                    self.stamps.push((input.relative.clone(), out.commit()?));
                }
                _ => {}
            }
        }
        Ok(1)
    }

    fn create(&self, relative: &Path, compression: Option<Compression>) -> Result<LineWriter> {
        let path = self.root.join(relative);
        self.files.create_dir_all(path.parent().unwrap_or(&path))?;
        Ok(LineWriter::new(self.files.create(&path)?, compression.unwrap_or(Compression::None))?)
    }

    /// Ends the files before an input, and begins its own; inputs without documents get one too.
    fn go_to(&mut self, input: u32) -> Result<()> {
        let mut next = self.current.as_ref().map_or(0, |(current, _)| current + 1);
        while next <= input {
            self.end()?;
            self.begin(next)?;
            next += 1;
        }
        Ok(())
    }

    fn begin(&mut self, number: u32) -> Result<()> {
        let input = &self.inputs[number as usize];
        let output = match input.format() {
            Some(Format::File) => Output::File,
            Some(format) if format.is_table() => {
                let mut out = self.create(&input.relative, input.compression())?;
                let mut failure = None;
                let mut verdicts = self.of_table(number, &mut failure);
                match self.verdicts.annotates {
                    true => table::rewrite_annotated(input, &mut out, &mut verdicts)?,
                    false => table::rewrite(input, &mut out, &mut verdicts)?,
                };
                drop(verdicts);
                failure.map_or(Ok(()), Err)?;
                self.stamps.push((input.relative.clone(), out.commit()?));
                Output::Table
            }
            format => {
                let mut out = self.create(&input.relative, input.compression())?;
                if let (Some(Format::Csv { .. }), Some(header)) = (format, input.header()) {
                    self.line.clear();
                    match self.verdicts.annotates {
                        true => annotate_csv_header(input, &mut self.line)?,
                        false => self.line.extend_from_slice(header),
                    }
                    self.line.push(b'\n');
                    out.append(&self.line)?;
                }
                Output::Lines(Box::new(out))
            }
        };
        self.current = Some((number, output));
        Ok(())
    }

    /// The verdicts on the rows of a table, from the row at hand on. What goes wrong ends them and is kept.
    fn of_table<'b>(
        &'b self,
        number: u32,
        failure: &'b mut Option<Error>,
    ) -> impl Iterator<Item = Verdict> + use<'b, 'a> {
        let verdict = move |row: Row| -> Result<Option<Verdict>> {
            let Some((_, line)) = self.verdicts.place(row)?.filter(|(input, _)| *input == number) else {
                return Ok(None);
            };
            let annotation = self.verdicts.annotation(row)?;
            Ok(Some(Verdict { line, keep: !self.verdicts.is_removed(row), annotation }))
        };
        (self.row.0..).map(Row).map_while(move |row| {
            verdict(row).unwrap_or_else(|error| {
                *failure = Some(error);
                None
            })
        })
    }

    fn end(&mut self) -> Result<()> {
        if let Some((number, Output::Lines(out))) = self.current.take() {
            self.stamps.push((self.inputs[number as usize].relative.clone(), out.commit()?));
        }
        Ok(())
    }

    /// Ends the last file. Gives what was written, by relative path.
    pub fn finish(mut self) -> Result<Vec<(PathBuf, Stamp)>> {
        if let Some(last) = self.inputs.len().checked_sub(1) {
            self.go_to(last as u32)?;
        }
        self.end()?;
        Ok(self.stamps)
    }
}
