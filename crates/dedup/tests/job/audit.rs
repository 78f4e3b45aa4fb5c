//! What an audit says is what is there.

use std::collections::BTreeSet;

use benzer_core::field::text::Shingler;
use benzer_core::lsh::{Banding, Shape};
use benzer_core::sketch::SketchSpec;
use benzer_dedup::Audited;
use benzer_dedup::request::{Audit, Request, Search, Verify};
use benzer_dedup::results;
use proptest::prelude::*;
use serde_json::Value;

use crate::corpus::{self, Document, Random};
use crate::lab::{self, Lab};

fn banding(bands: usize, rows: usize) -> Search {
    Search::Bands(Banding::new(&SketchSpec::default(), Shape { bands, rows }).unwrap())
}

/// The pairs of different texts that reach the threshold, each as its two ids in order.
fn similar(documents: &[Document], request: &Request) -> BTreeSet<(String, String)> {
    let shingler = Shingler::new(&request.compare.text).unwrap();
    let features: Vec<_> = documents.iter().map(|document| shingler.features(&document.text)).collect();
    // Of each text the document whose id comes first.
    let is_first = |i: usize| {
        let (this, mut all) = (&documents[i], documents.iter());
        !features[i].is_empty() && !all.any(|other| other.text == this.text && other.id < this.id)
    };
    let members: Vec<usize> = (0..documents.len()).filter(|&i| is_first(i)).collect();
    let mut pairs = BTreeSet::new();
    for (n, &i) in members.iter().enumerate() {
        for &j in &members[..n] {
            let both = features[i].elements().iter().filter(|x| features[j].elements().contains(x)).count();
            let union = features[i].len() + features[j].len() - both;
            if request.compare.threshold.is_reached(both as u64, union as u64) {
                pairs.insert(in_order(&documents[i].id, &documents[j].id));
            }
        }
    }
    pairs
}

fn in_order(a: &str, b: &str) -> (String, String) {
    (a.min(b).to_owned(), a.max(b).to_owned())
}

/// The pairs that a run reports, copies aside.
fn reported(request: &Request) -> BTreeSet<(String, String)> {
    let mut pairs = BTreeSet::new();
    results::pairs(&request.results.folder, |pair| {
        if !pair.exact_copy {
            pairs.insert(in_order(&pair.id_a, &pair.id_b));
        }
        Ok(())
    })
    .unwrap();
    pairs
}

fn audited(request: &Request) -> Audited {
    lab::run(request).unwrap().audit.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn an_audit_of_everything_is_the_direct_count(seed in any::<u64>(), n in 2usize..120, bands in 1usize..26, estimate in any::<bool>()) {
        let (lab, documents) = (Lab::new(), corpus::documents(&mut Random::new(seed), n, 40, false));
        lab.write("a.jsonl", corpus::lines(&documents));
        let verify = if estimate { Verify::Estimate } else { Verify::Exact };
        let request = lab.request("out").with(|request| { request.compare.search = banding(bands, 5); request.compare.verify = verify; request.compare.cap = 3; });
        let audit = audited(&request);
        let truth = similar(&documents, &request);
        let found = truth.intersection(&reported(&request)).count() as u64;
        prop_assert_eq!((audit.pairs, audit.found), (truth.len() as u64, found));
        prop_assert_eq!((audit.sampled, audit.compared), (audit.documents, audit.documents));
        prop_assert_eq!(audit.bins.iter().map(|bin| bin.pairs).sum::<u64>(), audit.pairs);
        prop_assert_eq!(audit.bins.iter().map(|bin| bin.found).sum::<u64>(), audit.found);
        prop_assert!(audit.found + audit.capped <= audit.pairs && audit.covered <= audit.pairs);
        match audit.recall {
            Some(share) => {
                let value = found as f64 / truth.len() as f64;
                prop_assert_eq!((share.value, share.low, share.high), (value, value, value));
            }
            None => prop_assert!(truth.is_empty()),
        }
    }
}

/// Every document with every other.
const ALL: Audit = Audit::Sample(u32::MAX);

