//! Archives: what they refuse, what damage does, and that a crash leaves them as before or as after.

use std::fs;
use std::path::Path;

use benzer_dedup::progress::Silent;
use benzer_dedup::request::{Measure, Request};
use benzer_dedup::results;
use benzer_join::resolve::Cluster;
use benzer_storage::Files;

use crate::corpus::{self, Document, Random};
use crate::evidence;
use crate::lab::{self, Lab, Outputs};

fn documents(seed: u64, n: usize) -> Vec<Document> {
    corpus::documents(&mut Random::new(seed), n, 40, false)
}

/// A lab with an archive of one day, and the documents of the next as its input.
fn lab() -> Lab {
    let lab = Lab::new();
    let all = documents(5, 120);
    lab.write("day.jsonl", corpus::lines(&all[..80]));
    lab::run(&growing(&lab, &lab.path(""), "first")).unwrap();
    lab.write("day.jsonl", corpus::lines(&all[80..]));
    lab
}

/// A run that adds to the archive below a folder.
fn growing(lab: &Lab, root: &Path, output: &str) -> Request {
    let archive = root.join("archive");
    lab.on_disk(output).with(|request| {
        request.results.folder = root.join(output);
        request.old.paths = vec![archive.clone()];
        request.results.save = Some(archive);
        request.old.read = lab.request("").input.read;
    })
}

/// The files of an archive.
fn content(archive: &Path) -> Outputs {
    lab::outputs(archive).into_iter().filter(|(name, _)| name != "lock").collect()
}

#[test]
fn after_every_power_cut_the_archive_is_as_before_and_a_resumed_run_makes_it_right() {
    let lab = lab();
    let root = lab.path("root");
    let copy = |to: &Path| {
        fs::create_dir_all(to.join("archive")).unwrap();
        for entry in fs::read_dir(lab.path("archive")).unwrap().flatten() {
            fs::copy(entry.path(), to.join("archive").join(entry.file_name())).unwrap();
        }
    };
    copy(&root);
    let before = content(&root.join("archive"));
    let (files, recorder) = Files::recording(&root).unwrap();
    let recorded = growing(&lab, &root, "out");
    benzer_dedup::run_through(&files, &recorded, &Silent).unwrap();
    let (output, after) = (lab::outputs(&recorded.results.folder), content(&root.join("archive")));
    assert_ne!(before, after);
    let names = |bytes: &[u8]| {
        let json: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        json["segments"].as_array().unwrap().len()
    };
    assert_eq!(names(&after["archive.json"]), 1, "the larger segment took the smaller one");
    assert!(recorder.n_operations() > 100, "{}", recorder.n_operations());
    for cut in 0..=recorder.n_operations() {
        for seed in 0..3 {
            let wreck = lab.path("wreck");
            fs::create_dir(&wreck).unwrap();
            recorder.power_cut(cut, seed, &wreck).unwrap();
            let json = fs::read(wreck.join("archive/archive.json")).unwrap();
            assert!(json == before["archive.json"] || json == after["archive.json"], "cut {cut}");
            let resumed = growing(&lab, &wreck, "out").with(|request| request.resources.resume = true);
            lab::run(&resumed).unwrap();
            let context = format!("cut {cut}, seed {seed}");
            // The manifest and the report name the archive, which lies somewhere else here.
            let strip = |outputs: &Outputs| -> Outputs {
                outputs
                    .iter()
                    .filter(|(name, _)| !["manifest.json", "report.html"].contains(&name.as_str()))
                    .map(|(a, b)| (a.clone(), b.clone()))
                    .collect()
            };
            lab::assert_same(&strip(&lab::outputs(&resumed.results.folder)), &strip(&output), &context);
            let found = content(&wreck.join("archive"));
            assert_eq!(found.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>(), "{context}");
            let is_data = |name: &str| name != "archive.json";
            let differs = found.iter().any(|(name, bytes)| is_data(name) && after[name] != *bytes);
            assert!(!differs, "{context}");
            fs::remove_dir_all(&wreck).unwrap();
        }
    }
}

