//! The tables that users see: pairs and evidence, with columns of `pairs.parquet` and `evidence.parquet`.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use benzer_dedup::decide::Removal;
use benzer_dedup::tables::{Column, EvidenceColumn, PairsColumn};
use benzer_io::result_table::{Cell, Kind};
use benzer_join::{Edge, Estimates, Rank};

use super::buckets::name;
use super::columns::Rows;
use super::nodes::counted;
use super::out::batch;
use super::{Settings, Stage, kind};
use crate::error::Result;

pub(super) struct Pairs {
    pub settings: Settings,
}

impl Stage for Pairs {
    fn push(&mut self, rows: &RecordBatch) -> Result<Vec<RecordBatch>> {
        // The others are of documents that have ranks.
        let mut table = TableBuilder::new(PairsColumn::before(PairsColumn::RankA));
        for (_, kind, [later, earlier, counts]) in Rows::of(rows)?.iter() {
            let [intersection, union, _] = counted(counts)?;
            let [id_a, id_b] = [earlier, later].map(|place| name(&self.settings, place));
            let edge = Edge { intersection, union, ..Edge::default() };
            table.push(|column| match column {
                PairsColumn::IdA => Cell::Text(&id_a),
                PairsColumn::IdB => Cell::Text(&id_b),
                PairsColumn::Intersection => Cell::Number(intersection),
                PairsColumn::Union => Cell::Number(union),
                PairsColumn::Similarity => Cell::Share(edge.similarity()),
                PairsColumn::ExactCopy => Cell::Flag(kind == kind::COPY),
                _ => Cell::Null,
            });
        }
        Ok(vec![table.finish()?])
    }
}

const ROWS: usize = 16 << 10;

/// The reasons for removals, as they are collected.
pub(super) struct Evidence {
    settings: Settings,
    estimates: Estimates,
    table: TableBuilder<EvidenceColumn>,
    batches: Vec<RecordBatch>,
}

impl Evidence {
    pub(super) fn new(settings: &Settings) -> Result<Self> {
        Ok(Self {
            settings: settings.clone(),
            estimates: Estimates::new(&settings.spec)?,
            // The others are of documents that have files.
            table: TableBuilder::new(EvidenceColumn::before(EvidenceColumn::RemovedFile)),
            batches: Vec::new(),
        })
    }

    pub(super) fn push(&mut self, removal: &Removal, places: &[Arc<[u8]>], equal: u32) -> Result<()> {
        use EvidenceColumn as C;
        let Removal { edge, rule } = removal;
        let id = |rank: Rank| name(&self.settings, &places[rank.index()]);
        let (removed_id, kept_id) = (id(removal.removed()), id(removal.kept()));
        // Sketches of texts without elements say nothing.
        let estimate = self.estimates.of(equal).filter(|_| edge.union > 0);
        self.table.push(|column| match column {
            C::RemovedId => Cell::Text(&removed_id),
            C::KeptId => Cell::Text(&kept_id),
            C::Similarity => Cell::Share(edge.similarity()),
            C::Intersection => Cell::Number(edge.intersection),
            C::Union => Cell::Number(edge.union),
            C::Estimate => estimate.map_or(Cell::Null, |measured| Cell::Share(measured.value)),
            C::Low => estimate.map_or(Cell::Null, |measured| Cell::Share(measured.low)),
            C::High => estimate.map_or(Cell::Null, |measured| Cell::Share(measured.high)),
            C::Rule => Cell::Text(rule.name()),
            _ => Cell::Null,
        });
        if self.table.n == ROWS {
            self.batches.push(self.table.finish()?);
        }
        Ok(())
    }

    pub(super) fn take(&mut self) -> Result<Vec<RecordBatch>> {
        if self.table.n > 0 {
            self.batches.push(self.table.finish()?);
        }
        Ok(std::mem::take(&mut self.batches))
    }
}

/// Some columns of a table, as they are collected.
struct TableBuilder<C> {
    columns: Vec<(C, Builder)>,
    n: usize,
}

/// Cells of a column. Engines have no numbers without a sign.
enum Builder {
    Text(StringBuilder),
    Number(Int32Builder),
    Row(Int64Builder),
    Share(Float64Builder),
    Flag(BooleanBuilder),
}

impl<C: Column> TableBuilder<C> {
    fn new(columns: &[C]) -> Self {
        let columns = columns.iter().map(|column| (*column, Builder::new(column.kind())));
        Self { columns: columns.collect(), n: 0 }
    }

    fn push<'a>(&mut self, mut cell: impl FnMut(C) -> Cell<'a>) {
        self.columns.iter_mut().for_each(|(column, cells)| cells.push(cell(*column)));
        self.n += 1;
    }

    fn finish(&mut self) -> Result<RecordBatch> {
        self.n = 0;
        batch(self.columns.iter_mut().map(|(column, cells)| (column.name(), cells.finish())))
    }
}

impl Builder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Number => Self::Number(Int32Builder::new()),
            Kind::Row => Self::Row(Int64Builder::new()),
            Kind::Share => Self::Share(Float64Builder::new()),
            Kind::Flag => Self::Flag(BooleanBuilder::new()),
        }
    }

    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::Text(cells), Cell::Text(text)) => cells.append_value(text),
            (Self::Number(cells), Cell::Number(number)) => cells.append_value(number as i32),
            (Self::Row(cells), Cell::Row(row)) => cells.append_value(row as i64),
            (Self::Share(cells), Cell::Share(share)) => cells.append_value(share),
            (Self::Flag(cells), Cell::Flag(flag)) => cells.append_value(flag),
            (Self::Text(cells), _) => cells.append_null(),
            (Self::Number(cells), _) => cells.append_null(),
            (Self::Row(cells), _) => cells.append_null(),
            (Self::Share(cells), _) => cells.append_null(),
            (Self::Flag(cells), _) => cells.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(cells) => Arc::new(cells.finish()),
            Self::Number(cells) => Arc::new(cells.finish()),
            Self::Row(cells) => Arc::new(cells.finish()),
            Self::Share(cells) => Arc::new(cells.finish()),
            Self::Flag(cells) => Arc::new(cells.finish()),
        }
    }
}
