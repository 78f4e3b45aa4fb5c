//! API keys: a file with their hashes, who may do what with them, and which collections they are for.
//!
//! A key is `bz_`, eight letters that name it, `_`, and 256 random bits. The file keeps the name and the SHA-256 of the key: whoever reads the file cannot use it. A key is found by its name and
//! compared in constant time. Hashing slowly would add nothing: there is no way to try 2^256 keys.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// What a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Search, read and compare.
    Read,
    /// Make, fill and delete collections.
    Write,
}

/// A key as the file keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The eight letters that name it.
    pub id: String,
    /// What it is for, in the words of who made it.
    pub label: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// The collections that it is for; none means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<String>,
    /// When it was made, in seconds since 1970.
    pub created: u64,
    /// SHA-256 of the whole key, as hexadecimal digits.
    pub hash: String,
}

/// The version of the file that this build writes. Version 1 had no checksum.
const VERSION: u32 = 2;

/// All keys of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Keys {
    /// In the order in which they were made.
    pub keys: Vec<Key>,
}

/// What is written. The last member is half of the SHA-256 of all bytes before the comma that precedes it: a changed byte must not be another collection or scope.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    keys: Vec<Key>,
    checksum: Option<String>,
}

impl Written {
    /// The text of keys with its checksum.
    fn text(keys: &[Key]) -> String {
        let json = serde_json::json!({"version": VERSION, "keys": keys});
        let json = serde_json::to_string_pretty(&json).expect("text and numbers");
        Self::sealed(json.strip_suffix("\n}").expect("an object over several lines ends so"))
    }

    fn sealed(body: &str) -> String {
        format!("{body},\n  \"checksum\": \"{}\"\n}}\n", &hash(body)[..32])
    }

    fn parse(bytes: &[u8]) -> Result<Vec<Key>, String> {
        let Self { version, keys, checksum } =
            serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        match version {
            1 if checksum.is_none() => Ok(keys),
            VERSION => {
                let text = str::from_utf8(bytes).map_err(|error| error.to_string())?;
                let body = text.rfind(",\n").map_or("", |end| &text[..end]);
                let is_whole = Self::sealed(body) == text;
                is_whole.then_some(keys).ok_or_else(|| {
                    "its checksum does not hold; get an undamaged copy, or make new keys".to_owned()
                })
            }
            other => Err(format!("expected version {VERSION}, found {other}")),
        }
    }
}

