//! The documents at the root and under docs/ say what is true: every relative link leads somewhere.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn markdown(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            markdown(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "md") {
            found.push(entry);
        }
    }
}

/// Targets of `[text](target)`, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced {
            continue;
        }
        let ends = line.match_indices("](").map(|(i, _)| &line[i + 2..]);
        links.extend(ends.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()));
    }
    links
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut files: Vec<PathBuf> =
        ["README.md", "BENCHMARKS.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
            .map(|name| root().join(name))
            .to_vec();
    markdown(&root().join("docs"), &mut files);
    let mut n_links = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for link in links(&text).into_iter().filter(|link| !link.contains("://") && !link.starts_with('#')) {
            let target = file.parent().unwrap().join(link.split('#').next().unwrap());
            assert!(target.exists(), "{}: `{link}` leads nowhere", file.display());
            n_links += 1;
        }
    }
    assert!(n_links > 30, "only {n_links} links were found: is the pattern still right?");
}
