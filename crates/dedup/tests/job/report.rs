//! The page that is looked at before anything is deleted: it is well-formed, asks for nothing, and shows texts as texts.

use std::fs;

use benzer_core::lsh::{Banding, Shape};
use benzer_core::sketch::SketchSpec;
use benzer_dedup::request::{Audit, Output, Request, Search, Verify};
use benzer_join::resolve::Cluster;
use benzer_storage::checksum_of;
use serde_json::Value;

use crate::corpus::{self, Document, Random};
use crate::lab::{self, Lab};

fn page(request: &Request) -> String {
    lab::run(request).unwrap();
    fs::read_to_string(request.results.folder.join("report.html")).unwrap()
}

/// Every element is closed where it must be, and the only elements are those that a report has.
#[track_caller]
pub fn check(page: &str) {
    let known = "html head meta link title style body header main footer section article div h1 h2 h3 h4 p ul li i b a span strong code pre mark details summary figure figcaption table thead tbody tr th td svg desc g line rect text polyline path circle";
    let known: Vec<&str> = known.split(' ').collect();
    let mut open: Vec<&str> = Vec::new();
    let (_, mut rest) = page.split_once("<!doctype html>").expect("it begins with its type");
    while let Some((_, tail)) = rest.split_once('<') {
        let (tag, tail) = tail.split_once('>').expect("a tag ends");
        rest = tail;
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap();
        assert!(known.contains(&name), "unknown element {tag}");
        assert!(!tag.contains('<'), "{tag}");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !tag.ends_with('/') && name != "meta" && name != "link" {
            open.push(name);
        }
        for attribute in [" on", "src=", "javascript:"] {
            assert!(!tag.contains(attribute), "{tag}");
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for outside in ["http:", "https:", "url(", "@import", "//cdn"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let mut ids: Vec<&str> =
        page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let n = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), n, "an id is used twice");
}

#[test]
fn every_kind_of_run_has_a_well_formed_page() {
    let lab = Lab::new();
    lab.write("a.jsonl", corpus::lines(&corpus::documents(&mut Random::new(4), 800, 60, false)));
    let bad = Search::Bands(Banding::new(&SketchSpec::default(), Shape { bands: 2, rows: 16 }).unwrap());
    let usual = page(&lab.request("usual"));
    check(&usual);
    for heading in [
        "What was found",
        "How similar",
        "Is the recall",
        "Just removed",
        "Just kept",
        "largest clusters",
        "Settings",
    ] {
        assert!(usual.contains(heading), "{heading}");
    }
    let missing = page(&lab.request("missing").with(|request| request.compare.search = bad));
    check(&missing);
    assert!(missing.contains("<h3>Missed</h3>") && !usual.contains("<h3>Do it again</h3>"));
    let exact = page(&lab.request("exact").with(|request| {
        request.compare.search = Search::Exact;
        request.audit = Audit::Sample(100);
    }));
    check(&exact);
    assert!(exact.contains("exact join") && exact.contains("100.0%"));
    let off = page(&lab.request("off").with(|request| {
        request.audit = Audit::Off;
        request.compare.cap = 2;
    }));
    check(&off);
    assert!(
        off.contains("--audit off") && off.contains("Buckets over the limit") && !off.contains("Just kept")
    );
    let dry = page(&lab.request("dry").with(|request| {
        request.results.write = Output::DryRun;
        request.compare.verify = Verify::Estimate;
    }));
    check(&dry);
    assert!(dry.contains("would be removed") && dry.contains("estimated"));
    check(&page(&lab.request("chains").with(|request| {
        request.cluster = Cluster::Components;
        request.compare.threshold = "0.3".parse().unwrap();
    })));
    check(&page(&lab.request("one").with(|request| request.compare.threshold = "1".parse().unwrap())));
}

#[test]
fn texts_ids_and_rejects_are_shown_as_text() {
    let lab = Lab::new();
    let evil = "<script>alert('x')</script> <img src=x onerror=alert(1)> & \"quotes\" \u{202e} \u{7}";
    let words = (0..40).map(|i| format!("word{i} ")).collect::<String>();
    let documents: Vec<Document> = (0..4)
        .map(|i| Document {
            id: format!("</code><script>{i}"),
            text: format!("{evil} {words} <b>{i}</b> {words}{evil}"),
        })
        .collect();
    lab.write("<i>a.jsonl", format!("{}</pre><script>not json\n", corpus::lines(&documents)));
    let mut request = lab
        .request("out")
        .with(|request| request.results.rerun = vec!["benzer".into(), "</pre><script>".into()]);
    request.input.read.id_field = Some("id".parse().unwrap());
    let page = page(&request);
    check(&page);
    assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"), "{page}");
    assert!(page.contains("&lt;/code&gt;&lt;script&gt;0") && page.contains("&lt;i&gt;a.jsonl"));
    assert!(page.contains("&#39;&lt;/pre&gt;&lt;script&gt;&#39;"));
    assert!(page.contains("invalid json</td><td class=\"n\">1</td>"));
}

#[test]
fn an_empty_corpus_and_one_without_duplicates_have_a_page() {
    let lab = Lab::new();
    lab.write("a.jsonl", "");
    let empty = page(&lab.request("empty"));
    check(&empty);
    assert!(empty.contains("there are no documents in the input"));
    lab.write(
        "a.jsonl",
        corpus::lines(&[
            Document { id: "1".into(), text: "alone".into() },
            Document { id: "2".into(), text: "...".into() },
        ]),
    );
    let alone = page(&lab.request("alone"));
    check(&alone);
    assert!(
        alone.contains("met no similar pair")
            && alone.contains("1 document without a letter or digit is similar")
    );
}

#[test]
fn long_texts_make_no_long_page() {
    let lab = Lab::new();
    let words = |seed: u64, n: u64| {
        (0..n).map(|i| format!("w{} ", benzer_core::hash::split(seed, i))).collect::<String>()
    };
    let documents: Vec<Document> = (0..12)
        .map(|i| Document {
            id: i.to_string(),
            text: format!("{}{}", words(i / 2, 50_000), words(100 + i, 5_000)),
        })
        .collect();
    lab.write("a.jsonl", corpus::lines(&documents));
    let page = page(&lab.request("out"));
    check(&page);
    assert!(page.contains("Just removed") && page.len() < 200_000, "{}", page.len());
}

#[test]
fn the_manifest_vouches_for_the_page() {
    let lab = Lab::new();
    lab.write("a.jsonl", corpus::lines(&corpus::documents(&mut Random::new(4), 50, 60, false)));
    let request = lab.request("out");
    let page = page(&request);
    let manifest: Value =
        serde_json::from_slice(&fs::read(request.results.folder.join("manifest.json")).unwrap()).unwrap();
    let files = manifest["files"].as_array().unwrap();
    let entry = files.iter().find(|file| file["name"] == "report.html").unwrap();
    assert_eq!(entry["bytes"], page.len());
    let stamp = checksum_of(&request.results.folder.join("report.html")).unwrap();
    assert_eq!(entry["checksum"], format!("{:016x}", stamp.checksum));
}
