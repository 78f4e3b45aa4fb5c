//! All pairs and all groups of three of a collection, with their exact similarities.

use benzer_core::Features;

use crate::exact::three_way::ROUNDING;
use crate::moments::range;

/// Sets of a collection, by their places.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group<const N: usize> {
    pub sets: [usize; N],
    pub jaccard: f64,
    pub pairs: f64,
    /// The smallest size over the largest one: they cannot be more similar.
    pub max_jaccard: f64,
}

impl<const N: usize> Group<N> {
    pub fn reaches(&self, threshold: f64) -> bool {
        reaches(self.jaccard, threshold)
    }
}

/// Whether a similarity or an estimate is at least a threshold.
pub(crate) fn reaches(value: f64, threshold: f64) -> bool {
    value >= threshold - ROUNDING
}

pub(crate) fn relevant<const N: usize>(groups: &[Group<N>], threshold: f64) -> f64 {
    groups.iter().filter(|group| group.reaches(threshold)).count() as f64
}

pub(crate) fn pairs(sets: &[Features]) -> Vec<Group<2>> {
    let common = Common::new(sets);
    let places = (0..sets.len()).flat_map(|i| (i + 1..sets.len()).map(move |j| [i, j]));
    let group = |sets: [usize; 2]| {
        let jaccard = common.jaccard(sets[0], sets[1]);
        Group { sets, jaccard, pairs: jaccard, max_jaccard: common.max_jaccard(&sets) }
    };
    places.map(group).collect()
}

pub(crate) fn triples(sets: &[Features]) -> Vec<Group<3>> {
    let common = Common::new(sets);
    let mut groups = Vec::new();
    for i in 0..sets.len() {
        for j in i + 1..sets.len() {
            let both = intersection(&[&sets[i], &sets[j]]);
            for l in j + 1..sets.len() {
                let [x, y, z] = [common.sets[i][j], common.sets[i][l], common.sets[j][l]];
                let all = both.intersection(&sets[l]);
                let union = sets[i].size() + sets[j].size() + sets[l].size() - x - y - z + all;
                groups.push(Group {
                    sets: [i, j, l],
                    jaccard: all / union,
                    pairs: common.jaccard(i, j) + common.jaccard(i, l) + common.jaccard(j, l),
                    max_jaccard: common.max_jaccard(&[i, j, l]),
                });
            }
        }
    }
    groups
}

pub(crate) fn intersection(sets: &[&Features]) -> Features {
    let (first, others) = sets.split_first().expect("at least one set");
    let is_common = |e: &u64| others.iter().all(|set| set.elements().binary_search(e).is_ok());
    Features::set(first.elements().iter().copied().filter(is_common))
}

struct Common {
    sizes: Vec<f64>,
    sets: Vec<Vec<f64>>,
}

impl Common {
    fn new(sets: &[Features]) -> Self {
        let with_all = |a: &Features| sets.iter().map(|b| a.intersection(b)).collect();
        Self { sizes: sets.iter().map(Features::size).collect(), sets: sets.iter().map(with_all).collect() }
    }

    fn jaccard(&self, i: usize, j: usize) -> f64 {
        let common = self.sets[i][j];
        common / (self.sizes[i] + self.sizes[j] - common)
    }

    fn max_jaccard(&self, sets: &[usize]) -> f64 {
        let [low, high] = range(sets.iter().map(|&i| self.sizes[i]));
        low / high
    }
}
