//! Who is compared with whom in a large corpus: documents drawn at random, each with its twins.
//!
//! Two documents drawn at random are hardly ever similar, and meeting a few hundred similar pairs by chance takes a fifth of the corpus. So while documents are read one more minimum is taken
//! of each, by a hash that the sketch does not use ([`DocumentPlace::minimum`](crate::documents::DocumentPlace)): two documents have the same with probability J, their similarity. The twins of a document are those with the same
//! minimum. A drawn document is compared with its twins, exactly; a similar pair weighs 1/J, because that is how often it is met. Whether the bands find a pair does not matter to
//! its minimum, so the pairs that they miss are met as often as those that they find.

use benzer_core::hash::split;
use benzer_core::lsh::Prefilter;

use crate::corpus::CorpusView;
use crate::documents::{DocumentPlace, Documents, Row};
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
/// Memory for a document that has the minimum of a drawn one.
const LISTED_BYTES: usize = 16;

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
    /// Passes whatever may reach the threshold, but for one pair in a billion: documents that share a notice are many, and not compared.
    pub filter: &'a Prefilter,
}

impl Twins {
    pub fn of(source: TwinSource<'_>) -> Result<Self> {
        let n = source.members.len() as f64;
        let wanted = n * WANTED / source.removed.max(1) as f64;
        let mut share = wanted.min(MAX_DRAWN).min(n) / n.max(1.0);
        loop {
            let sample = Sample::draw(source, share)?;
            if sample.is_whole {
                return sample.compare(source);
            }
            // More have these minima than fit into memory.
            share /= 4.0;
        }
    }
}

/// Drawn documents, and all that have their minima.
struct Sample {
    /// By the number that drew it: that number, the document, and which group it belongs to.
    drawn: Vec<(u64, Rank, u32)>,
    /// Where the members of each group begin, and those of the last one end.
    starts: Vec<u32>,
    members: Vec<Rank>,
    /// False if there was no room for all members.
    is_whole: bool,
}

impl Sample {
    fn draw(source: TwinSource<'_>, share: f64) -> Result<Self> {
        let limit = (share * u64::MAX as f64) as u64;
        let stream = split(source.seed, STREAM);
        let members = Marks::of(source.members, source.view.len());
        let mut drawn = Vec::new();
        each(source.view, |rank, place| {
            let number = split(stream, rank.0.into());
            if number <= limit && members.has(rank) {
                drawn.push((number, rank, place.minimum));
            }
        })?;
        drawn.sort_unstable();
        let mut minima: Vec<u32> = drawn.iter().map(|(_, _, minimum)| *minimum).collect();
        minima.sort_unstable();
        minima.dedup();
        let mut listed: Vec<(u32, Rank)> = Vec::new();
        let max = (source.bytes as usize / LISTED_BYTES).max(1 << 12);
        let filter = Filter::of(&minima);
        each(source.view, |rank, place| {
            if filter.may_have(place.minimum)
                && listed.len() < max
                && members.has(rank)
                && let Ok(group) = minima.binary_search(&place.minimum)
            {
                listed.push((group as u32, rank));
            }
        })?;
        listed.sort_unstable();
        let start = |group| listed.partition_point(|(of, _)| *of < group) as u32;
        let starts = (0..=minima.len() as u32).map(start).collect();
        for (_, _, minimum) in &mut drawn {
            *minimum = minima.binary_search(minimum).expect("it is the minimum of a drawn document") as u32;
        }
        let is_whole = listed.len() < max;
        Ok(Self { drawn, starts, members: listed.into_iter().map(|(_, rank)| rank).collect(), is_whole })
    }

    /// The pairs of the documents that can be read within the budget, in the order in which they were drawn.
    fn compare(mut self, source: TwinSource<'_>) -> Result<Twins> {
        let mut budget = source.text_bytes / READ_SHARE + READ;
        let mut pairs = Vec::new();
        for (i, &(number, rank, group)) in self.drawn.iter().enumerate() {
            let group = self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize;
            let (mut twins, mut factor) = chosen(rank, &self.members[group], number);
            source.keep_like(rank, &mut twins)?;
            if twins.len() > MAX_TWINS {
                factor *= twins.len() as f64 / MAX_TWINS as f64;
                twins.truncate(MAX_TWINS);
            }
            let mut bytes = if twins.is_empty() { 0 } else { source.view.bytes(rank)? };
            for &twin in &twins {
                bytes += source.view.bytes(twin)?;
            }
            if bytes > budget && i > 0 {
                self.drawn.truncate(i);
                break;
            }
            budget = budget.saturating_sub(bytes);
            pairs.extend(twins.into_iter().map(|twin| Twin {
                later: rank.max(twin),
                earlier: rank.min(twin),
                later_is_drawn: rank > twin,
                factor,
            }));
        }
        pairs.sort_unstable_by_key(|pair| (pair.later, pair.earlier, pair.later_is_drawn));
        let other = |pair: &Twin| if pair.later_is_drawn { pair.earlier } else { pair.later };
        let mut compared: Vec<Rank> = pairs.iter().map(other).collect();
        compared.sort_unstable();
        compared.dedup();
        Ok(Twins { pairs, n_drawn: self.drawn.len() as u64, n_compared: compared.len() as u64 })
    }
}

