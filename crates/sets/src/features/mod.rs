//! b-bit sketches as sparse vectors for linear models, in LIBSVM format (b-bit minwise hashing, the section on learning).
//!
//! ```text
//! documents or sets --elements--> sketch of k registers, b bits each --one-hot--> label i_1:1 i_2:1 ... i_k:1
//! ```
//!
//! Register i with value v is a one in column i 2^b + v + 1: of k 2^b columns every row has exactly k ones, so the inner product of two rows is the number of equal
//! registers, and divided by k the share of them. A linear model over such rows is one over (an estimate of) Jaccard similarities. With
//! normalization the ones are 1/sqrt(k), and every row has length one. A set without elements is a row without columns.
//!
//! Labels that are numbers stay as they are written; texts are numbered 0, 1, ... by their first appearance.

mod labels;
mod row;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use benzer_core::sketch::{Bits, Packing, SketchSpec, Sketcher};
use benzer_flow::pipeline::{self, Work};
use benzer_flow::workers::in_parallel;
use benzer_io::read::{self, Document, Input, Order, RawBatch, ReadOptions};
use benzer_io::{Error, Result};

use crate::parse::{NO_ID, ParseBuffers};
use crate::rejected::Rejected;
use crate::{Content, ReadListener, Resources, SetFormat, Source, load};
use labels::{Label, Labels};
use row::Rows;

/// Columns at most: what programs that read LIBSVM files count with.
const MAX_COLUMNS: u64 = i32::MAX as u64;
/// Sets whose rows are made together.
const RUN: usize = 256;
/// Bytes of rows that a batch makes, about.
const ROW_BYTES: usize = 10 << 20;

/// Where labels come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LabelFrom {
    /// Nowhere: every label is 0.
    #[default]
    Nothing,
    /// The order field of the documents ([`ReadOptions::order_field`]).
    Field,
    /// The ids of the sets.
    Id,
}

/// The columns of the rows, and what is in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowShape {
    /// Registers of a sketch, and ones of a row.
    pub registers: u32,
    /// Bits of a register: 2 to their power are its columns.
    pub bits: u32,
    /// What the sketches depend on.
    pub seed: u64,
    /// Writes 1/sqrt(`registers`) instead of 1.
    pub normalize: bool,
}

/// How a set becomes a row.
#[derive(Debug)]
pub struct Recipe {
    sketcher: Box<dyn Sketcher>,
    bits: Bits,
    normalize: bool,
    labels: LabelFrom,
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Made {
    /// Rows.
    pub n_rows: u64,
    /// Rows without a column.
    pub n_empty: u64,
    /// Lines that are no rows.
    pub n_rejected: u64,
    /// The labels that are texts; the number of each is its place here.
    pub labels: Vec<String>,
}

impl Recipe {
    /// Rows of `registers` ones among `registers` x 2^`bits` columns.
    ///
    /// # Errors
    /// Bits that are not 1 to 16, registers out of range, more columns than can be counted.
    pub fn new(shape: RowShape, labels: LabelFrom) -> Result<Self> {
        let RowShape { registers, bits, seed, normalize } = shape;
        let (packing, width) = (Packing::bits(bits)?, Bits::new(bits)?);
        let n_columns = u64::from(registers).checked_shl(bits).unwrap_or(u64::MAX);
        if bits > 16 || n_columns > MAX_COLUMNS {
            let expected =
                format!("at most 16, with at most {MAX_COLUMNS} columns (registers x 2^bits) in all");
            return Err(Error::parameter("--bits", expected, format!("{bits} with {registers} registers")));
        }
        let spec = SketchSpec { registers, packing, seed, ..SketchSpec::default() };
        Ok(Self { sketcher: spec.sketcher()?, bits: width, normalize, labels })
    }

    /// Columns of the vectors.
    pub fn columns(&self) -> u64 {
        u64::from(self.sketcher.spec().registers) << self.bits.get()
    }

