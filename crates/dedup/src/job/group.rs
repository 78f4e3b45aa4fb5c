//! The keep order, and documents of the same text.

use benzer_flow::{Progress, Workers};
use benzer_join::bands;
use benzer_join::verify::{ElementCounter, Texts};
use benzer_join::{Edge, Rank};

use super::setup::Job;
use crate::corpus::{Corpus, CorpusView};
use crate::documents::DocumentPlace;
use crate::error::Result;
use crate::found_old::FoundOld;
use crate::progress::Stage;
use crate::ranking::{Ranking, in_ranges};
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
        let workers = self.workers(&progress);
        let (documents, room) = (&corpus.documents, self.budget.sorting as u64);
        let ranking = Ranking::new(documents, &self.request.keep, ids, room, workers);
        if ids {
            let repeated = ranking.repeated_ids(documents, room, workers)?;
            summary.counts.repeated_ids = repeated.n.into();
            summary.warnings.extend(repeated.examples.first().map(|example| {
                format!(
                    "{} documents have an id that another one has (such as `{example}`); they are told apart by their place",
                    repeated.n
                )
            }));
        }
        let view = CorpusView { corpus, ranking: &ranking, found_old: &FoundOld::default() };
        let mut distinct = self.distinct(&view, workers)?;
        if self.request.compare.measure == Measure::Containment {
            // Documents of the input are not compared with each other.
            distinct.copies.clear();
        }
        distinct.remove_copies();
        Ok((ranking, distinct))
    }

    /// The documents that have a text, and which of them have that of an earlier one: all elements are in both.
    fn distinct(&self, view: &CorpusView<'_>, workers: Workers<'_>) -> Result<Distinct> {
        let count_if_equal = |Counted { of, n, counter }: &mut Counted, first: Rank, other: Rank| {
            let mut is_equal = false;
            view.with_texts(first, other, &mut |text, other| {
                is_equal = text == other;
                if is_equal && *of != Some(first) {
                    (*of, *n) = (Some(first), counter.count(text, &self.ingest.shingler));
                }
            })?;
            Ok(is_equal.then_some(*n))
        };
        let mut distinct = Distinct::default();
        let room = self.budget.sorting as u64;
        distinct.copies = copies(view, &mut distinct, count_if_equal, room, workers)?;
        Ok(distinct)
    }
}

/// The document whose elements were counted last.
#[derive(Default)]
struct Counted {
    of: Option<Rank>,
    n: u32,
    counter: ElementCounter,
}

/// The edges between copies and the first of their text: all elements are in both.
fn copies(
    view: &CorpusView<'_>,
    distinct: &mut Distinct,
    count_if_equal: impl Fn(&mut Counted, Rank, Rank) -> benzer_flow::Result<Option<u32>> + Sync,
    room: u64,
    workers: Workers<'_>,
) -> Result<Vec<Edge>> {
    let table = &view.corpus.documents;
    let hash = |rank: Rank| table.hash(view.ranking.row(rank));
    let parts = in_ranges(view.len(), workers.threads, |ranks| {
        let mut part = Distinct::default();
        for rank in ranks.map(|rank| Rank(rank as u32)) {
            part.push(rank, &table.place(view.ranking.row(rank)));
        }
        part
    });
    for part in parts {
        distinct.compared.extend(part.compared);
        distinct.wordless.extend(part.wordless);
    }
    let mut copies = Vec::new();
    // A text with words is not equal to one without.
    for ranks in distinct.ranks() {
        let prefetch = |rank, what| view.prefetch(rank, what);
        copies.extend(bands::copies(ranks, hash, prefetch, &count_if_equal, room, workers)?);
    }
    copies.sort_unstable();
    Ok(copies)
}