impl TwinSource<'_> {
    /// Drops those of some twins that are too different, by their sketches.
    fn keep_like(&self, rank: Rank, twins: &mut Vec<Rank>) -> Result<()> {
        let words = self.view.words(rank)?;
        let mut like = Vec::with_capacity(twins.len());
        for &twin in &*twins {
            if self.filter.passes(&words, &self.view.words(twin)?) {
                like.push(twin);
            }
        }
        *twins = like;
        Ok(())
    }
}

/// The twins of a document, or some of many at random, and how many each stands for.
fn chosen(rank: Rank, group: &[Rank], seed: u64) -> (Vec<Rank>, f64) {
    let mut chosen = Vec::with_capacity(MAX_LOOKED_AT);
    if group.len() <= MAX_TWINS + 1 {
        chosen.extend(group.iter().copied().filter(|twin| *twin != rank));
        return (chosen, 1.0);
    }
    let n = MAX_LOOKED_AT.min(group.len() - 1);
    for number in benzer_core::hash::stream(seed) {
        let twin = group[((u128::from(number) * group.len() as u128) >> 64) as usize];
        if twin != rank && !chosen.contains(&twin) {
            chosen.push(twin);
        }
        if chosen.len() == n {
            break;
        }
    }
    (chosen, (group.len() - 1) as f64 / n as f64)
}

/// Hands rank and place of all documents to `visit`, in the order in which they lie.
fn each(view: &CorpusView<'_>, mut visit: impl FnMut(Rank, &DocumentPlace)) -> Result<()> {
    if let Documents::Memory(table) = &view.corpus.documents {
        let places = table.chunks.iter().flat_map(|chunk| &chunk.places);
        places.zip((0..).map(Row)).for_each(|(place, row)| visit(view.ranking.rank(row), place));
        return Ok(());
    }
    for (record, row) in view.corpus.documents.rows()?.zip((0..).map(Row)) {
        visit(view.ranking.rank(row), &record?.1);
    }
    Ok(())
}

struct Marks(Vec<u64>);

impl Marks {
    fn of(ranks: &[Rank], n: u32) -> Self {
        let mut words = vec![0; n as usize / 64 + 1];
        ranks.iter().for_each(|rank| words[rank.index() / 64] |= 1 << (rank.0 % 64));
        Self(words)
    }

    #[inline]
    fn has(&self, rank: Rank) -> bool {
        self.0[rank.index() / 64] >> (rank.0 % 64) & 1 == 1
    }
}

/// Most of what is not among some numbers, without a search.
struct Filter {
    bits: Vec<u64>,
    mask: u32,
}

impl Filter {
    fn of(numbers: &[u32]) -> Self {
        let n_bits = (16 * numbers.len()).next_power_of_two().max(64);
        let mut filter = Self { bits: vec![0; n_bits / 64], mask: (n_bits - 1) as u32 };
        for number in numbers {
            let bit = number & filter.mask;
            filter.bits[bit as usize / 64] |= 1 << (bit % 64);
        }
        filter
    }

    #[inline]
    fn may_have(&self, number: u32) -> bool {
        let bit = number & self.mask;
        self.bits[bit as usize / 64] >> (bit % 64) & 1 == 1
    }
}

/// The stream of the seed that draws documents with their twins.
const STREAM: u64 = 0x7477_696e_7300;

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn marks_and_filters_have_what_was_put_into_them() {
        let marks = Marks::of(&[0, 63, 64, 200].map(Rank), 201);
        let has: Vec<Rank> = Rank::all(201).filter(|rank| marks.has(*rank)).collect();
        assert_eq!(has, [0, 63, 64, 200].map(Rank));
        let numbers: Vec<u32> = (0..1000).map(|i| split(1, i) as u32).collect();
        let filter = Filter::of(&numbers);
        assert!(numbers.iter().all(|number| filter.may_have(*number)));
        let others = (0..10_000).filter(|i| filter.may_have(split(2, *i) as u32)).count();
        assert!((300..1500).contains(&others), "{others}");
    }
}
