//! What a contestant wrote: removals and pairs by id, which in the race's corpora is the row.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};

use crate::overlap::Overlap;
use crate::truth::Pair;

/// Which documents were removed, and what was kept instead.
#[derive(Debug)]
pub struct Removals(Vec<Outcome>);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Outcome {
    Kept,
    Removed { kept_instead: Option<u32> },
}

impl Removals {
    /// Removals among `n_docs` documents.
    #[cfg(test)]
    pub fn of(n_docs: usize, removed: &[(u32, Option<u32>)]) -> Self {
        let mut outcomes = vec![Outcome::Kept; n_docs];
        for &(row, kept_instead) in removed {
            outcomes[row as usize] = Outcome::Removed { kept_instead };
        }
        Self(outcomes)
    }

    /// Number of documents, removed or not.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether a document was removed.
    pub fn is_removed(&self, row: u32) -> bool {
        self.0[row as usize] != Outcome::Kept
    }

    /// The document named as kept instead of a removed one.
    pub fn kept_instead(&self, row: u32) -> Option<u32> {
        match self.0[row as usize] {
            Outcome::Kept => None,
            Outcome::Removed { kept_instead } => kept_instead,
        }
    }
}

/// Reads `removed.tsv`.
pub fn removals(path: &Path, n_docs: usize) -> Result<Removals> {
    let mut outcomes = vec![Outcome::Kept; n_docs];
    for_each_line(path, |line| {
        let (removed, kept) = line.split_once('\t').unwrap_or((line, ""));
        let kept_instead = if kept.is_empty() { None } else { Some(row(kept, n_docs)?) };
        let outcome = &mut outcomes[row(removed, n_docs)? as usize];
        ensure!(*outcome == Outcome::Kept, "document `{removed}` is removed twice");
        *outcome = Outcome::Removed { kept_instead };
        Ok(())
    })?;
    Ok(Removals(outcomes))
}

/// Reads `pairs.tsv`, ordered by rows.
pub fn pairs(path: &Path, n_docs: usize) -> Result<Vec<Pair>> {
    let mut pairs = Vec::new();
    for_each_line(path, |line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [a, b, intersection, union] = fields[..] else {
            bail!("expected two ids, intersection and union, got `{line}`");
        };
        let (a, b) = (row(a, n_docs)?, row(b, n_docs)?);
        let overlap = Overlap { intersection: number(intersection)?, union: number(union)? };
        pairs.push(Pair { a: a.min(b), b: a.max(b), overlap });
        Ok(())
    })?;
    pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
    Ok(pairs)
}

/// Says file and line of what goes wrong.
fn for_each_line(path: &Path, mut take: impl FnMut(&str) -> Result<()>) -> Result<()> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    for (number, line) in BufReader::new(file).lines().enumerate() {
        line.map_err(anyhow::Error::from)
            .and_then(|line| take(&line))
            .with_context(|| format!("{}:{}", path.display(), number + 1))?;
    }
    Ok(())
}

fn row(id: &str, n_docs: usize) -> Result<u32> {
    let row: u32 = number(id)?;
    ensure!((row as usize) < n_docs, "expected an id below {n_docs}, got `{id}`");
    Ok(row)
}

fn number<T: FromStr>(field: &str) -> Result<T> {
    field.parse().ok().with_context(|| format!("expected a number, got `{field}`"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use tempfile::NamedTempFile;

    use super::*;

    fn file(content: &str) -> NamedTempFile {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        file
    }

    #[test]
    fn removals_may_or_may_not_name_what_was_kept() {
        let removals = removals(file("0000003\t0000001\n0000002\t\n4\n").path(), 6).unwrap();
        let rows: Vec<u32> = (0..6).filter(|&row| removals.is_removed(row)).collect();
        assert_eq!(rows, [2, 3, 4]);
        assert_eq!((removals.kept_instead(3), removals.kept_instead(2)), (Some(1), None));
    }

    #[test]
    fn bad_lines_are_errors_with_file_and_line() {
        for (content, expected) in [
            ("1\t\n6\t\n", ":2: expected an id below 6, got `6`"),
            ("1\t0\n1\t2\n", ":2: document `1` is removed twice"),
            ("x\t\n", ":1: expected a number, got `x`"),
        ] {
            let error = format!("{:#}", removals(file(content).path(), 6).unwrap_err());
            assert!(error.ends_with(expected), "{error}");
        }
        let error = format!("{:#}", pairs(file("1\t2\t3\n").path(), 6).unwrap_err());
        assert!(error.ends_with(":1: expected two ids, intersection and union, got `1\t2\t3`"), "{error}");
    }

    #[test]
    fn pairs_are_ordered_whatever_the_order_of_their_ids() {
        let pairs = pairs(file("5\t2\t8\t9\n1\t0\t7\t7\n").path(), 6).unwrap();
        let rows: Vec<(u32, u32)> = pairs.iter().map(|pair| (pair.a, pair.b)).collect();
        assert_eq!(rows, [(0, 1), (2, 5)]);
        assert_eq!(pairs[1].overlap, Overlap { intersection: 8, union: 9 });
    }
}
