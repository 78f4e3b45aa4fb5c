//! A goal that cannot be met: which constraints stand against each other, and what would have to give.
//!
//! For each argument of the goal, all others kept as they are, the nearest value that can be met is found by bisection. Any one
//! of these remedies is enough.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Choice, Constraint, Goal, ResolvedGoal, footprint::human};
use crate::sketch::MAX_REGISTERS;

/// A goal that cannot be met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shortfall {
    /// What was wanted.
    pub goal: Goal,
    /// The constraints that are not met, with the nearest value that would be.
    pub violated: Vec<Violation>,
    /// What to change; any one of these is enough.
    pub remedies: Vec<Remedy>,
    /// The choice with the least memory that meets everything else, if there is one.
    pub leanest: Option<Choice>,
    /// The table of the plan, each with what it does not meet.
    pub alternatives: Vec<Choice>,
}

/// A constraint that is not met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Violation {
    /// Which.
    pub constraint: Constraint,
    /// What was asked.
    pub asked: f64,
    /// The nearest value that can be met with everything else as it is.
    pub nearest: Option<f64>,
    /// In words.
    pub why: String,
}

/// A change of one argument that makes the goal feasible.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remedy {
    /// The argument: a field of [`Goal`].
    pub argument: String,
    /// The nearest value that can be met.
    pub value: f64,
    /// The value for people.
    pub text: String,
}

impl Shortfall {
    pub(super) fn new(goal: &Goal, alternatives: Vec<Choice>) -> Self {
        let leanest = ResolvedGoal::new(goal).leanest();
        let remedies = remedies(goal, leanest.as_ref());
        let mut shortfall = Self { goal: *goal, violated: Vec::new(), remedies, leanest, alternatives };
        shortfall.violated = violations(&shortfall);
        shortfall
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this plan cannot be met")?;
        for violation in &self.violated {
            write!(f, ": {}", violation.why)?;
        }
        let list: Vec<String> = self.remedies.iter().map(Remedy::to_string).collect();
        match list.split_last() {
            None => f.write_str("; no single change would do"),
            Some((only, [])) => write!(f, "; {only}"),
            Some((last, first)) => write!(f, "; {}, or {last}", first.join(", ")),
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if matches!(self.argument.as_str(), "recall" | "documents") { "lower" } else { "raise" };
        write!(f, "{verb} `{}` to {}", self.argument, self.text)
    }
}

impl std::error::Error for Shortfall {}

fn violations(shortfall: &Shortfall) -> Vec<Violation> {
    let Shortfall { goal, remedies, leanest, alternatives, .. } = shortfall;
    let nearest = |name: &str| remedies.iter().find(|r| r.argument == name).map(|r| r.value);
    let violation =
        |constraint, argument, asked, why| Violation { constraint, asked, nearest: nearest(argument), why };
    let error = ResolvedGoal::new(goal).error;
    let has_error = |choice: &Choice| choice.is_filter_only() || choice.unmet.contains(&Constraint::Error);
    if let (Some(leanest), Some(memory)) = (leanest, goal.memory) {
        let why = format!(
            "{} of memory hold {:.1} bytes for each of {} documents, and the least that reaches recall {} at {} with error {:.3} takes \
             {} ({leanest})",
            human(memory),
            memory as f64 / goal.documents as f64,
            goal.documents,
            goal.recall,
            goal.threshold,
            error,
            leanest.footprint.ram_per_document(),
        );
        return vec![violation(Constraint::Memory, "memory", memory as f64, why)];
    }
    if alternatives.iter().all(has_error) {
        let why =
            format!("no {MAX_REGISTERS} registers have a standard error of {error} at {}", goal.threshold);
        return vec![violation(Constraint::Error, "error", error, why)];
    }
    let why = format!(
        "no {MAX_REGISTERS} registers reach recall {} at {} with keys that tell {} documents apart",
        goal.recall, goal.threshold, goal.documents
    );
    vec![violation(Constraint::Recall, "recall", goal.recall, why)]
}

/// What can be changed, one at a time, in the order in which it is proposed.
fn remedies(goal: &Goal, leanest: Option<&Choice>) -> Vec<Remedy> {
    let remedy =
        |argument: &str, value: f64, text: String| Remedy { argument: argument.to_owned(), value, text };
    let memory = leanest.map(|c| remedy("memory", c.footprint.ram as f64, human(round_up(c.footprint.ram))));
    let recall = nearest_feasible([goal.recall, 0.001], |recall| Goal { recall, ..*goal })
        .map(|x| (x * 1000.0).floor() / 1000.0)
        .filter(|&recall| recall > 0.0)
        .map(|recall| remedy("recall", recall, recall.to_string()));
    let error =
        nearest_feasible([ResolvedGoal::new(goal).error, 0.999], |x| Goal { error: Some(x), ..*goal })
            .map(|x| (x * 10_000.0).ceil() / 10_000.0)
            .map(|error| remedy("error", error, error.to_string()));
    let documents = |log: f64| Goal { documents: (libm::exp2(log) as u64).max(1), ..*goal };
    let documents = nearest_feasible([libm::log2(goal.documents as f64), 0.0], documents)
        .map(|log| documents(log).documents)
        .map(|n| remedy("documents", n as f64, n.to_string()));
    let threshold = nearest_feasible([goal.threshold, 1.0], |threshold| Goal { threshold, ..*goal })
        .map(|x| (x * 1000.0).ceil() / 1000.0)
        .map(|threshold| remedy("threshold", threshold, threshold.to_string()));
    [memory, recall, error, documents, threshold].into_iter().flatten().collect()
}

/// The value nearest to `from` that can be met, going to `to`; `None` if not even that can.
fn nearest_feasible([from, to]: [f64; 2], goal: impl Fn(f64) -> Goal) -> Option<f64> {
    let is_met = |x: f64| {
        let resolved = ResolvedGoal::new(&goal(x));
        resolved.leanest().is_some_and(|choice| choice.is_met())
    };
    if !is_met(to) {
        return None;
    }
    let (mut bad, mut good) = (from, to);
    for _ in 0..40 {
        let middle = 0.5 * (bad + good);
        if is_met(middle) { good = middle } else { bad = middle }
    }
    Some(good)
}

/// At least as many bytes, so that they are enough also when printed to a tenth of their unit.
fn round_up(bytes: u64) -> u64 {
    let mut unit = 1u64;
    while bytes / unit >= 1024 {
        unit *= 1024;
    }
    let tenth = unit.div_ceil(10);
    bytes.div_ceil(tenth).saturating_mul(tenth)
}
