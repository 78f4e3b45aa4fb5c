//! Which batch has a row: batches have any number of rows each.

use super::Row;

/// Rows between two entries of the index, fewer than most batches have.
const STEP: u32 = 256;

/// The first row of each batch.
#[derive(Debug, Default)]
pub(crate) struct Firsts {
    firsts: Vec<Row>,
    /// Of every so many rows the batch that has the first of them.
    index: Vec<u32>,
    n: u32,
}

impl Firsts {
    /// Adds a batch of so many rows.
    pub fn push(&mut self, n: u32) {
        let end = self.n + n;
        self.index.resize(end.div_ceil(STEP) as usize, self.firsts.len() as u32);
        self.firsts.push(Row(self.n));
        self.n = end;
    }

    /// The first row of a batch.
    pub fn first(&self, batch: usize) -> Row {
        self.firsts[batch]
    }

    /// The batch that has a row, and the place of the row in it.
    #[inline]
    pub fn find(&self, row: Row) -> (usize, usize) {
        let at = (row.0 / STEP) as usize;
        let start = self.index[at] as usize;
        let first = self.firsts[start];
        // Mostly it is the batch that has the first of its rows, or the last.
        if self.firsts.get(start + 1).is_none_or(|next| row < *next) {
            return (start, (row.0 - first.0) as usize);
        }
        let end = self.index.get(at + 1).map_or(self.firsts.len(), |end| *end as usize + 1);
        let batch = start + self.firsts[start..end].partition_point(|first| *first <= row) - 1;
        (batch, (row.0 - self.firsts[batch].0) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_in_batches_of_any_length() {
        let mut firsts = Firsts::default();
        let lengths = [1, 3, 0, 255, 256, 257, 1, 1, 1, 10_000, 0, 2, 600, 0];
        lengths.iter().for_each(|&n| firsts.push(n));
        let rows =
            lengths.iter().enumerate().flat_map(|(batch, &n)| (0..n as usize).map(move |i| (batch, i)));
        let found = (0..lengths.iter().sum()).map(|row| firsts.find(Row(row)));
        assert!(found.eq(rows));
    }
}
