//! What an experiment is, and what it gives.

use crate::{Chart, Checks, Context, Result, Table};

/// A claim of a paper, and how it is tried.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// `author_year_what`.
    pub name: &'static str,
    /// The paper's number, and the figure, table or section.
    pub source: &'static str,
    /// A heading.
    pub title: &'static str,
    /// What the paper says, in our words.
    pub claim: &'static str,
    /// When it holds: numbers, not impressions.
    pub criterion: &'static str,
    /// Tries it.
    pub run: fn(&Context<'_>) -> Result<Outcome>,
}

/// What an experiment found.
#[derive(Debug)]
pub struct Outcome {
    /// The measured points, already on disk.
    pub tables: Vec<Table>,
    /// Curves of the tables, with the theory.
    pub charts: Vec<Chart>,
    /// Every comparison.
    pub checks: Checks,
    /// What a reader should take home, in a sentence or two.
    pub verdict: String,
}
