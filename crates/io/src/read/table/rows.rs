//! Columns into documents and rejects.

use std::ops::Range;
use std::sync::Arc;

use super::column::{Column, Texts};
use crate::read::input::Input;
use crate::read::options::{MAX_BYTES, Plan};
use crate::read::reject::RejectReason;
use crate::read::rows::{Found, Row, Segment, StoredOrder};
use crate::read::span::{Piece, Span};
use crate::read::utf8;

/// The wanted columns of some rows, one for each slot. Only the order field may have none.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) of_slots: Vec<Option<Column>>,
    /// Which of the rows of the columns are meant.
    pub(super) rows: Range<usize>,
}

/// Documents and rejects of a table, as they come.
pub(super) struct Rows<'a> {
    plan: &'a Plan,
    input: Arc<Input>,
    /// The number of the first row, counted from 0.
    first: u64,
    /// How many rows were added.
    n: u32,
    decoded: String,
    found: Found,
}

impl<'a> Rows<'a> {
    pub(super) fn new(plan: &'a Plan, segment: &Segment) -> Self {
        Self {
            plan,
            input: Arc::clone(&segment.input),
            first: segment.first_offset,
            n: 0,
            decoded: String::new(),
            found: Found::default(),
        }
    }

    /// The next rows, for one and the same reason no documents.
    pub(super) fn reject(&mut self, n_rows: usize, reason: &RejectReason) {
        for _ in 0..n_rows {
            self.reject_one(reason.clone());
        }
    }

    /// The next rows.
    pub(super) fn add(&mut self, columns: &Columns) {
        let n_rows = columns.rows.len();
        let of_slots: Vec<_> = columns
            .of_slots
            .iter()
            .map(|column| column.as_ref().map(|column| column.slice(columns.rows.start, n_rows)))
            .collect();
        let mut texts: Vec<_> = of_slots.iter().map(|column| column.as_ref()?.texts()).collect();
        self.found.rows.reserve(n_rows);
        for row in 0..n_rows {
            match self.row(row, &of_slots, &mut texts) {
                Ok(document) => {
                    self.found.rows.push(document);
                    self.n += 1;
                }
                Err(reason) => self.reject_one(reason),
            }
        }
    }

    pub(super) fn finish(self) -> (String, Found) {
        (self.decoded, self.found)
    }

    fn reject_one(&mut self, reason: RejectReason) {
        let offset = self.first + u64::from(self.n);
        self.found.rejects.push(self.input.reject(offset + 1, offset, reason));
        self.n += 1;
    }

    fn row(
        &mut self,
        row: usize,
        columns: &[Option<Column>],
        texts: &mut [Option<Texts<'_>>],
    ) -> Result<Row, RejectReason> {
        let fields = &self.plan.fields;
        let text = match fields.text_slots().len() {
            1 => self.copy(row, 0, texts)?,
            _ => self.joined(row, texts)?,
        };
        let id = match fields.id_slot() {
            None => None,
            Some(slot) if texts[slot].is_some() => Some(self.copy(row, slot, texts)?),
            Some(slot) => Some(self.integer(row, slot, columns)?),
        };
        if let Some(slot) = fields.order_slot() {
            let order = self.order(row, slot, columns, texts);
            self.found.orders.push(order);
        }
        Ok(Row { segment: 0, line: self.n, raw: Span::default(), text, quoted: Span::default(), id })
    }

    /// One text, copied once for all rows that share it.
    fn copy(
        &mut self,
        row: usize,
        slot: usize,
        texts: &mut [Option<Texts<'_>>],
    ) -> Result<Piece, RejectReason> {
        let text = self.text(row, slot, texts)?;
        let Some(of_slot) = &mut texts[slot] else { return Err(self.null(slot)) };
        if let Some(shared) = of_slot.shared(row) {
            return Ok(shared);
        }
        self.check_size(text.len())?;
        let from = self.decoded.len();
        self.decoded.push_str(checked(text)?);
        let piece = Piece::decoded(from, self.decoded.len());
        of_slot.share(row, piece);
        Ok(piece)
    }

    /// All text fields with newlines between them; nothing if all are empty.
    fn joined(&mut self, row: usize, texts: &[Option<Texts<'_>>]) -> Result<Piece, RejectReason> {
        let slots = self.plan.fields.text_slots();
        let mut n_bytes = slots.len() - 1;
        for slot in slots.clone() {
            let text = self.text(row, slot, texts)?;
            checked(text)?;
            n_bytes += text.len();
        }
        self.check_size(n_bytes)?;
        let from = self.decoded.len();
        let is_empty = n_bytes < slots.len();
        for slot in slots.filter(|_| !is_empty) {
            if slot > 0 {
                self.decoded.push('\n');
            }
            self.decoded.push_str(checked(self.text(row, slot, texts)?)?);
        }
        Ok(Piece::decoded(from, self.decoded.len()))
    }

    fn text<'t>(
        &self,
        row: usize,
        slot: usize,
        texts: &[Option<Texts<'t>>],
    ) -> Result<&'t [u8], RejectReason> {
        texts[slot].as_ref().and_then(|texts| texts.get(row)).ok_or_else(|| self.null(slot))
    }

    fn integer(
        &mut self,
        row: usize,
        slot: usize,
        columns: &[Option<Column>],
    ) -> Result<Piece, RejectReason> {
        let from = self.decoded.len();
        let column = columns[slot].as_ref();
        if !column.is_some_and(|column| column.write_integer(row, &mut self.decoded)) {
            return Err(self.null(slot));
        }
        Ok(Piece::decoded(from, self.decoded.len()))
    }

    fn order(
        &mut self,
        row: usize,
        slot: usize,
        columns: &[Option<Column>],
        texts: &mut [Option<Texts<'_>>],
    ) -> StoredOrder {
        if texts[slot].is_some() {
            return match self.copy(row, slot, texts) {
                Ok(text) => StoredOrder::Text(text),
                Err(_) => StoredOrder::None,
            };
        }
        let number = columns[slot].as_ref().and_then(|column| column.number(row));
        number.map_or(StoredOrder::None, StoredOrder::number)
    }

    fn null(&self, slot: usize) -> RejectReason {
        let is_id = self.plan.fields.id_slot() == Some(slot);
        let expected = if is_id { "a string or an integer" } else { "a string" };
        RejectReason::WrongType { field: self.plan.fields.name(slot), expected, got: "null" }
    }

    /// A text has at most `max_line_bytes`, and all texts of a batch at most what positions of 32 bits can reach.
    fn check_size(&self, n_bytes: usize) -> Result<(), RejectReason> {
        let max = self.plan.max_line_bytes.min((2 * MAX_BYTES).saturating_sub(self.decoded.len()));
        if n_bytes <= max {
            return Ok(());
        }
        Err(RejectReason::TooLong { what: "text", bytes: n_bytes as u64, max: max as u64 })
    }
}

fn checked(bytes: &[u8]) -> Result<&str, RejectReason> {
    utf8::check(bytes).map_err(|good| RejectReason::InvalidUtf8 { column: good as u64 + 1 })
}
