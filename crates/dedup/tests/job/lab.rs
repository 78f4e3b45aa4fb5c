//! A folder with inputs, in which runs are made and their outputs compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use benzer_core::lsh::{Banding, Shape};
use benzer_core::sketch::SketchSpec;
use benzer_dedup::Result;
use benzer_dedup::progress::Silent;
use benzer_dedup::request::{Comparison, Request, Search};
use benzer_dedup::summary::Summary;
use tempfile::TempDir;
use walkdir::WalkDir;

/// Every file of an output but `run.json`, by its path.
pub type Outputs = BTreeMap<String, Vec<u8>>;

pub struct Lab {
    folder: TempDir,
}

impl Lab {
    /// In memory where the system has a folder for that: thousands of runs sync each of their files.
    pub fn new() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        fs::create_dir(folder.path().join("in")).unwrap();
        Self { folder }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file of the input folder.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path("in").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// A run over the input folder, at 0.7 on pairs of words, with ids.
    pub fn request(&self, output: &str) -> Request {
        let banding = Banding::new(&SketchSpec::default(), Shape { bands: 25, rows: 5 }).unwrap();
        let inputs = vec![self.path("in")];
        let compare = Comparison::new("0.7".parse().unwrap(), Search::Bands(banding));
        let mut request = Request::new(inputs, self.path(output), compare);
        request.compare.text.n = 2;
        request.input.read.id_field = Some("id".parse().unwrap());
        request
    }

    /// The request of a run whose intermediate results all go to disk.
    pub fn on_disk(&self, output: &str) -> Request {
        self.request(output).with(|request| request.resources.in_memory = 0)
    }
}

pub fn run(request: &Request) -> Result<Summary> {
    benzer_dedup::run(request, &Silent)
}

pub fn outputs(folder: &Path) -> Outputs {
    let files = WalkDir::new(folder).into_iter().map(|entry| entry.unwrap());
    let files = files.filter(|entry| entry.file_type().is_file() && entry.file_name() != "run.json");
    let name = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
    files.map(|entry| (name(entry.path()), fs::read(entry.path()).unwrap())).collect()
}

/// Names what differs, instead of printing bytes.
#[track_caller]
pub fn assert_same(found: &Outputs, expected: &Outputs, context: &str) {
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{context}");
    let differing: Vec<_> = found.iter().filter(|(name, bytes)| expected[*name] != **bytes).collect();
    assert!(
        differing.is_empty(),
        "{context}: {:?}",
        differing.iter().map(|(name, _)| name).collect::<Vec<_>>()
    );
}
