//! The tables that users see: pairs and evidence, with the columns of `pairs.parquet` and `evidence.parquet`.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int32Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};

use super::buckets::name;
use super::columns::Rows;
use super::nodes::counted;
use super::out::batch;
use super::{Settings, Stage, kind};
use crate::error::Result;
use benzer_dedup::decide::{Removal, Rule};
use benzer_dedup::write::Estimates;
use benzer_join::Edge;

/// Edges and copies as pairs.
pub(super) struct Pairs {
    settings: Settings,
}

impl Pairs {
    pub(super) fn new(settings: Settings) -> Self {
        Self { settings }
    }
}

impl Stage for Pairs {
    fn push(&mut self, rows: &RecordBatch) -> Result<Vec<RecordBatch>> {
        let mut ids = [StringBuilder::new(), StringBuilder::new()];
        let mut counts = [Int32Builder::new(), Int32Builder::new()];
        let (mut similarity, mut is_copy) = (Float64Builder::new(), BooleanBuilder::new());
        for (_, kind, [later, earlier, counted_bytes]) in Rows::of(rows)?.iter() {
            let [intersection, union, _] = counted(counted_bytes)?;
            ids[0].append_value(name(&self.settings, earlier));
            ids[1].append_value(name(&self.settings, later));
            counts[0].append_value(intersection as i32);
            counts[1].append_value(union as i32);
            similarity.append_value(Edge { intersection, union, ..Edge::default() }.similarity());
            is_copy.append_value(kind == kind::COPY);
        }
        let [mut id_a, mut id_b] = ids;
        let [mut intersection, mut union] = counts;
        let columns: [(&str, ArrayRef); 6] = [
            ("id_a", Arc::new(id_a.finish())),
            ("id_b", Arc::new(id_b.finish())),
            ("intersection", Arc::new(intersection.finish())),
            ("union", Arc::new(union.finish())),
            ("similarity", Arc::new(similarity.finish())),
            ("exact_copy", Arc::new(is_copy.finish())),
        ];
        Ok(vec![batch(columns)?])
    }
}

/// Rows of a batch.
const ROWS: usize = 16 << 10;

/// The reasons for removals, as they are collected.
pub(super) struct Evidence {
    settings: Settings,
    estimates: Estimates,
    ids: [StringBuilder; 2],
    counts: [Int32Builder; 2],
    shares: [Float64Builder; 4],
    rules: StringBuilder,
    n: usize,
    batches: Vec<RecordBatch>,
}

impl Evidence {
    pub(super) fn new(settings: &Settings) -> Result<Self> {
        Ok(Self {
            settings: settings.clone(),
            estimates: Estimates::new(&settings.spec)?,
            ids: Default::default(),
            counts: Default::default(),
            shares: Default::default(),
            rules: StringBuilder::new(),
            n: 0,
            batches: Vec::new(),
        })
    }

    pub(super) fn push(&mut self, removal: &Removal, places: &[Arc<[u8]>], equal: u32) -> Result<()> {
        let Removal { edge, rule } = removal;
        for (column, rank) in self.ids.iter_mut().zip([edge.later, edge.earlier]) {
            column.append_value(name(&self.settings, &places[rank as usize]));
        }
        let counts = [edge.intersection, edge.union];
        self.counts.iter_mut().zip(counts).for_each(|(column, count)| column.append_value(count as i32));
        // Sketches of texts without elements say nothing.
        let estimate = self.estimates.of(equal).filter(|_| edge.union > 0);
        let shares = [
            Some(edge.similarity()),
            estimate.map(|measured| measured.value),
            estimate.map(|measured| measured.low),
            estimate.map(|measured| measured.high),
        ];
        self.shares.iter_mut().zip(shares).for_each(|(column, share)| column.append_option(share));
        self.rules.append_value(Rule::name(*rule));
        self.n += 1;
        if self.n == ROWS { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> Result<()> {
        self.n = 0;
        let [removed, kept] = self.ids.each_mut().map(|column| Arc::new(column.finish()));
        let [intersection, union] = self.counts.each_mut().map(|column| Arc::new(column.finish()));
        let [similarity, estimate, low, high] =
            self.shares.each_mut().map(|column| Arc::new(column.finish()));
        let columns: [(&str, ArrayRef); 9] = [
            ("removed_id", removed),
            ("kept_id", kept),
            ("similarity", similarity),
            ("intersection", intersection),
            ("union", union),
            ("estimate", estimate),
            ("low", low),
            ("high", high),
            ("rule", Arc::new(self.rules.finish())),
        ];
        self.batches.push(batch(columns)?);
        Ok(())
    }

    pub(super) fn take(&mut self) -> Result<Vec<RecordBatch>> {
        if self.n > 0 {
            self.close()?;
        }
        Ok(std::mem::take(&mut self.batches))
    }
}
