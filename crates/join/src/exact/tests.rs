//! Whatever the threads and the budget: the pairs of brute force.

use std::fs;
use std::path::Path;

use benzer_core::Threshold;
use benzer_core::field::text::{Shingler, TextOptions};
use benzer_core::hash::stream;
use benzer_flow::Progress;
use benzer_storage::Files;
use proptest::prelude::*;

use super::*;
use crate::Edge;
use crate::bands::CandidateLists;
use crate::verify::{FeatureSource, PairFilter, Texts, verify_held};

struct Corpus(Vec<String>);

impl Texts for Corpus {
    fn bytes(&self, rank: Rank) -> Result<u64> {
        Ok(self.0[rank.index()].len() as u64)
    }

    fn with_text(&self, rank: Rank, visit: &mut dyn FnMut(&str)) -> Result<()> {
        visit(&self.0[rank.index()]);
        Ok(())
    }
}

fn shingler(n: usize) -> Shingler {
    Shingler::new(&TextOptions { n, ..TextOptions::default() }).unwrap()
}

impl Corpus {
    /// Texts of some families: each is the first of its family with some words replaced, and cut somewhere.
    fn of_families(seed: u64, n: usize, (families, words, length): (u64, u64, u64)) -> Self {
        let mut random = stream(seed);
        let mut below = |most: u64| random.next().unwrap() % most;
        let text = |_| {
            let family = below(families);
            let (noise, end) = (below(40), 1 + below(length));
            let word = |i: usize, drawn: u64, other: u64| {
                let own = if drawn < noise { other } else { stream(family).nth(i).unwrap() };
                format!("w{}", own % words)
            };
            let drawn: Vec<String> = (0..end as usize).map(|i| word(i, below(100), below(words))).collect();
            drawn.join(" ")
        };
        Self((0..n).map(text).collect())
    }

    fn members(&self) -> Vec<Rank> {
        Rank::all(self.0.len() as u32).collect()
    }

    fn all_pairs(&self) -> Vec<(Rank, Rank)> {
        (0..self.0.len() as u32)
            .flat_map(|later| Rank::all(later).map(move |earlier| (Rank(later), earlier)))
            .collect()
    }

    fn source<'a>(&'a self, shingler: &'a Shingler) -> FeatureSource<'a> {
        FeatureSource { texts: self, shingler, remembered: 1 << 16, held: 1 << 16 }
    }

    fn reaching(&self, pairs: &[(Rank, Rank)], shingler: &Shingler, threshold: Threshold) -> Vec<Edge> {
        let lists: CandidateLists = pairs.iter().copied().collect();
        let workers = Workers { threads: 1, progress: &Progress::silent() };
        let wanted = PairFilter::Reaching(threshold);
        verify_held([&lists], self.source(shingler), wanted, workers).unwrap().iter().collect()
    }

    fn join(&self, shingler: &Shingler, threshold: Threshold, threads: usize, budget: usize) -> Joined {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace { bytes: budget, folder: folder.path(), files: &Files::new() };
        let workers = Workers { threads, progress: &Progress::silent() };
        let (source, rule) = (self.source(shingler), Rule::duplicates(threshold));
        let found = candidates(&self.members(), &source, rule, workspace, workers).unwrap();
        let spilled = n_files(folder.path()) > 0;
        let pairs = found.pairs.map(|pair| pair.unwrap()).collect();
        assert_eq!(n_files(folder.path()), 0);
        Joined { pairs, n_bucket_pairs: found.n_bucket_pairs, largest: found.largest, spilled }
    }
}

#[derive(Debug, PartialEq)]
struct Joined {
    pairs: Vec<(Rank, Rank)>,
    n_bucket_pairs: u64,
    largest: u64,
    spilled: bool,
}

