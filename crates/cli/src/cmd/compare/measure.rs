//! The numbers: exact from features, estimated from sketches.

use std::collections::BTreeMap;

use benzer_core::Features;
use benzer_core::estimate::{Estimate, of};
use benzer_core::sketch::{Sketch, SketchSpec};
use serde::Serialize;
use serde_json::Number;

use super::explain::Explanation;
use super::{Subject, Subjects};
use crate::output::number;

/// Every three of more than this many subjects would be a wall of numbers.
const MAX_FOR_TRIPLES: usize = 6;

#[derive(Debug, Serialize)]
pub(super) struct Comparison {
    pub inputs: Vec<Input>,
    pub sketches: Vec<KindOfSketch>,
    pub pairs: Vec<Pair>,
    pub triples: Vec<Group>,
    /// All subjects together, if they are more than three.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<Group>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub explanations: Vec<Explanation>,
}

#[derive(Debug, Serialize)]
pub(super) struct Input {
    pub label: String,
    pub name: String,
    pub size: Number,
}

#[derive(Debug, Serialize)]
pub(super) struct KindOfSketch {
    pub name: String,
    pub spec: SketchSpec,
    pub bytes: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct Pair {
    pub of: [String; 2],
    pub exact: Option<ExactPair>,
    pub estimates: Vec<PairEstimates>,
}

#[derive(Debug, Serialize)]
pub(super) struct ExactPair {
    /// Nothing if both sets are empty.
    pub jaccard: Option<f64>,
    /// The share of each that is in the other.
    pub containment: [Option<f64>; 2],
    pub intersection: Number,
    pub union: Number,
}

#[derive(Debug, Serialize)]
pub(super) struct PairEstimates {
    pub sketch: String,
    pub jaccard: Estimate,
    pub containment: [Estimate; 2],
    pub intersection: Estimate,
    pub union: Estimate,
}

#[derive(Debug, Serialize)]
pub(super) struct Group {
    pub of: Vec<String>,
    pub exact: Option<ExactGroup>,
    pub estimates: Vec<GroupEstimate>,
}

#[derive(Debug, Serialize)]
pub(super) struct ExactGroup {
    pub jaccard: Option<f64>,
    pub intersection: Number,
    pub union: Number,
}

#[derive(Debug, Serialize)]
pub(super) struct GroupEstimate {
    pub sketch: String,
    pub jaccard: Attempt,
}

/// An estimate, or why this kind of sketch cannot give one.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case", untagged)]
pub(super) enum Attempt {
    Estimate(Estimate),
    Unsupported { unsupported: String },
}

pub(super) fn measure(all: &Subjects) -> anyhow::Result<Comparison> {
    let subjects = &all.subjects;
    let mut pairs = Vec::new();
    for (i, a) in subjects.iter().enumerate() {
        for b in &subjects[i + 1..] {
            pairs.push(pair(all, a, b)?);
        }
    }
    Ok(Comparison {
        inputs: subjects.iter().map(input).collect(),
        sketches: all.kinds.iter().map(|kind| kind_of_sketch(&kind.name, &kind.spec)).collect(),
        pairs,
        triples: triples(all),
        all: (subjects.len() > 3).then(|| group(all, &subjects.iter().collect::<Vec<_>>())),
        explanations: Vec::new(),
    })
}

fn input(subject: &Subject) -> Input {
    Input { label: subject.label.clone(), name: subject.name.clone(), size: number(subject.size) }
}

fn kind_of_sketch(name: &str, spec: &SketchSpec) -> KindOfSketch {
    KindOfSketch { name: name.to_owned(), spec: spec.clone(), bytes: spec.bytes() }
}

fn pair(all: &Subjects, a: &Subject, b: &Subject) -> anyhow::Result<Pair> {
    let estimates = |(i, kind): (usize, &super::Kind)| -> anyhow::Result<PairEstimates> {
        let (x, y) = (&a.sketches[i], &b.sketches[i]);
        Ok(PairEstimates {
            sketch: kind.name.clone(),
            jaccard: of::jaccard(x, y)?,
            containment: of::containment(x, y)?,
            intersection: of::intersection(x, y)?,
            union: of::union(x, y)?,
        })
    };
    Ok(Pair {
        of: [a.label.clone(), b.label.clone()],
        exact: a.features.as_ref().zip(b.features.as_ref()).map(|(x, y)| exact_pair(x, y)),
        estimates: all.kinds.iter().enumerate().map(estimates).collect::<Result<_, _>>()?,
    })
}

fn exact_pair(a: &Features, b: &Features) -> ExactPair {
    let intersection = a.intersection(b);
    let share = |of: &Features| (!of.is_empty()).then(|| intersection / of.size());
    ExactPair {
        jaccard: a.jaccard(b),
        containment: [share(a), share(b)],
        intersection: number(intersection),
        union: number(a.union(b)),
    }
}

fn triples(all: &Subjects) -> Vec<Group> {
    let subjects = &all.subjects;
    let n = subjects.len();
    if n > MAX_FOR_TRIPLES {
        talk!("note: every three are shown of {MAX_FOR_TRIPLES} inputs or fewer, and these are {n}");
        return Vec::new();
    }
    let mut triples = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            for k in j + 1..n {
                triples.push(group(all, &[&subjects[i], &subjects[j], &subjects[k]]));
            }
        }
    }
    triples
}

