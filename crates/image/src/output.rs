//! The results: who is kept, who is removed and why, the kept files, a page to look at.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::decide::{Decided, Geometry, Reason};
use super::extract::Read;
use super::find::Input;
use super::{Kept, Options, Summary, sheet};
use benzer_dedup::results::manifest::{self, NAME as MANIFEST, RUN};
use benzer_dedup::{Error, Result};
use benzer_io::result_table::{Cell, Kind, Table};
use benzer_storage::{FileEntry, FileWriter, Files, Lock, checksum_of};

const PICTURES: &str = "pictures";
/// Everything else.
const RESULTS: [&str; 6] = ["kept.txt", "evidence.parquet", "rejects.jsonl", "report.html", RUN, MANIFEST];
const REJECTS: &str = "rejects.jsonl";
/// The lock of a run is in it.
const WORK: &str = ".benzer-work";

#[derive(Clone, Copy)]
struct Row<'a> {
    removed: &'a str,
    kept: &'a str,
    reason: &'a Reason,
}

/// Name, with `?` behind it if cells may be empty; what it holds; a cell of it.
type Column = (&'static str, Kind, for<'a> fn(Row<'a>) -> Cell<'a>);

const EVIDENCE: [Column; 12] = [
    ("removed_file", Kind::Text, |row| Cell::Text(row.removed)),
    ("kept_file", Kind::Text, |row| Cell::Text(row.kept)),
    ("rule", Kind::Text, |row| {
        Cell::Text(if matches!(row.reason, Reason::Copy) { "exact-copy" } else { "verified" })
    }),
    ("inliers?", Kind::Number, |row| row.of(|found| Cell::Number(found.agreement.inliers.len() as u32))),
    ("alike?", Kind::Number, |row| row.of(|found| Cell::Number(found.agreement.n_alike as u32))),
    ("spread?", Kind::Share, |row| row.of(|found| Cell::Share(found.agreement.spread.into()))),
    ("scale?", Kind::Share, |row| row.of(|found| Cell::Share(found.agreement.transform.scale().into()))),
    ("degrees?", Kind::Share, |row| row.of(|found| Cell::Share(found.agreement.transform.degrees().into()))),
    ("mirrored?", Kind::Flag, |row| row.of(|found| Cell::Flag(found.agreement.transform.mirrored))),
    ("similarity?", Kind::Share, |row| {
        row.of(|found| Cell::Share(f64::from(found.intersection) / f64::from(found.union)))
    }),
    ("intersection?", Kind::Number, |row| row.of(|found| Cell::Number(found.intersection))),
    ("union?", Kind::Number, |row| row.of(|found| Cell::Number(found.union))),
];

impl<'a> Row<'a> {
    /// What the geometric check found; nothing for a copy.
    fn of(self, cell: fn(&Geometry) -> Cell<'a>) -> Cell<'a> {
        match self.reason {
            Reason::Copy => Cell::Null,
            Reason::Geometry(found) => cell(found),
        }
    }
}

#[derive(Debug)]
pub(super) struct Folder {
    files: Files,
    path: PathBuf,
    lock: Lock,
    /// What was written, for the manifest.
    written: Vec<FileEntry>,
}

impl Folder {
    /// Makes it, refuses what would be overwritten, and makes room.
    pub fn prepare(files: &Files, options: &Options, inputs: &[Input]) -> Result<Self> {
        let path = options.output.clone();
        if path.exists() && !path.is_dir() {
            return Err(Error::parameter("output", "a folder", format!("the file `{}`", path.display())));
        }
        check_names(inputs)?;
        check(&path, options.overwrite)?;
        files.create_dir_all(&path)?;
        files.create_dir_all(&path.join(WORK))?;
        let lock = Lock::acquire(&path.join(WORK))?;
        let folder = Self { files: files.clone(), path, lock, written: Vec::new() };
        folder.remove_results(&[])?;
        files.remove_leftovers(&folder.path)?;
        Ok(folder)
    }

    fn remove_results(&self, except: &[&str]) -> Result<()> {
        for name in RESULTS.iter().rev().filter(|name| !except.contains(name)) {
            self.files.remove(&self.path.join(name))?;
        }
        let pictures = self.path.join(PICTURES);
        if pictures.is_dir() {
            fs::remove_dir_all(&pictures).map_err(|error| Error::open(pictures, error))?;
        }
        Ok(())
    }

    /// Leaves nothing that looks finished of a run that failed, but the list of files that are no pictures.
    pub fn withdraw(&self) {
        let _ = self.remove_results(&[REJECTS]);
    }

    /// Most files rejected is a wrong input rather than a bad collection.
    pub fn check_rejects(&mut self, options: &Options, read: &Read) -> Result<()> {
        let (rejected, all) = (read.rejects.len() as u64, read.inputs.len() as u64);
        let is_most = 2 * rejected > all && !options.allow_rejects;
        if !is_most && rejected < all {
            return Ok(());
        }
        self.rejects(read)?;
        Err(Error::Rejects {
            rejected,
            read: all,
            of: "files",
            first: read.rejected().into_iter().next().unwrap_or_default(),
            there: String::new(),
            remedy: "inputs",
            list: self.path.join(REJECTS),
        })
    }

    /// Writes everything but the last two files.
    pub fn write(&mut self, options: &Options, read: &Read, decided: &Decided) -> Result<()> {
        self.kept(read, decided)?;
        self.evidence(read, decided)?;
        self.rejects(read)?;
        self.put("report.html", sheet::render(options, read, decided).as_bytes())?;
        self.pictures(options.kept, read, decided)
    }

    /// Writes `run.json` and the manifest: the run is whole.
    pub fn finish(mut self, options: &Options, summary: &Summary) -> Result<()> {
        let seconds: serde_json::Map<_, _> =
            summary.seconds.iter().map(|(name, seconds)| ((*name).to_owned(), json!(seconds))).collect();
        let run = json!({
            "benzer": env!("CARGO_PKG_VERSION"),
            "command": options.command,
            "threads": options.threads,
            "counts": summary.counts,
            "seconds": seconds,
        });
        let files = std::mem::take(&mut self.written);
        self.put(RUN, &manifest::sealed(&run))?;
        let all = json!({
            "benzer": env!("CARGO_PKG_VERSION"),
            "format": manifest::FORMAT,
            "kind": "images",
            "pipeline": super::features().pipeline().as_str(),
            "counts": summary.counts,
            "files": files,
        });
        self.put(MANIFEST, &manifest::sealed(&all))?;
        drop(self.lock);
        let _ = fs::remove_file(self.path.join(WORK).join("lock"));
        // Somebody else's files in it keep it there.
        let _ = fs::remove_dir(self.path.join(WORK));
        Ok(())
    }

    fn put(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut file = self.files.create(&self.path.join(name))?;
        file.append(bytes)?;
        self.commit(name, file)
    }

    fn commit(&mut self, name: &str, file: FileWriter) -> Result<()> {
        self.written.push(FileEntry { name: name.to_owned(), stamp: file.commit()? });
        Ok(())
    }

    fn kept(&mut self, read: &Read, decided: &Decided) -> Result<()> {
        let mut file = self.files.create(&self.path.join("kept.txt"))?;
        for &number in &decided.kept {
            file.append(read.path(&read.pictures[number]).as_os_str().as_encoded_bytes())?;
            file.append(b"\n")?;
        }
        self.commit("kept.txt", file)
    }

    fn evidence(&mut self, read: &Read, decided: &Decided) -> Result<()> {
        let columns = EVIDENCE.map(|(name, kind, _)| (name, kind));
        let mut table = Table::new(self.files.create(&self.path.join("evidence.parquet"))?, &columns)?;
        for removal in &decided.removals {
            let name = |number: usize| read.path(&read.pictures[number]).display().to_string();
            let (removed, kept) = (name(removal.removed), name(removal.kept));
            let row = Row { removed: &removed, kept: &kept, reason: &removal.reason };
            table.push(EVIDENCE.iter().map(|(_, _, cell)| cell(row)))?;
        }
        let file = table.finish()?;
        self.commit("evidence.parquet", file)
    }

    fn rejects(&mut self, read: &Read) -> Result<()> {
        let mut file = self.files.create(&self.path.join("rejects.jsonl"))?;
        for reject in &read.rejects {
            let path = read.inputs[reject.input].path.display().to_string();
            let line = json!({"file": path, "reason": reject.reason}).to_string();
            file.append(line.as_bytes())?;
            file.append(b"\n")?;
        }
        self.commit("rejects.jsonl", file)
    }

    /// Linked pictures are still the user's own files, which may change; copies are the run's.
    fn pictures(&mut self, kept: Kept, read: &Read, decided: &Decided) -> Result<()> {
        if kept == Kept::Listed {
            return Ok(());
        }
        for &number in &decided.kept {
            let input = &read.inputs[read.pictures[number].input];
            let to = self.path.join(PICTURES).join(&input.relative);
            if let Some(folder) = to.parent() {
                self.files.create_dir_all(folder)?;
            }
            let done = match kept {
                Kept::Linked => link(&input.path, &to),
                _ => fs::copy(&input.path, &to).map(drop),
            };
            done.map_err(|error| benzer_storage::Error::disk("write", &to, error))?;
            // A name that is not text cannot be in the manifest.
            if let (Kept::Copied, Some(name)) = (kept, input.relative.to_str()) {
                let name = format!("{PICTURES}/{name}");
                self.written.push(FileEntry { name, stamp: checksum_of(&to)? });
            }
        }
        Ok(())
    }
}

/// Another name for a file: a hard link, or on another disk a symbolic one.
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    let real = fs::canonicalize(from)?;
    fs::hard_link(&real, to).or_else(|_| std::os::unix::fs::symlink(&real, to))
}

/// Two inputs must not have the same name in the results.
fn check_names(inputs: &[Input]) -> Result<()> {
    let mut by_name = std::collections::HashMap::new();
    for input in inputs {
        if let Some(other) = by_name.insert(&input.relative, &input.path) {
            let (a, b) = (other.clone(), input.path.clone());
            return Err(Error::SameName { a, b, name: input.relative.clone() });
        }
    }
    Ok(())
}

fn check(output: &Path, overwrite: bool) -> Result<()> {
    let occupied = |what| Err(Error::Occupied { path: output.to_owned(), what });
    if !output.exists() {
        return Ok(());
    }
    let is_finished = manifest::is_manifest(&output.join(MANIFEST));
    let is_ours = is_finished || output.join(WORK).is_dir();
    if is_finished && !overwrite {
        return occupied("the results of a finished run; name another folder, or give --overwrite");
    }
    let entries = fs::read_dir(output).map_err(|error| Error::open(output, error))?;
    let foreign = entries.flatten().map(|entry| entry.file_name()).any(|name| {
        let name = name.to_string_lossy();
        let is_result = name == PICTURES || RESULTS.contains(&&*name);
        // What nobody but a run has made is replaced, and nothing else.
        if is_ours {
            !overwrite && !is_result && !name.starts_with('.')
        } else {
            is_result || !overwrite && !name.starts_with('.')
        }
    });
    if foreign { occupied("other files; name a new folder for the results") } else { Ok(()) }
}
