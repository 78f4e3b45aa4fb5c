//! Verified edges in the order in which they are resolved: in memory, or in a file that a resumed run can take over.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::Result;
use benzer_join::verify::EdgeLists;
use benzer_join::{Edge, Rank};
use benzer_storage::{self as files, FileWriter, Manifest};

/// The file of the edges between documents of the input.
pub(crate) const EDGES: &str = "edges.bin";
/// The file of the edges to old documents.
pub(crate) const OLD_EDGES: &str = "edges-against.bin";
/// Bytes of an edge: later, earlier, intersection, union; little-endian.
const BYTES: usize = 16;

#[derive(Debug)]
pub(crate) struct EdgesWriter {
    /// Those in memory; nothing if they are on disk only.
    held: Option<Edges>,
    file: Option<FileWriter>,
    n: u64,
    buffer: Vec<u8>,
}

#[derive(Debug)]
pub(crate) enum Edges {
    Memory(Vec<Edge>),
    Lists(Vec<EdgeLists>),
    Disk {
        path: PathBuf,
        n: u64,
    },
    /// Of each document those to old documents first.
    Both {
        old: Box<Edges>,
        new: Box<Edges>,
    },
}

impl EdgesWriter {
    /// Collects them in memory if `holds`, and in a file of that name for a run that resumes this one.
    pub fn new(holds: bool, file: Option<FileWriter>) -> Self {
        Self { held: holds.then(|| Edges::Memory(Vec::new())), file, n: 0, buffer: Vec::new() }
    }

    pub fn push(&mut self, edge: Edge) -> Result<()> {
        self.write(&[edge])?;
        match &mut self.held {
            Some(Edges::Memory(all)) => all.push(edge),
            Some(_) => unreachable!("edges are measured together, or come one by one"),
            None => {}
        }
        Ok(())
    }

    /// Adds edges that were measured together; in memory they stay where they are.
    pub fn take(&mut self, edges: EdgeLists) -> Result<()> {
        edges.lists().try_for_each(|group| self.write(group))?;
        match &mut self.held {
            Some(Edges::Lists(all)) => all.push(edges),
            Some(Edges::Memory(all)) if !all.is_empty() => all.extend(edges.iter()),
            Some(held) => *held = Edges::Lists(vec![edges]),
            None => {}
        }
        Ok(())
    }

    fn write(&mut self, edges: &[Edge]) -> Result<()> {
        self.n += edges.len() as u64;
        let Some(file) = &mut self.file else { return Ok(()) };
        self.buffer.clear();
        for Edge { later, earlier, intersection, union } in edges {
            for number in [later.0, earlier.0, *intersection, *union] {
                self.buffer.extend(number.to_le_bytes());
            }
        }
        Ok(file.append(&self.buffer)?)
    }

    pub fn finish(self, manifest: &mut Manifest) -> Result<Edges> {
        let on_disk = match self.file {
            Some(file) => {
                let path = file.path().to_owned();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                manifest.add_file(&name, file.commit()?);
                Edges::Disk { path, n: self.n }
            }
            None => Edges::Memory(Vec::new()),
        };
        Ok(self.held.unwrap_or(on_disk))
    }
}

impl Edges {
    pub fn open(folder: &Path, name: &str) -> Result<Self> {
        let path = folder.join(name);
        let metadata = std::fs::metadata(&path).map_err(|error| files::Error::disk("read", &path, error))?;
        Ok(Self::Disk { n: metadata.len() / BYTES as u64, path })
    }

    pub fn len(&self) -> u64 {
        match self {
            Self::Memory(edges) => edges.len() as u64,
            Self::Lists(edges) => edges.iter().map(|edges| edges.n_edges() as u64).sum(),
            Self::Disk { n, .. } => *n,
            Self::Both { old, new } => old.len() + new.len(),
        }
    }

    /// Hands all of them to `visit`, in order, some at a time. There are many: those in memory are taken straight from where they are.
    pub fn parts(&self, mut visit: impl FnMut(&[Edge]) -> Result<()>) -> Result<()> {
        match self {
            Self::Memory(edges) => visit(edges),
            Self::Lists(edges) => edges.iter().flat_map(EdgeLists::lists).try_for_each(visit),
            Self::Disk { .. } | Self::Both { .. } => self.iter()?.try_for_each(|edge| visit(&[edge?])),
        }
    }

    pub fn iter(&self) -> Result<Box<dyn Iterator<Item = Result<Edge>> + '_>> {
        match self {
            Self::Both { old, new } => {
                let (mut old, mut new) = (old.iter()?.peekable(), new.iter()?.peekable());
                let later = |edge: Option<&Result<Edge>>| match edge {
                    Some(Ok(edge)) => u64::from(edge.later.0),
                    // An error is given at once.
                    Some(Err(_)) => 0,
                    None => u64::MAX,
                };
                Ok(Box::new(std::iter::from_fn(move || {
                    if later(old.peek()) <= later(new.peek()) {
                        old.next().or_else(|| new.next())
                    } else {
                        new.next()
                    }
                })))
            }
            Self::Memory(edges) => Ok(Box::new(edges.iter().copied().map(Ok))),
            Self::Lists(edges) => Ok(Box::new(edges.iter().flat_map(EdgeLists::iter).map(Ok))),
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
                        later: Rank(number(0)),
                        earlier: Rank(number(1)),
                        intersection: number(2),
                        union: number(3),
                    })
                })))
            }
        }
    }
}
