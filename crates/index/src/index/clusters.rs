//! Clusters of a collection: leaders, and the documents that are similar to one.
//!
//! Documents are taken in the order in which they came. One that is similar to no leader before it becomes a leader; any other belongs to the most similar leader, the earliest among equals. So
//! every member is similar to its leader itself, never by a chain.

use std::collections::{HashMap, HashSet};

use benzer_core::estimate::Estimate;
use serde::Serialize;

use super::Index;
use crate::error::Result;

/// A leader and the documents that are similar to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cluster {
    /// The document that came first.
    pub leader: String,
    /// The others, the most similar first.
    pub members: Vec<Member>,
}

/// A document of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Member {
    /// Its id.
    pub id: String,
    /// Its similarity to the leader.
    pub estimate: Estimate,
}

/// Collects pairs as [`Index::duplicates`] gives them: all pairs of a document with earlier ones in a row, documents in the order in which they came.
#[derive(Debug, Default)]
struct Builder {
    clusters: Vec<Cluster>,
    leaders: HashMap<String, usize>,
    members: HashSet<String>,
    current: Option<(String, Option<(usize, Estimate)>)>,
}

impl Builder {
    fn add(&mut self, earlier: &str, later: &str, estimate: &Estimate) {
        if self.current.as_ref().is_none_or(|(id, _)| id != later) {
            self.settle();
            self.current = Some((later.to_owned(), None));
        }
        if self.members.contains(earlier) {
            return;
        }
        let place = *self.leaders.entry(earlier.to_owned()).or_insert_with(|| {
            self.clusters.push(Cluster { leader: earlier.to_owned(), members: Vec::new() });
            self.clusters.len() - 1
        });
        let better = |best: &(usize, Estimate)| estimate.value() > best.1.value();
        if let Some((_, best)) = &mut self.current
            && best.as_ref().is_none_or(better)
        {
            *best = Some((place, *estimate));
        }
    }

    /// The document whose pairs were given last finds its place.
    fn settle(&mut self) {
        if let Some((id, Some((place, estimate)))) = self.current.take() {
            self.members.insert(id.clone());
            self.clusters[place].members.push(Member { id, estimate });
        }
    }

    fn finish(mut self) -> Vec<Cluster> {
        self.settle();
        let mut clusters = self.clusters;
        clusters.retain(|cluster| !cluster.members.is_empty());
        let value = |member: &Member| member.estimate.value().unwrap_or_default();
        for cluster in &mut clusters {
            cluster.members.sort_by(|a, b| value(b).total_cmp(&value(a)).then_with(|| a.id.cmp(&b.id)));
        }
        clusters.sort_by(|a, b| b.members.len().cmp(&a.members.len()).then_with(|| a.leader.cmp(&b.leader)));
        clusters
    }
}

impl Index {
    /// All clusters of two or more documents, the largest first. It needs memory for the ids of all documents that are similar to another one.
    ///
    /// # Errors
    /// As [`Index::duplicates`], or what `check` returns, which is asked for each pair.
    pub fn clusters(
        &self,
        threshold: Option<f64>,
        mut check: impl FnMut() -> Result<()>,
    ) -> Result<Vec<Cluster>> {
        let mut builder = Builder::default();
        self.duplicates(threshold, |earlier, later, estimate| {
            builder.add(earlier, later, estimate);
            check()
        })?;
        Ok(builder.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::store;
    use benzer_core::field::{Content, Document};

    fn built(pairs: &[(&str, &str, f64)]) -> Vec<(String, Vec<String>)> {
        let mut builder = Builder::default();
        pairs.iter().for_each(|(a, b, value)| builder.add(a, b, &Estimate::exact(*value)));
        let ids = |cluster: Cluster| (cluster.leader, cluster.members.into_iter().map(|m| m.id).collect());
        builder.finish().into_iter().map(ids).collect()
    }

    #[test]
    fn a_chain_is_not_one_cluster() {
        let clusters = built(&[("a", "b", 0.9), ("b", "c", 0.9), ("c", "d", 0.9)]);
        let expected = [("a", vec!["b"]), ("c", vec!["d"])];
        assert_eq!(
            clusters,
            expected.map(|(leader, ids)| (leader.into(), ids.into_iter().map(Into::into).collect()))
        );
    }

    #[test]
    fn a_document_belongs_to_the_most_similar_leader() {
        let clusters =
            built(&[("a", "x", 0.8), ("a", "z", 0.8), ("b", "z", 0.95), ("b", "y", 0.81), ("b", "v", 0.9)]);
        let expected = [("b", vec!["z", "v", "y"]), ("a", vec!["x"])];
        assert_eq!(
            clusters,
            expected.map(|(leader, ids)| (leader.into(), ids.into_iter().map(Into::into).collect()))
        );
    }

    #[test]
    fn every_member_is_similar_to_its_leader() {
        let schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "text", "n": 1}}}"#).unwrap();
        let index = Index::new(store::memory(Settings::new(schema).unwrap()).unwrap()).unwrap();
        // Windows over a line of words that move on by one word each: neighbours are similar, ends are not.
        let text = |i: usize| (i..i + 40).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
        let documents: Vec<Document> =
            (0..60).map(|i| Document::new(format!("{i:03}"), [("body", Content::from(text(i)))])).collect();
        index.insert(&documents).unwrap();
        let clusters = index.clusters(None, || Ok(())).unwrap();
        assert!(clusters.len() > 3, "{clusters:?}");
        assert!(clusters.is_sorted_by_key(|cluster| std::cmp::Reverse(cluster.members.len())));
        let members = clusters.iter().flat_map(|cluster| &cluster.members);
        assert!(members.clone().all(|member| member.estimate.value().unwrap() >= 0.8));
        let mut ids: Vec<&str> = members.map(|member| &*member.id).collect();
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "in one cluster only: {ids:?}");
        let stop = index.clusters(None, || Err(crate::Error::Full));
        assert!(matches!(stop, Err(crate::Error::Full)));
    }
}
