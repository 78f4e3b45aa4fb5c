//! Bytes that change on the disk.

use std::fs;
use std::path::PathBuf;

use super::*;

fn file(path: &Path, kind: &str) -> PathBuf {
    let mut paths = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    paths.find(|path| path.file_name().unwrap().to_string_lossy().starts_with(kind)).unwrap()
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x40;
    fs::write(path, bytes).unwrap();
}

/// Two hundred records in ten batches, all but the last in a file.
fn filled(path: &Path) -> Model {
    let disk = made(path, &quick());
    let model = documents(0..200, 0);
    for i in 0..10 {
        disk.put(batch(&documents(i * 20..i * 20 + 20, 0))).unwrap();
    }
    settle(&disk);
    model
}

/// Where the row of a document begins in the log, by what it says.
fn row_at(log: &Path, id: &str) -> usize {
    let bytes = fs::read(log).unwrap();
    bytes.windows(id.len()).position(|window| window == id.as_bytes()).unwrap()
}

#[test]
fn a_damaged_segment_is_found_and_derived_again() {
    let folder = tempfile::tempdir().unwrap();
    let model = filled(folder.path());
    let segment = file(folder.path(), "segment");
    let length = fs::metadata(&segment).unwrap().len() as usize;
    for at in [0, 20, length / 3, length / 2, length - 300, length - 3] {
        flip(&file(folder.path(), "segment"), at);
        let reader = Disk::open_with(folder.path(), Access::Read, quick()).unwrap();
        // A reader derives again what it cannot open at all, and says so.
        let report = reader.verify().unwrap();
        assert!(report.records.is_empty(), "{report:?}");
        assert!(!report.is_whole(), "byte {at}");
        drop(reader);
        let disk = Disk::open_with(folder.path(), Access::Write, quick()).unwrap();
        disk.shared.rebuild_damaged(|| true).unwrap();
        assert!(disk.verify().unwrap().is_whole(), "byte {at}");
        assert_eq!(content(&disk), model);
        settle(&disk);
    }
}

#[test]
fn every_damage_of_the_list_of_files_is_told_and_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let model = filled(folder.path());
    let path = folder.path().join(CURRENT);
    let whole = fs::read(&path).unwrap();
    let told = |bytes: &[u8], what: String| {
        fs::write(&path, bytes).unwrap();
        let reader = Disk::open_with(folder.path(), Access::Read, quick()).unwrap();
        let report = reader.verify().unwrap();
        assert!(report.records.is_empty() && report.derived.len() == 1, "{what}: {report:?}");
        assert!(report.derived[0].contains(CURRENT), "{what}: {report:?}");
        assert_eq!(content(&reader), model, "{what}");
    };
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        told(&bytes, format!("byte {at}"));
    }
    (0..whole.len()).step_by(7).for_each(|end| told(&whole[..end], format!("cut at {end}")));
    let disk = Disk::open_with(folder.path(), Access::Write, quick()).unwrap();
    assert!(disk.verify().unwrap().is_whole());
    assert_eq!(content(&disk), model);
}

#[test]
fn a_damaged_record_is_named_and_the_rest_is_readable() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = filled(folder.path());
    let id = format!("{:016}", 77);
    let log = file(folder.path(), "records");
    let at = row_at(&log, &id);
    // In the sketch, in the document.
    for (at, id) in [(at - 60, 77), (row_at(&log, &format!("{:016}", 130)) + 20, 130)] {
        flip(&log, at);
        let id = format!("{id:016}");
        let disk = Disk::open_with(folder.path(), Access::Write, quick()).unwrap();
        let report = disk.verify().unwrap();
        assert!(report.derived.is_empty() && report.records.len() == 1, "{report:?}");
        assert!(report.records[0].contains(&id), "{report:?}");
        let view = disk.view().unwrap();
        for number in (0..200u32).filter(|number| model.contains_key(&format!("{number:016}"))) {
            let read = view.records(&[DocNo(number)], Parts::All, &mut |_, _| Ok(()));
            let is_it = format!("{number:016}") == id;
            assert_eq!(matches!(read, Err(Error::Damaged { .. })), is_it, "{number}");
        }
        drop(view);
        let error = disk.compact();
        assert!(error.is_ok(), "nothing was removed, so records are not copied");
        let report = disk.shared.repair().unwrap();
        assert_eq!(report.repaired.len(), 1);
        assert!(disk.verify().unwrap().is_whole());
        model.remove(&id);
        assert_eq!(content(&disk), model);
        drop(disk);
        assert_eq!(whole_content(folder.path()), model);
        if id.ends_with("77") {
            // The log was written anew, so the other place has moved.
            let log = file(folder.path(), "records");
            let other = row_at(&log, &format!("{:016}", 130)) + 20;
            fs::copy(&log, folder.path().join("keep")).unwrap();
            flip(&log, other);
            let disk = Disk::open_with(folder.path(), Access::Write, quick()).unwrap();
            assert!(disk.verify().unwrap().records[0].contains(&format!("{:016}", 130)));
            disk.shared.repair().unwrap();
            model.remove(&format!("{:016}", 130));
            assert_eq!(content(&disk), model);
            return;
        }
    }
}

