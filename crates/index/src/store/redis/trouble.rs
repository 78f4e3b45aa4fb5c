//! What can go wrong with a server, in words that say what to do.

use crate::error::Error;

/// Why a server did not do what it was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum Trouble {
    #[error("`{address}` does not answer: {why}")]
    Unreachable { address: String, why: String },
    #[error(
        "`{address}` does not answer: {why}; tried for {seconds} s. What was being written can be sent again without harm"
    )]
    GivenUp { address: String, why: String, seconds: f64 },
    #[error(
        "`{address}` throws keys away when it is full (maxmemory-policy {policy}), and documents with them; set it to noeviction"
    )]
    Evicts { address: String, policy: String },
    #[error(
        "`{address}` refuses the password or the user: {why}; give them as redis://USER:PASSWORD@HOST, or redis://:PASSWORD@HOST"
    )]
    Password { address: String, why: String },
    #[error("`{address}` is {found}; Redis 7.0 or newer is needed, or Valkey")]
    TooOld { address: String, found: String },
    #[error(
        "`{address}` has no room left: {why}; raise its maxmemory or remove documents, then send the batch again, which does no harm"
    )]
    NoRoom { address: String, why: String },
    #[error(
        "`{address}` is a node of a cluster; its address begins with redis+cluster:// (or rediss+cluster://)"
    )]
    IsCluster { address: String },
    #[error("`{address}` is no node of a cluster; its address begins with redis:// (or rediss://)")]
    NoCluster { address: String },
    #[error(
        "no secure connection to `{address}`: {why}; a certificate that the system does not know is given with --redis-ca FILE, or ?ca=FILE"
    )]
    Tls { address: String, why: String },
    #[error(
        "only {got} of {wanted} replicas of `{address}` have acknowledged the batch in time; it is written, and can be sent again without harm"
    )]
    NotAcknowledged { address: String, got: i64, wanted: u32 },
    #[error("`{address}` says: {why}")]
    Refused { address: String, why: String },
    #[error("the collection was dropped, or moved to other buckets, at this moment; try again")]
    Gone,
    #[error(
        "the collection is being moved to other buckets (`benzer collections reshard`); it can be searched, and written to when that is done. If that run was ended, run it again"
    )]
    Closed,
    #[error("the numbers of a slice are used up")]
    Full,
    #[error("`{what}` is not what Benzer has written; `benzer verify` lists all damage")]
    Damaged { what: String },
}

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Self {
        const BACKEND: &str = "redis";
        match trouble {
            Trouble::Full => Self::Full,
            Trouble::NoRoom { .. } => Self::NoRoom { backend: BACKEND, source: trouble.into() },
            Trouble::Unreachable { .. }
            | Trouble::GivenUp { .. }
            | Trouble::NotAcknowledged { .. }
            | Trouble::Gone
            | Trouble::Closed => Self::Unavailable { backend: BACKEND, source: trouble.into() },
            other => Self::Store { backend: BACKEND, source: other.into() },
        }
    }
}
