//! All pairs of similar documents of a collection.

use benzer_core::estimate::Estimate;

use super::Index;
use super::search::Search;
use crate::candidates::Candidates;
use crate::error::Result;
use crate::query::Query;
use crate::record::DocNo;
use crate::score::{RecordPair, may_reach, reaches};
use crate::store::{Cursor, Parts};

/// Documents that are looked up at a time.
const BATCH: usize = 1024;

/// Two documents that may be similar enough; the one that came first is first.
pub(super) struct Pair<'a> {
    pub numbers: [DocNo; 2],
    ids: [&'a [u8]; 2],
    estimate: Estimate,
    /// Whether the estimate is enough, not only may be.
    is_enough: bool,
}

impl Index {
    /// Hands all pairs of similar documents to `visit`: the ids, and the estimate; the one that came first is first. They are pairs that share a band key and whose estimate reaches the
    /// threshold.
    ///
    /// # Errors
    /// A threshold that makes no sense; what the store says, or what `visit` returns.
    pub fn duplicates(
        &self,
        threshold: Option<f64>,
        mut visit: impl FnMut(&str, &str, &Estimate) -> Result<()>,
    ) -> Result<()> {
        let search = Search::new(self, &Query { threshold, ..Query::default() })?;
        search.near_pairs(&mut |pair| {
            if !pair.is_enough {
                return Ok(());
            }
            let [first, second] = pair.ids.map(String::from_utf8_lossy);
            visit(&first, &second, &pair.estimate)
        })
    }
}

impl Search<'_> {
    /// Hands all pairs that share a band key and may reach the threshold to `visit`.
    pub fn near_pairs(&self, visit: &mut dyn FnMut(Pair<'_>) -> Result<()>) -> Result<()> {
        let Search { index, view, query } = self;
        let (criteria, layout) = (&query.criteria, self.layout());
        let fields = &criteria.fields;
        let (mut candidates, mut parts) = (Candidates::default(), Vec::new());
        let mut from = Some(Cursor::START);
        while let Some(start) = from {
            let mut batch: Vec<(DocNo, Vec<u8>, Vec<u64>)> = Vec::new();
            from = view.scan(start, BATCH, Parts::Sketches, &mut |number, record| {
                if !query.is_gone(&record) {
                    batch.push((number, record.id.to_vec(), record.words.to_vec()));
                }
                Ok(())
            })?;
            let words = batch.iter().map(|(_, _, words)| &words[..]);
            candidates.find(&**view, layout, fields, words)?;
            let lists = candidates.lists().zip(&batch);
            let earlier = lists.flat_map(|(numbers, later)| {
                let n = numbers.partition_point(|number| *number < later.0);
                numbers[..n].iter().map(move |number| (*number, later))
            });
            let (numbers, later): (Vec<DocNo>, Vec<_>) = earlier.unzip();
            view.records(&numbers, Parts::Sketches, &mut |place, record| {
                let (number, id, words) = later[place];
                let pair = RecordPair { query: words, found: record.words };
                index.scorer.parts(layout, criteria, pair, &mut parts)?;
                let estimate = criteria.together(&parts);
                if !criteria.accepts(&parts, &estimate, may_reach)
                    || query.is_gone(&record)
                    || !layout.share_key(fields, words, record.words)
                {
                    return Ok(());
                }
                let numbers = [numbers[place], *number];
                let is_enough = criteria.accepts(&parts, &estimate, reaches);
                visit(Pair { numbers, ids: [record.id, id], estimate, is_enough })
            })?;
        }
        Ok(())
    }
}
