//! Small files of settings: schemas, manifests, keys.

use std::path::Path;

use benzer_core::field::{Content, Document, Schema};
use benzer_core::hash::element;
use benzer_index::{Index, Query, Settings, store};
use benzer_server::access::keys::Keys;
use benzer_storage::{Check, Manifest, State};

use crate::read::in_folder;

/// Any bytes as a schema: refused, or a collection that can be used, and whose settings come back as they were written.
pub fn schema(data: &[u8]) {
    let Ok(schema) = serde_json::from_slice::<Schema>(data) else { return };
    let names: Vec<String> = schema.fields().map(|(name, _)| name.to_owned()).collect();
    let Ok(settings) = Settings::new(schema) else { return };
    let json = serde_json::to_vec(&settings).expect("settings can always be written");
    assert_eq!(serde_json::from_slice::<Settings>(&json).ok().as_ref(), Some(&settings));
    let Ok(index) = store::memory(settings).and_then(Index::new) else { return };
    let contents = [Content::from("a text of some words, and ünïcödé"), Content::values(["a", "b"])];
    for content in contents {
        let fields = names.iter().map(|name| (name.as_str(), content.clone()));
        let document = Document::new("d", fields);
        if index.insert(std::slice::from_ref(&document)).is_ok() {
            let _ = index.search(&document, &Query::default());
        }
    }
}

/// Any bytes as the manifest of a stage, with their own checksum and with the right one.
pub fn manifest(data: &[u8]) {
    let body = std::str::from_utf8(data).ok().and_then(|text| Some(&text[..text.rfind(",\n")?]));
    let sealed =
        body.map(|body| format!("{body},\n  \"checksum\": \"{:016x}\"\n}}\n", element(body.as_bytes())));
    for bytes in [Some(data), sealed.as_deref().map(str::as_bytes)].into_iter().flatten() {
        in_folder(&[("stage-sketch.json", bytes)], |folder| {
            let state = Manifest::load(folder, "sketch", "threshold=0.8 seed=42", Check::Checksums);
            if let State::Finished(manifest) = state {
                assert!(manifest.files().iter().all(|file| folder.join(&file.name).is_file()));
            }
        });
    }
}

/// Any bytes as a file of keys: refused, or keys that nobody has by accident.
pub fn keys(data: &[u8]) {
    in_folder(&[("keys.json", data)], |folder: &Path| {
        if let Ok(keys) = Keys::read(&folder.join("keys.json")) {
            for shown in ["", "bz_", "bz_0000_", "bz_00000000_00000000000000000000000000000000"] {
                assert!(keys.find(shown).is_none(), "{shown} is a key");
            }
        }
    });
}
