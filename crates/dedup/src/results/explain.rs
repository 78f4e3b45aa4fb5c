//! Why a document of a finished run was removed or kept: found by its id, or by its file and line.
//!
//! A name is an id, or `FILE:LINE`, where the file is written as it was for the run, as its name in the results, or as any end of its path. What names exactly one document
//! that way is that document, also where other paths end so. Of a document that is in no pair the results say nothing, so the inputs are asked.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::Value;

use super::inputs::{Line, ReadAgain};
use super::{Pair, Removed, evidence, pairs};
use crate::error::Result;

/// What a name stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// One document.
    Document(Box<Explained>),
    /// A line that is no document.
    Rejected {
        /// Its file in the results, and its line.
        at: (String, u64),
        /// Why.
        reason: String,
    },
    /// Several documents: how each can be named.
    Several(Vec<String>),
    /// No document of the run.
    Unknown,
    /// Nothing that was removed, or is similar to what was read; whether it was read cannot be told.
    Untold {
        /// Why not.
        why: String,
    },
}

/// Everything a run has about one document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explained {
    /// Its id.
    pub id: String,
    /// Its file and line, if they are known.
    pub at: Option<(String, u64)>,
    /// Why it was removed, if it was.
    pub removed: Option<Removed>,
    /// The documents that were removed for it.
    pub members: Vec<Removed>,
    /// The pairs that it is in, the most similar first.
    pub similar: Vec<Pair>,
    /// Whether it is an old document that others were removed for.
    pub is_old: bool,
    /// How many documents have this id: pairs are listed by ids, and cannot tell them apart.
    pub same_id: u64,
}

/// A document that a name may stand for: whether it is old, its place, its id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    is_old: bool,
    at: Option<(String, u64)>,
    id: String,
}

/// Finds the document that a name stands for.
///
/// # Errors
/// A folder that holds no results, or damaged ones.
pub fn explain(folder: &Path, name: &str) -> Result<Answer> {
    let source = ReadAgain::open(folder)?;
    let named = Named::new(&source, name);
    let mut candidates = named.in_results(folder)?;
    let old: BTreeSet<Candidate> = candidates.iter().filter(|candidate| candidate.is_old).cloned().collect();
    // Old documents are asked for by what was removed for them.
    if old.len() < candidates.len() {
        candidates.retain(|candidate| !candidate.is_old);
    }
    let mut untold = None;
    let is_unsure = candidates.is_empty() || source.repeats && source.has_ids;
    if is_unsure || named.files.len() > 1 {
        if let Some(answer) = named.rejected(&source)? {
            return Ok(answer);
        }
        match named.in_inputs(is_unsure) {
            Ok(more) => candidates.extend(more),
            Err(why) => untold = Some(why),
        }
    }
    // A document of a pair whose place the tables do not have is one of those that have it.
    let placed: BTreeSet<String> =
        candidates.iter().filter(|one| one.at.is_some()).map(|one| one.id.clone()).collect();
    candidates.retain(|one| one.at.is_some() || !placed.contains(&one.id));
    match (candidates.len(), untold) {
        (0, None) => Ok(Answer::Unknown),
        (0, Some(why)) => Ok(Answer::Untold { why }),
        (1, _) => {
            let candidate = candidates.pop_first().expect("there is one");
            Ok(Answer::Document(Box::new(all_of(folder, &source, candidate)?)))
        }
        _ => Ok(Answer::Several(candidates.iter().map(Candidate::name).collect())),
    }
}

impl Candidate {
    fn name(&self) -> String {
        let Some((file, line)) = &self.at else { return self.id.clone() };
        let place = format!("{file}:{line}");
        if self.id == place { place } else { format!("{place} (id {})", self.id) }
    }
}

struct Named<'a> {
    source: &'a ReadAgain,
    name: &'a str,
    /// The file and the line that are written.
    written: Option<(&'a str, u64)>,
    /// The inputs that such a file may be, by their names in the results.
    files: Vec<&'a super::inputs::Named>,
    is_exact: bool,
}

impl<'a> Named<'a> {
    fn new(source: &'a ReadAgain, name: &'a str) -> Self {
        let written = name.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        let (files, is_exact) = written.map_or((Vec::new(), false), |(file, _)| source.matching(file));
        Self { source, name, written, files, is_exact }
    }

    fn is_at(&self, file: &str, row: u64) -> bool {
        let Some((written, line)) = self.written else { return false };
        let is_file = match self.source.inputs.is_empty() {
            // Results of earlier versions have the names in their tables only.
            true => Path::new(file).ends_with(written) || Path::new(written).ends_with(file),
            false => self.files.iter().any(|input| input.name == file),
        };
        row == line && is_file
    }

