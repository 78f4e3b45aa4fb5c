//! The exact similarity of documents that are kept.

use benzer_core::Features;

/// The similarity of one field: nothing if it is empty in both documents, zero if it is in one.
pub(crate) fn jaccard(a: &Features, b: &Features) -> Option<f64> {
    if a.is_empty() && b.is_empty() { None } else { Some(a.jaccard(b).unwrap_or_default()) }
}

/// Elements in all three sets over elements in any; nothing if all are empty. Of bags the smallest and the largest counts.
pub(crate) fn three_way(sets: [&Features; 3]) -> Option<f64> {
    let mut all: Vec<(u64, f64)> = sets.iter().flat_map(|set| set.pairs()).collect();
    all.sort_unstable_by_key(|(element, _)| *element);
    let (mut common, mut any) = (0.0, 0.0);
    for same in all.chunk_by(|a, b| a.0 == b.0) {
        let weights = same.iter().map(|(_, weight)| *weight);
        any += weights.clone().fold(0.0, f64::max);
        common += if same.len() == 3 { weights.fold(f64::INFINITY, f64::min) } else { 0.0 };
    }
    (any > 0.0).then(|| common / any)
}
