//! Verified edges in the order in which they are resolved: in memory, or in a file that is mapped, which a resumed run can take over.

use std::path::{Path, PathBuf};

use crate::error::Result;
use benzer_join::verify::EdgeLists;
use benzer_join::{Edge, Rank};
use benzer_storage::{FileWriter, Files, Manifest, MappedFile, Stamp};

/// The file of the edges between documents of the input.
pub(crate) const EDGES: &str = "edges.bin";
/// The file of the edges to old documents.
pub(crate) const OLD_EDGES: &str = "edges-against.bin";
/// Bytes of an edge: later, earlier, intersection, union; little-endian.
const BYTES: usize = 16;

/// Collects edges in memory as long as there is room, and then in a file.
pub(crate) struct EdgesWriter<'a> {
    files: &'a Files,
    path: PathBuf,
    /// Bytes of edges in memory, at most.
    room: u64,
    /// Those in memory, and their bytes; nothing if they are on disk only.
    held: Option<Vec<EdgeLists>>,
    held_bytes: u64,
    /// Those that came one by one, and are in no list yet.
    single: Vec<Edge>,
    file: Option<FileWriter>,
}

/// Edges that came one by one and are put into a list.
const LIST: usize = 1 << 16;

#[derive(Debug)]
pub(crate) enum Edges {
    /// In memory.
    Lists(Vec<EdgeLists>),
    Saved(MappedFile),
    /// Of each document those to old documents first.
    Both {
        old: Box<Edges>,
        new: Box<Edges>,
    },
}

impl<'a> EdgesWriter<'a> {
    /// None yet, with room for so many bytes in memory.
    pub fn new(files: &'a Files, path: PathBuf, room: u64) -> Self {
        Self { files, path, room, held: Some(Vec::new()), held_bytes: 0, single: Vec::new(), file: None }
    }

    pub fn push(&mut self, edge: Edge) -> Result<()> {
        self.single.push(edge);
        if self.single.len() < LIST { Ok(()) } else { self.end_list() }
    }

    fn end_list(&mut self) -> Result<()> {
        match std::mem::take(&mut self.single) {
            none if none.is_empty() => Ok(()),
            single => self.take(EdgeLists::of(single)),
        }
    }

    /// Adds edges behind all others; in memory they stay where they are.
    pub fn take(&mut self, edges: EdgeLists) -> Result<()> {
        self.held_bytes += edges.bytes() as u64;
        let has_room = self.held_bytes <= self.room;
        if !has_room && self.file.is_none() {
            let file = self.file.insert(self.files.create(&self.path)?);
            self.held.iter().flatten().try_for_each(|edges| append(edges, file))?;
        }
        if let Some(file) = &mut self.file {
            append(&edges, file)?;
        }
        match &mut self.held {
            Some(held) if has_room => held.push(edges),
            _ => self.held = None,
        }
        Ok(())
    }

    pub fn finish(mut self, manifest: &mut Manifest) -> Result<Edges> {
        self.end_list()?;
        let stamp = self.file.map(|file| commit(file, manifest)).transpose()?;
        match (self.held, stamp) {
            (None, Some(stamp)) => Ok(Edges::Saved(MappedFile::open_checked(&self.path, &stamp)?)),
            (held, _) => Ok(Edges::Lists(held.unwrap_or_default())),
        }
    }
}

fn commit(file: FileWriter, manifest: &mut Manifest) -> Result<Stamp> {
    let name = file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stamp = file.commit()?;
    manifest.add_file(&name, stamp);
    Ok(stamp)
}

fn append(edges: &EdgeLists, file: &mut FileWriter) -> Result<()> {
    let mut buffer = Vec::new();
    for list in edges.lists() {
        buffer.clear();
        for Edge { later, earlier, intersection, union } in list {
            for number in [later.0, earlier.0, *intersection, *union] {
                buffer.extend(number.to_le_bytes());
            }
        }
        file.append(&buffer)?;
    }
    Ok(())
}

