//! The memory of bodies: a request that would need more than there is left is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{ApiError, Result};

/// Bytes that all requests share.
#[derive(Debug, Clone)]
pub struct Budget {
    left: Arc<AtomicUsize>,
}

/// Bytes that one request has taken; they are given back when it is dropped.
#[derive(Debug)]
pub struct Taken {
    left: Arc<AtomicUsize>,
    bytes: usize,
}

impl Budget {
    /// So many bytes.
    pub fn new(bytes: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(bytes)) }
    }

    /// Nothing yet, for one request.
    pub fn take(&self) -> Taken {
        Taken { left: Arc::clone(&self.left), bytes: 0 }
    }
}

impl Taken {
    /// Takes more.
    ///
    /// # Errors
    /// There is not so much left.
    pub fn more(&mut self, bytes: usize) -> Result<()> {
        let taken =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        let full = |_| ApiError::overloaded("the memory for bodies is used up by other requests; try again");
        taken.map_err(full)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_comes_back() {
        let budget = Budget::new(100);
        let mut first = budget.take();
        first.more(60).unwrap();
        let mut second = budget.take();
        assert!(second.more(50).is_err());
        second.more(40).unwrap();
        drop(first);
        second.more(60).unwrap();
        assert!(second.more(1).is_err());
    }
}
