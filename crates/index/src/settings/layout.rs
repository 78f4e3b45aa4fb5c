//! Where the parts of a record lie, and under which keys it is filed.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use benzer_core::lsh::{BandKey, Banding};
use benzer_core::sketch::{Sketch, SketchSpec};

use super::containment::{self, ContainmentBands};
use super::{FieldSettings, Settings};
use crate::error::Result;

/// Where the parts of a record lie: for each field its size (the bits of a 64-bit float), then the words of its sketch. And under which keys it is filed: those of the bands of its fields, then
/// those of their bands for containment.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    fields: Vec<FieldLayout>,
    containment: Vec<ContainmentBands>,
    words: usize,
    /// Bands of similarity, and of all.
    own_bands: usize,
    bands: usize,
}

/// One field of a record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FieldLayout {
    pub name: String,
    pub spec: Arc<SketchSpec>,
    pub weight: f64,
    pub banding: Banding,
    at: usize,
    words: usize,
    first_band: usize,
}

impl FieldLayout {
    /// The size of its set, 0 for an empty one.
    #[inline]
    pub fn size(&self, record: &[u64]) -> f64 {
        f64::from_bits(record[self.at])
    }

    /// The words of its sketch.
    #[inline]
    pub fn sketch<'a>(&self, record: &'a [u64]) -> &'a [u64] {
        &record[self.at + 1..self.at + 1 + self.words]
    }

    /// Its sketch.
    pub fn to_sketch(&self, record: &[u64]) -> benzer_core::Result<Sketch> {
        Sketch::from_parts(self.spec.clone(), self.size(record), self.sketch(record).to_vec())
    }

    /// Where size and sketch are.
    pub fn range(&self) -> Range<usize> {
        self.at..self.at + 1 + self.words
    }

    fn end_band(&self) -> usize {
        self.first_band + self.banding.bands()
    }
}

/// Keys of a band that lie side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BandRange {
    /// The band.
    pub band: u32,
    /// The keys.
    pub keys: RangeInclusive<u64>,
}

impl BandRange {
    /// Whether a record has such a key.
    #[inline]
    pub fn has(&self, layout: &Layout, record: &[u64]) -> bool {
        layout.key(record, self.band as usize).is_some_and(|key| self.keys.contains(&key))
    }
}

impl Settings {
    /// Where the parts of a record lie.
    ///
    /// # Errors
    /// A spec that cannot be sketched.
    pub fn layout(&self) -> Result<Layout> {
        let (mut words, mut bands) = (0, 0);
        let mut fields = Vec::new();
        for FieldSettings { name, spec, banding, weight, .. } in &self.fields {
            spec.validate()?;
            let field = FieldLayout {
                name: name.clone(),
                spec: Arc::new(spec.clone()),
                weight: *weight,
                banding: *banding,
                at: words,
                words: spec.words(),
                first_band: bands,
            };
            words += 1 + field.words;
            bands += banding.bands();
            fields.push(field);
        }
        let own_bands = bands;
        let mut containment = Vec::new();
        for (field, settings) in self.fields.iter().enumerate() {
            for banding in &settings.containment_bands {
                containment.push(ContainmentBands { field, banding: *banding, first_band: bands });
                bands += banding.bands();
            }
        }
        Ok(Layout { fields, containment, words, own_bands, bands })
    }
}

impl Layout {
    /// Words of a record.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Bands of all fields together, with those for containment.
    pub fn bands(&self) -> usize {
        self.bands
    }

    /// The share of the bands that are for containment.
    pub fn containment_share(&self) -> f64 {
        (self.bands - self.own_bands) as f64 / self.bands.max(1) as f64
    }

    pub(crate) fn fields(&self) -> &[FieldLayout] {
        &self.fields
    }

    /// The cuts of a field into bands for containment, the one with the most rows first.
    pub(crate) fn containment_bands(&self, field: usize) -> impl Iterator<Item = &ContainmentBands> {
        self.containment.iter().filter(move |bands| bands.field == field)
    }

    /// Hands every band key of a record to `visit`: those of the first field, then of the next, then those for containment. An empty field has none.
    #[inline]
    pub fn keys(&self, record: &[u64], mut visit: impl FnMut(BandKey)) {
        self.own_keys(record, &mut visit);
        for bands in &self.containment {
            let field = &self.fields[bands.field];
            bands.keys(field.sketch(record), field.size(record), &mut visit);
        }
    }

