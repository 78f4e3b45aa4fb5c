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

use crate::sketches::Rejected;
use crate::{Buffer, Buffers, Content, NO_ID, Room, SetFormat, Source, Watch, rejected, unfit};
use benzer_flow::pipeline::{self, Work};
use benzer_flow::workers::in_parallel;
use benzer_io::read::{self, Document, Input, Order, RawBatch, ReadOptions};
use benzer_io::{Error, Result};
use labels::{Label, Labels};
use row::Rows;

/// Columns at most: what programs that read LIBSVM files count with.
const MOST_COLUMNS: u64 = i32::MAX as u64;
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
    pub fn new((registers, bits, seed): (u32, u32, u64), normalize: bool, labels: LabelFrom) -> Result<Self> {
        let (packing, width) = (Packing::bits(bits)?, Bits::new(bits)?);
        let n_columns = u64::from(registers).checked_shl(bits).unwrap_or(u64::MAX);
        if bits > 16 || n_columns > MOST_COLUMNS {
            let expected =
                format!("at most 16, with at most {MOST_COLUMNS} columns (registers x 2^bits) in all");
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
/// Inputs that cannot be read to their end, too little memory, labels of both kinds, what the watcher or `sink` says.
pub fn make<E: From<Error>>(
    source: &Source,
    recipe: &Recipe,
    room: &Room,
    watch: &mut impl Watch<E>,
    mut sink: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<Made, E> {
    let mut labels = Labels::default();
    let mut made = Made::default();
    let mut write = |rows: &Rows| -> Result<(), E> {
        room.check()?;
        made.n_rows += rows.len() as u64;
        made.n_empty += rows.n_empty;
        sink(&rows.labelled(&mut labels)?)
    };
    if source.transpose || matches!(source.content, Content::Sets(SetFormat::Docword)) {
        let (shelf, loaded) = crate::load(&[source], room, watch)?;
        let n_rejected = loaded.iter().map(|loaded| loaded.n_rejected).sum();
        let at_once = RUN * 4 * room.threads();
        for start in (0..shelf.len()).step_by(at_once) {
            let sets: Vec<u32> = (start..shelf.len().min(start + at_once as u32)).collect();
            let runs: Vec<&[u32]> = sets.chunks(RUN).collect();
            let rows = in_parallel(runs.len(), room.threads(), Buffer::default, |run, buffer| {
                let mut rows = Rows::new(recipe);
                for &set in runs[run] {
                    rows.push(shelf.elements_of(set, buffer)?, Label::None)?;
                }
                rows.finish().map(|()| rows)
            });
            for rows in rows {
                write(&rows?)?;
            }
        }
        made.n_rejected = n_rejected;
    } else {
        let batch_bytes = source.read.batch_bytes.min(recipe.batch_bytes());
        let read = ReadOptions { batch_bytes, ..source.read.clone() };
        let reader = source.open_with(read)?;
        watch.begin(reader.progress());
        let worker = Worker { content: &source.content, recipe, inputs: reader.inputs().to_vec() };
        let mut n_rejected = 0;
        pipeline::run(reader, &worker, room.threads(), |batch: MadeBatch<'_>| -> Result<(), E> {
            n_rejected += batch.rejected.len() as u64;
            batch.rejected.iter().try_for_each(|rejected| watch.rejected(rejected))?;
            watch.read();
            write(&batch.rows)
        })?;
        made.n_rejected = n_rejected;
    }
    made.labels = labels.into_texts();
    Ok(made)
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
    type Scratch = Buffers;
    type Made = MadeBatch<'a>;
    type Error = Error;

    fn make(&self, raw: RawBatch, buffers: &mut Buffers) -> Result<MadeBatch<'a>> {
        let batch = read::parse(raw);
        let mut made = MadeBatch { rows: Rows::new(self.recipe), rejected: rejected(&batch) };
        for document in batch.documents() {
            if let Err(reject) = self.row(&document, buffers, &mut made.rows)? {
                made.rejected.push(reject);
            }
        }
        made.rejected.sort_by_key(|rejected| (rejected.reject.input, rejected.reject.line));
        made.rows.finish()?;
        Ok(made)
    }
}

impl Worker<'_> {
    fn row(
        &self,
        document: &Document<'_>,
        buffers: &mut Buffers,
        rows: &mut Rows<'_>,
    ) -> Result<Result<(), Rejected>> {
        let Some((id, elements)) = self.content.elements(document.text, buffers) else {
            return Ok(Err(unfit(&self.inputs, document, NO_ID, document.text)));
        };
        let label = match (self.recipe.labels, document.order) {
            (LabelFrom::Nothing, _) => Label::None,
            (LabelFrom::Id, _) => Label::of_text(id),
            (LabelFrom::Field, Some(Order::Number(number))) => Label::Number(number.to_string()),
            (LabelFrom::Field, Some(Order::Text(text))) => Label::of_text(text),
            (LabelFrom::Field, None) => {
                return Ok(Err(unfit(&self.inputs, document, "a number or a text as the label", "neither")));
            }
        };
        rows.push(elements, label).map(Ok)
    }
}
