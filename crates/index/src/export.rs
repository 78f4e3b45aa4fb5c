//! A collection as one file that any store can take in.
//!
//! ```text
//! "BENZCOL1" | bytes of the settings u32, checksum u64, settings as JSON
//! blocks: records u32, bytes u32, checksum u64 | of each record: bytes of the id u32, of the document u32, expires u64, id, document, words u64
//! the last block: 0, 8, checksum | number of all records u64
//! ```
//!
//! Numbers are little-endian, checksums the element hash. The export is the collection at one moment, whatever is written meanwhile.

use std::io::{self, Read, Write};

use benzer_core::hash;

use crate::error::{Error, Result};
use crate::record::Records;
use crate::settings::{Keeps, Settings};
use crate::store::{Cursor, Parts, Store};

/// How an exported collection begins.
pub const MAGIC: &[u8; 8] = b"BENZCOL1";
/// Records of a block.
const BLOCK: usize = 1000;
/// A block is never larger.
const MAX_BYTES: u32 = 1 << 30;

fn trouble(source: io::Error) -> Error {
    Error::Store { backend: "export", source: source.into() }
}

fn damaged(what: &str) -> Error {
    Error::incompatible("an exported collection that is whole", what)
}

/// Writes a collection; how many records it has.
///
/// # Errors
/// What the store or the output says.
pub fn export(store: &dyn Store, out: &mut dyn Write) -> Result<u64> {
    let settings = serde_json::to_vec(store.settings()).expect("settings can always be written");
    let mut head = MAGIC.to_vec();
    head.extend((settings.len() as u32).to_le_bytes());
    head.extend(hash::element(&settings).to_le_bytes());
    head.extend(settings);
    out.write_all(&head).map_err(trouble)?;
    let view = store.view()?;
    let (mut from, mut all) = (Some(Cursor::START), 0u64);
    while let Some(start) = from {
        let (mut payload, mut n) = (Vec::new(), 0u32);
        from = view.scan(start, BLOCK, Parts::All, &mut |_, record| {
            payload.extend((record.id.len() as u32).to_le_bytes());
            payload.extend((record.document.len() as u32).to_le_bytes());
            payload.extend(record.expires.to_le_bytes());
            payload.extend(record.id);
            payload.extend(record.document);
            payload.extend(record.words.iter().flat_map(|word| word.to_le_bytes()));
            n += 1;
            Ok(())
        })?;
        all += u64::from(n);
        if n > 0 {
            block(n, &payload, out)?;
        }
    }
    block(0, &all.to_le_bytes(), out)?;
    Ok(all)
}

fn block(n: u32, payload: &[u8], out: &mut dyn Write) -> Result<()> {
    let bytes = u32::try_from(payload.len()).ok().filter(|bytes| *bytes <= MAX_BYTES);
    let bytes = bytes
        .ok_or_else(|| Error::parameter("export", "documents of at most 1 MB on average", "larger ones"))?;
    let head = [&n.to_le_bytes()[..], &bytes.to_le_bytes(), &hash::element(payload).to_le_bytes()].concat();
    out.write_all(&head).and_then(|()| out.write_all(payload)).map_err(trouble)
}

/// An exported collection being read.
#[derive(Debug)]
pub struct Import<R> {
    input: R,
    settings: Settings,
    stride: usize,
    n: u64,
    is_over: bool,
}

impl<R: Read> Import<R> {
    /// Reads the settings.
    ///
    /// # Errors
    /// Something else than an exported collection, or one of another version.
    pub fn new(mut input: R) -> Result<Self> {
        if array::<8>(&mut input)? != *MAGIC {
            return Err(damaged("something else"));
        }
        let length = u32::from_le_bytes(array(&mut input)?);
        let checksum = u64::from_le_bytes(array(&mut input)?);
        let json = bytes(&mut input, length)?;
        if hash::element(&json) != checksum {
            return Err(damaged("damaged settings"));
        }
        let settings: Settings = serde_json::from_slice(&json)
            .map_err(|error| damaged(&format!("settings that are not understood: {error}")))?;
        settings.check()?;
        let stride = settings.layout()?.words();
        Ok(Self { input, settings, stride, n: 0, is_over: false })
    }

    /// How many records were read so far.
    pub fn records_read(&self) -> u64 {
        self.n
    }

    /// What the collection is.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    fn next_block(&mut self) -> Result<Option<Records>> {
        let n = u32::from_le_bytes(array(&mut self.input)?);
        let length = u32::from_le_bytes(array(&mut self.input)?);
        let checksum = u64::from_le_bytes(array(&mut self.input)?);
        let payload = bytes(&mut self.input, length)?;
        if hash::element(&payload) != checksum {
            return Err(damaged(&format!("damage after {} records", self.n)));
        }
        if n == 0 {
            let all = payload.as_slice().try_into().map(u64::from_le_bytes).ok();
            if all != Some(self.n) {
                return Err(damaged("another number of records"));
            }
            let is_more = (&mut self.input).take(1).read_to_end(&mut Vec::new()).map_err(trouble)? > 0;
            return if is_more { Err(damaged("more bytes after its end")) } else { Ok(None) };
        }
        let records = self.records(n, &payload).ok_or_else(|| damaged("records that are cut off"))?;
        self.n += u64::from(n);
        Ok(Some(records))
    }

    fn records(&self, n: u32, mut payload: &[u8]) -> Option<Records> {
        let mut take = |n: usize| {
            let (taken, rest) = payload.split_at_checked(n)?;
            payload = rest;
            Some(taken)
        };
        let mut records = Records::default();
        let keeps = self.settings.keeps == Keeps::Documents;
        for _ in 0..n {
            let id = u32::from_le_bytes(take(4)?.try_into().ok()?);
            let document = u32::from_le_bytes(take(4)?.try_into().ok()?);
            let expires = u64::from_le_bytes(take(8)?.try_into().ok()?);
            records.ids.push(take(id as usize)?);
            let document = take(document as usize)?;
            if keeps {
                records.documents.push(document);
            }
            records.push_expiry(expires);
            let words = take(8 * self.stride)?;
            records.words.extend(words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)));
        }
        payload.is_empty().then_some(records)
    }
}

