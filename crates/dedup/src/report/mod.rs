//! `report.html`: what a run found, to be looked at before anything is deleted.
//!
//! One file that asks for nothing else: style and charts are inside, there is no script, and a policy in its head forbids both scripts and requests. Light and dark follow the reader's
//! system. Everything in it follows from the inputs and the settings, so it has the same bytes on every run; times and memory are in `run.json`.

mod chart;
mod html;
mod phrase;
mod recall;
mod sections;
mod sides;

use benzer_core::lsh::Banding;

use crate::audit::Audited;
use crate::summary::Counts;
pub use html::{counted, escape, grouped};
pub(crate) use phrase::{beginning, kind, quoted};
pub(crate) use sides::{Sides, side_by_side};

/// The style sheet.
pub const STYLE: &str = include_str!("style.css");

#[derive(Debug)]
pub(crate) struct Report {
    pub inputs: Vec<String>,
    pub counts: Counts,
    pub mode: Mode,
    pub warnings: Vec<String>,
    pub shapes: Shapes,
    pub recall: RecallFacts,
    pub groups: Vec<Group>,
    pub old: OldFacts,
    pub rejects: RejectFacts,
    pub settings: Vec<(&'static str, String)>,
    pub command: Option<String>,
    /// The run that one at a higher threshold was made from.
    pub earlier: Option<EarlierRun>,
}

/// How similar duplicates are, and how many belong together.
#[derive(Debug)]
pub(crate) struct Shapes {
    /// (from, to, number) of the similarities of removed documents below 1 that are no copies; and how many are 1.
    pub similarities: (Vec<(f64, f64, u64)>, u64),
    /// How many clusters have from 2^i + 1 to 2^(i+1) documents.
    pub cluster_sizes: Vec<u64>,
    pub largest: Vec<ClusterFacts>,
}

/// What the search promises, and what was measured.
#[derive(Debug)]
pub(crate) struct RecallFacts {
    /// How candidates were found; nothing for the exact join.
    pub banding: Option<Banding>,
    /// Members of a bucket that everyone in it is compared with.
    pub cap: usize,
    pub audit: Option<Audited>,
}

/// Which old documents were found.
#[derive(Debug)]
pub(crate) struct OldFacts {
    /// The ids of the first ones.
    pub matched: Vec<String>,
    /// Some and where they are, the least contained first.
    pub spans: Vec<SpanFacts>,
}

#[derive(Debug, Default)]
pub(crate) struct RejectFacts {
    /// Reasons with their numbers.
    pub reasons: Vec<(String, u64)>,
    pub examples: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct EarlierRun {
    pub folder: String,
    pub threshold: f64,
}

/// What was done with duplicates, and what makes one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mode {
    pub threshold: f64,
    pub is_dry: bool,
    pub is_estimated: bool,
    /// Chains of similar documents are enough.
    pub is_chained: bool,
    /// Documents are removed that contain an old one.
    pub is_contained: bool,
    pub is_against: bool,
}

/// Where an old document was found in one of the input.
#[derive(Debug)]
pub(crate) struct SpanFacts {
    pub item: String,
    pub document: String,
    pub place: String,
    pub share: f64,
    pub text: String,
}

#[derive(Debug)]
pub(crate) struct ClusterFacts {
    pub id: String,
    pub size: u64,
    /// The similarities of the removed documents to the kept one.
    pub min: f64,
    pub mean: f64,
    /// How the kept document begins.
    pub begins: String,
}

/// Pairs that are shown for one reason.
#[derive(Debug)]
pub(crate) struct Group {
    pub heading: &'static str,
    pub why: String,
    /// What the two documents of a pair are called.
    pub names: [&'static str; 2],
    pub pairs: Vec<PairFacts>,
}

#[derive(Debug)]
pub(crate) struct PairFacts {
    pub similarity: f64,
    /// Intersection and union, where they were counted.
    pub counts: Option<(u32, u32)>,
    pub ids: [String; 2],
    pub places: [String; 2],
    pub sides: Sides,
}

impl Report {
    pub fn render(&self) -> String {
        let mut out = String::with_capacity(64 << 10);
        let what = if self.mode.is_contained { "Test items" } else { "Duplicates" };
        let title = format!("{what} in {}", self.input_names());
        out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n");
        out.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n");
        out.push_str(&format!(
            "<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
            escape(&title)
        ));
        out.push_str(&format!(
            "<header class=\"top\">\n<h1>{}</h1>\n{}</header>\n<main>\n",
            escape(&title),
            self.lead()
        ));
        self.sections(&mut out);
        let times = match self.earlier {
            None => "; time and memory of the run are in <code>run.json</code>",
            Some(_) => "",
        };
        out.push_str(&format!(
            "</main>\n<footer>Written by benzer {}. Every removal with its reason is in <code>evidence.parquet</code>{times}.</footer>\n</body>\n</html>\n",
            env!("CARGO_PKG_VERSION")
        ));
        out
    }

    fn input_names(&self) -> String {
        match &self.inputs[..] {
            [one] => file_name(one).to_owned(),
            [first, rest @ ..] => format!("{} and {} more", file_name(first), rest.len()),
            [] => "no input".to_owned(),
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path)
}
