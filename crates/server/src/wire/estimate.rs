//! Estimates with their error bars.

use benzer_core::estimate;
use serde::Serialize;
use utoipa::ToSchema;

/// What sketches say about a quantity: a value with its error bar, an upper bound, or the reason why there is neither.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Estimate {
    /// A value with its error bar.
    #[schema(title = "EstimatedValue")]
    Value(Measured),
    /// The sketch is full: all that can be said is an upper bound, at 95%.
    #[schema(title = "EstimatedBound")]
    Saturated(Bound),
    /// There is nothing to estimate.
    #[schema(title = "NoEstimate")]
    Undefined(Reason),
}

/// An upper bound, at 95%.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Bound {
    /// The quantity is at most this.
    pub at_most: f64,
}

/// Why there is no estimate.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Reason {
    /// The reason.
    pub why: String,
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
            estimate::Estimate::Saturated { at_most } => Self::Saturated(Bound { at_most }),
            estimate::Estimate::Undefined { why } => Self::Undefined(Reason { why: why.to_owned() }),
        }
    }
}