impl<R: Read> Iterator for Import<R> {
    type Item = Result<Records>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.next_block().transpose();
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

fn array<const N: usize>(input: &mut impl Read) -> Result<[u8; N]> {
    let mut array = [0; N];
    input.read_exact(&mut array).map_err(cut_off)?;
    Ok(array)
}

fn bytes(input: &mut impl Read, length: u32) -> Result<Vec<u8>> {
    if length > MAX_BYTES {
        return Err(damaged("a length that is too large"));
    }
    let mut bytes = Vec::new();
    input.take(length.into()).read_to_end(&mut bytes).map_err(trouble)?;
    if bytes.len() < length as usize { Err(damaged("one that is cut off")) } else { Ok(bytes) }
}

fn cut_off(error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::UnexpectedEof { damaged("one that is cut off") } else { trouble(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use crate::query::Query;
    use crate::store;
    use benzer_core::field::{Content, Document};

    fn index(keeps: Keeps, n: usize) -> Index {
        let schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "text", "n": 1}}}"#).unwrap();
        let settings = Settings::with_target(schema, 0.8, 0.95, keeps).unwrap();
        let index = Index::new(store::memory(settings).unwrap()).unwrap();
        let text = |i: usize| {
            (i / 2..i / 2 + 30).map(|word| format!("w{}", word * 7919 % 1009)).collect::<Vec<_>>().join(" ")
        };
        let documents: Vec<Document> =
            (0..n).map(|i| Document::new(format!("d{i}"), [("body", Content::from(text(i)))])).collect();
        index.insert_until(&documents, |i| (i % 3 == 0).then_some(u64::MAX)).unwrap();
        index.remove(&["d5"]).unwrap();
        index
    }

    #[test]
    fn what_is_exported_is_imported_as_it_was() {
        for (keeps, n) in [(Keeps::Documents, 2500), (Keeps::Sketches, 10), (Keeps::Documents, 0)] {
            let from = index(keeps, n);
            let mut file = Vec::new();
            let exported = export(&**from.store(), &mut file).unwrap();
            assert_eq!(exported, from.stats().unwrap().documents);
            let import = Import::new(&file[..]).unwrap();
            let to = Index::new(store::memory(import.settings().clone()).unwrap()).unwrap();
            import.for_each(|records| to.store().put(records.unwrap()).unwrap());
            assert_eq!(to.stats().unwrap().documents, exported);
            for i in (0..n).step_by(97).filter(|i| *i != 5) {
                let id = format!("d{i}");
                let query = Query::default();
                assert_eq!(from.search_id(&id, &query).unwrap(), to.search_id(&id, &query).unwrap());
                assert_eq!(from.get(&id).unwrap(), to.get(&id).unwrap());
            }
        }
    }

    /// Written once by each version, and imported by every later one.
    #[test]
    fn the_file_of_this_version_is_imported() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/formats/v1/export.benzer");
        let import = Import::new(io::BufReader::new(std::fs::File::open(path).unwrap())).unwrap();
        let to = Index::new(store::memory(import.settings().clone()).unwrap()).unwrap();
        import.for_each(|records| to.store().put(records.unwrap()).unwrap());
        let ids = |id: &str| -> Vec<String> {
            let matches = to.search_id(id, &Query::default()).unwrap().matches;
            matches.into_iter().map(|one| one.id).collect()
        };
        assert_eq!((ids("a"), ids("d")), (vec!["b".to_owned()], vec!["c".to_owned()]));
        let text = "an entirely different text about something else that nobody has read before";
        let expected = Document::new("c", [("text", Content::from(text.to_owned()))]);
        assert_eq!(to.get("c").unwrap(), Some(expected));
    }

    #[test]
    fn damage_anywhere_is_noticed() {
        let mut file = Vec::new();
        export(&**index(Keeps::Documents, 40).store(), &mut file).unwrap();
        let read = |file: &[u8]| Import::new(file).and_then(|import| import.collect::<Result<Vec<_>>>());
        read(&file).unwrap();
        for i in 0..file.len() {
            let mut damaged = file.clone();
            damaged[i] ^= 1 << (i % 8);
            assert!(read(&damaged).is_err(), "byte {i}");
            assert!(read(&file[..i]).is_err(), "cut at {i}");
        }
        file.push(0);
        assert!(read(&file).unwrap_err().to_string().contains("more bytes after its end"));
    }
}
