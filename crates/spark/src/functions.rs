//! Functions of columns, for queries: one value for each row.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{BinaryBuilder, Float64Builder, Int64Builder, ListBuilder};
use benzer_core::estimate::of;
use benzer_core::field::text::Shingler;
use benzer_core::sketch::{Sketch, Sketcher};

use super::columns::Bytes;
use super::out::batch;
use super::{Settings, Stage};
use crate::error::{Error, Result};

/// `text` to `sketch`: the encoded sketch.
pub(super) struct Sketches {
    shingler: Shingler,
    sketcher: Box<dyn Sketcher>,
}

impl Sketches {
    pub(super) fn new(settings: Settings) -> Result<Self> {
        Ok(Self { shingler: settings.shingler()?, sketcher: settings.sketcher()? })
    }
}

impl Stage for Sketches {
    fn push(&mut self, rows: &RecordBatch) -> Result<Vec<RecordBatch>> {
        let texts = Bytes::of(rows, "text")?;
        let mut sketches = BinaryBuilder::new();
        for row in 0..rows.num_rows() {
            let sketch = texts.text(row).map(|text| self.sketcher.sketch(&self.shingler.features(text)));
            sketches.append_option(sketch.transpose()?.map(|sketch| sketch.encode()));
        }
        Ok(vec![batch([("sketch", Arc::new(sketches.finish()) as _)])?])
    }
}

/// `a` and `b`, encoded sketches, to `value`, `error`, `low` and `high`. Two empty sets have no similarity.
pub(super) struct Jaccard;

impl Stage for Jaccard {
    fn push(&mut self, rows: &RecordBatch) -> Result<Vec<RecordBatch>> {
        let columns = [Bytes::of(rows, "a")?, Bytes::of(rows, "b")?];
        let mut estimates: [Float64Builder; 4] = Default::default();
        for row in 0..rows.num_rows() {
            let bar = match (decoded(&columns[0], row)?, decoded(&columns[1], row)?) {
                (Some(a), Some(b)) => of::jaccard(&a, &b)?.measured().copied(),
                _ => None,
            };
            let bar = bar.map(|m| [m.value, m.standard_error, m.low, m.high]);
            for (i, column) in estimates.iter_mut().enumerate() {
                column.append_option(bar.map(|bar| bar[i]));
            }
        }
        let names = ["value", "error", "low", "high"];
        let columns = estimates.iter_mut().map(|column| Arc::new(column.finish()) as _);
        Ok(vec![batch(names.into_iter().zip(columns))?])
    }
}

/// `sketch` to `keys`: the key of each band.
pub(super) struct Keys {
    pub settings: Settings,
}

impl Stage for Keys {
    fn push(&mut self, rows: &RecordBatch) -> Result<Vec<RecordBatch>> {
        let sketches = Bytes::of(rows, "sketch")?;
        let mut keys = ListBuilder::new(Int64Builder::new());
        for row in 0..rows.num_rows() {
            let Some(sketch) = decoded(&sketches, row)? else {
                keys.append_null();
                continue;
            };
            if **sketch.spec() != self.settings.spec {
                return Err(Error::from(benzer_core::Error::SpecMismatch {
                    expected: self.settings.spec.to_string(),
                    got: sketch.spec().to_string(),
                }));
            }
            // A document without features has no keys: it matches nothing.
            if !sketch.is_empty() {
                self.settings
                    .banding
                    .keys(sketch.words())
                    .for_each(|key| keys.values().append_value(key.key as i64));
            }
            keys.append(true);
        }
        Ok(vec![batch([("keys", Arc::new(keys.finish()) as _)])?])
    }
}

fn decoded(column: &Bytes, row: usize) -> Result<Option<Sketch>> {
    Ok(column.get(row).map(Sketch::decode).transpose()?)
}
