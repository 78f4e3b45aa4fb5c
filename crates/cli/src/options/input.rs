//! How documents are read.

use std::path::PathBuf;

use benzer_io::read::{self, FieldPath, Format, ReadOptions, Reader};
use clap::Args;

use crate::failure;

/// What of the inputs is a document, its text and its id.
#[derive(Debug, Clone, Args)]
pub struct InputArguments {
    /// Fields that make up the text, such as `title,meta.body`
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', default_value = "text")]
    text_field: Vec<FieldPath>,
    /// The field that is the id [default: file and line]
    #[arg(long, value_name = "FIELD")]
    pub id_field: Option<FieldPath>,
    /// Read all inputs as this: jsonl, csv, tsv, text, parquet, arrow [default: by content and name]
    #[arg(long, value_name = "FORMAT")]
    input_format: Option<Format>,
    /// Take each file of plain text for one document, instead of each line
    #[arg(long)]
    per_file: bool,
}

impl InputArguments {
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions {
            text_fields: self.text_field.clone(),
            id_field: self.id_field.clone(),
            format: self.input_format,
            per_file: self.per_file,
            ..ReadOptions::default()
        }
    }
}

/// Opens inputs. Errors: inputs that cannot be read; options that do not fit them.
pub fn open(inputs: Vec<PathBuf>, options: ReadOptions) -> anyhow::Result<Reader> {
    read::open(inputs.into_iter().collect(), options).map_err(failure::of_engine)
}
