//! Numbers for Prometheus, in its text format.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper ends of the buckets of times, in seconds.
const TIMES: [f64; 13] = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];
/// Upper ends of the buckets of counts.
const COUNTS: [f64; 9] = [0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 10_000.0];

#[derive(Debug, Default)]
pub struct Metrics {
    series: Mutex<Series>,
}

#[derive(Debug, Default)]
struct Series {
    requests: BTreeMap<(String, String, u16), u64>,
    times: BTreeMap<(String, String), Histogram>,
    store: BTreeMap<&'static str, Histogram>,
    candidates: Histogram,
    verify_rejects: u64,
    inserted: u64,
    rejected: u64,
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
}

/// What is known only when it is asked for.
#[derive(Debug, Default)]
pub struct Gauges {
    pub documents: Vec<(String, u64)>,
    pub in_flight: usize,
}

impl Metrics {
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
        let one = |n: u64| [(String::new(), n)];
        let requests = series.requests.iter().map(|((method, route, status), n)| {
            (format!("method=\"{method}\",route=\"{route}\",status=\"{status}\""), *n)
        });
        let times = series
            .times
            .iter()
            .map(|((method, route), times)| (format!("method=\"{method}\",route=\"{route}\""), times));
        let refused = series.refused.iter().map(|(reason, n)| (format!("reason=\"{reason}\""), *n));
        let documents = gauges.documents.iter().map(|(name, n)| (format!("collection=\"{name}\""), *n));
        let store = series.store.iter().map(|(name, times)| (format!("operation=\"{name}\""), times));
        let candidates = [(String::new(), &series.candidates)];
        let mut text = Exposition(String::new());
        text.counter("requests_total", "Requests answered.", requests);
        let help = "Time from the head of a request to the head of its answer.";
        text.histogram("request_seconds", help, &TIMES, times);
        text.gauge("requests_in_flight", "Requests being served.", one(gauges.in_flight as u64));
        text.counter("refused_total", "Requests turned away because of limits.", refused);
        text.gauge("documents", "Documents of each collection.", documents);
        text.counter("documents_inserted_total", "Documents put into collections.", one(series.inserted));
        let help = "Documents of batches that were not taken.";
        text.counter("documents_rejected_total", help, one(series.rejected));
        text.histogram("search_candidates", "Documents compared by a search.", &COUNTS, candidates);
        let help = "Compared documents that did not reach the threshold.";
        text.counter("verify_rejects_total", help, one(series.verify_rejects));
        text.histogram("store_seconds", "Time of calls into the index and its store.", &TIMES, store);
        text.0
    }
}

/// Metrics in the text format of Prometheus: families of values, each with its labels.
struct Exposition(String);

impl Exposition {
    fn counter(&mut self, name: &str, help: &str, values: impl IntoIterator<Item = (String, u64)>) {
        self.head(name, "counter", help);
        values.into_iter().for_each(|(labels, value)| self.line(name, &labels, value));
    }

    fn gauge(&mut self, name: &str, help: &str, values: impl IntoIterator<Item = (String, u64)>) {
        self.head(name, "gauge", help);
        values.into_iter().for_each(|(labels, value)| self.line(name, &labels, value));
    }

    fn histogram<'a>(
        &mut self,
        name: &str,
        help: &str,
        ends: &[f64],
        values: impl IntoIterator<Item = (String, &'a Histogram)>,
    ) {
        self.head(name, "histogram", help);
        for (labels, Histogram { counts, sum }) in values {
            let mut all = 0;
            let comma = if labels.is_empty() { "" } else { "," };
            for (i, count) in counts.iter().enumerate() {
                all += count;
                let end = ends.get(i).map_or_else(|| "+Inf".to_owned(), f64::to_string);
                self.line(&format!("{name}_bucket"), &format!("{labels}{comma}le=\"{end}\""), all);
            }
            self.line(&format!("{name}_sum"), &labels, sum);
            self.line(&format!("{name}_count"), &labels, all);
        }
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP benzer_{name} {help}\n# TYPE benzer_{name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = match labels {
            "" => writeln!(self.0, "benzer_{name} {value}"),
            _ => writeln!(self.0, "benzer_{name}{{{labels}}} {value}"),
        };
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
