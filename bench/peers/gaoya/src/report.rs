//! The JSON line of the race.

use serde_json::{Value, json};

use crate::Timing;
use crate::input::{self, Options};

/// What was run, and how much of it.
pub struct Report {
    api: &'static str,
    amount: (&'static str, usize),
    /// Name and unit of the speed.
    speed: (&'static str, f64),
}

impl Report {
    pub fn sketch(api: &'static str, n_elements: usize) -> Self {
        Self { api, amount: ("n_elements", n_elements), speed: ("elements_per_s", 1.0) }
    }

    pub fn text(api: &'static str, n_bytes: usize) -> Self {
        Self { api, amount: ("n_bytes", n_bytes), speed: ("mb_per_s", 1e6) }
    }

    pub fn print(&self, options: &Options, timing: &Timing, signatures: &[Vec<u32>]) {
        let mut sorted = timing.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        let (speed, unit) = self.speed;
        let line = json!({
            "peer": "gaoya",
            "version": "0.2.2",
            "task": options.task,
            "input": options.input.file_name().map(|name| name.to_string_lossy()),
            "registers": options.registers,
            "n_sets": signatures.len(),
            self.amount.0: self.amount.1,
            "api": self.api,
            "seconds": timing.seconds,
            "on_cpu": timing.on_cpu,
            speed: self.amount.1 as f64 / sorted[sorted.len() / 2] / unit,
            "error": input::pairs(&options.input).map(|pairs| error(signatures, &pairs)),
        });
        println!("{line}");
    }
}

fn error(signatures: &[Vec<u32>], pairs: &[(usize, usize, f64)]) -> Value {
    let (mut sum, mut absolute, mut squares, mut theory) = (0.0, 0.0, 0.0, 0.0);
    for &(a, b, jaccard) in pairs {
        let k = signatures[a].len() as f64;
        let equal = signatures[a].iter().zip(&signatures[b]).filter(|(x, y)| x == y).count() as f64;
        let difference = equal / k - jaccard;
        sum += difference;
        absolute += difference.abs();
        squares += difference * difference;
        theory += jaccard * (1.0 - jaccard) / k;
    }
    let n = pairs.len() as f64;
    json!({
        "n_pairs": pairs.len(),
        "bias": sum / n,
        "mean_abs": absolute / n,
        "rms": (squares / n).sqrt(),
        "variance_ratio": squares / theory,
    })
}
