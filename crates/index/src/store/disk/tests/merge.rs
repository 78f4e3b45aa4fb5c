//! Merging behind the writer: when it fails, when it lags, and how many segments are left.

use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use super::*;

/// A disk that has no room for segments for a while.
#[derive(Debug, Default)]
struct NoSegments(AtomicBool);

impl NoSegments {
    fn set(&self, has_none: bool) {
        self.0.store(has_none, Ordering::Relaxed);
    }
}

impl Files for NoSegments {
    fn create(&self, path: &Path) -> io::Result<File> {
        match self.0.load(Ordering::Relaxed) && path.extension().is_some_and(|kind| kind == "seg") {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => Quick.create(path),
        }
    }

    fn sync(&self, _: &Path, _: &File) -> io::Result<()> {
        Ok(())
    }
}

/// Waits until something is so; a minute is more than it takes.
fn wait(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_merge_that_fails_is_told_tried_again_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let files = Arc::new(NoSegments::default());
    let options = DiskOptions { files: files.clone(), sizes: Sizes { backlog: 300, ..SMALL } };
    let disk = made(folder.path(), &options);
    files.set(true);
    let mut model = Model::new();
    // Batches are taken as long as the heap is not too full, then refused, and nothing of them is there.
    let error = (0..).find_map(|i| {
        let put = documents(i * 40..i * 40 + 40, i);
        let error = disk.put(batch(&put)).err();
        if error.is_none() {
            model.extend(put);
        }
        error
    });
    let error = error.unwrap();
    assert!(matches!(error, Error::Behind { .. }), "{error}");
    assert!(error.to_string().contains("make room and try again"), "{error}");
    assert!(model.len() > 300);
    assert_eq!(content(&disk), model);
    let trouble = disk.trouble().unwrap();
    assert!(trouble.contains("segment-") && trouble.contains("make room"), "{trouble}");
    assert!(disk.settle().is_err());
    let report = disk.verify().unwrap();
    assert!(report.is_whole() && report.warnings == [trouble], "{report:?}");
    // Once there is room, nobody needs to ask.
    files.set(false);
    wait("merging is tried again", || disk.trouble().is_none());
    disk.put(batch(&documents(0..3, 99))).unwrap();
    model.extend(documents(0..3, 99));
    disk.settle().unwrap();
    assert!(disk.shared.state().n_on_heap() < SMALL.at_once);
    assert!(disk.verify().unwrap().warnings.is_empty());
    // Failing when it is closed costs nothing either.
    disk.put(batch(&documents(5000..5040, 1))).unwrap();
    model.extend(documents(5000..5040, 1));
    files.set(true);
    drop(disk);
    assert_eq!(whole_content(folder.path()), model);
}

#[test]
fn a_reader_tells_that_the_writer_is_behind() {
    let folder = tempfile::tempdir().unwrap();
    let files = Arc::new(NoSegments::default());
    let disk = made(folder.path(), &DiskOptions { files: files.clone(), sizes: SMALL });
    files.set(true);
    let reader = Disk::open_with(folder.path(), Access::Read, quick()).unwrap();
    assert_eq!(reader.trouble(), None);
    for i in 0..20 {
        disk.put(batch(&documents(i * 40..i * 40 + 40, i))).unwrap();
    }
    let report = reader.verify().unwrap();
    assert!(report.is_whole() && report.warnings[0].contains("800 records are in no file yet"), "{report:?}");
}

#[test]
fn few_segments_are_left_whatever_the_batches_are() {
    for size in [1, 7, 60] {
        let folder = tempfile::tempdir().unwrap();
        let disk = made(folder.path(), &quick());
        let n = 4000 / size;
        for i in 0..n.min(600) {
            disk.put(batch(&documents(i * size..i * size + size, 1))).unwrap();
        }
        while disk.shared.merge_some().unwrap() {}
        let parts = disk.view().unwrap().stats().unwrap().parts;
        assert!(parts <= 9, "{parts} of batches of {size}");
        let files = disk.shared.state().parts.iter().filter(|part| part.segment.path.is_some()).count();
        assert!(files <= 3, "{files} of batches of {size}");
        // Closed and opened again, nothing is left to be derived, but for a few.
        drop(disk);
        let disk = Disk::open_with(folder.path(), Access::Read, quick()).unwrap();
        assert!(disk.shared.state().n_on_heap() < SMALL.at_once);
        assert_eq!(content(&disk).len() as u64, n.min(600) * size);
    }
}

/// Writers and a thread that compacts again and again: nothing is lost, and nothing comes back.
#[test]
fn writers_go_on_while_a_collection_is_compacted() {
    let folder = tempfile::tempdir().unwrap();
    let disk = made(folder.path(), &quick());
    let mut model = Model::new();
    let (is_over, compactions) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let compacting = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                disk.compact().unwrap();
                compactions.fetch_add(1, Ordering::Relaxed);
            }
        });
        // However slow the machine is, several compactions begin and end between batches. One that fails has told so.
        let n_compactions = &compactions;
        let goes_on =
            move |i| i < 400 || n_compactions.load(Ordering::Relaxed) < 4 && !compacting.is_finished();
        let (disk, model) = (&disk, &mut model);
        let writing = scope.spawn(move || {
            for i in (0..).take_while(|&i| goes_on(i)) {
                let put = documents(mix(i) % 300..mix(i) % 300 + 7, i);
                disk.put(batch(&put)).unwrap();
                model.extend(put);
                let gone = format!("{:016}", mix(i) % 307);
                let n_gone = u64::from(model.remove(&gone).is_some());
                assert_eq!(disk.remove(&[gone.as_bytes()]).unwrap(), n_gone);
                if i % 50 == 0 {
                    assert_eq!(content(disk), *model, "after batch {i}");
                }
            }
        });
        let written = writing.join();
        is_over.store(true, Ordering::Relaxed);
        written.unwrap();
    });
    assert_eq!(content(&disk), model);
    disk.compact().unwrap();
    assert_eq!(disk.view().unwrap().stats().unwrap().removed, 0);
    drop(disk);
    assert_eq!(whole_content(folder.path()), model);
}
