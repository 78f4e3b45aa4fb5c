//! The arguments of `benzer dedup` that name old documents.

use std::path::PathBuf;

use benzer_dedup::request::{Measure, Request};
use benzer_io::read::{FieldPath, ReadOptions};
use clap::{Args, ValueEnum};

/// What to compare with, and what to save.
#[derive(Debug, Args)]
pub(super) struct OldArguments {
    /// Also remove what is similar to an old document: a corpus, an archive, or the folder of a run with --save; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Old documents")]
    against: Vec<PathBuf>,
    /// Compare with the documents of this archive, and add those that are kept; it is made if it is not there
    #[arg(long, value_name = "DIR", conflicts_with = "save", help_heading = "Old documents")]
    archive: Option<PathBuf>,
    /// Save the kept documents for later runs, as an archive in `saved` of the output folder
    #[arg(long, conflicts_with = "dry_run", help_heading = "Old documents")]
    save: bool,
    /// What is measured: the similarity of two documents, or how much of an old document another one contains
    #[arg(long, value_enum, default_value = "jaccard", value_name = "WHAT", help_heading = "Old documents")]
    pub(super) measure: MeasureName,
    /// Fields that make up the text of old documents [default: as --text-field]
    #[arg(
        long,
        value_name = "FIELDS",
        value_delimiter = ',',
        requires = "against",
        help_heading = "Old documents"
    )]
    against_text_field: Option<Vec<FieldPath>>,
    /// The field that is the id of old documents [default: as --id-field]
    #[arg(long, value_name = "FIELD", requires = "against", help_heading = "Old documents")]
    against_id_field: Option<FieldPath>,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum MeasureName {
    /// Shingles in both documents, of those in either
    Jaccard,
    /// Shingles of an old document that another one has, of all it has; nothing else is compared
    Containment,
}

impl From<MeasureName> for Measure {
    fn from(name: MeasureName) -> Self {
        match name {
            MeasureName::Jaccard => Self::Jaccard,
            MeasureName::Containment => Self::Containment,
        }
    }
}

impl OldArguments {
    /// Adds what these arguments say of old documents to a request that says how those of the input are read.
    pub(super) fn set(&self, request: &mut Request) {
        let read = &request.input.read;
        request.old.read = ReadOptions {
            text_fields: self.against_text_field.clone().unwrap_or_else(|| read.text_fields.clone()),
            id_field: self.against_id_field.clone().or_else(|| read.id_field.clone()),
            ..read.clone()
        };
        let others = self.against.iter().filter(|path| self.archive.as_ref() != Some(*path));
        request.old.paths = self.archive.iter().chain(others).cloned().collect();
        request.results.save = if self.save { Some(request.own_archive()) } else { self.archive.clone() };
    }
}
