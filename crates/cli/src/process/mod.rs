//! What concerns the process as a whole: its memory, and the signals that it gets.

pub mod pages;
mod signals;
mod truncated;

pub(crate) use signals::stop_flag;
pub(crate) use truncated::report_truncated_files;
