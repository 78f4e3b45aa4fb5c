//! Which documents the corpus has: shares of each kind, lengths, and how similar relatives are.

use crate::overlap::Overlap;
use crate::random::Random;
use crate::words::Words;

use super::edit::{Edit, Place, edited};
use super::pool::Pool;
use super::zipf::Zipf;
use super::{Document, Kind};

/// Shares of the corpus in thousandths; the rest are single documents.
struct Shares;

impl Shares {
    const PAIR: usize = 80;
    const CLUSTER: usize = 120;
    const CHAIN: usize = 30;
    const COPY: usize = 30;
    const TEMPLATE: usize = 50;
    const FOREIGN: usize = 10;
}

/// The largest cluster, but at most a twentieth of the corpus.
const MAX_CLUSTER: usize = 5_000;
/// Lengths are log-normal: the median in bytes, and the standard deviation of the logarithm.
const MEDIAN_BYTES: f64 = 525.0;
const SPREAD: f64 = 0.85;
const MAX_BYTES: usize = 30_000;
/// Chains whose versions are similar at 0.8 only to their neighbours, and chains where that holds at 0.5.
const CHAINS: [Steps; 2] =
    [Steps { low: 0.82, high: 0.87, limit: 0.8 }, Steps { low: 0.55, high: 0.62, limit: 0.5 }];
/// The notice that the template documents share. Own text is half as long again, so the notice alone does not make two of them
/// similar; with own texts that are alike to begin with, it may.
const TEMPLATE: &str = "This program is free software; you can redistribute it and/or modify it under the terms of the \
    GNU General Public License as published by the Free Software Foundation; either version 2 of the License, or (at \
    your option) any later version.";

/// J of neighbours in a chain is in [low, high), J of all other versions is below the limit.
struct Steps {
    low: f64,
    high: f64,
    limit: f64,
}

/// All documents in order of creation.
pub fn compose(n: usize, random: &mut Random, english: Pool, foreign: Pool) -> Vec<Document> {
    let mut composer =
        Composer { documents: Vec::with_capacity(n), n_groups: 0, random: random.clone(), english, foreign };
    let share = |thousandths: usize| n * thousandths / 1000;
    composer.pairs(share(Shares::PAIR));
    composer.clusters(share(Shares::CLUSTER), MAX_CLUSTER.min(n / 20));
    composer.chains(share(Shares::CHAIN));
    composer.templates(share(Shares::TEMPLATE));
    composer.foreigners(share(Shares::FOREIGN));
    let copies = share(Shares::COPY);
    composer.singles(n - composer.documents.len() - copies);
    composer.copies(copies);
    composer.documents
}

struct Composer {
    documents: Vec<Document>,
    n_groups: u32,
    random: Random,
    english: Pool,
    foreign: Pool,
}

impl Composer {
    fn pairs(&mut self, n: usize) {
        for _ in 0..n / 2 {
            let group = Some(self.group());
            let base = self.original(Kind::Pair, group, 250);
            let edit = self.edit(0.5, 1.0);
            self.variant(base, edit);
        }
    }

    fn clusters(&mut self, n: usize, largest: usize) {
        let sizes = Zipf::new(largest);
        let end = self.documents.len() + n;
        let mut size = largest;
        while self.documents.len() + 1 < end {
            let group = Some(self.group());
            let base = self.original(Kind::Cluster, group, 250);
            for _ in 1..size.min(end - base) {
                let edit = self.edit(0.7, 1.0);
                self.variant(base, edit);
            }
            size = sizes.draw(&mut self.random);
        }
    }

    fn chains(&mut self, n: usize) {
        let end = self.documents.len() + n;
        while self.documents.len() + 1 < end {
            let steps = &CHAINS[self.random.below(2)];
            let length = 4 + self.random.below(17);
            self.chain(length.min(end - self.documents.len()), steps);
        }
    }

    /// Versions are tried until one is far enough from all but the last; few are not, because edits fall anywhere.
    fn chain(&mut self, length: usize, steps: &Steps) {
        let group = Some(self.group());
        let mut last = self.original(Kind::Chain, group, 400);
        let mut earlier: Vec<Vec<u64>> = Vec::new();
        while earlier.len() + 1 < length {
            let target = self.random.between(steps.low, steps.high);
            let version = self.variant(last, Edit { target, place: Place::Everywhere });
            let shingles = Words::Ascii.shingles(&self.documents[version].text);
            if earlier.iter().any(|other| Overlap::of(other, &shingles).jaccard() >= steps.limit) {
                self.documents.pop();
            } else {
                earlier.push(Words::Ascii.shingles(&self.documents[last].text));
                last = version;
            }
        }
    }

    fn templates(&mut self, n: usize) {
        for _ in 0..n {
            let own = self.original(Kind::Template, None, TEMPLATE.len() * 3 / 2);
            let text = &mut self.documents[own].text;
            *text = if self.random.below(2) == 0 {
                format!("{TEMPLATE}\n\n{text}")
            } else {
                format!("{text}\n\n{TEMPLATE}")
            };
        }
    }

    fn foreigners(&mut self, n: usize) {
        for _ in 0..n {
            let bytes = self.length(100);
            let text = self.foreign.document(bytes);
            self.documents.push(Document { text, kind: Kind::Foreign, group: None, base: None });
        }
    }

    fn singles(&mut self, n: usize) {
        for _ in 0..n {
            self.original(Kind::Single, None, 80);
        }
    }

    /// Copies of single documents, which are the last ones made so far.
    fn copies(&mut self, n: usize) {
        let singles = self.documents.iter().position(|document| document.kind == Kind::Single);
        let (Some(first), end) = (singles, self.documents.len()) else { return };
        for _ in 0..n {
            let base = first + self.random.below(end - first);
            let group = self.documents[base].group.unwrap_or_else(|| self.group());
            self.documents[base].group = Some(group);
            let text = self.documents[base].text.clone();
            let size = Words::Ascii.shingles(&text).len() as u32;
            let overlap = Overlap { intersection: size, union: size };
            self.documents.push(Document {
                text,
                kind: Kind::Copy,
                group: Some(group),
                base: Some((base, overlap)),
            });
        }
    }

    fn original(&mut self, kind: Kind, group: Option<u32>, at_least: usize) -> usize {
        let bytes = self.length(at_least);
        let mut text = self.english.document(bytes);
        // The next sentence may have been too long to take.
        while text.len() < at_least {
            text = format!("{text}\n\n{}", self.english.document(at_least - text.len()));
        }
        self.documents.push(Document { text, kind, group, base: None });
        self.documents.len() - 1
    }

    /// An edit of either kind, with J uniform over a range.
    fn edit(&mut self, low: f64, high: f64) -> Edit {
        let place = [Place::Everywhere, Place::Passage][self.random.below(2)];
        Edit { target: self.random.between(low, high), place }
    }

    fn variant(&mut self, base: usize, edit: Edit) -> usize {
        let Document { text, kind, group, .. } = &self.documents[base];
        let (text, overlap) = edited(text, edit, &self.english, &mut self.random);
        self.documents.push(Document { text, kind: *kind, group: *group, base: Some((base, overlap)) });
        self.documents.len() - 1
    }

    fn length(&mut self, at_least: usize) -> usize {
        let bytes = MEDIAN_BYTES * libm::exp(SPREAD * self.random.normal());
        (bytes as usize).clamp(at_least, MAX_BYTES)
    }

    fn group(&mut self) -> u32 {
        self.n_groups += 1;
        self.n_groups - 1
    }
}
