//! What a run of the reader gives, for the tests of all formats.
#![allow(dead_code)]

use std::fs;
use std::path::Path;

use benzer_io::Result;
use benzer_io::read::{self, Batch, DocumentId, Inputs, Order, ReadOptions};
use tempfile::TempDir;

/// Everything a run gives, in order.
#[derive(Debug, Default, PartialEq)]
pub struct Seen {
    pub documents: Vec<Seeing>,
    /// The rejects as messages.
    pub rejects: Vec<String>,
    pub n_blank: u64,
}

/// A document.
#[derive(Debug, Clone, PartialEq)]
pub struct Seeing {
    pub input: u32,
    pub line: u64,
    pub offset: u64,
    pub id: Option<String>,
    pub text: String,
    pub order: Option<Value>,
    pub raw: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Number(f64),
    Text(String),
}

impl Seen {
    pub fn texts(&self) -> Vec<&str> {
        self.documents.iter().map(|document| document.text.as_str()).collect()
    }

    pub fn lines(&self) -> Vec<u64> {
        self.documents.iter().map(|document| document.line).collect()
    }

    pub fn ids(&self) -> Vec<&str> {
        self.documents.iter().filter_map(|document| document.id.as_deref()).collect()
    }

    pub fn orders(&self) -> Vec<Option<Value>> {
        self.documents.iter().map(|document| document.order.clone()).collect()
    }
}

pub fn read_all(inputs: Inputs, options: ReadOptions) -> Result<Seen> {
    let mut seen = Seen::default();
    for raw in read::open(inputs, options)? {
        seen.add(&read::parse(raw?));
    }
    Ok(seen)
}

impl Seen {
    /// What comes next.
    pub fn add(&mut self, batch: &Batch) {
        self.documents.extend(batch.documents().map(|document| Seeing {
            input: document.input,
            line: document.line,
            offset: document.offset,
            id: match document.id {
                DocumentId::Field(id) => Some(id.to_owned()),
                DocumentId::Row { input, row } => {
                    assert_eq!((input, row), (document.input, document.line));
                    None
                }
            },
            text: document.text.to_owned(),
            order: document.order.map(|order| match order {
                Order::Number(number) => Value::Number(number),
                Order::Text(text) => Value::Text(text.to_owned()),
            }),
            raw: document.raw.to_owned(),
        }));
        self.rejects.extend(batch.rejects().iter().map(|reject| reject.to_string()));
        self.n_blank += batch.n_blank();
    }
}

/// Reads one file of the given name and content; the folder is cut from the messages.
pub fn read_file(name: &str, content: &[u8], options: ReadOptions) -> Seen {
    try_file(name, content, options).unwrap()
}

pub fn try_file(name: &str, content: &[u8], options: ReadOptions) -> Result<Seen, String> {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join(name), content).unwrap();
    let prefix = format!("{}/", folder.path().display());
    let seen = read_all(Inputs::new().path(folder.path().join(name)), options);
    let mut seen = seen.map_err(|error| error.to_string().replace(&prefix, ""))?;
    seen.rejects.iter_mut().for_each(|reject| *reject = reject.replace(&prefix, ""));
    Ok(seen)
}

pub fn read_path(path: &Path, options: ReadOptions) -> Seen {
    read_all(Inputs::new().path(path), options).unwrap()
}

/// Options with these fields: text fields with commas between them, id and order or nothing.
pub fn fields(texts: &str, id: &str, order: &str) -> ReadOptions {
    let path = |name: &str| (!name.is_empty()).then(|| name.parse().unwrap());
    ReadOptions {
        text_fields: texts.split(',').filter_map(path).collect(),
        id_field: path(id),
        order_field: path(order),
        ..ReadOptions::default()
    }
}

pub fn in_batches_of(batch_bytes: usize, options: &ReadOptions) -> ReadOptions {
    ReadOptions { batch_bytes, ..options.clone() }
}