#[test]
fn damaged_heads_cost_nothing_that_segments_know() {
    let folder = tempfile::tempdir().unwrap();
    let model = filled(folder.path());
    let log = file(folder.path(), "records");
    // The header of the log, and the head of its first block.
    for at in [9, 6 * 8 + 4] {
        flip(&log, at);
    }
    let disk = Disk::open_with(folder.path(), Access::Write, quick()).unwrap();
    assert_eq!(content(&disk), model);
    let report = disk.verify().unwrap();
    assert_eq!(report.records.len(), 2, "{report:?}");
    disk.shared.repair().unwrap();
    drop(disk);
    assert_eq!(whole_content(folder.path()), model);
}

#[test]
fn no_damaged_byte_of_the_log_goes_unnoticed_or_stops_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let disk = made(folder.path(), &quick());
    let model = documents(0..12, 0);
    for i in 0..4 {
        disk.put(batch(&documents(i * 3..i * 3 + 3, 0))).unwrap();
    }
    drop(disk);
    let log = file(folder.path(), "records");
    let whole = fs::read(&log).unwrap();
    for at in (8..whole.len()).step_by(37) {
        fs::write(&log, &whole).unwrap();
        flip(&log, at);
        let reader = Disk::open_with(folder.path(), Access::Read, quick()).unwrap();
        let found = content(&reader);
        assert!(found.iter().all(|(id, seed)| model.get(id) == Some(seed)), "byte {at}");
        // A block is lost at most.
        assert!(found.len() >= 9, "byte {at}: {}", found.len());
        let is_last_block = at > whole.len() - whole.len() / 4;
        let is_told = !reader.verify().unwrap().is_whole() || found == model;
        // The last block, damaged, looks like one that was being written when the power went.
        assert!(is_told || is_last_block, "byte {at}");
    }
}

#[test]
fn a_log_of_which_nothing_is_left_is_told_and_begun_again() {
    for length in [0, 12, 47, 48] {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path());
        let log = file(folder.path(), "records");
        fs::File::options().write(true).open(&log).unwrap().set_len(length).unwrap();
        let error = Disk::open_with(folder.path(), Access::Read, quick()).unwrap_err().to_string();
        assert!(error.contains("records-"), "{error}");
        let report = Disk::repair(folder.path()).unwrap();
        assert!(report.records.iter().any(|line| line.contains("is missing")), "{report:?}");
        assert_eq!(whole_content(folder.path()), Model::new(), "{length}");
        made_again(folder.path());
    }
}

/// It takes documents as before.
fn made_again(path: &Path) {
    let disk = Disk::open_with(path, Access::Write, quick()).unwrap();
    disk.put(batch(&documents(0..3, 1))).unwrap();
    assert_eq!(content(&disk), documents(0..3, 1));
}

/// The head of a block that was written to a log with this end.
fn flip_head(path: &Path, end: usize) {
    flip(&file(path, "records"), 8 * end + 4);
}

#[test]
fn a_batch_that_cannot_be_read_is_told_with_every_answer_until_the_repair() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let disk = made(path, &quick());
    disk.put(batch(&documents(0..3, 0))).unwrap();
    let end = disk.shared.log().unwrap().end;
    disk.remove(&[b"0000000000000000"]).unwrap();
    disk.put(batch(&documents(5..8, 0))).unwrap();
    assert_eq!(disk.damage(), None);
    drop(disk);
    flip_head(path, end);
    // Also when a writer has put what it found into files.
    for access in [Access::Read, Access::Write, Access::Write, Access::Read] {
        let disk = Disk::open_with(path, access, quick()).unwrap();
        assert!(disk.damage().unwrap().contains("benzer verify"));
        let report = disk.verify().unwrap();
        assert!(report.records.iter().any(|line| line.contains("may be back")), "{report:?}");
    }
    Disk::repair(path).unwrap();
    assert_eq!(Disk::open_with(path, Access::Read, quick()).unwrap().damage(), None);
    // Nobody else knew of the removal.
    let mut left = documents(0..3, 0);
    left.extend(documents(5..8, 0));
    assert_eq!(whole_content(path), left);
}

#[test]
fn a_removal_that_only_the_list_of_files_still_knows_is_not_undone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut model = filled(path);
    let disk = Disk::open_with(path, Access::Write, quick()).unwrap();
    let end = disk.shared.log().unwrap().end;
    let id = format!("{:016}", 3);
    disk.remove(&[id.as_bytes()]).unwrap();
    drop(disk);
    model.remove(&id);
    flip_head(path, end);
    let disk = Disk::open_with(path, Access::Write, quick()).unwrap();
    let report = disk.verify().unwrap();
    assert!(report.derived.is_empty() && report.records.len() == 1, "{report:?}");
    assert_eq!(content(&disk), model);
    drop(disk);
    Disk::repair(path).unwrap();
    assert_eq!(whole_content(path), model);
}

#[test]
fn a_log_without_its_end_is_told_and_goes_on_after_repair() {
    let folder = tempfile::tempdir().unwrap();
    let model = filled(folder.path());
    let log = file(folder.path(), "records");
    let length = fs::metadata(&log).unwrap().len();
    fs::File::options().write(true).open(&log).unwrap().set_len(length / 2).unwrap();
    for access in [Access::Read, Access::Write] {
        let error = Disk::open_with(folder.path(), access, quick()).unwrap_err();
        assert!(error.to_string().contains("its end is missing"), "{error}");
    }
    let report = Disk::repair(folder.path()).unwrap();
    assert!(report.records[0].contains("is missing"), "{report:?}");
    let left = whole_content(folder.path());
    assert!(left.len() >= 80 && left.iter().all(|(id, seed)| model.get(id) == Some(seed)));
}
