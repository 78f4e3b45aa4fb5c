//! Over many small random corpora: the result is that of the definition, and depends on nothing that it should not depend on.

use benzer_core::lsh::{Banding, Shape};
use benzer_core::sketch::SketchSpec;
use benzer_dedup::Keep;
use benzer_dedup::request::{Request, Search, Verify};
use benzer_join::resolve::Cluster;
use proptest::prelude::*;

use crate::corpus::{self, Document, Random};
use crate::evidence::{self, Evidence};
use crate::lab::{self, Lab};
use crate::oracle;

/// What a run is asked for.
#[derive(Debug, Clone)]
struct Case {
    seed: u64,
    n: usize,
    ids: bool,
    repeat_ids: bool,
    ngram: usize,
    threshold: &'static str,
    keep: Keep,
    verify: Verify,
    cluster: Cluster,
    /// Registers, bands, rows.
    bands: (u32, usize, usize),
    /// The exact join instead of bands.
    exact: bool,
    cap: usize,
    threads: usize,
}

fn cases() -> impl Strategy<Value = Case> {
    let corpus = (any::<u64>(), 1usize..40, any::<bool>(), any::<bool>(), 1usize..4);
    let thresholds = ["0.3", "0.5", "0.6", "0.7", "0.75", "0.8", "0.9", "0.99", "1"];
    let rules = (
        prop::sample::select(thresholds.to_vec()),
        prop::sample::select(vec![Keep::First, Keep::Last, Keep::Longest, Keep::Shortest]),
        prop_oneof![3 => Just(Verify::Exact), 1 => Just(Verify::Estimate)],
        prop_oneof![3 => Just(Cluster::Leaders), 1 => Just(Cluster::Components)],
    );
    // The default shape has a way of its own; keys of nine rows are cut.
    let bands = vec![(128, 18, 7), (128, 32, 4), (128, 42, 3), (128, 14, 9), (64, 16, 4), (100, 25, 4)];
    let search = (prop::sample::select(bands), prop_oneof![1usize..5, Just(64)], 1usize..4);
    (corpus, rules, search, 0..4).prop_map(|(corpus, rules, (bands, cap, threads), join)| {
        let (seed, n, ids, repeat_ids, ngram) = corpus;
        let (threshold, keep, verify, cluster) = rules;
        let exact = join == 0 && verify == Verify::Exact;
        Case { seed, n, ids, repeat_ids, ngram, threshold, keep, verify, cluster, bands, exact, cap, threads }
    })
}

impl Case {
    fn documents(&self) -> Vec<Document> {
        corpus::documents(&mut Random::new(self.seed), self.n, 40, self.repeat_ids)
    }

    fn request(&self, lab: &Lab, output: &str) -> Request {
        let (registers, bands, rows) = self.bands;
        let spec = SketchSpec { registers, ..SketchSpec::default() };
        let usual = lab.request(output);
        let mut request = usual.with(|request| {
            request.compare.search = match self.exact {
                true => Search::Exact,
                false => Search::Bands(Banding::new(&spec, Shape { bands, rows }).unwrap()),
            };
            request.compare.spec = spec;
            request.compare.threshold = self.threshold.parse().unwrap();
            request.keep = self.keep.clone();
            request.compare.verify = self.verify;
            request.cluster = self.cluster;
            request.compare.cap = self.cap;
            request.resources.threads = self.threads;
        });
        request.compare.text.n = self.ngram;
        if !self.ids {
            request.input.read.id_field = None;
        }
        // Several batches, so that threads have something to divide.
        request.input.read.batch_bytes = 1000;
        request
    }
}

fn expected(documents: &[Document], request: &Request) -> Vec<Evidence> {
    let with_ids = request.input.read.id_field.is_some();
    let place = |row: usize| ("a.jsonl".to_owned(), row as u64 + 1);
    let id = |row: usize| match with_ids {
        true => documents[row].id.clone(),
        false => format!("a.jsonl:{}", row + 1),
    };
    let new = |kept: oracle::Kept| match kept {
        oracle::Kept::New(row) => row,
        oracle::Kept::Old(_) => unreachable!("there are no old documents"),
    };
    let evidence = |removal: oracle::Removal| Evidence {
        removed_id: id(removal.removed),
        kept_id: id(new(removal.kept)),
        removed: place(removal.removed),
        kept: place(new(removal.kept)),
        kept_is_old: false,
        rule: removal.rule.to_owned(),
        similarity: removal.similarity,
        counts: removal.counts,
    };
    oracle::removals(documents, request).into_iter().map(evidence).collect()
}

