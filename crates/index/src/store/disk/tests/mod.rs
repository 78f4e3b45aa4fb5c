//! The store on disk: opened again, damaged, without room, without power, killed.

mod damage;
mod fault;
mod kill;
mod merge;
mod power;
mod reopen;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use benzer_core::hash::mix;

use super::*;
use crate::record::Records;
use crate::settings::Keeps;
use crate::store::{Cursor, Parts, Store};
use crate::tests::conformance;

/// Small segments, so that little makes files and merges.
const SMALL: Sizes = Sizes { few: 4, at_once: 16, file: 48, backlog: 4096 };

fn small() -> DiskOptions {
    DiskOptions { sizes: SMALL, ..DiskOptions::default() }
}

/// A disk that does not wait: what a test does to files shows at once.
#[derive(Debug)]
struct Quick;

impl Files for Quick {
    fn sync(&self, _: &Path, _: &std::fs::File) -> io::Result<()> {
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

fn quick() -> DiskOptions {
    DiskOptions { files: Arc::new(Quick), sizes: SMALL }
}

fn test_settings() -> Settings {
    let schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "text"}}}"#).unwrap();
    Settings::with_target(schema, 0.8, 0.95, Keeps::Sketches).unwrap()
}

/// What a collection holds: the seed of the words of each id.
type Model = BTreeMap<String, u64>;

fn words(seed: u64) -> impl Iterator<Item = u64> {
    std::iter::once(100f64.to_bits()).chain((0..16).map(move |j| mix(seed * 16 + j)))
}

fn batch<'a>(documents: impl IntoIterator<Item = (&'a String, &'a u64)>) -> Records {
    let mut records = Records::default();
    for (id, seed) in documents {
        records.ids.push(id.as_bytes());
        records.words.extend(words(*seed));
        records.documents.push(format!("{{\"seed\": {seed}}}").as_bytes());
    }
    records
}

fn documents(range: std::ops::Range<u64>, version: u64) -> Model {
    range.map(|i| (format!("{i:016}"), i + 1_000_000 * version)).collect()
}

fn made(path: &Path, options: &DiskOptions) -> Disk {
    Disk::create_with(path, &test_settings(), options.clone()).unwrap();
    Disk::open_with(path, Access::Write, options.clone()).unwrap()
}

/// What is in a collection. Every record is also found by its id, and has the document that it was put with.
fn content(disk: &Disk) -> Model {
    let view = disk.view().unwrap();
    let mut model = Model::new();
    view.scan(Cursor::START, usize::MAX, Parts::All, &mut |number, record| {
        let id = String::from_utf8(record.id.to_vec()).unwrap();
        let seed = std::str::from_utf8(record.document).unwrap();
        let seed = seed.trim_start_matches("{\"seed\": ").trim_end_matches('}').parse().unwrap();
        assert!(words(seed).eq(record.words.iter().copied()), "the words of {id}");
        assert_eq!(view.numbers(&[record.id])?, [Some(number)]);
        assert!(model.insert(id, seed).is_none(), "an id is there once");
        Ok(())
    })
    .unwrap();
    assert_eq!(view.stats().unwrap().documents, model.len() as u64);
    model
}

/// [`content`] of a collection that must be whole.
fn whole_content(path: &Path) -> Model {
    let disk = Disk::open_with(path, Access::Write, quick()).unwrap();
    let report = disk.verify().unwrap();
    assert!(report.is_whole(), "{report:?}");
    content(&disk)
}

/// Waits until nothing is left to merge.
fn settle(disk: &Disk) {
    while disk.shared.merge_some().unwrap() {}
}

#[test]
fn disk_conforms() {
    let folder = tempfile::tempdir().unwrap();
    for options in [DiskOptions::default(), small()] {
        let n = AtomicUsize::new(0);
        let place = folder.path().join(options.sizes.file.to_string());
        conformance::run(&mut |settings| {
            let path = place.join(n.fetch_add(1, Ordering::Relaxed).to_string());
            Disk::create_with(&path, &settings, options.clone())?;
            Ok(Arc::new(Disk::open_with(&path, Access::Write, options.clone())?) as Arc<dyn Store>)
        });
        for name in names(&place).unwrap() {
            let report = Disk::open(&place.join(name), Access::Read).unwrap().verify().unwrap();
            assert!(report.is_whole(), "{report:?}");
        }
    }
}
