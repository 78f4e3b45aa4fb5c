//! Comparisons of what was measured with what is expected.

use std::fmt::Display;

use crate::Mean;
use crate::table::significant;

/// How many standard errors a mean may be away from theory.
pub const MAX_ERRORS: f64 = 4.0;
/// How large a standard error may be, as a share of theory.
pub const MAX_SHARE: f64 = 0.02;

/// True once the standard error of a mean is small enough to compare it with theory: simulations stop when all of their means are.
pub fn is_precise(measured: Mean, scale: f64) -> bool {
    measured.error <= 0.9 * MAX_SHARE * scale.abs()
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checks {
    n: usize,
    pub failures: Vec<String>,
    /// How many standard errors the furthest mean is from theory.
    pub furthest: f64,
    largest: f64,
}

impl Checks {
    /// A mean is within 4 standard errors of theory, and the standard error is at most 2% of it.
    pub fn agrees(&mut self, what: impl Display, measured: Mean, theory: f64) {
        self.agrees_on(what, measured, theory, theory.abs());
    }

    /// The same, where the standard error is at most 2% of `scale`: for values that may be zero.
    pub fn agrees_on(&mut self, what: impl Display, measured: Mean, theory: f64, scale: f64) {
        let distance = (measured.value - theory).abs();
        // Means of constants have no spread; rounding is then all that may differ.
        let rounding = 1e-12 * (scale + theory.abs());
        let errors = if distance <= rounding { 0.0 } else { distance / measured.error };
        let share = if measured.error <= rounding { 0.0 } else { measured.error / scale };
        self.furthest = self.furthest.max(if errors.is_finite() { errors } else { 0.0 });
        self.largest = self.largest.max(if share.is_finite() { share } else { 0.0 });
        let [value, expected] = [measured.value, theory].map(significant);
        let percent = 100.0 * share;
        let what =
            format_args!("{what}: {value} against {expected}, {errors:.1} standard errors of {percent:.1}%");
        self.holds(what, errors <= MAX_ERRORS && share <= MAX_SHARE);
    }

    /// A number is where it should be, to a tolerance.
    pub fn close(&mut self, what: impl Display, got: f64, expected: f64, tolerance: f64) {
        let [value, theory] = [got, expected].map(significant);
        let what = format_args!("{what}: {value} against {theory}, allowed {tolerance:e}");
        self.holds(what, (got - expected).abs() <= tolerance);
    }

    pub fn holds(&mut self, what: impl Display, is_true: bool) {
        self.n += 1;
        if !is_true {
            self.failures.push(what.to_string());
        }
    }

    pub fn all_hold(&self) -> bool {
        self.n > 0 && self.failures.is_empty()
    }

    /// Counts and extremes in a sentence.
    pub fn summary(&self) -> String {
        let mut text = format!("{} of {} comparisons hold", self.n - self.failures.len(), self.n);
        if self.furthest > 0.0 {
            text += &format!(
                "; the furthest mean is {:.1} standard errors from theory, the largest standard error {:.1}%",
                self.furthest,
                100.0 * self.largest
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(value: f64, error: f64, theory: f64) -> bool {
        let mut checks = Checks::default();
        checks.agrees("x", Mean { value, error }, theory);
        checks.all_hold()
    }

    #[test]
    fn far_from_theory_or_too_uncertain_fails() {
        assert!(checked(1.03, 0.01, 1.0));
        assert!(!checked(1.05, 0.01, 1.0));
        assert!(!checked(1.0, 0.03, 1.0));
        assert!(!checked(f64::NAN, 0.01, 1.0) && !checked(1.0, f64::NAN, 1.0));
        assert!(checked(1.0, 0.0, 1.0) && !checked(1.1, 0.0, 1.0));
    }

    #[test]
    fn nothing_compared_is_not_success() {
        assert!(!Checks::default().all_hold());
        let mut checks = Checks::default();
        checks.close("a", 1.0, 1.1, 0.01);
        assert_eq!(checks.failures, ["a: 1 against 1.1, allowed 1e-2"]);
        assert_eq!(checks.summary(), "0 of 1 comparisons hold");
    }
}
