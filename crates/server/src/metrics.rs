//! Numbers for Prometheus, in its text format.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper ends of the buckets of times, in seconds.
const TIMES: [f64; 13] = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];
/// Upper ends of the buckets of counts.
const COUNTS: [f64; 9] = [0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 10_000.0];

/// What is counted.
#[derive(Debug, Default)]
pub struct Metrics {
    series: Mutex<Series>,
}

#[derive(Debug, Default)]
struct Series {
    /// Requests by method, route and status.
    requests: BTreeMap<(String, String, u16), u64>,
    /// Times by method and route.
    times: BTreeMap<(String, String), Histogram>,
    /// Times of calls into the index by operation.
    store: BTreeMap<&'static str, Histogram>,
    candidates: Histogram,
    verify_rejects: u64,
    inserted: u64,
    rejected: u64,
    /// Refusals by code.
    refused: BTreeMap<&'static str, u64>,
}

#[derive(Debug, Default, Clone)]
struct Histogram {
    counts: Vec<u64>,
    sum: f64,
}

impl Histogram {
    fn add(&mut self, ends: &[f64], value: f64) {
        self.counts.resize(ends.len() + 1, 0);
        self.counts[ends.partition_point(|end| *end < value)] += 1;
        self.sum += value;
    }

    fn write(&self, out: &mut String, name: &str, labels: &str, ends: &[f64]) {
        let mut all = 0;
        let comma = if labels.is_empty() { "" } else { "," };
        for (i, count) in self.counts.iter().enumerate() {
            all += count;
            let end = ends.get(i).map_or_else(|| "+Inf".to_owned(), f64::to_string);
            let _ = writeln!(out, "{name}_bucket{{{labels}{comma}le=\"{end}\"}} {all}");
        }
        let braces = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(out, "{name}_sum{braces} {}\n{name}_count{braces} {all}", self.sum);
    }
}

/// What is known only when it is asked for.
#[derive(Debug, Default)]
pub struct Gauges {
    /// Documents of each open collection.
    pub documents: Vec<(String, u64)>,
    /// Requests that are being served.
    pub in_flight: usize,
}

impl Metrics {
    /// A request that was answered.
    pub fn request(&self, method: &str, route: &str, status: u16, time: Duration) {
        self.with(|series| {
            let key = (method.to_owned(), route.to_owned());
            series.times.entry(key.clone()).or_default().add(&TIMES, time.as_secs_f64());
            *series.requests.entry((key.0, key.1, status)).or_default() += 1;
        });
    }

    /// A request that was turned away: `overloaded`, `rate_limited`, `timeout`.
    pub fn refused(&self, why: &'static str) {
        self.with(|series| *series.refused.entry(why).or_default() += 1);
    }

    /// A call into the index.
    pub fn store(&self, operation: &'static str, time: Duration) {
        self.with(|series| series.store.entry(operation).or_default().add(&TIMES, time.as_secs_f64()));
    }

    /// A search: how many documents were compared, and how many of them did not reach the threshold.
    pub fn search(&self, candidates: usize, matches: usize, time: Duration) {
        self.with(|series| {
            series.candidates.add(&COUNTS, candidates as f64);
            series.verify_rejects += candidates.saturating_sub(matches) as u64;
            series.store.entry("search").or_default().add(&TIMES, time.as_secs_f64());
        });
    }

    /// A batch.
    pub fn inserted(&self, inserted: usize, rejected: usize) {
        self.with(|series| {
            series.inserted += inserted as u64;
            series.rejected += rejected as u64;
        });
    }

    fn with(&self, change: impl FnOnce(&mut Series)) {
        change(&mut self.series.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Everything as Prometheus reads it.
    pub fn text(&self, gauges: &Gauges) -> String {
        let series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::new();
        let head = |out: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        head(&mut out, "benzer_requests_total", "counter", "Requests answered.");
        for ((method, route, status), n) in &series.requests {
            let _ = writeln!(
                out,
                "benzer_requests_total{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}} {n}"
            );
        }
        head(
            &mut out,
            "benzer_request_seconds",
            "histogram",
            "Time from the head of a request to the head of its answer.",
        );
        for ((method, route), times) in &series.times {
            times.write(
                &mut out,
                "benzer_request_seconds",
                &format!("method=\"{method}\",route=\"{route}\""),
                &TIMES,
            );
        }
        head(&mut out, "benzer_requests_in_flight", "gauge", "Requests being served.");
        let _ = writeln!(out, "benzer_requests_in_flight {}", gauges.in_flight);
        head(&mut out, "benzer_refused_total", "counter", "Requests turned away because of limits.");
        for (why, n) in &series.refused {
            let _ = writeln!(out, "benzer_refused_total{{reason=\"{why}\"}} {n}");
        }
        head(&mut out, "benzer_documents", "gauge", "Documents of each collection.");
        for (name, n) in &gauges.documents {
            let _ = writeln!(out, "benzer_documents{{collection=\"{name}\"}} {n}");
        }
        head(&mut out, "benzer_documents_inserted_total", "counter", "Documents put into collections.");
        let _ = writeln!(out, "benzer_documents_inserted_total {}", series.inserted);
        head(
            &mut out,
            "benzer_documents_rejected_total",
            "counter",
            "Documents of batches that were not taken.",
        );
        let _ = writeln!(out, "benzer_documents_rejected_total {}", series.rejected);
        head(&mut out, "benzer_search_candidates", "histogram", "Documents compared by a search.");
        series.candidates.write(&mut out, "benzer_search_candidates", "", &COUNTS);
        head(
            &mut out,
            "benzer_verify_rejects_total",
            "counter",
            "Compared documents that did not reach the threshold.",
        );
        let _ = writeln!(out, "benzer_verify_rejects_total {}", series.verify_rejects);
        head(&mut out, "benzer_store_seconds", "histogram", "Time of calls into the index and its store.");
        for (operation, times) in &series.store {
            times.write(&mut out, "benzer_store_seconds", &format!("operation=\"{operation}\""), &TIMES);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative_and_hold_their_upper_end() {
        let metrics = Metrics::default();
        metrics.search(1, 1, Duration::from_millis(1));
        metrics.search(4, 1, Duration::from_secs(100));
        metrics.request("GET", "/x", 200, Duration::from_micros(300));
        metrics.inserted(3, 1);
        metrics.refused("overloaded");
        let gauges = Gauges { documents: vec![("a".into(), 7)], in_flight: 2 };
        let text = metrics.text(&gauges);
        for line in [
            "benzer_search_candidates_bucket{le=\"1\"} 1",
            "benzer_search_candidates_bucket{le=\"10\"} 2",
            "benzer_search_candidates_bucket{le=\"+Inf\"} 2",
            "benzer_search_candidates_sum 5",
            "benzer_verify_rejects_total 3",
            "benzer_store_seconds_bucket{operation=\"search\",le=\"0.001\"} 1",
            "benzer_store_seconds_bucket{operation=\"search\",le=\"30\"} 1",
            "benzer_store_seconds_bucket{operation=\"search\",le=\"+Inf\"} 2",
            "benzer_requests_total{method=\"GET\",route=\"/x\",status=\"200\"} 1",
            "benzer_documents{collection=\"a\"} 7",
            "benzer_documents_inserted_total 3",
            "benzer_refused_total{reason=\"overloaded\"} 1",
            "benzer_requests_in_flight 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
