//! Who is compared with whom in a large corpus: documents drawn at random, each with its twins.
//!
//! Two documents drawn at random are hardly ever similar, and meeting a few hundred similar pairs by chance takes a fifth of the corpus. So while documents are read one more minimum is taken
//! of each, by a hash that the sketch does not use ([`DocumentPlace::minimum`](crate::documents::DocumentPlace)): two documents have the same with probability J, their similarity. The twins of a document are those with the same
//! minimum. A drawn document is compared with its twins, exactly; a similar pair weighs 1/J, because that is how often it is met. Whether the bands find a pair does not matter to
//! its minimum, so the pairs that they miss are met as often as those that they find.

use std::sync::atomic::{AtomicUsize, Ordering};

use benzer_core::hash::split;
use benzer_core::lsh::Prefilter;
use benzer_flow::workers::in_parallel;

use super::minima::{Marks, Minima};
use crate::corpus::CorpusView;
use crate::documents::{DocumentPlace, Row};
use crate::error::Result;
use benzer_join::Rank;
use benzer_join::verify::Texts;

/// Documents to draw that have a twin, about.
const WANTED: f64 = 400.0;
const MAX_DRAWN: f64 = 131_072.0;
/// Twins of a drawn document whose sketches are looked at.
const MAX_LOOKED_AT: usize = 64;
/// Of those that are not too different, so many are compared.
const MAX_TWINS: usize = 16;
/// The share of the texts that may be read again, and what may be in any case.
const READ_SHARE: u64 = 32;
const READ: u64 = 1 << 19;
/// Sketches that may be looked at besides one for each document: where many share a notice, drawn documents have many twins.
const LOOKS: usize = 1 << 14;
/// Memory for a document that has the minimum of a drawn one.
const LISTED_BYTES: usize = 16;
/// Drawn documents whose twins are looked up together, and by one thread: few enough sketches to stay in a cache.
const BLOCK: usize = 1024;
const TASK: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Twin {
    pub later: Rank,
    pub earlier: Rank,
    /// True if the later document is the one that was drawn.
    pub later_is_drawn: bool,
    /// How many pairs of the drawn document this one stands for.
    pub factor: f64,
}

#[derive(Debug)]
pub(super) struct Twins {
    /// By (later, earlier); twice where both were drawn.
    pub pairs: Vec<Twin>,
    pub n_drawn: u64,
    pub n_compared: u64,
}

/// What a corpus gives to choose from.
#[derive(Debug, Clone, Copy)]
pub(super) struct TwinSource<'a> {
    pub view: &'a CorpusView<'a>,
    /// The documents that were compared, in keep order.
    pub members: &'a [Rank],
    pub removed: u64,
    pub text_bytes: u64,
    pub seed: u64,
    pub bytes: u64,
    pub threads: usize,
    /// Passes whatever may reach the threshold, but for one pair in a billion: documents that share a notice are many, and not compared.
    pub filter: &'a Prefilter,
}

impl Twins {
    pub fn of(source: TwinSource<'_>) -> Result<Self> {
        let n = source.members.len() as f64;
        let wanted = n * WANTED / source.removed.max(1) as f64;
        let mut share = wanted.min(MAX_DRAWN).min(n) / n.max(1.0);
        loop {
            if let Some(sample) = Sample::draw(source, share) {
                return sample.compare(source);
            }
            // More have these minima than fit into memory.
            share /= 4.0;
        }
    }
}

/// A document that was drawn, by the number that drew it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Drawn {
    number: u64,
    rank: Rank,
    minimum: u32,
}

/// Drawn documents, and all that have their minima.
struct Sample {
    drawn: Vec<Drawn>,
    minima: Minima,
    /// Where the members of each group begin, and those of the last one end.
    starts: Vec<u32>,
    /// Those of a group in keep order.
    members: Vec<Rank>,
}

/// Whom to compare some drawn documents with.
#[derive(Default)]
struct Choices {
    /// The twins of one after the other.
    twins: Vec<Rank>,
    each: Vec<Choice>,
}

/// Where the twins of a document end, how many each stands for, and the texts to be read.
struct Choice {
    end: usize,
    factor: f64,
    bytes: u64,
}

