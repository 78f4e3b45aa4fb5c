//! All triples of similar documents of a collection.
//!
//! Any two documents of a triple that reaches the threshold do so too. A triple is found if one of its documents is paired with both others, so that it is missed only if two of its three pairs are.

use std::collections::{BTreeMap, BTreeSet};

use benzer_core::estimate::Estimate;
use serde::Serialize;

use super::Index;
use super::search::Search;
use crate::error::Result;
use crate::query::Query;
use crate::record::DocNo;
use crate::score::reaches;
use crate::store::Parts;

/// Three documents, and what they have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Triple {
    /// Their ids, in the order in which they came.
    pub ids: [String; 3],
    /// Elements in all three over elements in any: the weighted mean of the fields.
    pub estimate: Estimate,
}

/// Documents, each with those that may be similar to it.
type Neighbours = BTreeMap<DocNo, BTreeSet<DocNo>>;

impl Index {
    /// Hands all triples of similar documents to `visit`: their estimated three-way resemblance reaches the threshold. It needs memory for all similar pairs.
    ///
    /// # Errors
    /// A threshold that makes no sense; what the store says, or what `visit` returns.
    pub fn triples(&self, threshold: Option<f64>, mut visit: impl FnMut(Triple) -> Result<()>) -> Result<()> {
        let search = Search::new(self, &Query { threshold, ..Query::default() })?;
        let mut neighbours = Neighbours::new();
        search.near_pairs(&mut |pair| {
            let [a, b] = pair.numbers;
            neighbours.entry(a).or_default().insert(b);
            neighbours.entry(b).or_default().insert(a);
            Ok(())
        })?;
        for centre in neighbours.keys() {
            search.around(&neighbours, *centre, &mut visit)?;
        }
        Ok(())
    }
}

impl Search<'_> {
    /// The triples of a document and two of its neighbours that are not found around an earlier one.
    fn around(
        &self,
        neighbours: &Neighbours,
        centre: DocNo,
        visit: &mut impl FnMut(Triple) -> Result<()>,
    ) -> Result<()> {
        let around: Vec<DocNo> = neighbours[&centre].iter().copied().collect();
        let is_first = |pair: [DocNo; 2]| pair.iter().all(|number| centre < *number);
        let are_near = |[a, b]: [DocNo; 2]| neighbours[&a].contains(&b);
        if around.len() < 2 {
            return Ok(());
        }
        let mut records: BTreeMap<DocNo, (String, Vec<u64>)> = BTreeMap::new();
        let numbers: Vec<DocNo> = around.iter().copied().chain([centre]).collect();
        self.view.records(&numbers, Parts::Sketches, &mut |place, record| {
            let id = String::from_utf8_lossy(record.id).into_owned();
            records.insert(numbers[place], (id, record.words.to_vec()));
            Ok(())
        })?;
        for (i, &a) in around.iter().enumerate() {
            for &b in around[i + 1..].iter().filter(|b| is_first([a, **b]) || !are_near([a, **b])) {
                let mut three = [a, b, centre];
                three.sort_unstable();
                let [Some(a), Some(b), Some(c)] = three.map(|number| records.get(&number)) else { continue };
                let parts = self.three_way([&a.1, &b.1, &c.1])?;
                let estimate = self.query.criteria.together(&parts);
                if self.query.criteria.accepts(&parts, &estimate, reaches) {
                    visit(Triple { ids: [a, b, c].map(|(id, _)| id.clone()), estimate })?;
                }
            }
        }
        Ok(())
    }
}