fn prepared() -> Lab {
    let lab = Lab::new();
    lab.write("a.jsonl", corpus::lines(&corpus::documents(&mut Random::new(11), 1500, 60, false)));
    lab
}

#[test]
fn the_exact_join_has_recall_one_and_bad_bands_have_not() {
    let lab = prepared();
    let exact = audited(&lab.request("exact").with(|request| {
        request.compare.search = Search::Exact;
        request.audit = ALL;
    }));
    let recall = exact.recall.unwrap();
    assert_eq!((recall.value, recall.low, exact.capped, exact.covered), (1.0, 1.0, 0, exact.pairs));
    assert!(exact.pairs > 500, "{exact:?}");
    let good = audited(&lab.request("good").with(|request| {
        request.compare.search = banding(25, 5);
        request.compare.cap = 1000;
        request.audit = ALL;
    }));
    assert_eq!((good.pairs, good.capped), (exact.pairs, 0));
    assert!(good.recall.unwrap().value > 0.98, "{good:?}");
    let bad = audited(&lab.request("bad").with(|request| {
        request.compare.search = banding(2, 16);
        request.audit = ALL;
    }));
    assert!(bad.recall.unwrap().value < 0.6 && bad.covered < bad.pairs, "{bad:?}");
    // Least at the threshold, most at 1.
    let shares: Vec<f64> = bad.bins.iter().map(|bin| bin.met_share.unwrap().value).collect();
    assert!(shares[0] < shares[shares.len() - 1], "{shares:?}");
}

#[test]
fn a_sample_says_what_everything_says() {
    let lab = prepared();
    let with = |audit, output| {
        audited(&lab.request(output).with(|request| {
            request.compare.search = banding(3, 8);
            request.audit = audit;
        }))
    };
    let (all, some) = (with(ALL, "all"), with(Audit::Sample(400), "some"));
    assert_eq!((some.sampled, some.compared, all.sampled), (400, all.documents, all.documents));
    let (truth, share) = (all.recall.unwrap().value, some.recall.unwrap());
    assert!(
        share.low < share.value && share.value < share.high && share.high - share.low < 0.15,
        "{share:?}"
    );
    assert!(share.low <= truth && truth <= share.high, "{truth} {share:?}");
}

/// Of a corpus of this size some documents are drawn, and compared with those that share a minimum.
fn large(n: usize) -> (Lab, Vec<Document>) {
    let (lab, documents) = (Lab::new(), corpus::documents(&mut Random::new(12), n, 200, false));
    lab.write("a.jsonl", corpus::lines(&documents));
    (lab, documents)
}

#[test]
fn drawn_documents_and_their_twins_say_what_everything_says() {
    let (lab, documents) = large(2400);
    let request = |seed, audit| {
        lab.request("out").with(|request| {
            request.compare.search = banding(3, 8);
            request.compare.spec = SketchSpec { seed, ..SketchSpec::default() };
            request.audit = audit;
            request.results.overwrite = true;
        })
    };
    let truth = similar(&documents, &request(0, ALL)).len() as u64;
    let (mut means, mut covered) = ([0.0; 2], 0);
    let rounds = 24;
    for seed in 0..rounds {
        let (all, some) = (audited(&request(seed, ALL)), audited(&request(seed, Audit::Auto)));
        assert!(some.by_minimum && !all.by_minimum, "{some:?}");
        assert_eq!(all.pairs, truth);
        assert!(some.pairs < truth && some.pairs > truth / 20, "{some:?}");
        assert_eq!(some.bins.iter().map(|bin| bin.pairs).sum::<u64>(), some.pairs);
        let (exact, share) = (all.recall.unwrap().value, some.recall.unwrap());
        covered += u64::from(share.low <= exact && exact <= share.high);
        assert!(share.high - share.low < 0.25, "{share:?}");
        means[0] += exact / rounds as f64;
        means[1] += share.value / rounds as f64;
    }
    assert!((means[0] - means[1]).abs() < 0.03, "{means:?}");
    assert!(covered >= rounds - 4, "{covered} of {rounds}");
}

