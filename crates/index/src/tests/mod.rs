//! What every store must do: the suite that each of them runs in its own tests.

pub(crate) mod conformance;
