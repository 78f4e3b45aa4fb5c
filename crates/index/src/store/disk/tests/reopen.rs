//! Opening again: by the same process, by another one, for reading.

use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::*;
use crate::store;

/// A collection with segments in files, some on the heap, and something removed.
fn filled(path: &Path) -> (Disk, Model) {
    let disk = made(path, &small());
    let mut model = Model::new();
    for i in 0..20 {
        let batch_of = documents(i * 10..i * 10 + 13, i);
        disk.put(batch(&batch_of)).unwrap();
        model.extend(batch_of);
    }
    let gone = [format!("{:016}", 3), format!("{:016}", 150)];
    assert_eq!(disk.remove(&[gone[0].as_bytes(), gone[1].as_bytes(), b"nobody"]).unwrap(), 2);
    model.retain(|id, _| !gone.contains(id));
    (disk, model)
}

fn files(path: &Path, extension: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

#[test]
fn everything_is_there_when_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let (disk, model) = filled(folder.path());
    assert_eq!(content(&disk), model);
    settle(&disk);
    drop(disk);
    assert!(!files(folder.path(), "seg").is_empty());
    assert_eq!(whole_content(folder.path()), model);
    let disk = Disk::open_with(folder.path(), Access::Write, small()).unwrap();
    disk.compact().unwrap();
    assert_eq!(disk.view().unwrap().stats().unwrap().removed, 0);
    drop(disk);
    assert_eq!(whole_content(folder.path()), model);
    assert_eq!((files(folder.path(), "log").len(), files(folder.path(), "seg").len()), (1, 1));
}

#[test]
fn numbers_of_removed_records_are_not_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let disk = made(folder.path(), &small());
    disk.put(batch(&documents(0..5, 0))).unwrap();
    let last = format!("{:016}", 4);
    disk.remove(&[last.as_bytes()]).unwrap();
    disk.compact().unwrap();
    drop(disk);
    let disk = Disk::open_with(folder.path(), Access::Write, small()).unwrap();
    disk.put(batch(&documents(4..5, 1))).unwrap();
    assert_eq!(disk.view().unwrap().numbers(&[last.as_bytes()]).unwrap(), [Some(DocNo(5))]);
}

#[test]
fn what_is_derived_and_missing_or_stale_is_derived_again() {
    let folder = tempfile::tempdir().unwrap();
    let (disk, model) = filled(folder.path());
    settle(&disk);
    drop(disk);
    let current = folder.path().join(CURRENT);
    let old = fs::read(&current).unwrap();
    fs::remove_file(&current).unwrap();
    assert_eq!(whole_content(folder.path()), model);
    // Names segments that are gone.
    fs::write(&current, old).unwrap();
    assert_eq!(whole_content(folder.path()), model);
    files(folder.path(), "seg").iter().for_each(|path| fs::remove_file(path).unwrap());
    assert_eq!(whole_content(folder.path()), model);
}

#[test]
fn other_settings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let settings = test_settings();
    drop(store::disk(folder.path(), &settings).unwrap());
    let other = Settings { threshold: 0.7, ..settings.clone() };
    let error = store::disk(folder.path(), &other).unwrap_err();
    assert!(matches!(error, Error::Incompatible { .. }), "{error}");
    store::disk(folder.path(), &settings).unwrap();
}

#[test]
fn another_version_is_refused_with_expected_and_found() {
    let folder = tempfile::tempdir().unwrap();
    drop(made(folder.path(), &quick()));
    let path = folder.path().join(current::COLLECTION);
    let whole = fs::read_to_string(&path).unwrap();
    let refused = || match Disk::open(folder.path(), Access::Read).unwrap_err() {
        Error::Incompatible { expected, found } => (expected, found),
        error => panic!("{error}"),
    };
    fs::write(&path, whole.replacen("benzer collection 1 ", "benzer collection 7 ", 1)).unwrap();
    assert_eq!(
        refused(),
        ("collection of version 1".to_owned(), "version 7 in `collection.json`".to_owned())
    );
    let later = Settings { format: 7, ..test_settings() };
    current::write(&Quick, &path, "collection", &later).unwrap();
    assert_eq!(refused(), ("format 1".to_owned(), "format 7".to_owned()));
    // What a collection was made for is told by the first difference.
    let error = test_settings().require(&Settings { recall: 0.9, ..test_settings() }).unwrap_err();
    assert!(error.to_string().contains("expected recall 0.95, found recall 0.9"), "{error}");
}

#[test]
fn a_second_writer_is_refused_with_the_pid_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let disk = made(folder.path(), &small());
    let error = Disk::open(folder.path(), Access::Write).unwrap_err().to_string();
    assert!(error.starts_with(&format!("another writer (pid {}) has", std::process::id())), "{error}");
    assert!(matches!(remove(folder.path()), Err(Error::Locked { .. })));
    drop(disk);
    Disk::open(folder.path(), Access::Write).unwrap();
}