#[test]
fn drawn_documents_and_their_twins_are_the_same_on_disk_with_any_threads_and_order_of_files() {
    let (lab, mut documents) = large(1500);
    let expected = audited(&lab.request("out"));
    assert!(expected.by_minimum && expected.pairs > 20, "{expected:?}");
    for (threads, output) in [(1, "one"), (3, "three")] {
        assert_eq!(
            audited(&lab.request(output).with(|request| request.resources.threads = threads)),
            expected
        );
        assert_eq!(
            audited(
                &lab.on_disk(&format!("{output}-disk")).with(|request| request.resources.threads = threads)
            ),
            expected
        );
    }
    let many = Lab::new();
    Random::new(5).shuffle(&mut documents);
    for (i, part) in documents.chunks(400).enumerate() {
        many.write(&format!("{i}.jsonl"), corpus::lines(part));
    }
    assert_eq!(audited(&many.request("out")), expected);
}

#[test]
fn with_ids_the_order_of_the_files_changes_nothing() {
    let (one, many) = (prepared(), Lab::new());
    let mut documents = corpus::documents(&mut Random::new(11), 1500, 60, false);
    Random::new(5).shuffle(&mut documents);
    for (i, part) in documents.chunks(400).enumerate() {
        many.write(&format!("{i}.jsonl"), corpus::lines(part));
    }
    let audit = |lab: &Lab| audited(&lab.request("out").with(|request| request.audit = Audit::Sample(200)));
    assert_eq!(audit(&one), audit(&many));
}

#[test]
fn pairs_of_documents_that_are_similar_to_old_ones_are_found_too() {
    let lab = prepared();
    // Every third document is there already, but for a word.
    let old = corpus::documents(&mut Random::new(11), 1500, 60, false).into_iter().step_by(3);
    let old: Vec<Document> =
        old.map(|document| Document { text: format!("{} more", document.text), ..document }).collect();
    std::fs::write(lab.path("old.jsonl"), corpus::lines(&old)).unwrap();
    let request = lab.request("out").with(|request| {
        request.compare.search = Search::Exact;
        request.audit = ALL;
    });
    let alone = audited(&request);
    let request = request.with(|request| {
        request.compare.search = banding(25, 5);
        request.compare.cap = 1000;
        request.old.paths = vec![lab.path("old.jsonl")];
        request.old.read = request.input.read.clone();
        request.results.overwrite = true;
    });
    for (verify, least) in [(Verify::Exact, 0.95), (Verify::Estimate, 0.5)] {
        let against = audited(&request.clone().with(|request| request.compare.verify = verify));
        assert!(against.pairs > alone.pairs / 2, "{against:?} {alone:?}");
        assert!(against.found as f64 > least * against.pairs as f64, "{against:?}");
    }
}

#[test]
fn documents_that_share_a_notice_do_not_make_an_audit_long() {
    let lab = Lab::new();
    let mut random = Random::new(3);
    let notice = |of: usize| (0..40).map(|i| format!("n{of}x{i}")).collect::<Vec<_>>().join(" ");
    // Hardly any are similar, so that as many as can be are drawn; two of three minima are those of one of ten notices.
    let documents: Vec<Document> = (0..6000)
        .map(|i| {
            let own: Vec<String> = (0..20).map(|_| format!("w{}", random.below(1 << 30))).collect();
            Document { id: format!("{i:05}"), text: format!("{} {}", notice(i % 10), own.join(" ")) }
        })
        .collect();
    lab.write("a.jsonl", corpus::lines(&documents));
    let audit = |threads| {
        audited(&lab.request("out").with(|request| {
            request.compare.threshold = "0.9".parse().unwrap();
            request.compare.search = banding(8, 16);
            request.resources.threads = threads;
            request.results.overwrite = true;
        }))
    };
    let one = audit(1);
    assert!(one.by_minimum && one.sampled > 200 && one.sampled < 2000, "{one:?}");
    assert_eq!(one, audit(3));
}

