//! Many writers and readers at the same time.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use benzer_core::field::Content;

use super::lab::{Server, document, documents, is_whole, made, settings};
use super::proxy::Proxy;
use crate::index::Index;
use crate::query::Query;
use crate::settings::Keeps;
use crate::store::redis::OnRedis;
use crate::store::redis::home::Entry;
use crate::store::{Collections, Cursor, Parts, Postings};

/// The collection as another process would open it.
fn opened(url: &str, name: &str) -> Index {
    Index::new(OnRedis::new(url).unwrap().open(name).unwrap()).unwrap()
}

/// An answer may be lost, and the call sent again.
#[test]
fn a_name_that_is_published_twice_is_there_and_nobody_else_has_it() {
    let server = Server::start(&[]);
    let collections = OnRedis::new(&server.url()).unwrap();
    let prepared = || {
        let settings = settings(Keeps::Sketches);
        let layout = settings.layout().unwrap();
        let home = collections.home(Entry::new("twice", settings, &layout, 2000)).unwrap();
        collections.prepare(&home).unwrap();
        home
    };
    let (ours, others) = (prepared(), prepared());
    for _ in 0..2 {
        assert!(collections.publish("twice", None, Some(&ours.entry)).unwrap());
    }
    assert!(!collections.publish("twice", None, Some(&others.entry)).unwrap());
    opened(&server.url(), "twice").insert(&documents(0..10)).unwrap();
    is_whole(&collections, "twice", 10);
}

#[test]
fn concurrent_upserts_of_one_id_end_as_one_of_them() {
    let server = Server::start(&[]);
    let (collections, index) = made(&server.url(), "upserts", Keeps::Documents);
    std::thread::scope(|scope| {
        for writer in 0..4u64 {
            let url = server.url();
            scope.spawn(move || {
                let index = opened(&url, "upserts");
                for round in 0..15 {
                    let batch: Vec<_> = (0..30)
                        .map(|i| document(&format!("d{i}"), writer * 1000 + round * 100 + i))
                        .collect();
                    index.insert(&batch).unwrap();
                }
            });
        }
        scope.spawn(|| (0..10).for_each(|_| index.compact().unwrap()));
    });
    assert_eq!(index.stats().unwrap().documents, 30);
    // Every one is the last document of some writer, and is found as that, and only as that.
    for i in 0..30 {
        let id = format!("d{i}");
        let kept = index.get(&id).unwrap().unwrap();
        let last: Vec<_> = (0..4u64).map(|writer| document(&id, writer * 1000 + 1400 + i)).collect();
        assert!(last.contains(&kept), "{kept:?}");
        for document in last {
            let found = index.search(
                &benzer_core::field::Document { id: String::new(), ..document.clone() },
                &Query::default(),
            );
            let ids: Vec<String> = found.unwrap().matches.into_iter().map(|found| found.id).collect();
            assert_eq!(ids.contains(&id), document == kept);
        }
    }
    let report = collections.verify("upserts").unwrap();
    assert!(report.is_whole() && report.documents == 30, "{report:?}");
}

#[test]
fn readers_never_see_half_a_document() {
    let server = Server::start(&[]);
    let (collections, index) = made(&server.url(), "whole", Keeps::Documents);
    let version = |v: u64| document("one", v);
    index.insert(&[version(0)]).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for v in 1..150 {
                index.insert(&[version(v % 3)]).unwrap();
                if v % 40 == 0 {
                    index.compact().unwrap();
                }
            }
            done.store(true, Ordering::SeqCst);
        });
        for _ in 0..2 {
            let (url, done) = (server.url(), &done);
            scope.spawn(move || {
                let index = opened(&url, "whole");
                while !done.load(Ordering::SeqCst) {
                    let seen = index.get("one").unwrap().expect("it is there at every moment");
                    assert!((0..3).any(|v| seen == version(v)));
                    // Words and document of a record are those of one version.
                    let view = index.store().view().unwrap();
                    let number = view.numbers(&[b"one"]).unwrap()[0].unwrap();
                    view.records(&[number], Parts::All, &mut |_, record| {
                        let v = (0..3).find(|v| {
                            let mut words = Vec::new();
                            let features = index.recorder().features(&version(*v)).unwrap();
                            index.recorder().words(&features, &mut words).unwrap();
                            words == record.words
                        });
                        let Some(Content::Text(text)) = version(v.unwrap()).fields.remove("body") else {
                            panic!()
                        };
                        assert!(String::from_utf8_lossy(record.document).contains(&text));
                        Ok(())
                    })
                    .unwrap();
                }
            });
        }
    });
    assert!(collections.verify("whole").unwrap().is_whole());
}

#[test]
fn a_batch_that_was_sent_again_is_there_once() {
    let server = Server::start(&[]);
    let proxy = Proxy::start(server.port);
    let url = server.url().replace(&server.port.to_string(), &proxy.port.to_string());
    let (collections, index) = made(&url, "again", Keeps::Sketches);
    for (batch, cut) in documents(0..400).chunks(100).zip([0, 5, 60, 300]) {
        // The answer is cut: we cannot know what has been done.
        index.insert(&batch[..1]).unwrap();
        proxy.cut_after(cut);
        index.insert(batch).unwrap();
        // And the user sends it once more.
        index.insert(batch).unwrap();
    }
    assert_eq!(proxy.n_cut(), 4);
    assert_eq!(index.stats().unwrap().documents, 400);
    for search in 0..400 {
        let found = index.search_id(&format!("d{search}"), &Query::default()).unwrap();
        assert_eq!(found.matches.len(), 1);
    }
    let before = index.stats().unwrap();
    let report = collections.verify("again").unwrap();
    assert!(report.is_whole() && report.documents == 400, "{report:?}");
    index.compact().unwrap();
    let after = index.stats().unwrap();
    assert!(before.removed > 0 && after.removed == 0);
    // Six bytes for each band of each document, and none beyond.
    let bands = index.recorder().layout().bands() as u64;
    assert!(before.posting_bytes > after.posting_bytes);
    assert_eq!(after.posting_bytes, 400 * bands * 6);
    assert!(collections.verify("again").unwrap().is_whole());
}

#[test]
fn a_writer_that_compaction_has_overtaken_takes_new_numbers() {
    let server = Server::start(&[]);
    let (collections, index) = made(&server.url(), "fence", Keeps::Sketches);
    let other = opened(&server.url(), "fence");
    // Both have numbers for the next batch when the fence is raised.
    index.insert(&documents(0..200)).unwrap();
    other.insert(&documents(200..400)).unwrap();
    index.compact().unwrap();
    index.insert(&documents(400..600)).unwrap();
    other.insert(&documents(600..800)).unwrap();
    other.compact().unwrap();
    let report = collections.verify("fence").unwrap();
    assert!(report.is_whole() && report.documents == 800, "{report:?}");
    // Postings of a record that is still to come stay if they are behind the fence.
    let view = index.store().view().unwrap();
    let mut seen = BTreeSet::new();
    view.scan(Cursor::START, usize::MAX, Parts::Sketches, &mut |number, record| {
        let (mut keys, mut postings) = (Vec::new(), Postings::default());
        index.recorder().layout().keys(record.words, |key| keys.push(key));
        view.postings(&keys[..1], &mut postings)?;
        assert!(postings.of(0).contains(&number));
        seen.insert(record.id.to_vec());
        Ok(())
    })
    .unwrap();
    assert_eq!(seen.len(), 800);
}