impl Edges {
    /// Those that an interrupted run has left, which were checked: in memory, if there is room for so many bytes.
    pub fn open(folder: &Path, name: &str, room: u64) -> Result<Self> {
        let saved = Self::Saved(MappedFile::open(&folder.join(name))?);
        if saved.len() * BYTES as u64 > room {
            return Ok(saved);
        }
        let mut lists = Vec::new();
        saved.parts(|edges| {
            lists.push(EdgeLists::of(edges.to_vec()));
            Ok(())
        })?;
        Ok(Self::Lists(lists))
    }

    /// Leaves those in memory in a file, too; false if nobody wants that any more. The others are there.
    pub fn save(
        &self,
        files: &Files,
        path: &Path,
        manifest: &mut Manifest,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<bool> {
        let Self::Lists(lists) = self else { return Ok(true) };
        let mut file = files.create(path)?;
        for edges in lists {
            if !is_wanted() {
                return Ok(false);
            }
            append(edges, &mut file)?;
        }
        commit(file, manifest).map(|_| true)
    }

    pub fn len(&self) -> u64 {
        match self {
            Self::Lists(edges) => edges.iter().map(|edges| edges.n_edges() as u64).sum(),
            Self::Saved(file) => (file.bytes().len() / BYTES) as u64,
            Self::Both { old, new } => old.len() + new.len(),
        }
    }

    /// Hands all of them to `visit`, in order, some at a time. There are many: those in memory are taken straight from where they are.
    pub fn parts(&self, mut visit: impl FnMut(&[Edge]) -> Result<()>) -> Result<()> {
        match self {
            Self::Lists(edges) => edges.iter().flat_map(EdgeLists::lists).try_for_each(visit),
            Self::Saved(file) => {
                let mut lists = file.bytes().as_chunks().0.chunks(LIST);
                lists.try_for_each(|list| visit(&list.iter().map(decode).collect::<Vec<_>>()))
            }
            Self::Both { .. } => self.iter().try_for_each(|edge| visit(&[edge])),
        }
    }

    fn iter(&self) -> Box<dyn Iterator<Item = Edge> + '_> {
        match self {
            Self::Both { old, new } => {
                let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
                let later = |edge: Option<&Edge>| edge.map_or(u64::MAX, |edge| edge.later.0.into());
                Box::new(std::iter::from_fn(move || {
                    if later(old.peek()) <= later(new.peek()) {
                        old.next().or_else(|| new.next())
                    } else {
                        new.next()
                    }
                }))
            }
            Self::Lists(edges) => Box::new(edges.iter().flat_map(EdgeLists::iter)),
            Self::Saved(file) => Box::new(file.bytes().as_chunks().0.iter().map(decode)),
        }
    }
}

fn decode(bytes: &[u8; BYTES]) -> Edge {
    let number = |i: usize| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().expect("four bytes"));
    Edge { later: Rank(number(0)), earlier: Rank(number(1)), intersection: number(2), union: number(3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_edges_are_held_where_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let edge = |i| Edge { later: Rank(i + 1), earlier: Rank(i / 2), intersection: i, union: i + 3 };
        let all: Vec<Edge> = (0..LIST as u32 + 7).map(edge).collect();
        let edges = Edges::Lists(vec![EdgeLists::of(all.clone())]);
        let (files, mut manifest) = (Files::new(), Manifest::new("verify", ""));
        let path = folder.path().join(EDGES);
        assert!(!edges.save(&files, &path, &mut manifest, &|| false).unwrap() && !path.exists());
        assert!(edges.save(&files, &path, &mut manifest, &|| true).unwrap());
        let bytes = manifest.files()[0].stamp.bytes;
        assert_eq!(bytes, (BYTES * all.len()) as u64);
        for room in [bytes, bytes - 1] {
            let opened = Edges::open(folder.path(), EDGES, room).unwrap();
            assert_eq!(matches!(opened, Edges::Lists(_)), room == bytes);
            assert!(opened.iter().eq(all.iter().copied()));
            assert_eq!(opened.len(), all.len() as u64);
        }
    }
}
