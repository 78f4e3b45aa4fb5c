//! The result of a run by its definition: no index, no sorting on disk, no shortcut. Documents are numbered by the order in which they are read.

use std::collections::BTreeMap;

use benzer_core::Features;
use benzer_core::estimate::{Registers, Scheme, two_way};
use benzer_core::field::text::Shingler;
use benzer_core::lsh::{Banding, Prefilter};
use benzer_core::sketch::{Sketch, SketchSpec};
use benzer_dedup::Keep;
use benzer_dedup::request::{Measure, Request, Search, Verify};
use benzer_join::resolve::Cluster;

use crate::corpus::Document;

/// What must become of a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Removal {
    pub removed: usize,
    /// A document of the input, or an old one.
    pub kept: Kept,
    pub rule: &'static str,
    pub similarity: f64,
    pub counts: Option<(u32, u32)>,
}

/// For which document another one is removed: its number in the input, or among the old ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    New(usize),
    Old(usize),
}

/// Similarity as a fraction: of elements, or of registers where it is estimated.
type Fraction = (u32, u32);
/// By (later, earlier) in keep order.
type Edges = BTreeMap<(usize, usize), Fraction>;

/// All removals in keep order.
pub fn removals(documents: &[Document], request: &Request) -> Vec<Removal> {
    removals_against(&[], documents, request)
}

/// All removals where old documents come first in keep order, and are not compared with each other.
pub fn removals_against(old: &[Document], documents: &[Document], request: &Request) -> Vec<Removal> {
    let order = keep_order(documents, request);
    let kept = |place: usize| match place.checked_sub(old.len()) {
        Some(place) => Kept::New(order[place]),
        None => Kept::Old(place),
    };
    // From here on a document is its place in the order.
    let new = order.iter().map(|&row| documents[row].text.as_str());
    let texts: Vec<&str> = old.iter().map(|document| document.text.as_str()).chain(new).collect();
    let graph = Graph::new(&texts, old.len(), request);
    if request.compare.measure == Measure::Containment {
        let contained = |place| graph.contained(place).or_else(|| graph.wordless_copy(place));
        let removal = |(place, item, (both, size)): (usize, usize, Fraction)| Removal {
            removed: order[place - old.len()],
            kept: kept(item),
            rule: if size == 0 { "exact-copy" } else { "contained" },
            similarity: if size == 0 { 1.0 } else { f64::from(both) / f64::from(size) },
            counts: Some((both, size)),
        };
        return (old.len()..texts.len()).filter_map(contained).map(removal).collect();
    }
    let edges = graph.edges();
    let decided = match request.cluster {
        Cluster::Leaders => leaders(&graph.members, &edges),
        Cluster::Components => graph.components(&edges),
    };
    let rule = match (request.cluster, request.compare.verify) {
        (Cluster::Components, _) => "component",
        (_, Verify::Exact) => "verified",
        (_, Verify::Estimate) => "estimate",
    };
    let removal = |(place, first): (usize, usize)| {
        let (first, rule, fraction) = match decided.get(&first) {
            Some(&(kept, fraction)) => (kept, rule, fraction),
            None if place != first => (first, "exact-copy", graph.jaccard(first, first)),
            None => return None,
        };
        let (counts, similarity) = match rule {
            "estimate" => (None, graph.estimate(fraction.0)),
            // Whatever the text is made of.
            "exact-copy" => (Some(fraction), 1.0),
            _ => (Some(fraction), f64::from(fraction.0) / f64::from(fraction.1)),
        };
        Some(Removal { removed: order[place - old.len()], kept: kept(first), rule, similarity, counts })
    };
    graph.first_of_text().into_iter().filter(|(place, _)| *place >= old.len()).filter_map(removal).collect()
}

/// The documents by (policy key, id, row); `last` is the other way round.
fn keep_order(documents: &[Document], request: &Request) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..documents.len()).collect();
    let ids = request.input.read.id_field.is_some();
    rows.sort_by_key(|&row| {
        let length = documents[row].text.len() as i64;
        let key = match request.keep {
            Keep::Longest => -length,
            Keep::Shortest => length,
            _ => 0,
        };
        (key, ids.then(|| documents[row].id.as_bytes()), row)
    });
    if request.keep == Keep::Last {
        rows.reverse();
    }
    rows
}

struct Graph<'a> {
    request: &'a Request,
    spec: SketchSpec,
    texts: &'a [&'a str],
    /// How many of the texts are old.
    n_old: usize,
    features: Vec<Features>,
    sketches: Vec<Sketch>,
    /// The first document of each text that has features.
    members: Vec<usize>,
}

