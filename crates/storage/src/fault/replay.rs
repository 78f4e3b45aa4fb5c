//! What a power cut leaves of a recording.
//!
//! Files and folders are nodes, names are entries of folders. Each operation is replayed on the tree as the program saw it; bytes
//! and changes of names are noted, and marked durable by the syncs. In the end the tree is built again from the start, with what is
//! durable and some of the rest.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;

use benzer_core::hash::split;

use super::{Entry, Operation};

const PAGE: usize = 4096;
const ROOT: Node = 0;

/// A file or folder, whatever its name.
type Node = usize;
/// The entries of each folder.
type Tree = BTreeMap<Node, BTreeMap<OsString, Node>>;
/// A name in a folder.
type Name = (Node, OsString);

/// A change of names that survives whole or not at all.
struct Change {
    remove: Option<Name>,
    add: Option<(Name, Node)>,
    durable: bool,
}

#[derive(Default)]
struct Content {
    durable: Vec<u8>,
    unsynced: Vec<(usize, Vec<u8>)>,
}

#[derive(Default)]
struct Replay {
    start: Tree,
    /// The tree as the program sees it.
    live: Tree,
    contents: BTreeMap<Node, Content>,
    changes: Vec<Change>,
    n_nodes: usize,
}

pub(super) fn power_cut(start: &[Entry], log: &[Operation], seed: u64, into: &Path) -> io::Result<()> {
    let mut replay = Replay::new(start);
    log.iter().for_each(|operation| replay.play(operation));
    let mut draws = Draws { seed, n: 0 };
    let tree = replay.surviving(&mut draws);
    replay.build(&tree, ROOT, into, &mut draws)
}

impl Replay {
    fn new(start: &[Entry]) -> Self {
        let mut replay = Self::default();
        let root = replay.folder();
        debug_assert_eq!(root, ROOT);
        for Entry { path, bytes } in start {
            let node = match bytes {
                Some(bytes) => replay.file(bytes.clone()),
                None => replay.folder(),
            };
            let add = Some((replay.name(path), node));
            apply(&Change { remove: None, add, durable: true }, &mut replay.live);
        }
        replay.start = replay.live.clone();
        replay
    }

    fn play(&mut self, operation: &Operation) {
        match operation {
            Operation::Create(path) => {
                let node = self.file(Vec::new());
                self.change(None, Some((self.name(path), node)));
            }
            Operation::CreateDir(path) => {
                let node = self.folder();
                self.start.insert(node, BTreeMap::new());
                self.change(None, Some((self.name(path), node)));
            }
            Operation::Rename { from, to } => {
                let node = self.find(from);
                self.change(Some(self.name(from)), Some((self.name(to), node)));
            }
            Operation::Remove(path) => self.change(Some(self.name(path)), None),
            Operation::Write { path, offset, bytes } => {
                let content = self.content(path);
                content.unsynced.push((*offset as usize, bytes.clone()));
            }
            Operation::SyncFile(path) => {
                let content = self.content(path);
                for (offset, bytes) in std::mem::take(&mut content.unsynced) {
                    put(&mut content.durable, offset, &bytes);
                }
            }
            Operation::SyncDir(path) => self.sync_folder(self.find(path)),
        }
    }

    /// A change between two folders is one: it takes the earlier changes of both with it.
    fn sync_folder(&mut self, folder: Node) {
        let mut synced = HashSet::from([folder]);
        for change in self.changes.iter_mut().rev() {
            if change.folders().any(|folder| synced.contains(&folder)) {
                synced.extend(change.folders());
                change.durable = true;
            }
        }
    }

    /// The tree after the cut. `left` counts the changes that each folder still keeps.
    fn surviving(&self, draws: &mut Draws) -> Tree {
        let mut left: BTreeMap<Node, usize> = BTreeMap::new();
        let pending = || self.changes.iter().filter(|change| !change.durable);
        for folder in pending().flat_map(Change::folders) {
            *left.entry(folder).or_default() += 1;
        }
        left.values_mut().for_each(|n| *n = draws.below(*n + 1));
        let mut tree = self.start.clone();
        for change in &self.changes {
            let kept = change.durable || change.folders().all(|folder| left[&folder] > 0);
            if kept {
                apply(change, &mut tree);
            }
            if !change.durable {
                change.folders().for_each(|folder| {
                    let n = left.get_mut(&folder).expect("every pending change was counted");
                    *n = if kept { *n - 1 } else { 0 };
                });
            }
        }
        tree
    }

