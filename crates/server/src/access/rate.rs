//! How often each key may ask.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;

use crate::error::{ApiError, Result};

/// A bucket of tokens for each key: it holds those of one second.
pub(super) struct RateLimiter {
    /// Requests per second; 0 is no limit.
    rate: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

struct Bucket {
    tokens: f64,
    filled: Instant,
}

impl RateLimiter {
    pub(super) fn new(rate: f64) -> Self {
        Self { rate, buckets: Mutex::default() }
    }

    /// Takes a token of a key. Errors: 429 if there is none, with the seconds until there is one.
    pub(super) fn count(&self, id: &str) -> Result<()> {
        if self.rate <= 0.0 {
            return Ok(());
        }
        let (now, max) = (Instant::now(), self.rate.max(1.0));
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if !buckets.contains_key(id) {
            buckets.insert(id.to_owned(), Bucket { tokens: max, filled: now });
        }
        let bucket = buckets.get_mut(id).expect("it was just put there");
        bucket.tokens =
            (bucket.tokens + now.duration_since(bucket.filled).as_secs_f64() * self.rate).min(max);
        bucket.filled = now;
        if bucket.tokens < 1.0 {
            let wait = ((1.0 - bucket.tokens) / self.rate).ceil().max(1.0) as u64;
            let message = format!("more than {} requests per second; slow down", self.rate);
            return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message).after(wait));
        }
        bucket.tokens -= 1.0;
        Ok(())
    }
}
