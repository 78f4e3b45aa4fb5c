//! Files: whole or not at all, after a drop, an error, or a power cut.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::fault::{Recorder, Sync, When};
use super::*;

fn names(folder: &Path) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort_unstable();
    names
}

/// Enough for several pieces, the last one short; different for each seed.
fn content(seed: u8) -> Vec<u8> {
    (0..150_000u32).map(|i| (i >> 8) as u8 ^ i as u8 ^ seed).collect()
}

fn put(files: &Files, path: &Path, bytes: &[u8]) -> Result<Stamp> {
    let mut file = files.create(path)?;
    file.append(bytes)?;
    file.commit()
}

#[test]
fn an_abandoned_file_leaves_nothing_and_a_committed_one_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    fs::write(&path, "old").unwrap();
    let mut abandoned = Files::new().create(&path).unwrap();
    abandoned.append(&content(1)).unwrap();
    assert_eq!((names(folder.path()).len(), abandoned.bytes()), (2, 150_000));
    drop(abandoned);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    put(&Files::new(), &path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(folder.path()), ["out"]);
}

#[test]
fn the_stamp_does_not_depend_on_how_the_bytes_came() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let bytes = content(3);
    let whole = put(&Files::new(), &path, &bytes).unwrap();
    assert_eq!(whole, checksum_of(&path).unwrap());
    for step in [1usize, 1000, 65_535, 65_536, 65_537] {
        let mut file = Files::new().create(&path).unwrap();
        for part in bytes.chunks(step) {
            file.write_all(part).unwrap();
            file.flush().unwrap();
        }
        assert_eq!(file.commit().unwrap(), whole, "in steps of {step}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    let empty = put(&Files::new(), &path, b"").unwrap();
    assert_eq!((empty.bytes, empty), (0, checksum_of(&path).unwrap()));
}

#[test]
fn what_cannot_be_written_is_told_with_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::new();
    let error = files.create(folder.path()).unwrap_err().to_string();
    assert!(error.contains("is a directory; choose another name"), "{error}");
    let error = files.create(&folder.path().join("no/out")).unwrap_err().to_string();
    assert!(error.contains("/no/out`: ") && error.ends_with("; make its folder first"), "{error}");
    let error = files.create(Path::new("/dev/null")).unwrap_err().to_string();
    assert_eq!(error, "cannot write `/dev/null`: not an ordinary file; choose another name");
    for (kind, remedy) in [
        (io::ErrorKind::StorageFull, "free some space and run again (`benzer dedup` with --resume)"),
        (io::ErrorKind::PermissionDenied, "write to a folder that is yours"),
    ] {
        let error = put(&Files::failing(When::Operation(0), kind), Path::new("x"), b"").unwrap_err();
        assert_eq!(error.to_string(), format!("cannot write `x`: {kind}; {remedy}"));
    }
    fs::write(folder.path().join("file"), "").unwrap();
    let error = files.create_dir_all(&folder.path().join("file/in")).unwrap_err().to_string();
    assert!(error.starts_with("cannot make") && error.ends_with("; choose another name"), "{error}");
}

#[test]
fn whatever_fails_is_reported_and_the_old_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let bytes = content(1);
    // Create, three pieces, sync, rename, sync of the folder.
    for nth in 0..7 {
        fs::write(&path, "old").unwrap();
        let files = Files::failing(When::Operation(nth), io::ErrorKind::Other);
        let mut file = files.create(&path);
        // A caller that does not heed the errors of its writes is told by the commit.
        file.as_mut().map(|file| bytes.chunks(1 << 16).for_each(|piece| drop(file.append(piece)))).ok();
        let error = file.and_then(FileWriter::commit).unwrap_err().to_string();
        let (named, left) = if nth < 6 { ("out`: ", &b"old"[..]) } else { ("cannot sync", &bytes[..]) };
        assert!(error.contains(named), "operation {nth}: {error}");
        assert!(fs::read(&path).unwrap() == left, "operation {nth}");
        assert_eq!(names(folder.path()), ["out"], "operation {nth}");
    }
    put(&Files::failing(When::Operation(7), io::ErrorKind::Other), &path, &bytes).unwrap();
}

