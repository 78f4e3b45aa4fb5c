//! Sets of a corpus, and what brute force finds among them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use benzer_core::Features;
use benzer_core::field::text::{Scratch, Shingler, TextOptions};
use benzer_core::field::{Content, Document, Value};
use serde::Deserialize;

use super::Corpus;

/// A line of a corpus.
#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    text: String,
    #[serde(default)]
    items: Vec<u64>,
}

/// Sets with their postings, for exact answers.
#[derive(Debug)]
pub struct Sets {
    pub sets: Vec<Vec<u64>>,
    postings: HashMap<u64, Vec<u32>>,
}

impl Sets {
    /// The sets of a corpus that are not empty.
    pub fn read(corpus: &Corpus) -> Result<Self> {
        let shingler = Shingler::new(&TextOptions { n: corpus.words, ..TextOptions::default() })?;
        let file = File::open(&corpus.corpus).with_context(|| format!("{}", corpus.corpus.display()))?;
        let (mut sets, mut scratch) = (Vec::new(), Scratch::default());
        for line in BufReader::new(file).lines().take(corpus.documents) {
            let line: Line = serde_json::from_str(&line?)?;
            // Whole numbers that every peer takes.
            let set = match line.items.is_empty() {
                true => Features::set(
                    shingler.elements(&line.text, &mut scratch).iter().map(|element| element >> 2),
                ),
                false => Features::set(line.items),
            };
            sets.push(set.elements().to_vec());
        }
        sets.retain(|set| !set.is_empty());
        let mut postings: HashMap<u64, Vec<u32>> = HashMap::new();
        for (set, row) in sets.iter().zip(0..) {
            set.iter().for_each(|element| postings.entry(*element).or_default().push(row));
        }
        Ok(Self { sets, postings })
    }

    /// How many elements each set has in common with another one; those that have none are left out.
    pub fn common(&self, set: &[u64]) -> HashMap<u32, u32> {
        let mut common = HashMap::new();
        for element in set {
            for row in self.postings.get(element).into_iter().flatten() {
                *common.entry(*row).or_default() += 1;
            }
        }
        common
    }

    /// The size of a set.
    pub fn size(&self, row: u32) -> f64 {
        self.sets[row as usize].len() as f64
    }
}

/// A set as a document.
pub fn document(id: impl Into<String>, set: &[u64]) -> Document {
    let values = set.iter().map(|element| Value::Integer((*element).into())).collect();
    Document::new(id, [("items", Content::Values(values))])
}

/// Writes sets as flat arrays: `STEM.elements.u64`, `STEM.offsets.u64`.
pub fn write(stem: &Path, sets: &[Vec<u64>]) -> Result<()> {
    let create = |end: &str| -> Result<BufWriter<File>> {
        let path = format!("{}.{end}.u64", stem.display());
        Ok(BufWriter::new(File::create(&path).with_context(|| path)?))
    };
    let (mut elements, mut offsets) = (create("elements")?, create("offsets")?);
    let mut end = 0u64;
    offsets.write_all(&end.to_le_bytes())?;
    for set in sets {
        for element in set {
            elements.write_all(&element.to_le_bytes())?;
        }
        end += set.len() as u64;
        offsets.write_all(&end.to_le_bytes())?;
    }
    elements.flush()?;
    Ok(offsets.flush()?)
}