impl<'a> Graph<'a> {
    fn new(texts: &'a [&'a str], n_old: usize, request: &'a Request) -> Self {
        let shingler = Shingler::new(&request.compare.text).unwrap();
        let spec =
            SketchSpec { pipeline: shingler.pipeline().as_str().to_owned(), ..request.compare.spec.clone() };
        let sketcher = spec.sketcher().unwrap();
        let features: Vec<Features> = texts.iter().map(|text| shingler.features(text)).collect();
        let sketches = features.iter().map(|features| sketcher.sketch(features).unwrap()).collect();
        let mut graph = Self { request, spec, texts, n_old, features, sketches, members: Vec::new() };
        graph.members = graph
            .first_of_text()
            .iter()
            .filter(|(place, first)| place == first && !graph.features[*place].is_empty())
            .map(|(place, _)| *place)
            .collect();
        graph
    }

    /// Each document whose text is not empty, with the first of the same text.
    fn first_of_text(&self) -> Vec<(usize, usize)> {
        let places = (0..self.texts.len()).filter(|&place| !self.texts[place].is_empty());
        let first = |place: usize| self.texts.iter().position(|text| *text == self.texts[place]).unwrap();
        places.map(|place| (place, first(place))).collect()
    }

    fn jaccard(&self, a: usize, b: usize) -> Fraction {
        let (a, b) = (&self.features[a], &self.features[b]);
        let both = a.elements().iter().filter(|element| b.elements().contains(element)).count();
        (both as u32, (a.len() + b.len() - both) as u32)
    }

    /// The old document of which another one contains most, if that is enough; the first of equals.
    fn contained(&self, place: usize) -> Option<(usize, usize, Fraction)> {
        let mut best: Option<(usize, usize, Fraction)> = None;
        for &item in self.members.iter().filter(|&&member| member < self.n_old) {
            let ((both, _), size) = (self.jaccard(place, item), self.features[item].len() as u32);
            if self.request.compare.threshold.is_reached(both.into(), size.into())
                && best.is_none_or(|(_, _, (most, of))| {
                    u64::from(both) * u64::from(of) > u64::from(most) * u64::from(size)
                })
            {
                best = Some((place, item, (both, size)));
            }
        }
        best
    }

    /// The first old document of the same text, of one without features.
    fn wordless_copy(&self, place: usize) -> Option<(usize, usize, Fraction)> {
        let has_none = self.features[place].is_empty() && !self.texts[place].is_empty();
        let item = (0..self.n_old).find(|&item| has_none && self.texts[item] == self.texts[place]);
        item.map(|item| (place, item, (0, 0)))
    }

    fn registers(&self, place: usize) -> Vec<u64> {
        (0..self.spec.registers as usize).map(|j| self.sketches[place].register(j).unwrap()).collect()
    }

    fn equal(&self, a: usize, b: usize) -> u32 {
        self.registers(a).iter().zip(&self.registers(b)).filter(|(a, b)| a == b).count() as u32
    }

    fn estimate(&self, equal: u32) -> f64 {
        let registers = Registers { k: self.spec.registers as usize, scheme: Scheme::from(self.spec.family) };
        two_way::jaccard(equal as usize, 8, registers, None).unwrap().value().unwrap()
    }

    /// Pairs that share a band key, as the bucket rule allows, with enough equal registers, that reach the threshold; or all that reach it.
    fn edges(&self) -> Edges {
        let threshold = self.request.compare.threshold;
        let (buckets, least, cap) = match self.request.compare.search {
            Search::Bands(banding) => {
                let least = Prefilter::new(&self.spec, threshold.value()).unwrap().min_equal();
                (self.buckets(&banding).into_values().collect(), least, self.request.compare.cap)
            }
            Search::Exact => (vec![self.members.clone()], 0, usize::MAX),
        };
        let mut edges = Edges::new();
        for bucket in &buckets {
            let n_old = bucket.partition_point(|&place| place < self.n_old);
            for (i, &earlier) in bucket.iter().enumerate() {
                // Old and new members are counted apart; old ones are not compared with each other.
                let (from, i) = if i < n_old { (n_old, i) } else { (i + 1, i - n_old) };
                for &later in &bucket[from..] {
                    let equal = self.equal(later, earlier);
                    if i >= cap || equal < least {
                        continue;
                    }
                    let (fraction, reaches) = match self.request.compare.verify {
                        Verify::Exact => {
                            let (both, union) = self.jaccard(later, earlier);
                            ((both, union), threshold.is_reached(both.into(), union.into()))
                        }
                        Verify::Estimate => {
                            ((equal, self.spec.registers), self.estimate(equal) >= threshold.value())
                        }
                    };
                    if reaches {
                        edges.insert((later, earlier), fraction);
                    }
                }
            }
        }
        edges
    }

    /// The members in keep order that agree in all registers of a band, of which a key has room for eight.
    fn buckets(&self, banding: &Banding) -> BTreeMap<(usize, Vec<u64>), Vec<usize>> {
        let mut buckets: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for &place in &self.members {
            let registers = self.registers(place);
            for (band, key) in registers.chunks(banding.rows()).take(banding.bands()).enumerate() {
                buckets.entry((band, key[..key.len().min(8)].to_vec())).or_default().push(place);
            }
        }
        buckets
    }

    /// Of each member that is not the first of its component that first one, with their exact similarity.
    fn components(&self, edges: &Edges) -> BTreeMap<usize, (usize, Fraction)> {
        let mut first: Vec<usize> = (0..self.texts.len()).collect();
        for _ in 0..self.texts.len() {
            for (later, earlier) in edges.keys() {
                let least = first[*later].min(first[*earlier]);
                (first[*later], first[*earlier]) = (least, least);
            }
        }
        let others = self.members.iter().filter(|&&place| first[place] != place);
        others.map(|&place| (place, (first[place], self.jaccard(place, first[place])))).collect()
    }
}

/// Walks the keep order. Of each removed document the most similar of those kept before, ties by keep order.
fn leaders(members: &[usize], edges: &Edges) -> BTreeMap<usize, (usize, Fraction)> {
    let mut removed: BTreeMap<usize, (usize, Fraction)> = BTreeMap::new();
    for &later in members {
        let mut best: Option<(usize, Fraction)> = None;
        for earlier in (0..later).filter(|earlier| !removed.contains_key(earlier)) {
            if let Some(&(both, union)) = edges.get(&(later, earlier))
                && best.is_none_or(|(_, (most, of))| {
                    u64::from(both) * u64::from(of) > u64::from(most) * u64::from(union)
                })
            {
                best = Some((earlier, (both, union)));
            }
        }
        removed.extend(best.map(|best| (later, best)));
    }
    removed
}