    /// Few enough documents at a time that their rows do not take much more than they do.
    fn batch_bytes(&self) -> usize {
        (ROW_BYTES / self.sketcher.spec().registers as usize).clamp(4 << 10, 1 << 20)
    }
}

/// Makes a row of every document or set, and hands them to `sink` in the order of the input, some at a time.
///
/// # Errors
/// Inputs that cannot be read to their end, too little memory, labels of both kinds, what the listener or `sink` says.
pub fn make<E: From<Error>>(
    source: &Source,
    recipe: &Recipe,
    resources: &Resources,
    listener: &mut impl ReadListener<E>,
    sink: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<Made, E> {
    let output = Output { recipe, resources, sink, labels: Labels::default(), made: Made::default() };
    match source.transpose || matches!(source.content, Content::Sets(SetFormat::Docword)) {
        true => output.of_scattered(source, listener),
        false => output.of_documents(source, listener),
    }
}

/// Where the rows go, and what is known of them.
struct Output<'a, S> {
    recipe: &'a Recipe,
    resources: &'a Resources,
    sink: S,
    labels: Labels,
    made: Made,
}

impl<E: From<Error>, S: FnMut(&[u8]) -> Result<(), E>> Output<'_, S> {
    /// Rows of sets that are put together first. They have no labels.
    fn of_scattered(mut self, source: &Source, listener: &mut impl ReadListener<E>) -> Result<Made, E> {
        let Self { recipe, resources, .. } = self;
        let (store, loaded) = load(&[source], resources, listener)?;
        let at_once = RUN * 4 * resources.threads();
        for start in (0..store.len()).step_by(at_once) {
            let sets: Vec<u32> = (start..store.len().min(start + at_once as u32)).collect();
            let runs: Vec<&[u32]> = sets.chunks(RUN).collect();
            let rows = in_parallel(
                runs.len(),
                resources.threads(),
                || (),
                |run, ()| {
                    let mut rows = Rows::new(recipe);
                    for &set in runs[run] {
                        rows.push(store.elements_of(set), Label::None)?;
                    }
                    rows.finish().map(|()| rows)
                },
            );
            for rows in rows {
                self.write(&rows?)?;
            }
        }
        self.made.n_rejected = loaded.iter().map(|loaded| loaded.n_rejected).sum();
        Ok(self.finish())
    }

    /// Rows of documents or lines as they are read.
    fn of_documents(mut self, source: &Source, listener: &mut impl ReadListener<E>) -> Result<Made, E> {
        let Self { recipe, resources, .. } = self;
        let batch_bytes = source.read.batch_bytes.min(recipe.batch_bytes());
        let reader = source.open_with(ReadOptions { batch_bytes, ..source.read.clone() })?;
        listener.begin(reader.progress());
        let worker = Worker { content: &source.content, recipe, inputs: reader.inputs().to_vec() };
        pipeline::run(reader, &worker, resources.threads(), |batch: MadeBatch<'_>| -> Result<(), E> {
            self.made.n_rejected += batch.rejected.len() as u64;
            batch.rejected.iter().try_for_each(|rejected| listener.rejected(rejected))?;
            listener.read();
            self.write(&batch.rows)
        })?;
        Ok(self.finish())
    }

    fn write(&mut self, rows: &Rows<'_>) -> Result<(), E> {
        self.resources.check()?;
        self.made.n_rows += rows.len() as u64;
        self.made.n_empty += rows.n_empty;
        (self.sink)(&rows.labelled(&mut self.labels)?)
    }

    fn finish(self) -> Made {
        Made { labels: self.labels.into_texts(), ..self.made }
    }
}

struct Worker<'a> {
    content: &'a Content,
    recipe: &'a Recipe,
    inputs: Vec<Arc<Input>>,
}

struct MadeBatch<'a> {
    rows: Rows<'a>,
    rejected: Vec<Rejected>,
}

impl<'a> Work for Worker<'a> {
    type Batch = RawBatch;
    type Scratch = ParseBuffers;
    type Made = MadeBatch<'a>;
    type Error = Error;

    fn make(&self, raw: RawBatch, buffers: &mut ParseBuffers) -> Result<MadeBatch<'a>> {
        let batch = read::parse(raw);
        let mut made = MadeBatch { rows: Rows::new(self.recipe), rejected: Rejected::of_batch(&batch) };
        for document in batch.documents() {
            made.rejected.extend(self.row(&document, buffers, &mut made.rows)?);
        }
        made.rejected.sort_by_key(|rejected| (rejected.reject.input, rejected.reject.line));
        made.rows.finish()?;
        Ok(made)
    }
}

impl Worker<'_> {
    /// Adds the row of a document, or rejects it.
    fn row(
        &self,
        document: &Document<'_>,
        buffers: &mut ParseBuffers,
        rows: &mut Rows<'_>,
    ) -> Result<Option<Rejected>> {
        let unfit = |expected, got| Ok(Some(Rejected::unfit(&self.inputs, document, expected, got)));
        let Some((id, elements)) = self.content.elements(document.text, buffers) else {
            return unfit(NO_ID, document.text);
        };
        let label = match (self.recipe.labels, document.order) {
            (LabelFrom::Nothing, _) => Label::None,
            (LabelFrom::Id, _) => Label::of_text(id),
            (LabelFrom::Field, Some(Order::Number(number))) => Label::Number(number.to_string()),
            (LabelFrom::Field, Some(Order::Text(text))) => Label::of_text(text),
            (LabelFrom::Field, None) => return unfit("a number or a text as the label", "neither"),
        };
        rows.push(elements, label).map(|()| None)
    }
}