impl Sample {
    /// Draws a share of all documents; nothing if there is no room for all that have their minima.
    fn draw(source: TwinSource<'_>, share: f64) -> Option<Self> {
        let limit = (share * u64::MAX as f64) as u64;
        let stream = split(source.seed, STREAM);
        let members = Marks::of(source.members, source.view.len());
        let drawn = source.each(usize::MAX, |rank, place| {
            let number = split(stream, rank.0.into());
            (number <= limit && members.has(rank)).then_some(Drawn { number, rank, minimum: place.minimum })
        })?;
        let minima = Minima::of(drawn.iter().map(|drawn| drawn.minimum));
        let max = (source.bytes as usize / LISTED_BYTES).max(1 << 12);
        let listed = source.each(max, |rank, place| {
            let group = minima.group(place.minimum)?;
            members.has(rank).then_some((group, rank))
        })?;
        let mut starts = vec![0; minima.n as usize + 1];
        listed.iter().for_each(|(group, _)| starts[*group as usize + 1] += 1);
        for group in 0..minima.n as usize {
            starts[group + 1] += starts[group];
        }
        let (mut ends, mut members) = (starts.clone(), vec![Rank(0); listed.len()]);
        for (group, rank) in listed {
            let end = &mut ends[group as usize];
            members[*end as usize] = rank;
            *end += 1;
        }
        for group in starts.windows(2) {
            members[group[0] as usize..group[1] as usize].sort_unstable();
        }
        Some(Self { drawn, minima, starts, members })
    }

    /// Everyone who has the minimum of a drawn document, itself included.
    fn group(&self, drawn: &Drawn) -> &[Rank] {
        let group = self.minima.group(drawn.minimum).expect("it is the minimum of a drawn document") as usize;
        &self.members[self.starts[group] as usize..self.starts[group + 1] as usize]
    }

    /// The pairs of the documents that can be looked at and read within the budgets, in the order in which they were drawn.
    fn compare(self, source: TwinSource<'_>) -> Result<Twins> {
        let (drawn, mut end) = self.with_twins(source.members.len() + LOOKS);
        let (mut pairs, mut budget) = (Vec::new(), source.text_bytes / READ_SHARE + READ);
        'all: for block in drawn.chunks(BLOCK) {
            let made = self.choices(block, source)?;
            for (drawn, (twins, choice)) in block.iter().zip(made.iter().flat_map(Choices::lists)) {
                if choice.bytes > budget && self.n_before(drawn) > 0 {
                    end = Some(*drawn);
                    break 'all;
                }
                budget = budget.saturating_sub(choice.bytes);
                pairs.extend(twins.iter().map(|&twin| Twin {
                    later: drawn.rank.max(twin),
                    earlier: drawn.rank.min(twin),
                    later_is_drawn: drawn.rank > twin,
                    factor: choice.factor,
                }));
            }
        }
        pairs.sort_unstable_by_key(|pair| (pair.later, pair.earlier, pair.later_is_drawn));
        let other = |pair: &Twin| if pair.later_is_drawn { pair.earlier } else { pair.later };
        let mut compared: Vec<Rank> = pairs.iter().map(other).collect();
        compared.sort_unstable();
        compared.dedup();
        let n_drawn = end.map_or(self.drawn.len(), |end| self.n_before(&end));
        Ok(Twins { pairs, n_drawn: n_drawn as u64, n_compared: compared.len() as u64 })
    }

    /// Drawn documents that have twins, by the numbers that drew them, while not more than so many sketches are looked at; and the first one for which it would be more.
    fn with_twins(&self, mut looks: usize) -> (Vec<Drawn>, Option<Drawn>) {
        let mut drawn: Vec<Drawn> =
            self.drawn.iter().copied().filter(|drawn| self.group(drawn).len() > 1).collect();
        drawn.sort_unstable();
        let is_over = |drawn: &Drawn| {
            let left = looks.checked_sub(n_looked_at(self.group(drawn).len()));
            looks = left.unwrap_or(0);
            left.is_none()
        };
        let end = drawn.iter().position(is_over);
        let first_left = end.map(|end| drawn[end]);
        drawn.truncate(end.unwrap_or(drawn.len()));
        (drawn, first_left)
    }

    /// How many were drawn before another.
    fn n_before(&self, drawn: &Drawn) -> usize {
        self.drawn.iter().filter(|other| *other < drawn).count()
    }

    /// Whom to compare some drawn documents with.
    fn choices(&self, drawn: &[Drawn], source: TwinSource<'_>) -> Result<Vec<Choices>> {
        let tasks: Vec<&[Drawn]> = drawn.chunks(TASK).collect();
        let made = in_parallel(
            tasks.len(),
            source.threads,
            || (),
            |i, ()| -> Result<Choices> {
                let (mut twins, mut lists) = (Vec::new(), Vec::with_capacity(TASK));
                for drawn in tasks[i] {
                    let start = twins.len();
                    let factor = choose(drawn.rank, self.group(drawn), drawn.number, &mut twins);
                    source.view.prefetch_row(drawn.rank);
                    twins[start..].iter().for_each(|twin| source.view.prefetch_row(*twin));
                    lists.push((drawn.rank, start..twins.len(), factor));
                }
                let mut choices = Choices::default();
                for (rank, list, factor) in lists {
                    choices.add(rank, &twins[list], factor, source)?;
                }
                Ok(choices)
            },
        );
        made.into_iter().collect()
    }
}