    /// [`Layout::keys`] without those for containment.
    #[inline]
    fn own_keys(&self, record: &[u64], mut visit: impl FnMut(BandKey)) {
        for field in self.fields.iter().filter(|field| field.size(record) > 0.0) {
            let words = field.sketch(record);
            field.banding.keys_within(words, 0..field.banding.bands(), |band, key| {
                visit(BandKey { band: (field.first_band + band) as u32, key });
            });
        }
    }

    /// How many keys a record has.
    #[cfg(feature = "redis")]
    pub(crate) fn n_keys(&self, record: &[u64]) -> usize {
        let mut n = 0;
        self.keys(record, |_| n += 1);
        n
    }

    /// True if two records share a band key of some fields.
    pub(crate) fn share_key(&self, fields: &[usize], a: &[u64], b: &[u64]) -> bool {
        self.share_prefix(fields, usize::MAX, a, b)
    }

    /// True if two records share the first rows of a band of some fields.
    #[inline]
    pub(crate) fn share_prefix(&self, fields: &[usize], rows: usize, a: &[u64], b: &[u64]) -> bool {
        fields.iter().map(|&i| &self.fields[i]).any(|field| {
            let is_there = field.size(a) > 0.0 && field.size(b) > 0.0;
            is_there && field.banding.share_prefix(field.sketch(a), field.sketch(b), rows)
        })
    }

    /// The band keys of some fields that similarity is searched by.
    #[inline]
    pub(crate) fn keys_of(&self, record: &[u64], fields: &[usize], mut visit: impl FnMut(BandKey)) {
        if fields.len() == self.fields.len() {
            return self.own_keys(record, visit);
        }
        let bands = |i: usize| {
            let field = &self.fields[i];
            field.first_band as u32..field.end_band() as u32
        };
        self.own_keys(record, |key| {
            if fields.iter().any(|&i| bands(i).contains(&key.band)) {
                visit(key);
            }
        });
    }

    /// The keys that begin with the first rows of the bands of some fields.
    pub(crate) fn prefixes(&self, record: &[u64], fields: &[usize], rows: usize) -> Vec<BandRange> {
        let fields = fields.iter().map(|&i| &self.fields[i]).filter(|field| field.size(record) > 0.0);
        let of_field = |field: &FieldLayout| {
            let range = |band: usize| BandRange {
                band: (field.first_band + band) as u32,
                keys: field.banding.prefix(field.banding.key(field.sketch(record), band), rows),
            };
            (0..field.banding.bands()).map(range).collect::<Vec<_>>()
        };
        fields.flat_map(of_field).collect()
    }

    /// Hands the keys of some bands of records to `visit`, with the place of the record and the band: all records of a band in order, and none where a field is empty.
    #[inline]
    pub(crate) fn keys_within(
        &self,
        records: &[u64],
        bands: Range<usize>,
        mut visit: impl FnMut(usize, usize, Option<u64>),
    ) {
        let records = || records.chunks_exact(self.words).enumerate();
        for field in &self.fields {
            let end = bands.end.min(field.end_band());
            let start = bands.start.clamp(field.first_band, end.max(field.first_band));
            let of_field = start - field.first_band..end.max(start) - field.first_band;
            if of_field.is_empty() {
                continue;
            }
            for (place, record) in records() {
                if field.size(record) > 0.0 {
                    field.banding.keys_within(field.sketch(record), of_field.clone(), |band, key| {
                        visit(place, field.first_band + band, Some(key));
                    });
                } else {
                    of_field.clone().for_each(|band| visit(place, field.first_band + band, None));
                }
            }
        }
        for band in bands.start.max(self.own_bands)..bands.end {
            records().for_each(|(place, record)| visit(place, band, self.containment_key(record, band)));
        }
    }

    /// The key of one band, if its field is not empty.
    #[inline]
    pub(crate) fn key(&self, record: &[u64], band: usize) -> Option<u64> {
        if band >= self.own_bands {
            return self.containment_key(record, band);
        }
        let field = match &self.fields[..] {
            [only] => only,
            fields => fields.iter().rev().find(|field| field.first_band <= band)?,
        };
        (field.size(record) > 0.0).then(|| field.banding.key(field.sketch(record), band - field.first_band))
    }

    fn containment_key(&self, record: &[u64], band: usize) -> Option<u64> {
        let bands = self.containment.iter().rev().find(|bands| bands.first_band <= band)?;
        let field = &self.fields[bands.field];
        let size = field.size(record);
        (size > 0.0)
            .then(|| bands.key(field.sketch(record), band - bands.first_band, containment::partition(size)))
    }
}
