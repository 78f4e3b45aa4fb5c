//! Old documents that new ones matched. They take part in the results as if they had the ranks behind those of the input.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::archive::{Archives, OldDocument};
use crate::error::{Error, Result};
use benzer_join::Rank;
use benzer_storage::{self as files, Files, Manifest};

/// The list of them, for a resumed run.
const NAME: &str = "guests.bin";

#[derive(Debug)]
pub(crate) struct FoundOld {
    pub archives: Archives,
    /// How many documents the input has: the rank of the first of them.
    first: u32,
    /// In the order in which they were found.
    found: Vec<OldDocument>,
    numbers: HashMap<OldDocument, Rank>,
    /// The place of each among all of them in keep order.
    order: Vec<u32>,
    /// Of one those of the same text, as far as their pairs are written.
    twins: HashMap<Rank, Vec<Rank>>,
}

impl Default for FoundOld {
    /// A run without old documents: no rank is one's.
    fn default() -> Self {
        Self::new(Archives::default(), u32::MAX)
    }
}

impl FoundOld {
    /// None yet, of these archives, in a run of so many documents.
    pub fn new(archives: Archives, first: u32) -> Self {
        Self {
            archives,
            first,
            found: Vec::new(),
            numbers: HashMap::new(),
            order: Vec::new(),
            twins: HashMap::new(),
        }
    }

    /// The rank of an old document, which is one of them from here on.
    pub fn rank(&mut self, old: OldDocument) -> Result<Rank> {
        let next = self.found.len() as u64 + u64::from(self.first);
        let next = u32::try_from(next).map(Rank).map_err(|_| {
            Error::parameter("input", "at most 4,294,967,295 documents with those they match", "more")
        })?;
        let rank = *self.numbers.entry(old).or_insert(next);
        if rank == next {
            self.found.push(old);
        }
        Ok(rank)
    }

    /// Other old documents with the text of one are found, too. The pairs of the first `max` of all of them are to be written.
    pub fn add_twins(&mut self, rank: Rank, others: &[OldDocument], max: usize) -> Result<()> {
        let ranks: Vec<Rank> = others.iter().map(|&old| self.rank(old)).collect::<Result<_>>()?;
        self.twins.insert(rank, ranks[..ranks.len().min(max - 1)].to_vec());
        Ok(())
    }

    pub fn twins(&self, rank: Rank) -> &[Rank] {
        self.twins.get(&rank).map_or(&[], Vec::as_slice)
    }

    pub fn has_twins(&self) -> bool {
        !self.twins.is_empty()
    }

    pub fn ranks(&self) -> impl ExactSizeIterator<Item = Rank> {
        (self.first..self.first.saturating_add(self.found.len() as u32)).map(Rank)
    }

    /// The ranks of the first `n` in keep order, which is known.
    pub fn firsts(&self, n: usize) -> Vec<Rank> {
        let mut firsts: Vec<Rank> = self.ranks().filter(|rank| (self.place(*rank) as usize) < n).collect();
        firsts.sort_unstable_by_key(|rank| self.place(*rank));
        firsts
    }

    /// Ends the search: from here on their keep order is known.
    pub fn settle(&mut self) {
        let mut sorted: Vec<u32> = (0..self.found.len() as u32).collect();
        sorted.sort_unstable_by_key(|&i| self.found[i as usize]);
        self.order = vec![0; sorted.len()];
        sorted.iter().zip(0..).for_each(|(&i, place)| self.order[i as usize] = place);
        self.numbers = HashMap::new();
    }

    /// The old document at a rank, if it is one's.
    pub fn at(&self, rank: Rank) -> Option<OldDocument> {
        rank.0.checked_sub(self.first).map(|i| self.found[i as usize])
    }

    /// The place of a document in the keep order of old documents and input.
    pub fn place(&self, rank: Rank) -> u32 {
        match rank.0.checked_sub(self.first) {
            Some(i) => self.order[i as usize],
            None => rank.0 + self.found.len() as u32,
        }
    }

    pub fn save(&self, files: &Files, folder: &Path, manifest: &mut Manifest) -> Result<()> {
        let mut file = files.create(&folder.join(NAME))?;
        for old in &self.found {
            file.append(&old.packed().to_le_bytes())?;
        }
        manifest.add_file(NAME, file.commit()?);
        Ok(())
    }

    /// Takes over the list of an interrupted run.
    pub fn load(&mut self, folder: &Path) -> Result<()> {
        let path = folder.join(NAME);
        let mut bytes = Vec::new();
        File::open(&path)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .map_err(|error| files::Error::disk("read", &path, error))?;
        self.found = bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|old| OldDocument::unpacked(u64::from_le_bytes(*old)))
            .collect();
        self.numbers = self.found.iter().copied().zip((self.first..).map(Rank)).collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::OldNumber;

    #[test]
    fn found_documents_come_before_the_input_in_the_order_of_their_archives() {
        let mut found_old = FoundOld::new(Archives::default(), 10);
        let old = |segment, number| OldDocument { segment, number: OldNumber(number) };
        let ranks: Vec<Rank> =
            [old(1, 4), old(0, 9), old(1, 4), old(1, 0)].map(|old| found_old.rank(old).unwrap()).into();
        assert_eq!(ranks, [10, 11, 10, 12].map(Rank));
        found_old.settle();
        assert_eq!([11, 12, 10, 0, 9].map(|rank| found_old.place(Rank(rank))), [0, 1, 2, 3, 12]);
        assert_eq!((found_old.at(Rank(9)), found_old.at(Rank(12))), (None, Some(old(1, 0))));
    }
}
