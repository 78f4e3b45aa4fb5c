//! A segment, open for reading: rows and contents by number.
//!
//! ```text
//! row       words of the sketch, hash of the text (16 bytes), offset of the contents (8), bytes of the name, elements (4 each), checksum (8)
//! contents  name: line (8), bytes of the id or 2^32 - 1 (4), id, file; checksum (8).  features: sorted elements (8 each); checksum (8)
//! ```

use std::path::Path;

use benzer_core::lsh::Banding;
use benzer_core::sketch::SketchSpec;

use super::OldNumber;
use super::keys::Keys;
use super::manifest::SegmentEntry;
use super::part::{Kind, Part};
use crate::error::Result;

/// What marks a document without an id.
pub(super) const NO_ID: u32 = u32::MAX;

/// Bytes of a name without id and file.
const NAME: usize = 8 + 4 + 8;

pub(super) fn row_bytes(words: usize) -> usize {
    8 * words + 16 + 8 + 4 + 4 + 8
}

/// What is first looked at of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OldRow {
    pub words: Vec<u64>,
    pub hash: u128,
    pub n_features: u32,
    offset: u64,
    name_bytes: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    /// Its id, unless that is file and line.
    pub id: Option<String>,
    pub file: String,
    pub line: u64,
}

#[derive(Debug)]
pub(crate) struct Segment {
    rows: Part,
    contents: Part,
    pub keys: Keys,
    /// What the band keys are of.
    pub banding: Option<Banding>,
    /// What the sketches were made under.
    pub spec: SketchSpec,
    /// How many documents there are; those from here on are hidden.
    pub n: u32,
}

impl Segment {
    pub fn open(
        folder: &Path,
        entry: &SegmentEntry,
        spec: &SketchSpec,
        banding: Option<Banding>,
    ) -> Result<Self> {
        let part = |kind: Kind, stamp| Part::open(folder.join(kind.name(&entry.name)), kind, spec, stamp);
        Ok(Self {
            rows: part(Kind::Rows, &entry.rows)?,
            contents: part(Kind::Contents, &entry.contents)?,
            keys: Keys::open(&folder.join(Kind::Keys.name(&entry.name)), spec, &entry.keys)?,
            banding,
            spec: spec.clone(),
            n: entry.documents,
        })
    }

    pub fn row(&self, number: OldNumber) -> Result<OldRow> {
        let n_words = self.spec.words();
        let stride = row_bytes(n_words);
        let mut bytes = Vec::new();
        self.rows.read_checked(u64::from(number.0) * stride as u64, stride, &mut bytes)?;
        let (words, rest) = bytes.split_at(8 * n_words);
        let long = |i: usize| u64::from_le_bytes(rest[i..i + 8].try_into().expect("eight bytes"));
        let short = |i: usize| u32::from_le_bytes(rest[i..i + 4].try_into().expect("four bytes"));
        Ok(OldRow {
            words: words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect(),
            hash: u128::from(long(8)) << 64 | u128::from(long(0)),
            offset: long(16),
            name_bytes: short(24),
            n_features: short(28),
        })
    }

    pub fn name(&self, number: OldNumber) -> Result<Name> {
        self.name_of(&self.row(number)?)
    }

    pub fn name_of(&self, row: &OldRow) -> Result<Name> {
        let mut bytes = Vec::new();
        self.contents.read_checked(row.offset, row.name_bytes as usize, &mut bytes)?;
        if bytes.len() < NAME {
            let got = format!("{} bytes at {}", bytes.len(), row.offset);
            return Err(self.contents.damaged(format!("a name of at least {NAME} bytes"), got));
        }
        let line = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
        let length = u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes"));
        let rest = &bytes[12..bytes.len() - 8];
        let (id, file) = match length {
            NO_ID => (None, rest),
            length => {
                let (id, file) = rest.split_at((length as usize).min(rest.len()));
                (Some(String::from_utf8_lossy(id).into_owned()), file)
            }
        };
        Ok(Name { id, file: String::from_utf8_lossy(file).into_owned(), line })
    }