fn n_files(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_verified_is_what_brute_force_finds(
        seed: u64,
        n in 0usize..70,
        shape in (1u64..6, 2u64..40, 1u64..60),
        shingle in 1usize..4,
        threshold in prop_oneof![300_000_000u32..=1_000_000_000, Just(1_000_000_000), Just(800_000_000), Just(500_000_000)],
        threads in 1usize..4,
        budget in prop_oneof![0usize..2_000, 2_000usize..200_000],
    ) {
        let (corpus, shingler) = (Corpus::of_families(seed, n, shape), shingler(shingle));
        let threshold: Threshold = format!("{}.{:09}", threshold / 1_000_000_000, threshold % 1_000_000_000).parse().unwrap();
        let found = corpus.join(&shingler, threshold, threads, budget);
        prop_assert!(found.pairs.is_sorted_by(|a, b| a < b));
        prop_assert!(found.pairs.iter().all(|(later, earlier)| later > earlier));
        prop_assert_eq!(
            corpus.reaching(&found.pairs, &shingler, threshold),
            corpus.reaching(&corpus.all_pairs(), &shingler, threshold)
        );
        let alone = corpus.join(&shingler, threshold, 1, 1 << 20);
        prop_assert_eq!((found.pairs, found.n_bucket_pairs, found.largest), (alone.pairs, alone.n_bucket_pairs, alone.largest));
    }
}

#[test]
fn most_of_what_is_not_similar_is_not_a_candidate() {
    let corpus = Corpus::of_families(3, 2_000, (10, 1_000_000, 120));
    let shingler = shingler(1);
    let threshold: Threshold = "0.8".parse().unwrap();
    let found = corpus.join(&shingler, threshold, 2, 1 << 20);
    let edges = corpus.reaching(&found.pairs, &shingler, threshold).len();
    assert!(edges > 500, "{edges}");
    assert!(found.pairs.len() < 2 * edges, "{} candidates for {edges}", found.pairs.len());
}

#[test]
fn a_small_budget_spills() {
    let corpus = Corpus::of_families(5, 1_000, (3, 1_000, 80));
    let shingler = shingler(1);
    let threshold: Threshold = "0.4".parse().unwrap();
    let (small, large) =
        (corpus.join(&shingler, threshold, 2, 100_000), corpus.join(&shingler, threshold, 2, 1 << 30));
    assert!(small.spilled && !large.spilled);
    assert!(small.pairs.len() > 10_000 && small.pairs == large.pairs);
}

#[test]
fn texts_shorter_than_a_shingle_are_sets_of_one_element() {
    let corpus = Corpus(["a b", "c", "A, b!", "c d", "C"].map(String::from).to_vec());
    let found = corpus.join(&shingler(3), "1".parse().unwrap(), 1, 0);
    assert_eq!(found.pairs, [(2, 0), (4, 1)].map(|(later, earlier)| (Rank(later), Rank(earlier))));
}

#[test]
fn members_are_any_documents_and_their_ranks_are_told() {
    let texts = ["x y z", "p q", "x y z!", "p q r", "p q?", "(x) y z"];
    let corpus = Corpus(texts.map(String::from).to_vec());
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace { bytes: 0, folder: folder.path(), files: &Files::new() };
    let workers = Workers { threads: 2, progress: &Progress::silent() };
    let (shingler, rule) = (shingler(2), Rule::duplicates("1".parse().unwrap()));
    let found =
        candidates(&[1, 2, 4, 5].map(Rank), &corpus.source(&shingler), rule, workspace, workers).unwrap();
    let pairs: Vec<_> = found.pairs.map(|pair| pair.unwrap()).collect();
    assert_eq!(pairs, [(Rank(4), Rank(1)), (Rank(5), Rank(2))]);
}

#[test]
fn a_text_that_cannot_be_read_ends_the_join() {
    struct Broken;
    impl Texts for Broken {
        fn bytes(&self, _: Rank) -> Result<u64> {
            Ok(10)
        }

        fn with_text(&self, rank: Rank, visit: &mut dyn FnMut(&str)) -> Result<()> {
            visit("to be or not to be");
            let error =
                || benzer_flow::Error::source(std::io::Error::other("`text` must be readable, got noise"));
            if rank == Rank(700) { Err(error()) } else { Ok(()) }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let members: Vec<Rank> = Rank::all(1_000).collect();
    for threads in 1..4 {
        let workspace = Workspace { bytes: 1 << 20, folder: folder.path(), files: &Files::new() };
        let workers = Workers { threads, progress: &Progress::silent() };
        let source = FeatureSource { texts: &Broken, shingler: &shingler(3), remembered: 0, held: 1 << 16 };
        let rule = Rule::duplicates("0.8".parse().unwrap());
        let found = candidates(&members, &source, rule, workspace, workers);
        assert_eq!(found.unwrap_err().to_string(), "`text` must be readable, got noise");
    }
}
