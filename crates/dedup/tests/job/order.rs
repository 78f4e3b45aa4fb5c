//! The keep order: by id, integers by number and before texts, whatever ids look like and however they are ordered.

use std::collections::BTreeMap;

use benzer_dedup::keep::Keep;

use crate::corpus::Random;
use crate::evidence;
use crate::lab::{self, Lab};

/// Ids that do not rise, of which some are repeated: numbers, texts, and texts of a kilobyte that differ in the end only.
fn id(random: &mut Random) -> String {
    let number = random.below(3_000);
    match random.below(6) {
        0 => number.to_string(),
        1 => format!("{number:06}"),
        2 => format!("-{}", number + 1),
        3 => format!("{number}a"),
        4 => format!("{}{number}", "long".repeat(256)),
        _ => format!("{number}000000000000000000000"),
    }
}

/// What an id is compared by: integers first, by number, then by the zeros in front; texts by their bytes.
fn definition(id: &str) -> (bool, i128, usize, String) {
    match id.parse::<i128>() {
        Ok(number) => (false, number, id.len(), String::new()),
        Err(_) => (true, 0, 0, id.to_owned()),
    }
}

#[test]
fn the_first_in_keep_order_stays_whatever_the_ids_the_threads_and_the_memory() {
    let lab = Lab::new();
    let mut random = Random::new(9);
    // Documents of a text are copies of each other; there are enough for ids to be sorted by several threads.
    let ids: Vec<String> = (0..40_000).map(|_| id(&mut random)).collect();
    let text = |i: usize| format!("some words of document {} and no other", i % 9_000);
    let line = |(i, id): (usize, &String)| {
        let is_number = id.parse::<i128>().is_ok() && (id.len() == 1 || !id.starts_with('0'));
        let quote = if is_number { "" } else { "\"" };
        format!("{{\"id\": {quote}{id}{quote}, \"text\": \"{}\"}}\n", text(i))
    };
    lab.write("a.jsonl", ids.iter().enumerate().map(line).collect::<String>());
    for keep in [Keep::First, Keep::Last, Keep::Longest] {
        let mut kept: BTreeMap<String, (usize, &String)> = BTreeMap::new();
        for document in ids.iter().enumerate() {
            let order = |(i, id): (usize, &String)| (definition(id), i);
            let best = kept.entry(text(document.0)).or_insert(document);
            let comes_first = order(document) < order(*best);
            if comes_first != (keep == Keep::Last) && order(document) != order(*best) {
                *best = document;
            }
        }
        let expected: BTreeMap<usize, (usize, String)> = (0..ids.len())
            .map(|i| (i, kept[&text(i)]))
            .filter(|(i, (best, _))| i != best)
            .map(|(i, (best, id))| (i, (best, id.clone())))
            .collect();
        let name = keep.to_string();
        let requests = [
            (lab.request(&format!("{name} 1")), 1),
            (lab.request(&format!("{name} 3")), 3),
            (lab.on_disk(&format!("{name} disk")), 2),
        ];
        let mut outputs = Vec::new();
        for (request, threads) in requests {
            let request = request.with(|request| {
                request.keep = keep.clone();
                request.resources.threads = threads;
            });
            let summary = lab::run(&request).unwrap();
            let repeated = ids.len() - ids.iter().collect::<std::collections::HashSet<_>>().len();
            assert_eq!(summary.counts.repeated_ids, repeated as u64, "{name}");
            let found: BTreeMap<usize, (usize, String)> = evidence::read(&request.results.folder)
                .into_iter()
                .map(|row| (row.removed.1 as usize - 1, (row.kept.1 as usize - 1, row.kept_id)))
                .collect();
            assert!(found == expected, "{name}, {threads} threads: {} and {}", found.len(), expected.len());
            outputs.push(lab::outputs(&request.results.folder));
        }
        outputs[1..].iter().for_each(|other| lab::assert_same(other, &outputs[0], &name));
    }
}
