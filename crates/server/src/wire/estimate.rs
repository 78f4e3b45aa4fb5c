//! Estimates with their error bars.

use benzer_core::estimate;
use serde::Serialize;
use utoipa::ToSchema;

/// What sketches say about a quantity: a value with its error bar, an upper bound, or the reason why there is neither.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Estimate {
    /// A value with its error bar.
    Value(Measured),
    /// The sketch is full: all that can be said is an upper bound, at 95%.
    Saturated {
        /// The quantity is at most this.
        at_most: f64,
    },
    /// There is nothing to estimate.
    Undefined {
        /// The reason.
        why: String,
    },
}

/// A value with its error bar.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Measured {
    /// The estimate.
    #[schema(example = 0.91)]
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Lower end of the 95% interval.
    pub low: f64,
    /// Upper end of the 95% interval.
    pub high: f64,
}

impl From<estimate::Estimate> for Estimate {
    fn from(estimate: estimate::Estimate) -> Self {
        match estimate {
            estimate::Estimate::Value(estimate::Measured { value, standard_error, low, high }) => {
                Self::Value(Measured { value, standard_error, low, high })
            }
            estimate::Estimate::Saturated { at_most } => Self::Saturated { at_most },
            estimate::Estimate::Undefined { why } => Self::Undefined { why: why.to_owned() },
        }
    }
}
