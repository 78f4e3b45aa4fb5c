//! What candidates share, exactly.

use benzer_flow::workers::in_parallel;
use benzer_io::Result;
use benzer_join::Rank;
use benzer_join::exact::Measure;

use super::{Pair, Wanted};
use crate::SetStore;
use crate::overlap::overlap;
use crate::store::ElementBuffer;

/// Candidates that a thread takes at a time.
const TASK: usize = 1 << 10;

/// Those of some candidates, which are sorted, that reach the threshold.
pub(super) fn measure(
    candidates: &[(Rank, Rank)],
    store: &SetStore,
    wanted: &Wanted,
    threads: usize,
) -> Result<Vec<Pair>> {
    let tasks: Vec<&[(Rank, Rank)]> = candidates.chunks(TASK).collect();
    let buffers = || (ElementBuffer::default(), ElementBuffer::default());
    let made = in_parallel(tasks.len(), threads, buffers, |task, (of_a, of_b)| -> Result<Vec<Pair>> {
        let mut pairs = Vec::new();
        for group in tasks[task].chunk_by(|one, other| one.0 == other.0) {
            let Rank(a) = group[0].0;
            let elements = store.elements_of(a, of_a)?;
            for &(_, Rank(b)) in group {
                let (size_a, size_b) = (store.size(a), store.size(b));
                let min_shared = match wanted.measure {
                    Measure::Jaccard => wanted.threshold.min_shared(u64::from(size_a) + u64::from(size_b)),
                    Measure::Containment => wanted.threshold.min_overlap(size_a),
                };
                let shared = overlap(elements, store.elements_of(b, of_b)?, min_shared);
                pairs.extend(shared.map(|intersection| Pair { a, b, intersection, size_a, size_b }));
            }
        }
        Ok(pairs)
    });
    Ok(made.into_iter().collect::<Result<Vec<_>>>()?.concat())
}
