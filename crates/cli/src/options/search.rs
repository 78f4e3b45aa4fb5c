//! What kind of search, and how fields decide together.

use std::collections::BTreeMap;

use benzer_index::{Measure, Rule};
use clap::{Args, ValueEnum};

/// How several fields decide.
#[derive(Debug, Args)]
pub struct FieldRules {
    /// Weights of fields for this search, such as `title=2,body=1`; 0 leaves a field out
    #[arg(long, value_name = "F=W", value_delimiter = ',', value_parser = named, help_heading = "Fields")]
    weights: Vec<(String, f64)>,
    /// Least similarities of single fields, such as `title=0.5`
    #[arg(long, value_name = "F=T", value_delimiter = ',', value_parser = named, help_heading = "Fields")]
    field_thresholds: Vec<(String, f64)>,
    /// When fields match
    #[arg(long, value_enum, default_value = "mean", value_name = "RULE", help_heading = "Fields")]
    rule: RuleName,
}

/// When the fields of two documents match.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum RuleName {
    /// Their weighted mean reaches the threshold
    Mean,
    /// Some field reaches its threshold
    Any,
    /// Every field reaches its threshold
    All,
}

/// Another search than that for similar documents.
#[derive(Debug, Args)]
pub struct SearchKind {
    /// The most similar documents, so many, whatever their similarity
    #[arg(long, value_name = "K", conflicts_with_all = ["threshold", "limit", "offset", "containing", "contained", "with"], help_heading = "Kinds of search")]
    pub top: Option<usize>,
    /// Documents that contain this one: its share that is in them
    #[arg(long, conflicts_with = "contained", help_heading = "Kinds of search")]
    containing: bool,
    /// Documents that this one contains: their share that is in it
    #[arg(long, help_heading = "Kinds of search")]
    contained: bool,
    /// Containment: how many times as large one of two may be [default: that of the collection]
    #[arg(long, value_name = "R", help_heading = "Kinds of search")]
    pub ratio: Option<f64>,
    /// Documents that have most in common with this one and the one with ID
    #[arg(long, value_name = "ID", conflicts_with_all = ["containing", "contained"], help_heading = "Kinds of search")]
    pub with: Option<String>,
}

impl FieldRules {
    pub fn weights(&self) -> BTreeMap<String, f64> {
        self.weights.iter().cloned().collect()
    }

    pub fn thresholds(&self) -> BTreeMap<String, f64> {
        self.field_thresholds.iter().cloned().collect()
    }

    pub fn rule(&self) -> Rule {
        match self.rule {
            RuleName::Mean => Rule::Mean,
            RuleName::Any => Rule::Any,
            RuleName::All => Rule::All,
        }
    }
}

impl SearchKind {
    pub fn measure(&self) -> Measure {
        match (self.containing, self.contained) {
            (true, _) => Measure::Containing,
            (_, true) => Measure::Contained,
            _ => Measure::Jaccard,
        }
    }
}

fn named(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("write FIELD=NUMBER, such as `title=2`")?;
    let value = value.trim().parse().map_err(|_| format!("`{value}` is not a number"))?;
    Ok((name.trim().to_owned(), value))
}
