//! Who asks, and the ways from there to a collection.

use std::sync::Arc;

use axum::Extension;
use axum::extract::FromRequestParts;
use axum::extract::rejection::ExtensionRejection;
use axum::http::request::Parts;
use benzer_index::Index;

use crate::access::Access;
use crate::access::keys::Scope;
use crate::error::Result;
use crate::state::{Shared, State};

pub struct Caller {
    pub access: Access,
    pub state: Shared,
}

/// A collection that a request may use.
pub struct Opened<'a> {
    pub name: &'a str,
    pub index: &'a Index,
    pub state: &'a State,
}

impl FromRequestParts<Shared> for Caller {
    type Rejection = ExtensionRejection;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self, ExtensionRejection> {
        let Extension(access) = Extension::from_request_parts(parts, state).await?;
        Ok(Self { access, state: Arc::clone(state) })
    }
}

impl Caller {
    /// Runs work on a collection that the caller may read, on the threads for quick reads. Errors: a key that is not for it; no such collection; what the work says.
    pub async fn read<T: Send + 'static>(
        &self,
        name: String,
        work: impl FnOnce(Opened<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.access.check(Scope::Read, Some(&name))?;
        self.state.readers.run(on_collection(Arc::clone(&self.state), name, work)).await
    }

    /// [`Caller::read`] for changes, on the threads for writing. Errors: as [`Caller::read`].
    pub async fn write<T: Send + 'static>(
        &self,
        name: String,
        work: impl FnOnce(Opened<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.access.check(Scope::Write, Some(&name))?;
        self.state.writers.run(on_collection(Arc::clone(&self.state), name, work)).await
    }
}

fn on_collection<T>(
    state: Shared,
    name: String,
    work: impl FnOnce(Opened<'_>) -> Result<T>,
) -> impl FnOnce() -> Result<T> {
    move || work(Opened { name: &name, index: &*state.collections.get(&name)?, state: &state })
}
