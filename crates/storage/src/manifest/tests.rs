//! Manifests: found as they were saved, or told what is wrong.

use super::*;

fn saved(folder: &Path) -> Manifest {
    let files = Files::new();
    let mut file = files.create(&folder.join("data")).unwrap();
    file.append(b"0123456789").unwrap();
    let mut manifest = Manifest::new("sketch", "threshold=0.8");
    manifest.add_file("data", file.commit().unwrap());
    manifest.set_count("documents", 512);
    manifest.set_count("share", 0.1 + 0.2);
    manifest.save(&files, folder).unwrap();
    manifest
}

fn load(folder: &Path, check: Check) -> State {
    Manifest::load(folder, "sketch", "threshold=0.8", check)
}

#[test]
fn what_was_saved_is_found() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(load(folder.path(), Check::Sizes), State::Missing);
    let manifest = saved(folder.path());
    assert_eq!(load(folder.path(), Check::Checksums), State::Finished(manifest.clone()));
    assert_eq!(manifest.counts()["share"], 0.1 + 0.2);
    assert_eq!((manifest.files()[0].name.as_str(), manifest.files()[0].stamp.bytes), ("data", 10));
    assert_eq!(manifest.benzer, env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_bytes_never_change() {
    let folder = tempfile::tempdir().unwrap();
    let mut manifest = saved(folder.path());
    manifest.benzer = "0.1.0".to_owned();
    manifest.save(&Files::new(), folder.path()).unwrap();
    let text = fs::read_to_string(Manifest::path(folder.path(), "sketch")).unwrap();
    assert_eq!(text, include_str!("../../../../testdata/formats/v1/stage-sketch.json"));
}

#[test]
fn other_settings_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    saved(folder.path());
    let found = Manifest::load(folder.path(), "sketch", "threshold=0.9", Check::Sizes);
    let expected = State::Stale { expected: "threshold=0.9".into(), found: "threshold=0.8".into() };
    assert_eq!(found, expected);
    assert_eq!(Manifest::load(folder.path(), "group", "threshold=0.8", Check::Sizes), State::Missing);
    let copy = Manifest::path(folder.path(), "group");
    fs::copy(Manifest::path(folder.path(), "sketch"), copy).unwrap();
    let found = Manifest::load(folder.path(), "group", "threshold=0.8", Check::Sizes);
    assert!(matches!(found, State::Damaged { why, .. } if why == "expected stage `group`, got `sketch`"));
}

#[test]
fn a_file_that_is_not_as_it_was_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = saved(folder.path());
    let data = folder.path().join("data");
    let why = |check| match load(folder.path(), check) {
        State::Damaged { file, why } if file == data => why,
        other => panic!("{other:?}"),
    };
    fs::write(&data, "0123456798").unwrap();
    assert_eq!(load(folder.path(), Check::Sizes), State::Finished(manifest));
    assert!(why(Check::Checksums).contains("expected 10 bytes with checksum"));
    fs::write(&data, "012345678").unwrap();
    assert_eq!(why(Check::Sizes), "expected 10 bytes, got 9");
    fs::remove_file(&data).unwrap();
    assert!(why(Check::Sizes).contains("os error 2"));
    fs::create_dir(&data).unwrap();
    assert_eq!(why(Check::Sizes), "expected 10 bytes, got no file");
}

#[test]
fn no_truncation_and_no_changed_byte_of_the_manifest_goes_unnoticed() {
    let folder = tempfile::tempdir().unwrap();
    saved(folder.path());
    let path = Manifest::path(folder.path(), "sketch");
    let whole = fs::read(&path).unwrap();
    assert!(parse(&whole).is_ok());
    for end in 0..whole.len() {
        assert!(parse(&whole[..end]).is_err(), "truncated to {end}");
    }
    for place in 0..whole.len() {
        for change in [1, 0x20, 0x80] {
            let mut bytes = whole.clone();
            bytes[place] ^= change;
            assert!(parse(&bytes).is_err(), "byte {place} changed by {change}");
        }
    }
    fs::write(&path, &whole[1..]).unwrap();
    let why = "its checksum does not hold".to_owned();
    assert_eq!(load(folder.path(), Check::Sizes), State::Damaged { file: path, why });
}

#[test]
fn a_later_format_is_told_with_expected_and_got() {
    let folder = tempfile::tempdir().unwrap();
    let path = Manifest::path(folder.path(), "sketch");
    fs::write(&path, sealed("{\n  \"format\": 2,\n  \"new\": true")).unwrap();
    let why = "expected format 1, got 2".to_owned();
    assert_eq!(load(folder.path(), Check::Sizes), State::Damaged { file: path, why });
}