#[test]
fn a_full_disk_is_reported_wherever_it_strikes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let bytes = content(1);
    for room in [0, 1, 65_535, 65_536, 131_072, 149_999] {
        fs::write(&path, "old").unwrap();
        let files = Files::failing(When::AfterBytes(room), io::ErrorKind::StorageFull);
        let mut file = files.create(&path).unwrap();
        let written = file.write_all(&bytes);
        let error = written.map_err(|error| error.to_string()).and_then(|()| {
            let committed = file.commit();
            committed.map_err(|error| error.to_string())
        });
        let error = error.unwrap_err();
        assert!(error.contains("out`: ") && error.contains("with --resume"), "{room}: {error}");
        assert_eq!((fs::read(&path).unwrap(), names(folder.path()).len()), (b"old".to_vec(), 1), "{room}");
    }
    let enough = Files::failing(When::AfterBytes(150_000), io::ErrorKind::StorageFull);
    put(&enough, &path, &bytes).unwrap();
}

#[test]
fn scratch_is_read_back_and_gone_when_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let mut scratch = Files::new().temporary(&folder.path().join("run")).unwrap();
    scratch.append(b"some ").unwrap();
    scratch.write_all(b"bytes").unwrap();
    let read = io::read_to_string(scratch.read().unwrap()).unwrap();
    assert_eq!((read.as_str(), scratch.bytes()), ("some bytes", 10));
    assert!(scratch.append(b"more").unwrap_err().to_string().contains("closed for writing"));
    drop(scratch);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn leftovers_of_a_killed_run_are_removed_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    for name in [".out.1-1.tmp", ".run.77-12.tmp", "out", ".hidden", ".out.tmp"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    fs::create_dir(folder.path().join(".folder.1-1.tmp")).unwrap();
    assert_eq!(Files::new().remove_leftovers(folder.path()).unwrap(), 2);
    assert_eq!(names(folder.path()), [".folder.1-1.tmp", ".hidden", ".out.tmp", "out"]);
}

/// Every state that a power cut can leave, with the number of operations before it.
fn power_cuts(recorder: &Recorder, mut look: impl FnMut(usize, &Path)) {
    for after in 0..=recorder.n_operations() {
        for seed in 0..16 {
            let wreck = tempfile::tempdir().unwrap();
            recorder.power_cut(after, seed, wreck.path()).unwrap();
            look(after, wreck.path());
        }
    }
}

/// Writes a file three times and counts the states that break the promise: what was acknowledged, or later, and whole.
fn broken_promises(record: impl Fn(&Path) -> io::Result<(Files, Recorder)>) -> usize {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("out"), content(0)).unwrap();
    let (files, recorder) = record(folder.path()).unwrap();
    let mut acknowledged = vec![0];
    for version in 1..3 {
        put(&files, &folder.path().join("out"), &content(version)).unwrap();
        acknowledged.push(recorder.n_operations());
    }
    let mut broken = 0;
    power_cuts(&recorder, |after, wreck| {
        let bytes = fs::read(wreck.join("out")).unwrap_or_default();
        let version = (0..3).find(|&version| bytes == content(version as u8));
        let due = acknowledged.iter().rposition(|&by| by <= after).unwrap();
        broken += usize::from(version.is_none_or(|version| version < due));
    });
    broken
}

#[test]
fn a_committed_file_survives_every_power_cut() {
    assert_eq!(broken_promises(Files::recording), 0);
}

#[test]
fn a_forgotten_sync_does_not_survive_every_power_cut() {
    for forgotten in [Sync::File, Sync::Folder] {
        let broken = broken_promises(|root| Files::recording_without(root, forgotten));
        assert!(broken > 10, "without {forgotten:?}: {broken}");
    }
}

/// A stage in a folder of its own; the states after its acknowledgement that do not show it, and those that show what is not there.
fn broken_stages(record: impl Fn(&Path) -> io::Result<(Files, Recorder)>) -> (usize, usize) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let (files, recorder) = record(root).unwrap();
    files.create_dir_all(&root.join("work/data")).unwrap();
    let mut manifest = Manifest::new("sketch", "seed=1");
    for name in ["data/a", "data/b"] {
        manifest.add_file(name, put(&files, &root.join("work").join(name), &content(7)).unwrap());
    }
    manifest.save(&files, &root.join("work")).unwrap();
    let acknowledged = recorder.n_operations();
    let (mut lost, mut false_claims) = (0, 0);
    power_cuts(&recorder, |after, wreck| {
        let work = wreck.join("work");
        let load = |check| Manifest::load(&work, "sketch", "seed=1", check);
        let claimed = Manifest::path(&work, "sketch").exists();
        let finished = load(Check::Checksums) == State::Finished(manifest.clone());
        lost += usize::from(!finished && after >= acknowledged);
        false_claims += usize::from(claimed && !finished);
    });
    (lost, false_claims)
}