#[test]
fn a_reader_sees_what_is_published_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let disk = made(folder.path(), &small());
    let reader = Disk::open_with(folder.path(), Access::Read, small()).unwrap();
    let mut model = Model::new();
    for i in 0..30 {
        let batch_of = documents(i * 5..i * 5 + 8, i);
        disk.put(batch(&batch_of)).unwrap();
        model.extend(batch_of);
        assert_eq!(content(&reader), model, "after batch {i}");
        if i % 7 == 6 {
            settle(&disk);
            disk.compact().unwrap();
            assert_eq!(content(&reader), model, "after compacting");
        }
    }
    assert!(matches!(reader.put(batch(&documents(0..1, 0))), Err(Error::ReadOnly { .. })));
    assert!(matches!(reader.compact(), Err(Error::ReadOnly { .. })));
}

#[test]
fn another_process_is_refused_as_writer_and_reads() {
    const FOLDER: &str = "BENZER_TEST_READER_FOLDER";
    if let Some(folder) = std::env::var_os(FOLDER) {
        let error = Disk::open(Path::new(&folder), Access::Write).unwrap_err();
        println!("\nanswer {error}");
        let reader = Disk::open_with(Path::new(&folder), Access::Read, small()).unwrap();
        println!("answer {}", content(&reader).len());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (disk, model) = filled(folder.path());
    let name = "store::disk::tests::reopen::another_process_is_refused_as_writer_and_reads";
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child.args(["--exact", "--nocapture", name]).env(FOLDER, folder.path());
    let output = child.stdout(Stdio::piped()).output().unwrap();
    let answers: Vec<String> =
        output.stdout.lines().map_while(Result::ok).filter(|line| line.starts_with("answer")).collect();
    let pid = std::process::id();
    assert!(answers[0].contains(&format!("another writer (pid {pid})")), "{answers:?}");
    assert_eq!(answers[1], format!("answer {}", model.len()));
    drop(disk);
}

#[test]
fn collections_have_names() {
    let folder = tempfile::tempdir().unwrap();
    let url = folder.path().join("data");
    for url in [url.to_str().unwrap(), "memory:"] {
        let collections = store::open(url).unwrap();
        assert!(collections.list().unwrap().is_empty());
        drop(collections.create("news", test_settings()).unwrap());
        drop(collections.create("a.b-c_1", test_settings()).unwrap());
        assert_eq!(collections.list().unwrap(), ["a.b-c_1", "news"]);
        assert!(matches!(collections.create("news", test_settings()), Err(Error::Exists { .. })));
        let store = collections.open("news").unwrap();
        store.put(batch(&documents(0..3, 0))).unwrap();
        assert_eq!(collections.read("news").unwrap().view().unwrap().stats().unwrap().documents, 3);
        drop(store);
        let report = collections.verify("news").unwrap();
        assert!(report.is_whole() && report.documents == 3);
        collections.remove("news").unwrap();
        assert!(matches!(collections.open("news"), Err(Error::NoCollection { name }) if name == "news"));
        assert_eq!(collections.list().unwrap(), ["a.b-c_1"]);
        for name in ["", "../x", ".hidden", "a/b", &"x".repeat(101)] {
            assert!(collections.create(name, test_settings()).is_err(), "{name}");
        }
    }
    assert!(store::open("ftp://host").is_err());
}

/// Written once by each version, and opened by every later one.
fn golden(version: u32) -> (tempfile::TempDir, Vec<std::ffi::OsString>) {
    let golden =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../testdata/formats/v{version}/collection"));
    if std::env::var_os("BENZER_WRITE_GOLDEN").is_some() && !golden.exists() {
        let folder = tempfile::tempdir().unwrap();
        let disk = made(folder.path(), &small());
        disk.put(batch(&documents(0..70, 1))).unwrap();
        let rest = documents(64..70, 0);
        disk.remove(&rest.keys().map(String::as_bytes).collect::<Vec<_>>()).unwrap();
        disk.compact().unwrap();
        drop(disk);
        fs::create_dir_all(&golden).unwrap();
        let paths = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        for path in paths.filter(|path| path.extension().is_some()) {
            fs::copy(&path, golden.join(path.file_name().unwrap())).unwrap();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<_> = fs::read_dir(&golden).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    for name in &names {
        fs::copy(golden.join(name), folder.path().join(name)).unwrap();
    }
    (folder, names)
}

#[test]
fn the_collection_of_this_version_opens_as_it_is() {
    let (folder, names) = golden(2);
    assert_eq!(whole_content(folder.path()), documents(0..64, 1));
    assert!(names.iter().all(|name| folder.path().join(name).exists()), "nothing was derived again");
}

#[test]
fn the_collection_of_the_first_version_opens_and_its_segments_are_derived_again() {
    let (folder, names) = golden(1);
    assert_eq!(whole_content(folder.path()), documents(0..64, 1));
    let is_gone = |name: &&std::ffi::OsString| !folder.path().join(name).exists();
    let gone: Vec<_> = names.iter().filter(is_gone).collect();
    assert!(gone.len() == 1 && gone[0].to_string_lossy().ends_with(".seg"), "{gone:?}");
    // A reader derives them for itself, and leaves the folder as it is.
    let (folder, names) = golden(1);
    let reader = Disk::open_with(folder.path(), Access::Read, quick()).unwrap();
    assert_eq!(content(&reader), documents(0..64, 1));
    assert!(names.iter().all(|name| folder.path().join(name).exists()));
}
