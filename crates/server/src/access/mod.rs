//! Who asks, and what they may do.
//!
//! ```text
//! headers --Authenticator: key, own name, own page, rate--> Access --check--> a scope of a collection
//! ```

mod authenticator;
pub mod keys;
mod rate;

use axum::http::StatusCode;

pub(crate) use authenticator::Authenticator;

use crate::error::{ApiError, Result};
use keys::{Key, Scope};

#[derive(Debug, Clone)]
pub(crate) struct Access {
    /// Nothing where no key is needed.
    key: Option<Key>,
}

impl Access {
    /// Refuses what the key is not for. Errors: 403 for a scope that the key lacks; a collection that it is not for looks as if it were not there.
    pub fn check(&self, scope: Scope, collection: Option<&str>) -> Result<()> {
        let Some(key) = &self.key else { return Ok(()) };
        let forbidden = |message: &str| Err(ApiError::new(StatusCode::FORBIDDEN, "forbidden", message));
        if !key.scopes.contains(&scope) {
            let name = if scope == Scope::Read { "read" } else { "write" };
            return forbidden(&format!("this key has not the scope `{name}`"));
        }
        match collection {
            Some(name) if !self.sees(name) => Err(ApiError::no_collection(name)),
            None if !key.collections.is_empty() => forbidden("this key is limited to some collections"),
            _ => Ok(()),
        }
    }

    pub fn sees(&self, collection: &str) -> bool {
        let all =
            |key: &Key| key.collections.is_empty() || key.collections.iter().any(|name| name == collection);
        self.key.as_ref().is_none_or(all)
    }

    /// May read something, without regard to collections. Errors: 403 without the scope.
    pub fn check_read(&self) -> Result<()> {
        match &self.key {
            Some(key) if !key.scopes.contains(&Scope::Read) => self.check(Scope::Read, None),
            _ => Ok(()),
        }
    }
}
