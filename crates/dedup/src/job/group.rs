//! The keep order, and documents of the same text.

use std::collections::HashMap;

use benzer_flow::{Progress, ThreadProgress};
use benzer_join::bands;
use benzer_join::verify::{ElementCounter, Texts};
use benzer_join::{Edge, Rank};

use super::setup::Job;
use crate::corpus::{Corpus, CorpusView};
use crate::documents::{DocumentPlace, Documents, Row, RowTable};
use crate::error::Result;
use crate::found_old::FoundOld;
use crate::progress::Stage;
use crate::ranking::Ranking;
use crate::request::Measure;
use crate::summary::Summary;

/// One document of each text, in keep order, and which others are copies of them. Empty texts are left out.
#[derive(Default)]
pub(super) struct Distinct {
    /// Those that have features.
    pub compared: Vec<Rank>,
    /// Those that have none, and can only be copies.
    pub wordless: Vec<Rank>,
    /// Edges from copies to the first of their text.
    pub copies: Vec<Edge>,
}

impl Distinct {
    /// Takes a document, unless its text is empty.
    fn push(&mut self, rank: Rank, place: &DocumentPlace) -> bool {
        match (place.shingles, place.text_bytes) {
            (0, 0) => return false,
            (0, _) => self.wordless.push(rank),
            _ => self.compared.push(rank),
        }
        true
    }

    fn ranks(&mut self) -> [&mut Vec<Rank>; 2] {
        [&mut self.compared, &mut self.wordless]
    }

    pub fn remove_copies(&mut self) {
        let Self { compared, wordless, copies } = self;
        for ranks in [compared, wordless] {
            let mut gone = copies.iter().map(|copy| copy.later).peekable();
            ranks.retain(|rank| {
                while gone.next_if(|gone| gone < rank).is_some() {}
                gone.peek() != Some(rank)
            });
        }
    }
}

impl Job<'_> {
    /// The keep order, the documents to compare, and the copies as edges to the first of their text.
    pub fn group(&self, corpus: &Corpus, summary: &mut Summary) -> Result<(Ranking, Distinct)> {
        self.observer.begin(Stage::Group, Some(corpus.documents.len().into()));
        let ids = self.request.input.read.id_field.is_some();
        let progress = Progress::new(self.observer);
        let sorter = || self.workspace().sorter(2);
        let ranking = Ranking::new(&corpus.documents, &self.request.keep, ids, sorter, &progress)?;
        summary.counts.repeated_ids = ranking.repeated_ids.into();
        if let Some(example) = ranking.examples.first() {
            summary.warnings.push(format!(
                "{} documents have an id that another one has (such as `{example}`); they are told apart by their place",
                ranking.repeated_ids
            ));
        }
        let view = CorpusView { corpus, ranking: &ranking, found_old: &FoundOld::default() };
        let mut distinct = self.distinct(&view, &progress)?;
        if self.request.compare.measure == Measure::Containment {
            // Documents of the input are not compared with each other.
            distinct.copies.clear();
        }
        distinct.remove_copies();
        Ok((ranking, distinct))
    }

    /// The documents that have a text, and which of them have that of an earlier one: all elements are in both.
    fn distinct(&self, view: &CorpusView<'_>, progress: &Progress<'_>) -> Result<Distinct> {
        let (mut counter, mut sizes) = (ElementCounter::default(), HashMap::new());
        // How many there are is not known: it is only asked whether the run shall stop.
        let mut steps = ThreadProgress::new(progress, 1, 0);
        let equal = |first: Rank, other: Rank| {
            steps.step()?;
            let mut is_equal = false;
            view.with_texts(first, other, &mut |text, other| {
                is_equal = text == other;
                if is_equal {
                    sizes.entry(first).or_insert_with(|| counter.count(text, &self.ingest.shingler));
                }
            })?;
            Ok(is_equal)
        };
        let mut distinct = Distinct::default();
        let copies = match &view.corpus.documents {
            Documents::Memory(table) => copies_in_memory(view, table, &mut distinct, equal)?,
            Documents::Disk(_) => self.copies_on_disk(view, &mut distinct, equal)?,
        };
        let edge = |(later, earlier)| {
            let n = sizes[&earlier];
            Edge { later, earlier, intersection: n, union: n }
        };
        distinct.copies = copies.into_iter().map(edge).collect();
        Ok(distinct)
    }

    /// The pairs of documents on disk that are equal, each with the first of its text.
    fn copies_on_disk(
        &self,
        view: &CorpusView<'_>,
        distinct: &mut Distinct,
        equal: impl FnMut(Rank, Rank) -> benzer_flow::Result<bool>,
    ) -> Result<Vec<(Rank, Rank)>> {
        let mut sorter = self.workspace().sorter::<(u128, Rank)>(2);
        for (record, row) in view.corpus.documents.rows()?.zip((0..).map(Row)) {
            let (hash, place) = record?;
            let rank = view.ranking.rank(row);
            if distinct.push(rank, &place) {
                sorter.push((hash, rank))?;
            }
        }
        distinct.ranks().into_iter().for_each(|ranks| ranks.sort_unstable());
        Ok(bands::copies_in_order(sorter.finish()?.map(|record| Ok(record?)), equal)?)
    }
}

/// The pairs of documents in memory that are equal, each with the first of its text.
fn copies_in_memory(
    view: &CorpusView<'_>,
    table: &RowTable,
    distinct: &mut Distinct,
    mut equal: impl FnMut(Rank, Rank) -> benzer_flow::Result<bool>,
) -> Result<Vec<(Rank, Rank)>> {
    let hash = |rank: Rank| table.hash(view.ranking.row(rank));
    for rank in Rank::all(view.len()) {
        distinct.push(rank, &table.place(view.ranking.row(rank)));
    }
    let mut copies = Vec::new();
    // A text with words is not equal to one without.
    for ranks in distinct.ranks().into_iter().filter(|ranks| !ranks.is_empty()) {
        let prefetch = |rank, what| view.prefetch(rank, what);
        copies.extend(bands::copies(ranks, hash, prefetch, &mut equal)?);
    }
    copies.sort_unstable();
    Ok(copies)
}
