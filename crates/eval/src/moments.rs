//! Means with their Monte-Carlo standard errors.

/// A running mean and variance (Welford).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moments {
    n: f64,
    mean: f64,
    squares: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    pub value: f64,
    pub error: f64,
}

impl Mean {
    /// The same with the error of another as well: a difference of two simulations has both.
    pub fn with_error_of(self, other: Self) -> Self {
        Self { value: self.value, error: self.error.hypot(other.error) }
    }

    /// The same with at least the error that a share of `n` has in theory: what never or always happens has no spread of its own.
    pub fn with_error_of_share(self, expected: f64, n: f64) -> Self {
        Self { value: self.value, error: self.error.max((expected * (1.0 - expected) / n).max(0.0).sqrt()) }
    }
}

/// The least and the largest of values that are not negative.
pub(crate) fn range(values: impl IntoIterator<Item = f64>) -> [f64; 2] {
    values.into_iter().fold([f64::MAX, 0.0], |[low, high], x| [f64::min(low, x), f64::max(high, x)])
}

impl Moments {
    pub fn push(&mut self, value: f64) {
        self.n += 1.0;
        let delta = value - self.mean;
        self.mean += delta / self.n;
        self.squares += delta * (value - self.mean);
    }

    pub fn n(&self) -> f64 {
        self.n
    }

    pub fn mean(&self) -> Mean {
        Mean { value: self.mean, error: (self.variance() / self.n.max(1.0)).sqrt() }
    }

    pub fn variance(&self) -> f64 {
        self.squares / (self.n - 1.0).max(1.0)
    }
}

/// Errors of an estimator: bias and mean square, each with its standard error.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Errors {
    errors: Moments,
    squares: Moments,
}

impl Errors {
    /// Adds estimate minus truth.
    pub fn push(&mut self, error: f64) {
        self.errors.push(error);
        self.squares.push(error * error);
    }

    pub fn bias(&self) -> Mean {
        self.errors.mean()
    }

    pub fn mse(&self) -> Mean {
        self.squares.mean()
    }

    pub fn n(&self) -> f64 {
        self.errors.n()
    }

    pub fn rms(&self) -> f64 {
        self.mse().value.sqrt()
    }

    pub fn variance(&self) -> f64 {
        self.errors.variance()
    }
}

impl FromIterator<f64> for Moments {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut moments = Self::default();
        values.into_iter().for_each(|value| moments.push(value));
        moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_error_are_those_of_the_textbook() {
        let moments: Moments = [1.0, 2.0, 3.0, 4.0].into_iter().collect();
        assert_eq!(moments.mean().value, 2.5);
        assert!((moments.variance() - 5.0 / 3.0).abs() < 1e-12);
        assert!((moments.mean().error - (5.0f64 / 12.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn mean_square_is_variance_plus_squared_bias() {
        let mut errors = Errors::default();
        [0.1, 0.3, -0.1, 0.5].into_iter().for_each(|e| errors.push(e));
        let spread = errors.variance() * 3.0 / 4.0;
        assert!((errors.mse().value - spread - errors.bias().value.powi(2)).abs() < 1e-12);
    }
}
