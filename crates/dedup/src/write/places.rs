//! `places.parquet`: file and row of the kept documents that are in `pairs.parquet` and stand for nobody. The places of all others in it are in `evidence.parquet`.
//!
//! At a higher threshold such a document may stand for others, or be removed: what is similar to it may be kept then.

use crate::corpus::CorpusView;
use crate::decide::Removal;
use crate::edges::Edges;
use crate::error::Result;
use crate::tables::{Column, PlacesColumn};
use benzer_io::result_table::{Cell, Table};
use benzer_join::Rank;
use benzer_storage::FileWriter;

/// Writes one row for each such document, in keep order.
pub(crate) fn places(
    out: FileWriter,
    edges: &Edges,
    removals: &[Removal],
    view: &CorpusView<'_>,
) -> Result<FileWriter> {
    let mut table = Table::new(out, &PlacesColumn::declarations())?;
    for rank in similar(edges, removals)?.ranks() {
        let (file, row) = view.file_and_row(rank)?;
        let (id, place) = (view.id(rank)?, view.found_old.place(rank));
        table.push(PlacesColumn::row(|column| match column {
            PlacesColumn::Id => Cell::Text(&id),
            PlacesColumn::File => Cell::Text(&file),
            PlacesColumn::Row => Cell::Row(row),
            PlacesColumn::Rank => Cell::Number(place),
        }))?;
    }
    Ok(table.finish()?)
}

/// The documents that have an edge and no part in a removal.
fn similar(edges: &Edges, removals: &[Removal]) -> Result<Bits> {
    let (mut similar, mut last) = (Bits::default(), None);
    edges.parts(|edges| {
        for edge in edges {
            similar.insert(edge.earlier);
            // The edges of a document come together.
            if last != Some(edge.later) {
                last = Some(edge.later);
                similar.insert(edge.later);
            }
        }
        Ok(())
    })?;
    for removal in removals {
        similar.remove(removal.removed());
        similar.remove(removal.kept());
    }
    Ok(similar)
}

/// A bit for each rank up to the last one that is there.
#[derive(Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn insert(&mut self, rank: Rank) {
        let word = rank.index() / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (rank.0 % 64);
    }

    fn remove(&mut self, rank: Rank) {
        if let Some(word) = self.0.get_mut(rank.index() / 64) {
            *word &= !(1 << (rank.0 % 64));
        }
    }

    fn ranks(&self) -> impl Iterator<Item = Rank> {
        let bits = |(i, word): (u32, u64)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| Rank(64 * i + bit))
        };
        (0..).zip(self.0.iter().copied()).filter(|(_, word)| *word != 0).flat_map(bits)
    }
}