impl Choices {
    /// Adds those of some twins of a document that are not too different, by their sketches.
    fn add(&mut self, rank: Rank, twins: &[Rank], mut factor: f64, source: TwinSource<'_>) -> Result<()> {
        let TwinSource { view, filter, .. } = source;
        let (words, start) = (view.words(rank)?, self.twins.len());
        for &twin in twins {
            if filter.passes(&words, &view.words(twin)?) {
                self.twins.push(twin);
            }
        }
        let n_like = self.twins.len() - start;
        if n_like > MAX_TWINS {
            factor *= n_like as f64 / MAX_TWINS as f64;
            self.twins.truncate(start + MAX_TWINS);
        }
        let mut bytes = if n_like == 0 { 0 } else { view.bytes(rank)? };
        for &twin in &self.twins[start..] {
            bytes += view.bytes(twin)?;
        }
        self.each.push(Choice { end: self.twins.len(), factor, bytes });
        Ok(())
    }

    fn lists(&self) -> impl Iterator<Item = (&[Rank], &Choice)> {
        let mut start = 0;
        self.each
            .iter()
            .map(move |choice| (&self.twins[std::mem::replace(&mut start, choice.end)..choice.end], choice))
    }
}

impl TwinSource<'_> {
    /// What `visit` makes of the documents, in the order in which they lie; nothing if that is `max` or more.
    fn each<T: Send + Copy>(
        &self,
        max: usize,
        visit: impl Fn(Rank, &DocumentPlace) -> Option<T> + Sync,
    ) -> Option<Vec<T>> {
        let Self { view, threads, .. } = *self;
        let documents = &view.corpus.documents;
        let (parts, n_made) = (documents.parts(), AtomicUsize::new(0));
        let made = |i: usize, (): &mut ()| -> Vec<T> {
            if n_made.load(Ordering::Relaxed) >= max {
                return Vec::new();
            }
            let rows = (parts[i].start.0..parts[i].end.0).map(Row);
            let made = rows.filter_map(|row| visit(view.ranking.rank(row), &documents.place(row)));
            let made: Vec<T> = made.collect();
            n_made.fetch_add(made.len(), Ordering::Relaxed);
            made
        };
        let all = in_parallel(parts.len(), threads, || (), made);
        (n_made.into_inner() < max).then(|| all.concat())
    }
}

/// How many twins of a document are looked at, whose group has so many members.
fn n_looked_at(n_members: usize) -> usize {
    MAX_LOOKED_AT.min(n_members - 1)
}

/// Adds the twins of a document, or some of many at random, and gives how many each stands for.
fn choose(rank: Rank, group: &[Rank], seed: u64, twins: &mut Vec<Rank>) -> f64 {
    let (start, n) = (twins.len(), n_looked_at(group.len()));
    if group.len() <= MAX_TWINS + 1 {
        twins.extend(group.iter().copied().filter(|twin| *twin != rank));
        return 1.0;
    }
    for number in benzer_core::hash::stream(seed) {
        let twin = group[((u128::from(number) * group.len() as u128) >> 64) as usize];
        if twin != rank && !twins[start..].contains(&twin) {
            twins.push(twin);
        }
        if twins.len() == start + n {
            break;
        }
    }
    (group.len() - 1) as f64 / n as f64
}

/// The stream of the seed that draws documents with their twins.
const STREAM: u64 = 0x7477_696e_7300;

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(rank: Rank, group: &[Rank], seed: u64) -> (Vec<Rank>, f64) {
        // Behind those of another.
        let mut twins = vec![Rank(104)];
        let factor = choose(rank, group, seed, &mut twins);
        (twins.split_off(1), factor)
    }

    #[test]
    fn a_document_is_compared_with_all_twins_or_with_different_ones_of_many() {
        let group: Vec<Rank> = (100..117).map(Rank).collect();
        let (twins, factor) = chosen(Rank(103), &group, 1);
        assert!(twins.len() == MAX_TWINS && !twins.contains(&Rank(103)) && factor == 1.0);
        assert!(chosen(Rank(5), &[Rank(5)], 1).0.is_empty());
        let group: Vec<Rank> = Rank::all(1000).collect();
        let mut counts = [0; 1000];
        for rank in Rank::all(1000) {
            let (mut twins, factor) = chosen(rank, &group, split(7, rank.0.into()));
            assert!((factor - 999.0 / 64.0).abs() < 1e-9);
            twins.sort_unstable();
            twins.dedup();
            assert!(twins.len() == MAX_LOOKED_AT && !twins.contains(&rank));
            twins.iter().for_each(|twin| counts[twin.index()] += 1);
        }
        assert!(counts.iter().all(|n| (30..=110).contains(n)), "{counts:?}");
    }
}
