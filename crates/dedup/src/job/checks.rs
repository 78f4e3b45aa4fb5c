//! What stops a run, or is said of it, as soon as all documents are known: too many rejected lines, a field of `keep` that nobody has.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use benzer_io::read::{Format, Input, ReadOptions, Reader, field_names};
use serde_json::Value;

use super::setup::{Job, Setup};
use crate::error::{Error, Result};
use crate::folders::{OLD_REJECTS, REJECTS};
use crate::request::{Measure, Output};
use crate::summary::Summary;

const NAMED: usize = 5;
/// Of so many lines one may be rejected without a warning.
const ONE_IN: u64 = 100;
/// What may be wrong if lines are rejected.
const FIELDS: &str = "`text_field`, `id_field` or `input_format`";
const FIELDS_OF_OLD: &str = "`against_text_field` or `against_id_field`";

impl Setup<'_> {
    /// Before reading: what of the inputs is not read, and what is read although it may not be meant.
    pub fn describe_inputs(&self, reader: &Reader, summary: &mut Summary) -> Result<()> {
        if reader.n_excepted() > 0 {
            let (n, target) = (reader.n_excepted(), self.target.display());
            summary
                .notes
                .push(format!("{n} files in `{target}` are results of an earlier run, and were not read"));
        }
        if let (Some(archive), Output::DryRun) = (&self.request.results.save, self.request.results.write) {
            summary.warnings.push(format!("a dry run adds nothing to the archive `{}`", archive.display()));
        }
        if let (true, Some(error)) = (self.request.strict, reader.left_out().first()) {
            return Err(Error::Strict { reject: error.to_string() });
        }
        let left_out = reader
            .left_out()
            .iter()
            .take(NAMED)
            .map(|error| format!("a file of another kind was not read: {error}"));
        summary.warnings.extend(left_out);
        if let Some(more) = reader.left_out().len().checked_sub(NAMED).filter(|more| *more > 0) {
            summary.warnings.push(format!("{more} more files of another kind were not read"));
        }
        if !reader.unread().is_empty() {
            let names = named(reader.unread().iter().map(PathBuf::as_path));
            summary.notes.push(format!(
                "{} files of the input folders have extensions that are not read: {names}; name those that are documents",
                reader.unread().len()
            ));
        }
        self.describe_plain_text(reader, summary);
        Ok(())
    }

    /// That plain text was read, where it may not be meant.
    fn describe_plain_text(&self, reader: &Reader, summary: &mut Summary) {
        let is_plain = |input: &&Arc<Input>| input.format() == Some(Format::Lines);
        let (plain, others): (Vec<_>, Vec<_>) = reader.inputs().iter().partition(is_plain);
        if others.is_empty() && self.request.input.read.text_fields != ReadOptions::default().text_fields {
            summary.warnings.push("plain text has no fields: `text_field` was not used".to_owned());
        }
        let is_mixed = !plain.is_empty() && others.iter().any(|input| input.format().is_some());
        if is_mixed && self.request.input.read.format.is_none() {
            let names = named(plain.iter().map(|input| &*input.path));
            summary.warnings.push(format!(
                "{} files among others are plain text, of which each line was read as a document: {names}; if they are none, name the others",
                plain.len()
            ));
        }
    }
}