    pub fn features(&self, row: &OldRow, into: &mut Vec<u64>) -> Result<()> {
        let mut bytes = Vec::new();
        let n = 8 * row.n_features as usize;
        let at = row.offset.saturating_add(row.name_bytes.into());
        self.contents.read_checked(at, n + 8, &mut bytes)?;
        into.clear();
        into.extend(bytes[..n].as_chunks::<8>().0.iter().map(|element| u64::from_le_bytes(*element)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Entry;
    use super::super::keys::Cursor;
    use super::super::part::{HEADER, seal};
    use super::super::writer::{SegmentWriter, Shape};
    use super::*;
    use benzer_flow::Workspace;
    use benzer_storage::Files;
    use proptest::prelude::*;
    use std::fs;

    const DOCUMENTS: u32 = 5;

    /// A segment whose rows say where their contents are as `forge` likes; everything has the right checksums.
    fn forged(forge: impl Fn(usize, &mut [u8]), n_keys: Option<u64>) -> Result<Segment> {
        let (folder, spec, files) = (tempfile::tempdir().unwrap(), SketchSpec::default(), Files::new());
        let workspace = Workspace { bytes: 1 << 20, folder: folder.path(), files: &files };
        let mut writer =
            SegmentWriter::create(folder.path(), "1", Shape { spec: &spec, banding: None }, workspace)?;
        for number in 0..DOCUMENTS {
            writer.push(&Entry {
                hash: number.into(),
                words: &vec![7; spec.words()],
                id: (number % 2 == 0).then_some(&b"some id"[..]),
                file: "a.jsonl",
                line: number.into(),
                features: &[1, 2, number.into()],
            })?;
        }
        let mut entry = writer.finish()?;
        let change = |kind: Kind, stride: usize, change: &dyn Fn(usize, &mut [u8])| {
            let path = folder.path().join(kind.name("1"));
            let mut bytes = fs::read(&path).unwrap();
            let rows = bytes.split_off(HEADER as usize);
            let end = rows.len() % stride;
            for (i, row) in rows[..rows.len() - end].chunks(stride).enumerate() {
                let mut row = row[..stride - 8].to_vec();
                change(i, &mut row);
                let start = bytes.len();
                bytes.extend(row);
                seal(&mut bytes, start);
            }
            bytes.extend(&rows[rows.len() - end..]);
            fs::write(path, bytes).unwrap();
        };
        change(Kind::Rows, row_bytes(spec.words()), &forge);
        if let Some(n) = n_keys {
            let path = folder.path().join(Kind::Keys.name("1"));
            let mut bytes = fs::read(&path).unwrap();
            bytes.truncate(bytes.len() - 16);
            let start = bytes.len();
            bytes.extend(n.to_le_bytes());
            seal(&mut bytes, start);
            fs::write(path, bytes).unwrap();
        }
        entry.documents = DOCUMENTS;
        Segment::open(folder.path(), &entry, &spec, None)
    }

    #[test]
    fn what_is_not_forged_is_read() {
        let segment = forged(|_, _| {}, None).unwrap();
        for number in 0..DOCUMENTS {
            let (row, mut features) = (segment.row(OldNumber(number)).unwrap(), Vec::new());
            let id = (number % 2 == 0).then(|| "some id".to_owned());
            assert_eq!(
                segment.name_of(&row).unwrap(),
                Name { id, file: "a.jsonl".into(), line: number.into() }
            );
            segment.features(&row, &mut features).unwrap();
            assert_eq!(features, [1, 2, number.into()]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Whoever writes an archive can write checksums too.
        #[test]
        fn rows_that_lie_are_refused(
            lies in prop::collection::vec(
                (
                    prop_oneof![any::<u64>(), 0u64..400, Just(u64::MAX - 20)],
                    prop_oneof![any::<u32>(), 0u32..60],
                    prop_oneof![any::<u32>(), 0u32..60],
                ),
                DOCUMENTS as usize,
            ),
            n_keys in prop::option::of(prop_oneof![any::<u64>(), 0u64..1000]),
        ) {
            let n_words = SketchSpec::default().words();
            let forge = |i: usize, row: &mut [u8]| {
                let (offset, name_bytes, n_features) = lies[i];
                row[8 * n_words + 16..][..8].copy_from_slice(&offset.to_le_bytes());
                row[8 * n_words + 24..][..4].copy_from_slice(&name_bytes.to_le_bytes());
                row[8 * n_words + 28..][..4].copy_from_slice(&n_features.to_le_bytes());
            };
            // No panic, and no memory for what is not there.
            let segment = forged(forge, n_keys).unwrap();
            let mut features = Vec::new();
            for number in 0..DOCUMENTS {
                let row = segment.row(OldNumber(number)).unwrap();
                let _ = segment.name_of(&row);
                let _ = segment.features(&row, &mut features);
                prop_assert!(features.len() < 100);
            }
            prop_assert!(segment.row(OldNumber(DOCUMENTS)).is_err());
            let mut cursor = Cursor::new(&segment.keys);
            for (list, key) in [(0, 0), (1, 7), (u16::MAX, u64::MAX)] {
                let _ = cursor.find(list, key).and_then(|place| cursor.record(place));
            }
        }
    }
}
