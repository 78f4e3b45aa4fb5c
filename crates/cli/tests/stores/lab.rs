//! A folder with a corpus, in which the binary is run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A temporary folder to run in.
pub struct Lab {
    folder: tempfile::TempDir,
}

/// What a run left behind.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// Files by their names below a folder, without the one that tells times.
pub type Contents = BTreeMap<String, Vec<u8>>;

impl Lab {
    /// An empty folder.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder with a corpus of every format in `data/`.
    pub fn with_corpus() -> Self {
        let lab = Self::new();
        python(&["corpus.py", &lab.path("data").display().to_string()]);
        lab
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the binary. Only these variables of the stores are set.
    pub fn run(&self, line: &str, variables: &[(&str, String)]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_benzer"));
        for (name, _) in std::env::vars() {
            if ["AWS_", "AZURE_", "GOOGLE_", "BENZER_"].iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        let variables = variables.iter().map(|(name, value)| (name, value));
        let output = command
            .args(line.split_whitespace())
            .envs(variables)
            .envs(
                ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"]
                    .map(|name| (name, "")),
            )
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let ran = Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
        assert!(!ran.err.contains("panicked"), "{ran:#?}");
        ran
    }

    /// All files below a folder.
    pub fn contents(&self, folder: &str) -> Contents {
        let mut found = Contents::new();
        let root = self.path(folder);
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    folders.push(entry);
                    continue;
                }
                let name = entry.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(entry).unwrap());
            }
        }
        found
    }
}

impl Ran {
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    #[track_caller]
    pub fn fails(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for word in words {
            assert!(self.err.contains(word), "no `{word}` in {self:#?}");
        }
        assert_eq!(self.err.trim_end().lines().count(), 1, "{self:#?}");
        self
    }
}

/// What two runs must have in common: all but the file that tells times and memory, and the page that names the inputs.
pub fn lasting(mut contents: Contents) -> Contents {
    for name in ["run.json", "report.html"] {
        assert!(contents.remove(name).is_some(), "no {name} in {:?}", contents.keys());
    }
    let manifest = contents.get_mut("manifest.json").expect("a manifest");
    let mut value: serde_json::Value = serde_json::from_slice(manifest).expect("JSON");
    let files = value["files"].as_array_mut().expect("files");
    files.retain(|file| file["name"] != "report.html");
    // It covers the entry of that page.
    assert!(value["checksum"].take().is_string(), "a manifest has a checksum of its own");
    *manifest = serde_json::to_vec(&value).expect("JSON");
    contents
}

/// The same names with the same bytes.
#[track_caller]
pub fn assert_same(a: &Contents, b: &Contents) {
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    let different: Vec<_> =
        a.iter().filter(|(name, bytes)| b[*name] != **bytes).map(|(name, _)| name).collect();
    assert!(different.is_empty(), "{different:?} are different");
}

/// Runs a script of `python/`; what it prints is given back.
pub fn python(arguments: &[&str]) -> String {
    let output = Command::new(interpreter()).args(arguments).current_dir(scripts()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The Python that has the packages; they are installed if they are not.
pub fn interpreter() -> &'static Path {
    static INTERPRETER: OnceLock<PathBuf> = OnceLock::new();
    INTERPRETER.get_or_init(|| {
        let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/python.sh");
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let output = Command::new("bash").arg(tool).arg(target.join("python")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().into()
    })
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores/python")
}