    fn build(&self, tree: &Tree, folder: Node, into: &Path, draws: &mut Draws) -> io::Result<()> {
        for (name, node) in &tree[&folder] {
            let path = into.join(name);
            match self.contents.get(node) {
                Some(content) => fs::write(path, content.surviving(draws))?,
                None => {
                    fs::create_dir(&path)?;
                    self.build(tree, *node, &path, draws)?;
                }
            }
        }
        Ok(())
    }

    fn change(&mut self, remove: Option<Name>, add: Option<(Name, Node)>) {
        let change = Change { remove, add, durable: false };
        apply(&change, &mut self.live);
        self.changes.push(change);
    }

    fn file(&mut self, durable: Vec<u8>) -> Node {
        self.contents.insert(self.n_nodes, Content { durable, unsynced: Vec::new() });
        self.n_nodes += 1;
        self.n_nodes - 1
    }

    fn folder(&mut self) -> Node {
        self.live.insert(self.n_nodes, BTreeMap::new());
        self.n_nodes += 1;
        self.n_nodes - 1
    }

    fn name(&self, path: &Path) -> Name {
        let folder = self.find(path.parent().unwrap_or(Path::new("")));
        (folder, path.file_name().unwrap_or(OsStr::new("")).to_owned())
    }

    fn find(&self, path: &Path) -> Node {
        path.iter().fold(ROOT, |folder, name| self.live[&folder][name])
    }

    fn content(&mut self, path: &Path) -> &mut Content {
        let node = self.find(path);
        self.contents.get_mut(&node).expect("only files are written and synced")
    }
}

impl Change {
    fn folders(&self) -> impl Iterator<Item = Node> {
        let removed = self.remove.as_ref().map(|(folder, _)| *folder);
        let added =
            self.add.as_ref().map(|((folder, _), _)| *folder).filter(|folder| removed != Some(*folder));
        removed.into_iter().chain(added)
    }
}

fn apply(change: &Change, tree: &mut Tree) {
    if let Some((folder, name)) = &change.remove {
        tree.get_mut(folder).expect("folders are never dropped from the tree").remove(name);
    }
    if let Some(((folder, name), node)) = &change.add {
        tree.get_mut(folder).expect("folders are never dropped from the tree").insert(name.clone(), *node);
    }
}

impl Content {
    fn surviving(&self, draws: &mut Draws) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        let total = self.unsynced.iter().map(|(_, bytes)| bytes.len()).sum();
        match draws.below(4) {
            0 => {}
            1 => self.cut_short(draws.below(total + 1), &mut bytes),
            2 => self.with_holes(draws, &mut bytes),
            _ => self.cut_short(total, &mut bytes),
        }
        bytes
    }

    fn cut_short(&self, mut kept: usize, into: &mut Vec<u8>) {
        for (offset, bytes) in &self.unsynced {
            let n = kept.min(bytes.len());
            put(into, *offset, &bytes[..n]);
            kept -= n;
        }
    }

    /// The size of the file has reached the disk, some of its pages have not.
    fn with_holes(&self, draws: &mut Draws, into: &mut Vec<u8>) {
        for (offset, bytes) in &self.unsynced {
            into.resize(into.len().max(offset + bytes.len()), 0);
            for (i, page) in bytes.chunks(PAGE).enumerate() {
                if draws.below(2) == 1 {
                    put(into, offset + i * PAGE, page);
                }
            }
        }
    }
}

fn put(into: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    if !bytes.is_empty() {
        into.resize(into.len().max(offset + bytes.len()), 0);
        into[offset..][..bytes.len()].copy_from_slice(bytes);
    }
}

/// Seeded draws. Those of seed 0 are the smallest possible, those of seed 1 the largest.
struct Draws {
    seed: u64,
    n: u64,
}

impl Draws {
    /// A number in `0..n`.
    fn below(&mut self, n: usize) -> usize {
        self.n += 1;
        match self.seed {
            0 => 0,
            1 => n - 1,
            seed => (split(seed, self.n) % n as u64) as usize,
        }
    }
}
