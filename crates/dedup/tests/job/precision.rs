//! Every removal holds when it is computed again from the texts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use benzer_core::field::text::Shingler;
use benzer_dedup::Keep;

use crate::corpus::{self, Document, Random};
use crate::evidence::{self, Place};
use crate::lab::{self, Lab};

/// Two files, one of them in a folder, and every document by its place.
fn corpus(lab: &Lab) -> BTreeMap<Place, Document> {
    let documents = corpus::documents(&mut Random::new(7), 3000, 60, true);
    let (a, b) = documents.split_at(1000);
    let mut places = BTreeMap::new();
    for (name, documents) in [("a.jsonl", a), ("deep/b.jsonl", b)] {
        lab.write(name, corpus::lines(documents));
        let place = |line: u64| (name.to_owned(), line);
        places.extend((1..).map(place).zip(documents.iter().cloned()));
    }
    places
}

#[test]
fn the_exact_similarity_of_every_removal_reaches_the_threshold() {
    let lab = Lab::new();
    let documents = corpus(&lab);
    let cases = [("0.5", Keep::First), ("0.7", Keep::Longest), ("0.8", Keep::Last), ("1", Keep::Shortest)];
    for (i, (threshold, keep)) in cases.into_iter().enumerate() {
        let threshold = threshold.parse().unwrap();
        let usual = if i % 2 == 0 { lab.request("out") } else { lab.on_disk("out") };
        let request = usual.with(|request| {
            request.compare.threshold = threshold;
            request.keep = keep;
            request.resources.threads = 2;
            request.results.overwrite = true;
        });
        let summary = lab::run(&request).unwrap();
        let shingler = Shingler::new(&request.compare.text).unwrap();
        let removals = evidence::read(&request.results.folder);
        assert!(removals.len() > 500, "{}", removals.len());
        assert_eq!(removals.len() as u64, summary.counts.removed);
        let removed: BTreeSet<&Place> = removals.iter().map(|row| &row.removed).collect();
        assert_eq!(removed.len(), removals.len(), "nothing is removed twice");
        for row in &removals {
            let (gone, stays) = (&documents[&row.removed], &documents[&row.kept]);
            assert_eq!((&row.removed_id, &row.kept_id), (&gone.id, &stays.id));
            let (a, b) = (shingler.features(&gone.text), shingler.features(&stays.text));
            let (both, union) = (a.intersection(&b) as u32, a.union(&b) as u32);
            assert_eq!(row.counts, Some((both, union)), "{row:?}");
            if union == 0 {
                assert!(gone.text == stays.text && !gone.text.is_empty() && row.similarity == 1.0, "{row:?}");
            } else {
                assert!(threshold.is_reached(both.into(), union.into()), "{row:?}");
                assert_eq!(row.similarity, f64::from(both) / f64::from(union), "{row:?}");
            }
            assert!(!removed.contains(&row.kept), "{row:?}");
        }
        // What is written is what the evidence leaves.
        for name in ["a.jsonl", "deep/b.jsonl"] {
            let kept = documents.iter().filter(|(place, _)| place.0 == name && !removed.contains(place));
            let expected: String = kept.map(|(_, document)| document.line() + "\n").collect();
            let written = fs::read_to_string(request.results.folder.join("documents").join(name)).unwrap();
            assert!(written == expected, "{name} at {threshold}");
        }
    }
}