#[test]
fn a_manifest_never_outlives_its_files() {
    assert_eq!(broken_stages(Files::recording), (0, 0));
}

#[test]
fn a_manifest_may_outlive_its_files_when_a_sync_is_forgotten() {
    for forgotten in [Sync::File, Sync::Folder] {
        let (lost, false_claims) = broken_stages(|root| Files::recording_without(root, forgotten));
        assert!(lost > 0 && false_claims > 0, "without {forgotten:?}: {lost}, {false_claims}");
    }
}

#[test]
fn removals_and_new_names_survive_too() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for name in ["a", "b"] {
        fs::write(root.join(name), name).unwrap();
    }
    fs::create_dir(root.join("old")).unwrap();
    let (files, recorder) = Files::recording(root).unwrap();
    files.create_dir_all(&root.join("new/er")).unwrap();
    let made = recorder.n_operations();
    files.remove(&root.join("a")).unwrap();
    let removed = recorder.n_operations();
    files.rename(&root.join("b"), &root.join("new/er/b")).unwrap();
    let renamed = recorder.n_operations();
    let folders = [fault::Operation::SyncDir("new/er".into()), fault::Operation::SyncDir("".into())];
    assert_eq!(recorder.operations()[renamed - 2..], folders);
    files.rename(&root.join("new/er"), &root.join("new/est")).unwrap();
    let renamed_again = recorder.n_operations();
    power_cuts(&recorder, |after, wreck| {
        let folder = if wreck.join("new/est").exists() { "new/est" } else { "new/er" };
        assert!(after < made || wreck.join(folder).is_dir());
        assert!(after < removed || !wreck.join("a").exists());
        assert!(after < renamed || fs::read(wreck.join(folder).join("b")).unwrap() == b"b");
        assert!(after < renamed_again || folder == "new/est");
        // Never both names, never none.
        assert!(wreck.join("b").exists() != wreck.join(folder).join("b").exists());
        assert!(wreck.join("old").is_dir());
    });
}

#[test]
fn what_a_killed_run_has_not_synced_is_synced_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("work")).unwrap();
    let (files, recorder) = Files::recording(root).unwrap();
    for path in ["work", "work/data"] {
        let before = recorder.n_operations();
        files.create_dir_all(&root.join(path)).unwrap();
        assert_eq!(recorder.operations()[before], fault::Operation::SyncDir("".into()), "{path}");
    }
    let before = recorder.n_operations();
    files.remove(&root.join("work/gone")).unwrap();
    assert_eq!(recorder.operations()[before..], [fault::Operation::SyncDir("work".into())]);
    files.remove(&root.join("no/gone")).unwrap();
    assert_eq!(recorder.n_operations(), before + 1);
}

#[test]
fn the_recording_holds_what_was_done() {
    let folder = tempfile::tempdir().unwrap();
    let (files, recorder) = Files::recording(folder.path()).unwrap();
    put(&files, &folder.path().join("out"), &content(1)).unwrap();
    let temporary = |operation: &fault::Operation| format!("{operation:?}").contains(".tmp");
    let operations = recorder.operations();
    assert_eq!(operations.len(), 7);
    assert!(operations[..6].iter().all(temporary), "{:?}", operations[0]);
    assert_eq!(operations[6], fault::Operation::SyncDir("".into()));
    let outside = tempfile::tempdir().unwrap();
    let error = files.create(&outside.path().join("out")).unwrap_err().to_string();
    assert!(error.contains("is not under the recorded"), "{error}");
    // The same seed is the same cut; the extreme ones keep nothing and everything.
    let cut = |after, seed| {
        let wreck = tempfile::tempdir().unwrap();
        recorder.power_cut(after, seed, wreck.path()).unwrap();
        let read = |name: &OsString| (name.clone(), fs::read(wreck.path().join(name)).unwrap());
        names(wreck.path()).iter().map(read).collect::<Vec<_>>()
    };
    assert_eq!(cut(6, 0), []);
    assert_eq!(cut(6, 1), [("out".into(), content(1))]);
    assert!((2..20).all(|seed| cut(3, seed) == cut(3, seed)));
    assert!((3..20).any(|seed| cut(3, seed) != cut(3, 2)));
}
