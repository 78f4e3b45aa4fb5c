//! A sample with its first four moments, and how many standard errors it is from what it should be.

#![allow(dead_code, reason = "each test binary uses its own part")]

/// Observations of one estimator.
#[derive(Debug, Default, Clone)]
pub struct Sample(Vec<f64>);

impl Sample {
    pub fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    pub fn n(&self) -> f64 {
        self.0.len() as f64
    }

    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.n()
    }

    pub fn variance(&self) -> f64 {
        self.mean_square(self.mean()) * self.n() / (self.n() - 1.0)
    }

    /// Mean squared distance from a reference.
    pub fn mean_square(&self, reference: f64) -> f64 {
        self.0.iter().map(|x| (x - reference).powi(2)).sum::<f64>() / self.n()
    }

    /// Relative standard error of the root mean square distance from a reference (of the standard deviation, if that is the mean).
    pub fn rms_error(&self, reference: f64) -> f64 {
        let squares = Self(self.0.iter().map(|x| (x - reference).powi(2)).collect());
        0.5 * (squares.variance() / squares.n()).sqrt() / squares.mean()
    }

    pub fn rms(&self, reference: f64) -> f64 {
        self.mean_square(reference).sqrt()
    }

    /// Standard errors between the mean and a known value.
    pub fn mean_z(&self, expected: f64) -> f64 {
        self.mean_difference_z(expected, f64::INFINITY)
    }

    /// Standard errors between the mean and the mean of another sample of `n_other` observations of the same kind.
    pub fn mean_difference_z(&self, other: f64, n_other: f64) -> f64 {
        let error = (self.variance() * (1.0 / self.n() + 1.0 / n_other)).sqrt();
        ratio(self.mean() - other, error)
    }

    /// Standard errors between the variance and that of another sample of `n_other` observations.
    pub fn variance_z(&self, other: f64, n_other: f64) -> f64 {
        self.squares_z(self.mean(), other, n_other)
    }

    /// Standard errors between the mean squared distance from `reference` and a recorded one from `n_other` observations.
    pub fn square_z(&self, reference: f64, recorded: f64, n_other: f64) -> f64 {
        self.squares_z(reference, recorded, n_other)
    }

    /// [`Sample::square_z`] for a root mean square.
    pub fn rms_z(&self, reference: f64, recorded: f64, n_other: f64) -> f64 {
        self.squares_z(reference, recorded * recorded, n_other)
    }

    fn squares_z(&self, reference: f64, recorded: f64, n_other: f64) -> f64 {
        let squares = Self(self.0.iter().map(|x| (x - reference).powi(2)).collect());
        squares.mean_difference_z(recorded, n_other)
    }
}

/// No spread and no difference is agreement; no spread and a difference beyond rounding is not.
fn ratio(difference: f64, error: f64) -> f64 {
    if difference.abs() < 1e-12 { 0.0 } else { difference / error }
}
