//! The words of all experiments.

pub(crate) use crate::chart::{Axis, Chart, Curve, Series, hundredths};
pub(crate) use crate::check::{Checks, is_precise};
pub(crate) use crate::context::Context;
pub(crate) use crate::experiment::{Claim, Experiment, Outcome};
pub(crate) use crate::moments::{Errors, Mean, Moments, range};
pub(crate) use crate::random::Random;
pub(crate) use crate::table::{Row, Rows, Table, row, significant};
pub(crate) use crate::{Result, exact};