#[test]
fn a_run_that_is_repeated_finds_the_same_and_adds_nothing() {
    let lab = lab();
    let request = growing(&lab, &lab.path(""), "out");
    lab::run(&request).unwrap();
    let (output, archive) = (lab::outputs(&request.results.folder), content(&lab.path("archive")));
    lab::run(&request.clone().with(|request| request.results.overwrite = true)).unwrap();
    lab::assert_same(&lab::outputs(&request.results.folder), &output, "the same output");
    lab::assert_same(&content(&lab.path("archive")), &archive, "the same archive");
    // With more added in between, its documents would be copies of themselves.
    let day = fs::read(lab.path("in/day.jsonl")).unwrap();
    lab.write("other.jsonl", corpus::lines(&documents(6, 10)));
    let only = |name: &str, output: &str| {
        growing(&lab, &lab.path(""), output)
            .with(|request| request.input.paths = vec![lab.path("in").join(name)])
    };
    lab::run(&only("other.jsonl", "other")).unwrap();
    fs::remove_file(lab.path("in/other.jsonl")).unwrap();
    assert_eq!(fs::read(lab.path("in/day.jsonl")).unwrap(), day);
    let error = lab::run(&request.with(|request| request.results.overwrite = true)).unwrap_err().to_string();
    assert!(
        error.contains("expected other inputs than it has") && error.contains("output folder of the run"),
        "{error}"
    );
}

#[test]
fn every_changed_byte_that_is_read_is_noticed_and_none_changes_the_result() {
    let lab = lab();
    let request = growing(&lab, &lab.path(""), "right").with(|request| request.results.save = None);
    lab::run(&request).unwrap();
    let expected = evidence::read(&request.results.folder);
    assert!(expected.iter().filter(|row| row.kept_is_old).count() > 5);
    let (mut noticed, mut n) = (0, 0);
    for (name, bytes) in content(&lab.path("archive")) {
        for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x20;
            fs::write(lab.path("archive").join(&name), &changed).unwrap();
            let request = request.clone().with(|request| {
                request.results.folder = lab.path("out");
                request.results.overwrite = true;
            });
            match lab::run(&request) {
                Ok(_) => assert_eq!(evidence::read(&request.results.folder), expected, "{name} at {at}"),
                Err(error) => {
                    noticed += 1;
                    assert!(error.to_string().contains(&name), "{error}");
                }
            }
            n += 1;
        }
        fs::write(lab.path("archive").join(&name), &bytes).unwrap();
    }
    assert!(noticed > n / 4, "{noticed} of {n}");
}

