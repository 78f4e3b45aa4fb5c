//! Verified edges in the order in which they are resolved: in memory, or in a file that a resumed run can take over.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::files::{self, FileWriter, Files, Manifest};
use crate::verify::Edge;

/// The file of the edges.
const NAME: &str = "edges.bin";
/// Bytes of an edge: later, earlier, intersection, union; little-endian.
const BYTES: usize = 16;

/// Edges being collected.
#[derive(Debug)]
pub(crate) enum EdgesWriter {
    Memory(Vec<Edge>),
    Disk { file: FileWriter, n: u64 },
}

/// All edges.
#[derive(Debug)]
pub(crate) enum Edges {
    Memory(Vec<Edge>),
    Disk { path: PathBuf, n: u64 },
}

impl EdgesWriter {
    pub fn on_disk(files: &Files, folder: &Path) -> Result<Self> {
        Ok(Self::Disk { file: files.create(&folder.join(NAME))?, n: 0 })
    }

    pub fn append(&mut self, edges: Vec<Edge>) -> Result<()> {
        match self {
            Self::Memory(all) if all.is_empty() => *all = edges,
            Self::Memory(all) => all.extend(edges),
            Self::Disk { file, n } => {
                *n += edges.len() as u64;
                for Edge { later, earlier, intersection, union } in edges {
                    for number in [later, earlier, intersection, union] {
                        file.append(&number.to_le_bytes())?;
                    }
                }
            }
        }
        Ok(())
    }

    pub fn finish(self, manifest: &mut Manifest) -> Result<Edges> {
        Ok(match self {
            Self::Memory(edges) => Edges::Memory(edges),
            Self::Disk { file, n } => {
                let path = file.path().to_owned();
                manifest.add_file(NAME, file.commit()?);
                Edges::Disk { path, n }
            }
        })
    }
}

impl Edges {
    /// The edges of an earlier run.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        let metadata = std::fs::metadata(&path).map_err(|error| files::Error::disk("read", &path, error))?;
        Ok(Self::Disk { n: metadata.len() / BYTES as u64, path })
    }

    pub fn len(&self) -> u64 {
        match self {
            Self::Memory(edges) => edges.len() as u64,
            Self::Disk { n, .. } => *n,
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> Result<Box<dyn Iterator<Item = Result<Edge>> + '_>> {
        match self {
            Self::Memory(edges) => Ok(Box::new(edges.iter().copied().map(Ok))),
            Self::Disk { path, n } => {
                let fail = move |error| files::Error::disk("read", path, error);
                let mut file = BufReader::with_capacity(1 << 18, File::open(path).map_err(fail)?);
                Ok(Box::new((0..*n).map(move |_| {
                    let mut bytes = [0; BYTES];
                    file.read_exact(&mut bytes).map_err(fail)?;
                    let number = |i: usize| {
                        u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().expect("four bytes"))
                    };
                    Ok(Edge {
                        later: number(0),
                        earlier: number(1),
                        intersection: number(2),
                        union: number(3),
                    })
                })))
            }
        }
    }
}
