use benzer_core::field::text::{Shingler, TextOptions};
use benzer_core::hash::split;

use super::join::{AuditWorkspace, join};
use super::sample::{Sample, Sizes};
use crate::error::Error;
use benzer_core::Threshold;
use benzer_join::verify::Texts;
use benzer_join::{Edge, Rank};

struct Few(Vec<String>);

impl Texts for Few {
    fn bytes(&self, rank: Rank) -> benzer_flow::Result<u64> {
        Ok(self.0[rank.index()].len() as u64)
    }

    fn with_text(&self, rank: Rank, visit: &mut dyn FnMut(&str)) -> benzer_flow::Result<()> {
        visit(&self.0[rank.index()]);
        Ok(())
    }
}

/// Families of texts with few words, so that rare and common elements occur.
fn texts(n: u64) -> Few {
    let word = |family: u64, i: u64| format!("w{}", split(family, i) % 30);
    let text = |t: u64| {
        // Every fifth has the words of an earlier one.
        let t = if t % 5 == 4 && t > 41 { t - 41 } else { t };
        let (family, length) = (t % 40, 5 + split(7, t) % 40);
        let edited = split(8, t) % length;
        (0..length).map(|i| word(if i == edited { t } else { family }, i)).collect::<Vec<_>>().join(" ")
    };
    Few((0..n).map(text).collect())
}

fn shingler() -> Shingler {
    Shingler::new(&TextOptions { n: 2, ..TextOptions::default() }).unwrap()
}

/// All pairs of members that reach a threshold, one by one.
fn brute_force(texts: &Few, members: &[Rank], threshold: Threshold) -> Vec<Edge> {
    let shingler = shingler();
    let features: Vec<_> = texts.0.iter().map(|text| shingler.features(text)).collect();
    let mut edges = Vec::new();
    for (i, &later) in members.iter().enumerate() {
        for &earlier in &members[..i] {
            let (a, b) = (features[later.index()].elements(), features[earlier.index()].elements());
            let intersection = a.iter().filter(|element| b.contains(element)).count() as u32;
            let union = (a.len() + b.len()) as u32 - intersection;
            if threshold.is_reached(intersection.into(), union.into()) {
                edges.push(Edge { later, earlier, intersection, union });
            }
        }
    }
    edges
}

#[test]
fn the_pairs_of_two_draws_are_those_of_brute_force_whatever_the_memory_and_threads() {
    let (texts, shingler) = (texts(400), shingler());
    let members: Vec<Rank> = Rank::all(400).filter(|rank| rank.0 % 7 != 3).collect();
    for threshold in ["0.3", "0.5", "0.8", "1"] {
        let threshold: Threshold = threshold.parse().unwrap();
        let all = brute_force(&texts, &members, threshold);
        for (drawn, compared) in [(400, 400), (100, 400), (150, 200), (0, 400)] {
            let sample = Sample::draw(&members, Sizes { drawn, compared }, 42);
            let is_drawn = |rank: Rank| sample.drawn.contains(&rank);
            let expected = all.iter().filter(|edge| {
                let meets = |a, b| is_drawn(a) && sample.is_compared(b);
                meets(edge.later, edge.earlier) || meets(edge.earlier, edge.later)
            });
            let expected: Vec<Edge> = expected.copied().collect();
            assert!(drawn == 0 || expected.len() > 9, "{threshold} {drawn} {}", expected.len());
            for (threads, bytes) in [(1, 1 << 30), (3, 1 << 30), (2, 20_000)] {
                let workspace = AuditWorkspace { threads, bytes, progress: &|_| Ok(()) };
                let pairs =
                    join(&sample, &members, workspace.sources(&texts, &shingler), threshold, workspace)
                        .unwrap();
                let reach = |edge: &Edge| threshold.is_reached(edge.intersection.into(), edge.union.into());
                let found: Vec<Edge> = pairs.iter().map(|pair| pair.edge).filter(reach).collect();
                assert_eq!(found, expected, "{threshold} {drawn} {compared} {threads} {bytes}");
                for pair in &pairs {
                    let (later, earlier) = (pair.edge.later, pair.edge.earlier);
                    let (a, b) = if pair.later_is_drawn { (later, earlier) } else { (earlier, later) };
                    assert!(is_drawn(a) && sample.is_compared(b));
                }
            }
        }
    }
}

#[test]
fn a_cancelled_join_ends() {
    let (texts, shingler) = (texts(400), shingler());
    let members: Vec<Rank> = Rank::all(400).collect();
    let sample = Sample::draw(&members, Sizes { drawn: 400, compared: 400 }, 42);
    let workspace = AuditWorkspace { threads: 2, bytes: 1 << 30, progress: &|_| Err(Error::Cancelled) };
    let ended =
        join(&sample, &members, workspace.sources(&texts, &shingler), "0.8".parse().unwrap(), workspace);
    assert!(matches!(ended, Err(Error::Cancelled)));
}