impl Job<'_> {
    pub fn check_read(&self, inputs: &[Arc<Input>], summary: &mut Summary) -> Result<()> {
        let (rejected, read) = (summary.counts.rejected, summary.counts.read);
        let first = self.named_rejects(summary).into_iter().next().unwrap_or_default();
        // Old inputs are not listed here; of what is mostly rejected the first one says enough.
        let rejects = Rejected { rejected, read, of: "lines", list: REJECTS, remedy: FIELDS };
        self.check_rejects(&rejects, first, inputs, summary)?;
        self.check_keep(inputs, summary)
    }

    pub fn check_old(&self, summary: &mut Summary) -> Result<()> {
        let (rejected, found) = (summary.counts.against_rejected, summary.counts.against);
        let (read, of) = (rejected + found, "lines of old documents");
        let rejects = Rejected { rejected, read, of, list: OLD_REJECTS, remedy: FIELDS_OF_OLD };
        let first = self.first_of(OLD_REJECTS);
        self.check_rejects(&rejects, first, &[], summary)?;
        match (found, self.request.compare.measure) {
            (0, Measure::Containment) => {
                summary.warnings.push("there is nothing to look for among the old documents".to_owned());
            }
            // The archive that grows begins empty.
            (0, Measure::Jaccard)
                if self
                    .request
                    .old
                    .paths
                    .iter()
                    .any(|path| Some(path) != self.request.results.save.as_ref()) =>
            {
                summary
                    .warnings
                    .push("there are no old documents: the files of `against` are empty".to_owned());
            }
            _ => {}
        }
        Ok(())
    }

    /// Most lines rejected is a wrong setting rather than a bad corpus; more than one in a hundred should be known.
    fn check_rejects(
        &self,
        rejects: &Rejected,
        first: String,
        inputs: &[Arc<Input>],
        summary: &mut Summary,
    ) -> Result<()> {
        let Rejected { rejected, read, of, list, remedy } = *rejects;
        let is_most = 2 * rejected > read && !self.request.allow_rejects;
        if rejected == 0 {
            return Ok(());
        }
        if is_most || rejected == read {
            self.rejects_file(list, rejected)?.commit()?;
            let source = inputs.iter().find(|input| first.starts_with(&format!("{}:", input.path.display())));
            let there = source.map_or_else(String::new, |input| there(input));
            let list = self.folders.result(list);
            return Err(Error::Rejects { rejected, read, of, first, there, remedy, list });
        }
        if ONE_IN * rejected > read {
            let share = 100.0 * rejected as f64 / read as f64;
            summary.warnings.push(format!(
                "{rejected} of {read} {of} ({share:.1}%) cannot be read and are left out; the first is {first}; is one of {remedy} wrong? (all are in {list})"
            ));
        }
        Ok(())
    }

    /// A field that no document has is a typing error; one that some do not have is worth a warning.
    fn check_keep(&self, inputs: &[Arc<Input>], summary: &mut Summary) -> Result<()> {
        let Some(field) = self.request.keep.field() else { return Ok(()) };
        let (texts, missing) = (summary.counts.ordered_by_text, summary.counts.unordered);
        let documents = summary.counts.read - summary.counts.rejected;
        if missing == documents && documents > 0 {
            let there = inputs.first().map_or_else(String::new, |input| there(input));
            let expected = format!("a policy whose field documents have as a number or a text{there}");
            let got = format!("{}, of which no document has `{field}` so", self.request.keep);
            return Err(Error::parameter("keep", expected, got));
        }
        let keep = &self.request.keep;
        if missing > 0 {
            summary.warnings.push(format!(
                "{missing} of {documents} documents have no `{field}` that is a number or a text: they come last in the order of `keep` {keep}"
            ));
        }
        if texts > 0 && texts + missing < documents {
            summary.warnings.push(format!(
                "`{field}` is a text in {texts} of {documents} documents: they come after those in which it is a number"
            ));
        } else if texts > 0 {
            summary.notes.push(format!(
                "`{field}` is a text, so `keep` {keep} compares it byte by byte: right for dates such as 2026-01-31, wrong for numbers"
            ));
        }
        Ok(())
    }

    /// The first line of a list of rejects in the work folder, as text.
    fn first_of(&self, list: &str) -> String {
        let file = std::fs::File::open(self.folders.work.join(list)).map(BufReader::new);
        let line = file.ok().and_then(|file| file.lines().next()?.ok()).unwrap_or_default();
        let row: Value = serde_json::from_str(&line).unwrap_or_default();
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        format!("{}:{}: {}", text("file"), row["line"], text("reason"))
    }
}

/// Lines that are no documents, and what may be wrong with them.
struct Rejected {
    rejected: u64,
    read: u64,
    of: &'static str,
    list: &'static str,
    remedy: &'static str,
}

fn named<'a>(paths: impl Iterator<Item = &'a Path>) -> String {
    let mut names: Vec<String> = paths.take(NAMED + 1).map(|path| format!("`{}`", path.display())).collect();
    if names.len() > NAMED {
        names[NAMED] = "...".to_owned();
    }
    names.join(", ")
}

fn there(input: &Input) -> String {
    let fields = field_names(input);
    if fields.is_empty() {
        return String::new();
    }
    let names: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
    format!(" (`{}` has the fields {})", input.path.display(), names.join(", "))
}
