//! The memory of bodies: a request that would need more than there is left is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{ApiError, Result};

#[derive(Debug, Clone)]
pub struct MemoryBudget {
    left: Arc<AtomicUsize>,
}

/// Bytes that one request has taken; they are given back when it is dropped.
pub struct Reservation {
    left: Arc<AtomicUsize>,
    bytes: usize,
}

impl MemoryBudget {
    pub fn new(bytes: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(bytes)) }
    }

    /// Nothing yet, for one request.
    pub fn reserve(&self) -> Reservation {
        Reservation { left: Arc::clone(&self.left), bytes: 0 }
    }
}

impl Reservation {
    /// Takes more. Errors: there is not so much left.
    pub fn grow(&mut self, bytes: usize) -> Result<()> {
        let taken =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        let full = |_| ApiError::overloaded("the memory for bodies is used up by other requests; try again");
        taken.map_err(full)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_comes_back() {
        let budget = MemoryBudget::new(100);
        let mut first = budget.reserve();
        first.grow(60).unwrap();
        let mut second = budget.reserve();
        assert!(second.grow(50).is_err());
        second.grow(40).unwrap();
        drop(first);
        second.grow(60).unwrap();
        assert!(second.grow(1).is_err());
    }
}
