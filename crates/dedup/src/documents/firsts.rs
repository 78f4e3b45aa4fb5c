//! Which batch has a row: batches have any number of rows each.

use super::Row;

/// Rows between two entries of the index, far fewer than most batches have.
const STEP: u32 = 64;

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
        let mut batch = self.index[(row.0 / STEP) as usize] as usize;
        // Mostly it is the batch that has the first of these rows.
        while self.firsts.get(batch + 1).is_some_and(|next| *next <= row) {
            batch += 1;
        }
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