impl Keys {
    /// Reads a file; one that is not there has no keys.
    ///
    /// # Errors
    /// A file that cannot be read or is not one of keys.
    pub fn read(path: &Path) -> io::Result<Self> {
        let wrong = |what: String| {
            let message = format!("`{}` is not a file of keys: {what}", path.display());
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        match fs::read(path) {
            Ok(bytes) => Ok(Self { keys: Written::parse(&bytes).map_err(wrong)? }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => {
                Err(io::Error::new(error.kind(), format!("cannot read `{}`: {error}", path.display())))
            }
        }
    }

    /// Writes the file anew, for its owner only: the old one stays until the new one is whole.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot write `{}`: {error}", path.display()))
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        benzer_index::store::make_folders(folder).map_err(named)?;
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.new", std::process::id()));
        let new = path.with_file_name(name);
        let write = || -> io::Result<()> {
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(&new)?;
            file.write_all(Written::text(&self.keys).as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, path)?;
            fs::File::open(folder)?.sync_all()
        };
        write().map_err(named)
    }

    /// Makes a key and gives it, for the only time.
    ///
    /// # Errors
    /// No scope at all; no random bits from the operating system.
    pub fn create(&mut self, label: &str, scopes: &[Scope], collections: &[String]) -> io::Result<String> {
        if scopes.is_empty() {
            let message = "a key needs a scope: read, write, or both";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let id = loop {
            let id: String = random::<5>()?.iter().flat_map(|byte| letters(*byte)).take(8).collect();
            if self.keys.iter().all(|key| key.id != id) {
                break id;
            }
        };
        let secret: String = random::<32>()?.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = format!("bz_{id}_{secret}");
        let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut scopes = scopes.to_vec();
        scopes.dedup();
        let hash = hash(&text);
        self.keys.push(Key {
            id,
            label: label.to_owned(),
            scopes,
            collections: collections.to_vec(),
            created,
            hash,
        });
        Ok(text)
    }

    /// Takes a key out, by the letters that name it; false if it is not there.
    pub fn revoke(&mut self, id: &str) -> bool {
        let before = self.keys.len();
        self.keys.retain(|key| key.id != id);
        self.keys.len() < before
    }

    /// The key that somebody has shown.
    pub fn find(&self, shown: &str) -> Option<&Key> {
        let id = shown.strip_prefix("bz_")?.split('_').next()?;
        let hash = hash(shown);
        let key = self.keys.iter().find(|key| key.id == id)?;
        bool::from(key.hash.as_bytes().ct_eq(hash.as_bytes())).then_some(key)
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Two letters of 16 that are hard to confuse.
fn letters(byte: u8) -> [char; 2] {
    [byte >> 4, byte & 15].map(|half| char::from(b"abcdefhkmnprstvx"[usize::from(half)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_opens_and_a_similar_one_does_not() {
        let mut keys = Keys::default();
        let key = keys.create("test", &[Scope::Read], &[]).unwrap();
        let other = keys.create("other", &[Scope::Read, Scope::Write], &["a".into()]).unwrap();
        assert_eq!(keys.find(&key).unwrap().label, "test");
        assert_eq!(keys.find(&other).unwrap().collections, ["a"]);
        let mut wrong = key.clone();
        wrong.pop();
        for shown in [&wrong[..], &format!("{key}0"), "", "bz_", &key[3..], &keys.keys[0].hash] {
            assert!(keys.find(shown).is_none(), "{shown}");
        }
        let mixed = format!("{}{}", &other[..12], &key[12..]);
        assert!(keys.find(&mixed).is_none());
    }

    #[test]
    fn the_file_has_no_secret_and_is_for_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/keys.json");
        assert_eq!(Keys::read(&path).unwrap(), Keys::default());
        let mut keys = Keys::default();
        let key = keys.create("test", &[Scope::Write], &[]).unwrap();
        keys.write(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&key[12..]), "{text}");
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions()) & 0o77,
            0
        );
        let mut read = Keys::read(&path).unwrap();
        assert_eq!(read, keys);
        let id = read.keys[0].id.clone();
        assert!(read.revoke(&id) && !read.revoke(&id));
        assert!(read.find(&key).is_none());
        for (text, part) in
            [("{", "not a file of keys"), (r#"{"version": 3, "keys": []}"#, "expected version 2, found 3")]
        {
            fs::write(&path, text).unwrap();
            assert!(Keys::read(&path).unwrap_err().to_string().contains(part));
        }
        assert!(keys.create("none", &[], &[]).is_err());
    }

    #[test]
    fn every_changed_byte_of_the_file_is_noticed_and_old_files_are_read() {
        let mut keys = Keys::default();
        keys.create("a", &[Scope::Read], &["mine".to_owned()]).unwrap();
        for keys in [keys.clone(), Keys::default()] {
            let whole = Written::text(&keys.keys).into_bytes();
            assert_eq!(Written::parse(&whole).unwrap(), keys.keys);
            for place in 0..whole.len() {
                for value in 0..=255 {
                    let mut changed = whole.clone();
                    changed[place] = value;
                    assert_eq!(Written::parse(&changed).is_ok(), changed == whole, "byte {place} as {value}");
                }
                assert!(Written::parse(&whole[..place]).is_err(), "cut at {place}");
            }
        }
        let old = serde_json::json!({"version": 1, "keys": keys.keys}).to_string();
        assert_eq!(Written::parse(old.as_bytes()).unwrap(), keys.keys);
    }

    #[test]
    fn the_files_of_every_version_are_read() {
        for version in 1..=VERSION {
            let path = format!("{}/../../testdata/formats/v{version}/keys.json", env!("CARGO_MANIFEST_DIR"));
            let Keys { keys } = Keys::read(Path::new(&path)).unwrap();
            let [key] = &keys[..] else { panic!("{keys:?}") };
            assert_eq!((&key.id[..], &key.label[..], key.created), ("xxnfxrkx", "ci", 1_794_843_855));
            assert_eq!(
                (&key.scopes[..], &key.collections[..]),
                (&[Scope::Read, Scope::Write][..], &["golden".to_owned()][..])
            );
            assert!(key.hash.starts_with("bf991e1c"));
        }
    }
}
