//! Collections: exported ones, and the files of the disk store.

use std::path::Path;

use benzer_core::hash::element;
use benzer_index::export::Import;
use benzer_index::store::{self, Cursor, Parts};

use crate::read::in_folder;

/// Any bytes as an exported collection. Checksums are also made right, so that mutations reach what they guard.
pub fn export(data: &[u8]) {
    for bytes in [data.to_vec(), sealed_export(data)] {
        let Ok(import) = Import::new(&bytes[..]) else { continue };
        let Ok(to) = store::memory(import.settings().clone()) else { continue };
        for records in import {
            let Ok(records) = records else { break };
            let _ = to.put(records);
        }
        let view = to.view().expect("memory can always be read");
        let _ = view.scan(Cursor::START, 100, Parts::All, &mut |_, _| Ok(()));
    }
}

fn sealed_export(data: &[u8]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    let length = |bytes: &[u8], at: usize| {
        let length = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(length.try_into().expect("four bytes were cut")) as usize)
    };
    // The settings: length at 8, checksum behind it; then blocks, with the number of records before the length.
    let mut at = 8;
    while let Some(n) = length(&bytes, at) {
        let start = at + 12;
        let Some(payload) = start.checked_add(n).and_then(|end| bytes.get(start..end)) else { break };
        let checksum = element(payload).to_le_bytes();
        bytes[at + 4..start].copy_from_slice(&checksum);
        at = start + n + 4;
    }
    bytes
}

const FILES: [&str; 4] = ["collection.json", "current.json", "records-00000003.log", "segment-00000004.seg"];

/// The first byte chooses a file of a collection, which the others replace: it is refused, told, or the records that are read are whole ones.
pub fn collection(data: &[u8]) {
    let Some((which, content)) = data.split_first() else { return };
    let which = usize::from(*which) % FILES.len();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats/v2/collection");
    let whole: Vec<Vec<u8>> =
        FILES.iter().map(|name| std::fs::read(golden.join(name)).expect("golden files are there")).collect();
    let mut files: Vec<(&str, &[u8])> =
        FILES.iter().zip(&whole).map(|(name, bytes)| (*name, &bytes[..])).collect();
    let sealed = sealed_json(content);
    for content in [content, &sealed].into_iter().take(if which < 2 { 2 } else { 1 }) {
        files[which].1 = content;
        in_folder(&[], |folder| {
            let inside = folder.join("c");
            std::fs::create_dir(&inside).expect("a folder can be made");
            for (name, bytes) in &files {
                std::fs::write(inside.join(name), bytes).expect("a small file can be written");
            }
            used(folder);
        });
    }
}

fn used(folder: &Path) {
    let url = folder.to_str().expect("names of temporary folders are text");
    let collections = store::open(url).expect("a path is an address");
    let _ = collections.verify("c");
    if let Ok(store) = collections.read("c")
        && let Ok(view) = store.view()
    {
        let _ = view.scan(Cursor::START, 1000, Parts::All, &mut |_, record| {
            assert!(std::str::from_utf8(record.id).is_ok_and(|id| id.len() < 100));
            Ok(())
        });
    }
    if collections.repair("c").is_ok() {
        assert!(
            collections.verify("c").expect("it was repaired").is_whole(),
            "a repaired collection is whole"
        );
    }
}

/// A small file of a collection with the right checksum in its first line.
fn sealed_json(bytes: &[u8]) -> Vec<u8> {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return bytes.to_vec() };
    let (first, json) = (&bytes[..end], &bytes[end + 1..]);
    let start = first.iter().rposition(|byte| *byte == b' ').map_or(0, |place| place + 1);
    [&first[..start], format!("{:016x}\n", element(json)).as_bytes(), json].concat()
}