#[test]
fn another_archive_than_is_needed_is_refused_with_expected_got_and_remedy() {
    let lab = lab();
    let usual = growing(&lab, &lab.path(""), "out").with(|request| request.results.save = None);
    let mut other = usual.clone();
    other.compare.text.n = 3;
    let error = lab::run(&other).unwrap_err().to_string();
    assert!(
        error.contains("words3") && error.contains("words2") && error.contains("save its documents again"),
        "{error}"
    );
    assert!(!lab.path("out/documents").exists());
    fs::create_dir(lab.path("full")).unwrap();
    fs::write(lab.path("full/letter.txt"), "mine").unwrap();
    let full = lab.path("full");
    let error = lab::run(&usual.clone().with(|request| {
        request.old.paths = vec![full.clone()];
        request.results.save = Some(full);
    }))
    .unwrap_err()
    .to_string();
    assert!(error.contains("other files and no archive"), "{error}");
    let inside = usual.clone().with(|request| {
        request.old.paths = vec![lab.path("first/documents")];
        request.results.folder = lab.path("first");
        request.results.overwrite = true;
    });
    let error = lab::run(&inside).unwrap_err().to_string();
    assert!(error.contains("holds an input, which would be replaced"), "{error}");
    assert!(lab.path("first/documents/day.jsonl").exists());
    let missing = usual.with(|request| request.old.paths = vec![lab.path("nowhere")]);
    let error = lab::run(&missing).unwrap_err().to_string();
    assert!(error.contains("nowhere") && error.contains("check the spelling"), "{error}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let lab = lab();
    let usual = growing(&lab, &lab.path(""), "out").with(|request| request.results.save = None);
    let refused = |request: Request, words: &str| {
        let error = lab::run(&request).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let none = usual.clone().with(|request| request.old.paths = Vec::new());
    refused(none.clone().with(|request| request.compare.measure = Measure::Containment), "with --against");
    refused(usual.clone().with(|request| request.cluster = Cluster::Components), "leaders with --against");
    refused(
        usual.clone().with(|request| request.results.save = Some(lab.path("elsewhere"))),
        "so that nothing is saved twice",
    );
    refused(usual.clone().with(|request| request.old.paths = vec!["-".into()]), "save it to a file first");
    let estimate = benzer_dedup::request::Verify::Estimate;
    refused(
        usual.with(|request| {
            request.compare.measure = Measure::Containment;
            request.compare.verify = estimate;
        }),
        "exact with --measure containment",
    );
}

#[test]
fn bad_lines_of_old_documents_are_listed_and_a_strict_run_stops_at_them() {
    let lab = Lab::new();
    lab.write("a.jsonl", corpus::lines(&documents(3, 20)));
    fs::write(
        lab.path("old.jsonl"),
        corpus::lines(&documents(4, 5)) + "not json\n{\"id\": 1}\n{\"id\": 2, \"text\": \"...\"}\n",
    )
    .unwrap();
    for usual in [lab.request("memory"), lab.on_disk("disk")] {
        let request = usual.with(|request| {
            request.old.paths = vec![lab.path("old.jsonl")];
            request.old.read = request.input.read.clone();
        });
        let counts = lab::run(&request).unwrap().counts;
        assert_eq!((counts.rejected, counts.against_rejected), (0, 2));
        assert!(counts.against_empty >= 1 && counts.against <= 6, "{counts:?}");
        let rejects = fs::read_to_string(request.results.folder.join("against-rejects.jsonl")).unwrap();
        assert!(rejects.lines().count() == 2 && rejects.contains("old.jsonl"), "{rejects}");
        assert!(
            fs::read_to_string(request.results.folder.join("manifest.json"))
                .unwrap()
                .contains("against-rejects.jsonl")
        );
        let error = lab::run(&request.with(|request| {
            request.strict = true;
            request.results.overwrite = true;
        }))
        .unwrap_err()
        .to_string();
        assert!(error.contains("old.jsonl:6: invalid json"), "{error}");
    }
}

#[test]
fn a_higher_threshold_later_is_that_of_a_run_at_it() {
    let lab = lab();
    let request = growing(&lab, &lab.path(""), "out").with(|request| {
        request.results.save = None;
        request.compare.threshold = "0.5".parse().unwrap();
    });
    let items = request.clone().with(|request| {
        request.compare.measure = Measure::Containment;
        request.results.folder = lab.path("items");
        request.compare.search = benzer_dedup::request::Search::Exact;
    });
    for low in [request, items] {
        lab::run(&low).unwrap();
        let threshold: benzer_core::Threshold = "0.9".parse().unwrap();
        let high = low.clone().with(|request| {
            request.compare.threshold = threshold;
            request.results.folder = lab.path("high");
            request.results.overwrite = true;
        });
        lab::run(&high).unwrap();
        results::rethreshold(&low.results.folder, threshold, &lab.path("again")).unwrap();
        // Bands are those of the lower threshold; the prefilter is not.
        let rows = |output: &str| -> Vec<_> {
            let rows = evidence::read(&lab.path(output)).into_iter();
            rows.map(|row| (row.removed_id, row.kept_id, row.kept_is_old, row.rule, row.counts)).collect()
        };
        let (again, high) = (rows("again"), rows("high"));
        assert!(again.len() > 3);
        assert!(high.iter().all(|row| again.contains(row)), "{high:?} {again:?}");
        assert_eq!(again.len(), high.len());
    }
}

/// The golden archive was written from these documents by version 1 of the format.
#[test]
fn the_golden_archive_is_read_and_written_as_ever() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats/v1/archive");
    let lab = Lab::new();
    // In those days texts without words were not saved.
    let has_words = |document: &Document| document.text.chars().any(char::is_alphanumeric);
    let mut documents = documents(1, 40);
    let wordless = documents.iter_mut().filter(|document| !has_words(document));
    assert!(wordless.map(|document| document.text.clear()).count() > 0);
    lab.write("a.jsonl", corpus::lines(&documents));
    let usual = lab.request("out");
    let saving = usual.with(|request| request.results.save = Some(request.own_archive()));
    lab::run(&saving).unwrap();
    let saved = usual_files(&saving.results.folder.join("saved"));
    if std::env::var_os("BENZER_WRITE_GOLDEN").is_some() {
        fs::create_dir_all(&golden).unwrap();
        for (name, bytes) in content(&saving.results.folder.join("saved")) {
            fs::write(golden.join(name), bytes).unwrap();
        }
    }
    lab::assert_same(&saved, &usual_files(&golden), "what is written");
    // Every kept document is a copy of itself.
    let kept = fs::read(saving.results.folder.join("documents/a.jsonl")).unwrap();
    lab.write("a.jsonl", kept);
    let again = lab.request("again").with(|request| request.old.paths = vec![golden]);
    let benzer_dedup::summary::Summary { counts, warnings, .. } = lab::run(&again).unwrap();
    // Empty documents are kept, whatever they are compared with.
    let warns = warnings.iter().any(|warning| warning.contains("added to the archive before"));
    assert_eq!(warns, counts.empty == 0);
    assert!(
        counts.against > 10 && counts.copies == counts.against && counts.removed == counts.against,
        "{counts:?}"
    );
}

/// The files of segments: `archive.json` names inputs with their times.
fn usual_files(archive: &Path) -> Outputs {
    content(archive).into_iter().filter(|(name, _)| name != "archive.json").collect()
}