    fn in_results(&self, folder: &Path) -> Result<BTreeSet<Candidate>> {
        let (mut exact, mut by_end) = (BTreeSet::new(), BTreeSet::new());
        let mut look = |is_old: bool, id: &str, at: Option<&(String, u64)>| {
            let is_here = at.is_some_and(|(file, row)| !is_old && self.is_at(file, *row));
            if id != self.name && !is_here {
                return;
            }
            let candidate = Candidate { is_old, at: at.cloned(), id: id.to_owned() };
            let into = if id == self.name || self.is_exact { &mut exact } else { &mut by_end };
            into.insert(candidate);
        };
        evidence(folder, |row| {
            look(false, &row.removed_id, row.removed_at.as_ref());
            look(row.kept_is_old, &row.kept_id, row.kept_at.as_ref());
            Ok(())
        })?;
        pairs(folder, |pair| {
            for (is_old, id) in [(pair.a_is_old, &pair.id_a), (false, &pair.id_b)] {
                // Without ids of its own a document is its place.
                let place = if self.source.has_ids || is_old { None } else { split(id) };
                look(is_old, id, place.as_ref());
            }
            Ok(())
        })?;
        Ok(if exact.is_empty() { by_end } else { exact })
    }

    /// A line of that name which was rejected.
    fn rejected(&self, source: &ReadAgain) -> Result<Option<Answer>> {
        let Some((_, line)) = self.written else { return Ok(None) };
        let Ok(file) = File::open(source.folder.join("rejects.jsonl")) else { return Ok(None) };
        for row in BufReader::new(file).lines().map_while(std::result::Result::ok) {
            let row: Value = serde_json::from_str(&row).unwrap_or_default();
            let (file, reason) = (row["file"].as_str().unwrap_or(""), row["reason"].as_str().unwrap_or(""));
            let is_file = |input: &&&super::inputs::Named| input.path == file;
            if row["line"] == line
                && let Some(input) = self.files.iter().find(is_file)
            {
                return Ok(Some(Answer::Rejected {
                    at: (input.name.clone(), line),
                    reason: reason.to_owned(),
                }));
            }
        }
        Ok(None)
    }

    /// The documents of that name in the inputs; the error says why that cannot be told.
    fn in_inputs(&self, by_id: bool) -> Result<Vec<Candidate>, String> {
        let mut found = Vec::new();
        let candidate = |at: (String, u64), id: String| Candidate { is_old: false, at: Some(at), id };
        if let Some((_, line)) = self.written {
            for input in &self.files {
                let at = (input.name.clone(), line);
                match self.source.line(input, line)? {
                    Line::Document(id) => {
                        found.push(candidate(at, id.unwrap_or_else(|| format!("{}:{line}", input.name))));
                    }
                    Line::Rejected(_) | Line::Nothing => {}
                }
            }
        }
        if self.source.has_ids && by_id {
            let places = self.source.with_id(self.name)?;
            found.extend(places.into_iter().map(|at| candidate(at, self.name.to_owned())));
        } else if self.source.inputs.is_empty() && by_id {
            return Err("results of this version do not name their inputs".to_owned());
        }
        Ok(found)
    }
}

fn split(id: &str) -> Option<(String, u64)> {
    let (file, line) = id.rsplit_once(':')?;
    Some((file.to_owned(), line.parse().ok()?))
}

fn all_of(folder: &Path, source: &ReadAgain, candidate: Candidate) -> Result<Explained> {
    let Candidate { is_old, at, id } = candidate;
    let mut found = Explained { id, at, is_old, ..Explained::default() };
    let mut places: BTreeSet<Option<(String, u64)>> = BTreeSet::new();
    let is_it = |own: &Explained, is_old: bool, id: &str, at: &Option<(String, u64)>| {
        own.id == id && own.is_old == is_old && (own.at.is_none() || at.is_none() || own.at == *at)
    };
    evidence(folder, |row| {
        if !found.is_old && row.removed_id == found.id {
            places.insert(row.removed_at.clone());
        }
        if !row.kept_is_old && row.kept_id == found.id {
            places.insert(row.kept_at.clone());
        }
        if is_it(&found, false, &row.removed_id, &row.removed_at) {
            found.removed = Some(row);
        } else if is_it(&found, row.kept_is_old, &row.kept_id, &row.kept_at) {
            found.members.push(row);
        }
        Ok(())
    })?;
    pairs(folder, |pair| {
        let is_a = pair.id_a == found.id && pair.a_is_old == found.is_old;
        if is_a || pair.id_b == found.id && !found.is_old {
            found.similar.push(pair);
        }
        Ok(())
    })?;
    if source.repeats && !found.is_old {
        let all = source.with_id(&found.id).unwrap_or_default();
        places.extend(all.into_iter().map(Some));
        found.same_id = places.len() as u64;
    }
    let id = found.id.clone();
    let other = |pair: &Pair| if pair.id_a == id { pair.id_b.clone() } else { pair.id_a.clone() };
    found.similar.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| other(a).cmp(&other(b))));
    Ok(found)
}