/// Who is removed for whom, and how similar they are.
fn by_id(evidence: &[Evidence]) -> Vec<(String, String, String, f64)> {
    let row =
        |row: &Evidence| (row.removed_id.clone(), row.kept_id.clone(), row.rule.clone(), row.similarity);
    evidence.iter().map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_result_is_that_of_the_definition(case in cases()) {
        let (lab, documents) = (Lab::new(), case.documents());
        lab.write("a.jsonl", corpus::lines(&documents));
        let request = case.request(&lab, "out");
        let summary = lab::run(&request).unwrap();
        let found = evidence::read(&request.results.folder);
        prop_assert_eq!(&found, &expected(&documents, &request));
        prop_assert_eq!(summary.counts.removed, found.len() as u64);
        prop_assert_eq!(summary.counts.kept + summary.counts.removed, documents.len() as u64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn threads_memory_and_disk_change_no_byte(case in cases()) {
        let (lab, documents) = (Lab::new(), case.documents());
        lab.write("a.jsonl", corpus::lines(&documents));
        let (memory, disk) = (case.request(&lab, "memory"), case.request(&lab, "disk"));
        lab::run(&memory.clone().with(|request| request.resources.threads = 1)).unwrap();
        let expected = lab::outputs(&memory.results.folder);
        for threads in [2, 5] {
            lab::run(&memory.clone().with(|request| { request.resources.threads = threads; request.results.overwrite = true; })).unwrap();
            lab::assert_same(&lab::outputs(&memory.results.folder), &expected, &format!("{threads} threads"));
        }
        for (threads, maps) in [(1, true), (3, false), (3, true)] {
            lab::run(&memory.clone().with(|request| { request.resources.threads = threads; request.resources.held = 0; request.resources.maps = maps; request.results.overwrite = true; })).unwrap();
            lab::assert_same(&lab::outputs(&memory.results.folder), &expected, "read again");
        }
        for (checkpoint, held, page_cache) in [(Some(0), u64::MAX, u64::MAX), (None, u64::MAX, 0), (None, 0, 0), (Some(0), 0, u64::MAX)] {
            let disk = disk.clone().with(|request| { request.resources.in_memory = 0; request.resources.checkpoint = checkpoint; request.resources.held = held; request.resources.page_cache = page_cache; request.results.overwrite = true; });
            let summary = lab::run(&disk).unwrap();
            prop_assert!(summary.spilled_bytes > 0);
            lab::assert_same(&lab::outputs(&disk.results.folder), &expected, "on disk");
        }
        // Checkpoints do not decide where a run works: what fits stays in memory. The table of the first documents takes 2.9 MB; with a little more, a run moves in the middle.
        for (held, in_memory) in [(u64::MAX, u64::MAX), (0, u64::MAX), (u64::MAX, 2_890_000)] {
            let request =
                case.request(&lab, "checkpoints").with(|request| { request.resources.checkpoint = Some(0); request.resources.held = held; request.resources.in_memory = in_memory; request.results.overwrite = true; });
            let summary = lab::run(&request).unwrap();
            prop_assert!(summary.spilled_bytes == 0 || in_memory < u64::MAX);
            lab::assert_same(&lab::outputs(&request.results.folder), &expected, "with checkpoints");
        }
    }

    #[test]
    fn with_ids_the_order_and_number_of_files_change_nothing(case in cases(), files in 2usize..5) {
        let case = Case { ids: true, repeat_ids: false, ..case };
        let (one, many, mut documents) = (Lab::new(), Lab::new(), case.documents());
        one.write("a.jsonl", corpus::lines(&documents));
        let mut random = Random::new(!case.seed);
        random.shuffle(&mut documents);
        let mut shards = vec![Vec::new(); files];
        documents.into_iter().for_each(|document| shards[random.below(files)].push(document));
        for (i, shard) in shards.iter().enumerate() {
            many.write(&format!("{i}/b.jsonl"), corpus::lines(shard));
        }
        let evidence = |lab: &Lab| {
            let request = case.request(lab, "out");
            lab::run(&request).unwrap();
            by_id(&evidence::read(&request.results.folder))
        };
        prop_assert_eq!(evidence(&many), evidence(&one));
    }
}

/// The property above must not hold because nothing happens: corpora of this kind have removals of every rule.
#[test]
fn the_random_corpora_have_every_kind_of_removal() {
    let mut rules = std::collections::BTreeMap::<String, usize>::new();
    for seed in 0..60 {
        let (lab, documents) = (Lab::new(), corpus::documents(&mut Random::new(seed), 30, 40, false));
        lab.write("a.jsonl", corpus::lines(&documents));
        let verify = if seed % 3 == 0 { Verify::Estimate } else { Verify::Exact };
        let cluster = if seed % 3 == 1 { Cluster::Components } else { Cluster::Leaders };
        let request = lab.request("out").with(|request| {
            request.compare.verify = verify;
            request.cluster = cluster;
        });
        lab::run(&request).unwrap();
        for row in evidence::read(&request.results.folder) {
            let is_wordless = row.counts == Some((0, 0));
            let rule = if is_wordless { format!("{} of no words", row.rule) } else { row.rule };
            *rules.entry(rule).or_default() += 1;
        }
    }
    let expected = ["component", "estimate", "exact-copy", "exact-copy of no words", "verified"];
    assert_eq!(rules.keys().collect::<Vec<_>>(), expected);
    assert!(rules.values().all(|n| *n >= 20), "{rules:?}");
}