#[test]
fn buckets_over_the_limit_are_told_from_what_was_missed() {
    let lab = Lab::new();
    let words = |n: usize| (0..n).map(|i| format!("w{i}")).collect::<Vec<_>>().join(" ");
    // One cluster, in which all are similar to all.
    let documents: Vec<Document> =
        (0..200).map(|i| Document { id: format!("{i:03}"), text: format!("{} x{i}", words(60)) }).collect();
    lab.write("a.jsonl", corpus::lines(&documents));
    let audit = audited(&lab.request("out").with(|request| request.compare.cap = 4));
    assert_eq!((audit.pairs, audit.covered), (200 * 199 / 2, 200 * 199 / 2));
    assert!(audit.found < 2000 && audit.found + audit.capped == audit.pairs, "{audit:?}");
    assert_eq!(audit.met_share.unwrap().value, 1.0);
}

#[test]
fn the_manifest_has_the_audit_or_none() {
    let lab = prepared();
    let manifest = |request: &Request| -> Value {
        serde_json::from_slice(&std::fs::read(request.results.folder.join("manifest.json")).unwrap()).unwrap()
    };
    let request = lab.request("out");
    let audit = audited(&request);
    assert_eq!(manifest(&request)["audit"], serde_json::to_value(&audit).unwrap());
    let off = lab.request("off").with(|request| request.audit = Audit::Off);
    assert_eq!(lab::run(&off).unwrap().audit, None);
    assert_eq!(manifest(&off)["audit"], Value::Null);
}

/// Clusters of a hundred and small ones. The documents of a cluster differ in as many words as keeps some of its pairs near the threshold of a preset with few bands, so that they are missed
/// together: those of a document that differs much.
fn large_clusters(random: &mut Random) -> Vec<String> {
    let mut texts = Vec::new();
    for size in [120, 100, 80, 60].into_iter().chain((0..150).map(|i| 2 + i % 3)) {
        let base: Vec<usize> = (0..60 + random.below(60)).map(|_| random.below(20_000)).collect();
        let most = 3 + random.below(5);
        for _ in 0..size {
            let mut words = base.clone();
            for _ in 0..1 + random.below(most) {
                let at = random.below(words.len());
                words[at] = random.below(20_000);
            }
            texts.push(words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" "));
        }
    }
    texts
}

#[test]
fn intervals_hold_the_recall_of_runs_that_miss_many_pairs_of_large_clusters() {
    let mut random = Random::new(24);
    let mut texts = large_clusters(&mut random);
    let (rounds, mut missed, mut width, mut recall) = (60, [0, 0], 0.0, 0.0);
    for _ in 0..rounds {
        // Another order: other documents are drawn, and others come first in the buckets.
        random.shuffle(&mut texts);
        let document = |(i, text): (usize, &String)| Document { id: format!("{i:05}"), text: text.clone() };
        let documents: Vec<Document> = texts.iter().enumerate().map(document).collect();
        let lab = Lab::new();
        lab.write("a.jsonl", corpus::lines(&documents));
        let with = |audit, output| {
            let mut request = lab.request(output).with(|request| {
                request.compare.search = banding(16, 8);
                request.audit = audit;
            });
            (request.compare.threshold, request.compare.text.n) = ("0.71".parse().unwrap(), 3);
            audited(&request)
        };
        let (some, all) = (with(Audit::Sample(120), "some"), with(Audit::Sample(u32::MAX), "all"));
        let (share, truth) = (some.recall.unwrap(), all.recall.unwrap());
        assert_eq!(truth.low, truth.high);
        assert!(some.pairs < all.pairs / 2 && some.pairs > 500, "{} of {}", some.pairs, all.pairs);
        missed[0] += u32::from(truth.value < share.low);
        missed[1] += u32::from(truth.value > share.high);
        width += (share.high - share.low) / f64::from(rounds);
        recall += truth.value / f64::from(rounds);
    }
    assert!(recall < 0.95, "{recall}");
    assert!(missed[0] + missed[1] <= 6 && missed[0] <= 4 && missed[1] <= 4, "{missed:?} of {rounds}");
    assert!(width < 0.15, "{width}");
}
