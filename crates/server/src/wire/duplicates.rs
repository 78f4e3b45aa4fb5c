//! Similar documents within a collection.

use benzer_index::Cluster;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::estimate::Estimate;

/// Which duplicates are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DuplicatesQuery {
    /// Pairs as they are found, clusters, the largest first, or triples.
    #[serde(default, rename = "as")]
    #[param(inline)]
    pub form: Form,
    /// The least similarity; that of the collection by default.
    #[param(minimum = 0.3, maximum = 1.0)]
    pub threshold: Option<f64>,
    /// At most so many lines.
    #[param(minimum = 1)]
    pub limit: Option<u64>,
}

/// The shape of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Pairs as they are found.
    #[default]
    Pairs,
    /// Leaders with the documents that are similar to them, the largest cluster first.
    Clusters,
    /// Three documents at a time, by what all of them have in common.
    Triples,
}

/// A line of the answer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum DuplicatesLine {
    /// Two similar documents.
    Pair(SimilarPair),
    /// A document and those that are similar to it.
    Cluster(SimilarCluster),
    /// Three similar documents.
    Triple(SimilarTriple),
    /// The last line, if something went wrong on the way.
    Failed(crate::error::ErrorBody),
}

/// Two similar documents.
#[derive(Debug, Serialize, ToSchema)]
pub struct SimilarPair {
    /// The one that came first.
    pub a: String,
    /// The other.
    pub b: String,
    /// Their similarity.
    pub estimate: Estimate,
}

/// Three similar documents.
#[derive(Debug, Serialize, ToSchema)]
pub struct SimilarTriple {
    /// The one that came first.
    pub a: String,
    /// The next.
    pub b: String,
    /// The last.
    pub c: String,
    /// Elements in all three over elements in any.
    pub estimate: Estimate,
}

impl From<benzer_index::Triple> for SimilarTriple {
    fn from(triple: benzer_index::Triple) -> Self {
        let [a, b, c] = triple.ids;
        Self { a, b, c, estimate: triple.estimate.into() }
    }
}

/// A document and those that are similar to it.
#[derive(Debug, Serialize, ToSchema)]
pub struct SimilarCluster {
    /// The document that came first.
    pub leader: String,
    /// The others, the most similar first.
    pub members: Vec<ClusterMember>,
}

/// A document of a cluster.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClusterMember {
    /// Its id.
    pub id: String,
    /// Its similarity to the leader.
    pub estimate: Estimate,
}

impl From<Cluster> for SimilarCluster {
    fn from(cluster: Cluster) -> Self {
        let member =
            |member: benzer_index::Member| ClusterMember { id: member.id, estimate: member.estimate.into() };
        Self { leader: cluster.leader, members: cluster.members.into_iter().map(member).collect() }
    }
}
