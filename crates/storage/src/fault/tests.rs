//! Files after a power cut: what was acknowledged is there, and a forgotten fsync is found.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use super::*;
use crate::tests::{content, names, put};
use crate::{Check, Manifest, State};

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
    let folders = [Operation::SyncDir("new/er".into()), Operation::SyncDir("".into())];
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
        assert_eq!(recorder.operations()[before], Operation::SyncDir("".into()), "{path}");
    }
    let before = recorder.n_operations();
    files.remove(&root.join("work/gone")).unwrap();
    assert_eq!(recorder.operations()[before..], [Operation::SyncDir("work".into())]);
    files.remove(&root.join("no/gone")).unwrap();
    assert_eq!(recorder.n_operations(), before + 1);
}

#[test]
fn the_recording_holds_what_was_done() {
    let folder = tempfile::tempdir().unwrap();
    let (files, recorder) = Files::recording(folder.path()).unwrap();
    put(&files, &folder.path().join("out"), &content(1)).unwrap();
    let temporary = |operation: &Operation| format!("{operation:?}").contains(".tmp");
    let operations = recorder.operations();
    assert_eq!(operations.len(), 7);
    assert!(operations[..6].iter().all(temporary), "{:?}", operations[0]);
    assert_eq!(operations[6], Operation::SyncDir("".into()));
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
