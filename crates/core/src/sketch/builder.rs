//! Streaming: elements one at a time, with set semantics in every family.

use super::{Family, Packing, Sketch, SketchSpec, Sketcher};
use crate::{Features, Result};

/// Elements are held back until this many, then sketched and merged.
const BUFFER: usize = 4096;

/// Makes a sketch from a stream of elements: `SketchSpec::builder`, `update` as often as needed, `finish`.
///
/// ```
/// use benzer_core::sketch::{Family, SketchSpec};
/// let spec = SketchSpec::full(Family::Fast { rounds: 2 }, 64);
/// let mut builder = spec.builder().unwrap();
/// for element in [3, 1, 2, 3] {
///     builder.update(element).unwrap();
/// }
/// let all_at_once = spec.sketcher().unwrap().sketch(&benzer_core::Features::set([1, 2, 3])).unwrap();
/// assert_eq!(builder.finish().unwrap(), all_at_once);
/// ```
///
/// Aligned families and bottom-k hold a bounded buffer. `weighted` and `odd` must know how often an element came before they can count it, so they
/// hold all distinct elements until the end.
#[derive(Debug)]
pub struct Builder {
    sketcher: Box<dyn Sketcher>,
    spec: SketchSpec,
    buffer: Vec<(u64, f64)>,
    /// Length of the buffer at which it is emptied, or freed of repetitions.
    full_at: usize,
    merged: Option<Sketch>,
}

impl SketchSpec {
    /// A builder for a stream of elements.
    ///
    /// # Errors
    /// As [`SketchSpec::sketcher`].
    pub fn builder(&self) -> Result<Builder> {
        self.validate()?;
        let working = if self.family.is_aligned() { Packing::FULL } else { self.packing };
        let sketcher = Self { packing: working, ..self.clone() }.sketcher()?;
        Ok(Builder { sketcher, spec: self.clone(), buffer: Vec::new(), full_at: BUFFER, merged: None })
    }
}

impl Builder {
    /// Adds an element; a repetition changes nothing (in `weighted`, it adds 1 to the element's weight).
    ///
    /// # Errors
    /// An element outside the universe of an exact permutation.
    pub fn update(&mut self, element: u64) -> Result<()> {
        self.update_weighted(element, 1.0)
    }

    /// Adds weight to an element; set families ignore the weight.
    ///
    /// # Errors
    /// As [`Builder::update`]; a weight that is negative or not finite is refused at the latest by [`Builder::finish`].
    pub fn update_weighted(&mut self, element: u64, weight: f64) -> Result<()> {
        let weight = if self.spec.family == Family::Weighted { weight } else { 1.0 };
        self.buffer.push((element, weight));
        if self.buffer.len() < self.full_at {
            return Ok(());
        }
        if matches!(self.spec.family, Family::Weighted | Family::Odd) {
            self.buffer = Features::weighted(self.buffer.drain(..))?.pairs().collect();
            self.full_at = BUFFER.max(2 * self.buffer.len());
            return Ok(());
        }
        self.flush()
    }

    /// The sketch of everything added. Its size is known if all elements fitted the buffer.
    ///
    /// # Errors
    /// As [`Builder::update_weighted`].
    pub fn finish(mut self) -> Result<Sketch> {
        if self.merged.is_none() || !self.buffer.is_empty() {
            self.flush()?;
        }
        let sketch = self.merged.expect("a flush leaves a sketch");
        if sketch.spec().packing == self.spec.packing { Ok(sketch) } else { sketch.pack(self.spec.packing) }
    }

    fn flush(&mut self) -> Result<()> {
        let features = Features::weighted(self.buffer.drain(..))?;
        let sketch = self.sketcher.sketch(&features)?;
        self.merged = Some(match self.merged.take() {
            Some(before) => self.sketcher.merge(&before, &sketch)?,
            None => sketch,
        });
        Ok(())
    }
}