fn group(all: &Subjects, members: &[&Subject]) -> Group {
    let estimate = |(i, kind): (usize, &super::Kind)| {
        let sketches: Vec<&Sketch> = members.iter().map(|member| &member.sketches[i]).collect();
        let estimate = match sketches[..] {
            [a, b, c] => of::three_way(a, b, c),
            _ => of::n_way(&sketches),
        };
        let jaccard = estimate
            .map_or_else(|error| Attempt::Unsupported { unsupported: error.to_string() }, Attempt::Estimate);
        GroupEstimate { sketch: kind.name.clone(), jaccard }
    };
    let features: Option<Vec<&Features>> = members.iter().map(|member| member.features.as_ref()).collect();
    Group {
        of: members.iter().map(|member| member.label.clone()).collect(),
        exact: features.map(|features| exact_group(&features)),
        estimates: all.kinds.iter().enumerate().map(estimate).collect(),
    }
}

/// An element in a group: how many have it, and the smallest and largest weight of those.
struct Count {
    holders: usize,
    min: f64,
    max: f64,
}

/// Elements in all over elements in any; for bags, smallest over largest counts.
fn exact_group(features: &[&Features]) -> ExactGroup {
    let mut counts: BTreeMap<u64, Count> = BTreeMap::new();
    for (element, weight) in features.iter().flat_map(|features| features.pairs()) {
        let count = counts.entry(element).or_insert(Count { holders: 0, min: f64::INFINITY, max: 0.0 });
        count.holders += 1;
        count.min = count.min.min(weight);
        count.max = count.max.max(weight);
    }
    let in_all = counts.values().filter(|count| count.holders == features.len());
    let intersection = in_all.map(|count| count.min).sum::<f64>() + 0.0;
    let union = counts.values().map(|count| count.max).sum::<f64>() + 0.0;
    ExactGroup {
        jaccard: (union > 0.0).then(|| intersection / union),
        intersection: number(intersection),
        union: number(union),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_two_is_the_pair() {
        let a = Features::bag([1, 1, 2, 5]);
        let b = Features::bag([1, 2, 2, 3]);
        let (pair, group) = (exact_pair(&a, &b), exact_group(&[&a, &b]));
        assert_eq!(
            (pair.jaccard, pair.intersection, pair.union),
            (group.jaccard, group.intersection, group.union)
        );
    }

    #[test]
    fn three_sets_share_what_all_of_them_hold() {
        let sets = [Features::set(0..6), Features::set(2..8), Features::set(4..12)];
        let group = exact_group(&sets.each_ref());
        assert_eq!((group.intersection, group.union), (2.into(), 12.into()));
        assert_eq!(exact_group(&[&Features::default(); 3]).jaccard, None);
    }
}
