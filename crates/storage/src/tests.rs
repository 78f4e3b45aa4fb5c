//! Files: whole or not at all, after a drop or an error.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::fault::When;
use super::*;

pub(super) fn names(folder: &Path) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort_unstable();
    names
}

/// Enough for several pieces, the last one short; different for each seed.
pub(super) fn content(seed: u8) -> Vec<u8> {
    (0..150_000u32).map(|i| (i >> 8) as u8 ^ i as u8 ^ seed).collect()
}

pub(super) fn put(files: &Files, path: &Path, bytes: &[u8]) -> Result<Stamp> {
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
fn files_that_are_committed_together_are_all_there() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a", "b/c", "b/d"].map(|name| folder.path().join(name));
    fs::create_dir(folder.path().join("b")).unwrap();
    let begin = |(path, seed): (&std::path::PathBuf, u8)| {
        let mut file = Files::new().create(path).unwrap();
        file.append(&content(seed)).unwrap();
        file
    };
    let stamps = FileWriter::commit_all(paths.iter().zip(0..).map(begin).collect()).unwrap();
    for ((path, seed), stamp) in paths.iter().zip(0..).zip(&stamps) {
        assert_eq!((fs::read(path).unwrap(), checksum_of(path).unwrap()), (content(seed), *stamp));
    }
    assert_eq!((names(folder.path()).len(), names(&folder.path().join("b")).len()), (2, 2));
    assert!(FileWriter::commit_all(Vec::new()).unwrap().is_empty());
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
fn blocks_of_other_threads_are_as_good_as_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let bytes = content(9).repeat(5);
    let whole = put(&Files::new(), &path, &bytes).unwrap();
    // Whole blocks and the rest, without and with bytes before them that are no whole block.
    for (first, size) in [(0, Block::BYTES), (100, Block::BYTES), (Block::BYTES, Block::BYTES), (0, 1000)] {
        let mut file = Files::new().create(&path).unwrap();
        file.append(&bytes[..first]).unwrap();
        let mut blocks = vec![Block::default()];
        for part in bytes[first..].chunks(size) {
            let mut block = blocks.pop().unwrap();
            assert_eq!(block.take(part), part.len());
            blocks.push(file.append_block(block.stamped()).unwrap());
            assert!(blocks[0].bytes().is_empty());
        }
        assert_eq!(file.bytes(), bytes.len() as u64);
        assert_eq!(file.commit().unwrap(), whole, "{first} bytes, then {size} at a time");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn files_are_settled_behind_in_their_order_or_the_failure_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let make = |files: &Files, i: usize| {
        let mut file = files.create(&folder.path().join(format!("{i}"))).unwrap();
        file.append(&content(1)[i..]).unwrap();
        file
    };
    let mut settler = Settler::default();
    (0..20).for_each(|i| settler.take(make(&Files::new(), i)).unwrap());
    let settled = settler.finish().unwrap();
    assert_eq!(settled.len(), 20);
    for (i, (path, stamp)) in settled.iter().enumerate() {
        assert_eq!(*path, folder.path().join(format!("{i}")));
        assert_eq!(checksum_of(path).unwrap(), *stamp);
    }
    assert!(Settler::default().finish().unwrap().is_empty());
    for bytes in [0, 100_000, 300_000, 1_000_000] {
        let files = Files::failing(When::AfterBytes(bytes), io::ErrorKind::StorageFull);
        let mut settler = Settler::default();
        let taken = (0..20).try_for_each(|i| {
            let mut file = files.create(&folder.path().join(format!("full {i}")))?;
            file.append(&content(1)[i..])?;
            settler.take(file)
        });
        let error = taken.and_then(|()| settler.finish()).unwrap_err().to_string();
        assert!(error.contains("free some space"), "{error}");
        assert!(
            fs::read_dir(folder.path()).unwrap().all(|file| !temporary::is_name(&file.unwrap().file_name()))
        );
    }
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

/// Most of its blocks are written behind the writer.
#[test]
fn a_long_file_is_whole_or_the_old_one_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let bytes: Vec<u8> = (0..9).flat_map(|_| content(1)).collect();
    let mut nth = 0;
    loop {
        fs::write(&path, "old").unwrap();
        let files = Files::failing(When::Operation(nth), io::ErrorKind::Other);
        let mut file = files.create(&path);
        file.as_mut().map(|file| bytes.chunks(50_000).for_each(|piece| drop(file.append(piece)))).ok();
        let Err(error) = file.and_then(FileWriter::commit) else { break };
        assert!(error.to_string().contains("out`: ") || error.to_string().contains("cannot sync"), "{error}");
        assert_eq!(names(folder.path()), ["out"], "operation {nth}");
        nth += 1;
    }
    // Create, 20 whole blocks and the rest, sync, rename, sync of the folder.
    assert_eq!(nth, 25);
    assert!(fs::read(&path).unwrap() == bytes);
    let mut file = Files::new().create(&path).unwrap();
    file.append(&bytes).unwrap();
    drop(file);
    assert_eq!(names(folder.path()), ["out"], "one that is given up leaves nothing");
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
fn extents_are_read_in_any_order_while_others_are_written_and_damage_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let mut scratch = Files::new().temporary(&folder.path().join("extents")).unwrap();
    let extents: Vec<_> =
        [&b"some"[..], b"", b"bytes"].map(|bytes| scratch.append_extent(bytes).unwrap()).into();
    let read = |scratch: &Scratch, extent| {
        let mut bytes = b"what was there before".to_vec();
        scratch.read_extent(extent, &mut bytes).map(|()| bytes)
    };
    assert_eq!(read(&scratch, extents[2]).unwrap(), b"bytes");
    assert_eq!(scratch.append_extent(b"more").unwrap().bytes(), 4);
    assert_eq!(read(&scratch, extents[0]).unwrap(), b"some");
    assert!(read(&scratch, extents[1]).unwrap().is_empty());
    for damaged in [b"somebyteS", &b"someby"[..], b"bytessome"] {
        fs::write(scratch.path(), damaged).unwrap();
        assert!(matches!(read(&scratch, extents[2]), Err(Error::Damaged { .. })));
    }
    fs::write(scratch.path(), b"some").unwrap();
    assert_eq!(read(&scratch, extents[0]).unwrap(), b"some");
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
