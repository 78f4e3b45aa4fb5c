//! What an experiment is, and what it gives.

use std::fmt;

use serde::{Deserialize, Serialize};

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
pub struct Outcome {
    /// The measured points, already on disk.
    pub tables: Vec<Table>,
    /// Curves of the tables, with the theory.
    pub charts: Vec<Chart>,
    /// Every comparison.
    pub checks: Checks,
    /// Whether what was measured bears out the claim. Another question than whether this code does what theory expects, which `checks` say.
    pub claim: Claim,
    /// What was measured, of what, and what it says of the claim.
    pub verdict: String,
}

/// What the rows say of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// It holds for what was measured.
    Holds,
    /// Parts of it hold, or it holds in some of the cases.
    InPart,
    /// It does not hold.
    Fails,
    /// There is no claim, or what was measured cannot decide it.
    Open,
}

impl Claim {
    /// What follows from the parts of a claim.
    pub fn of(parts: &[bool]) -> Self {
        match parts.iter().filter(|holds| **holds).count() {
            n if n == parts.len() && n > 0 => Self::Holds,
            0 if !parts.is_empty() => Self::Fails,
            0 => Self::Open,
            _ => Self::InPart,
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::InPart => "holds in part",
            Self::Fails => "does not hold",
            Self::Open => "not decided",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Claim;

    #[test]
    fn a_claim_holds_with_all_of_its_parts() {
        assert_eq!(Claim::of(&[true, true]), Claim::Holds);
        assert_eq!(Claim::of(&[true, false]), Claim::InPart);
        assert_eq!(Claim::of(&[false, false]), Claim::Fails);
        assert_eq!(Claim::of(&[]), Claim::Open);
        assert_eq!(Claim::InPart.to_string(), "holds in part");
    }
}
