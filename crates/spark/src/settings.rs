//! What all stages of a run agree on.

use benzer_core::field::text::{Shingler, TextOptions};
use benzer_core::lsh::{Banding, Prefilter};
use benzer_core::sketch::{SketchSpec, Sketcher};

use crate::error::{Error, Result};
use benzer_core::Threshold;
use benzer_dedup::keep::Keep;
use benzer_dedup::request::{Request, Search, max_recall};

/// The settings of a run, from its request.
#[derive(Debug, Clone)]
pub struct Settings {
    pub(super) text: TextOptions,
    pub(super) spec: SketchSpec,
    pub(super) banding: Banding,
    pub(super) threshold: Threshold,
    pub(super) keep: Keep,
    pub(super) cap: usize,
    pub(super) slices: u32,
    pub(super) max_edges: u64,
}

impl Settings {
    /// What a run on one machine with these request does, in so many slices and with blocks of so many edges.
    ///
    /// # Errors
    /// The exact join, which has no stages; no slices; blocks without edges; shingles or sketches that cannot be made.
    pub fn new(request: &Request, slices: u32, max_edges: u64) -> Result<Self> {
        let Search::Bands(banding) = request.compare.search else {
            let max = max_recall(&request.compare.spec, request.compare.threshold);
            let max = max.map_or("below that of any bands".to_owned(), |max| format!("at most {max}"));
            return Err(Error::parameter(
                "recall",
                format!(
                    "{max} at threshold {} where an engine moves the data (or join exactly on one machine, with `benzer dedup`)",
                    request.compare.threshold
                ),
                "more, which takes the exact join",
            ));
        };
        if slices == 0 || slices > i32::MAX as u32 {
            return Err(Error::parameter("slices", "between 1 and 2147483647", slices));
        }
        if max_edges == 0 {
            return Err(Error::parameter("task_edges", "at least 1", max_edges));
        }
        let shingler = Shingler::new(&request.compare.text)?;
        let spec =
            SketchSpec { pipeline: shingler.pipeline().as_str().to_owned(), ..request.compare.spec.clone() };
        Prefilter::new(&spec, request.compare.threshold.value())?;
        Ok(Self {
            text: request.compare.text.clone(),
            spec,
            banding,
            threshold: request.compare.threshold,
            keep: request.keep.clone(),
            cap: request.compare.cap,
            slices,
            max_edges,
        })
    }

    /// Refuses more documents than the band keys can tell apart.
    ///
    /// # Errors
    /// Too many documents, with the remedy.
    pub fn check_documents(&self, documents: u64) -> Result<()> {
        Ok(self.banding.check_documents(documents)?)
    }

    /// The most documents that the band keys can tell apart.
    pub fn max_documents(&self) -> u64 {
        self.banding.max_documents()
    }

    pub(super) fn shingler(&self) -> Result<Shingler> {
        Ok(Shingler::new(&self.text)?)
    }

    pub(super) fn sketcher(&self) -> Result<Box<dyn Sketcher>> {
        Ok(self.spec.sketcher()?)
    }

    pub(super) fn slice(&self, bytes: &[u8]) -> u32 {
        slice_of(twox_hash::XxHash3_64::oneshot(bytes), self.slices)
    }

    pub(super) fn slice_of_key(&self, band: usize, key: u64) -> u32 {
        slice_of(benzer_core::hash::mix(key ^ benzer_core::hash::mix(band as u64 + 1)), self.slices)
    }
}

/// The high bits of the product spread evenly over any number of slices.
fn slice_of(hash: u64, slices: u32) -> u32 {
    ((u128::from(hash) * u128::from(slices)) >> 64) as u32
}
