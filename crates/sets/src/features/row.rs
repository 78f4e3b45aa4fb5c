//! Rows of text, without their labels.

use benzer_core::sketch::packed;
use benzer_io::Result;

use super::labels::{Label, Labels};
use super::{RUN, Recipe};

/// Rows of some sets. Sketches are made some at a time.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    recipe: &'a Recipe,
    value: String,
    /// The columns of all rows, and where each ends.
    columns: Vec<u8>,
    ends: Vec<usize>,
    labels: Vec<Label>,
    pub n_empty: u64,
    /// Sets that are not sketched yet.
    elements: Vec<u64>,
    offsets: Vec<usize>,
}

impl<'a> Rows<'a> {
    pub fn new(recipe: &'a Recipe) -> Self {
        let value = match recipe.normalize {
            true => (1.0 / f64::from(recipe.sketcher.spec().registers).sqrt()) as f32,
            false => 1.0,
        };
        Self {
            recipe,
            value: value.to_string(),
            columns: Vec::new(),
            ends: Vec::new(),
            labels: Vec::new(),
            n_empty: 0,
            elements: Vec::new(),
            offsets: vec![0],
        }
    }

    /// Adds a set.
    pub fn push(&mut self, elements: &[u64], label: Label) -> Result<()> {
        self.elements.extend_from_slice(elements);
        self.offsets.push(self.elements.len());
        self.labels.push(label);
        if self.offsets.len() > RUN { self.finish() } else { Ok(()) }
    }

    /// Makes the rows of what was added.
    pub fn finish(&mut self) -> Result<()> {
        let Self { recipe, value, columns, ends, elements, offsets, n_empty, .. } = self;
        let (n_words, registers) =
            (recipe.sketcher.spec().words(), recipe.sketcher.spec().registers as usize);
        let mut words = vec![0; (offsets.len() - 1) * n_words];
        recipe.sketcher.sketch_many(elements, offsets, &mut words)?;
        for (words, set) in words.chunks_exact(n_words).zip(offsets.windows(2)) {
            if set[0] == set[1] {
                *n_empty += 1;
            } else {
                for column in packed::one_hot(words, recipe.bits, registers) {
                    columns.push(b' ');
                    push_number(columns, column + 1);
                    columns.push(b':');
                    columns.extend_from_slice(value.as_bytes());
                }
            }
            ends.push(columns.len());
        }
        elements.clear();
        offsets.truncate(1);
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The rows with their labels before them.
    pub fn labelled(&self, labels: &mut Labels) -> Result<Vec<u8>> {
        let mut text = Vec::with_capacity(self.columns.len() + 4 * self.ends.len());
        let mut start = 0;
        for (label, &end) in self.labels.iter().zip(&self.ends) {
            text.extend_from_slice(labels.written(label)?.as_bytes());
            text.extend_from_slice(&self.columns[start..end]);
            text.push(b'\n');
            start = end;
        }
        Ok(text)
    }
}

/// Appends a number in decimal.
fn push_number(to: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return to.extend_from_slice(&digits[first..]);
        }
    }
}
