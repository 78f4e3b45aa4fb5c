//! A folder with the files of `examples/`, in which the binary is run.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A temporary folder to run in.
pub struct Bench {
    folder: tempfile::TempDir,
}

/// What a run left behind.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Bench {
    pub fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    /// In memory where the system has a folder for that: for many runs that sync what they write.
    pub fn in_memory() -> Self {
        Self::at(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn at(folder: tempfile::TempDir) -> Self {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        for entry in std::fs::read_dir(examples).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
            }
        }
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The binary with a clean environment of 80 columns.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_benzer"));
        command.args(arguments).current_dir(self.folder.path()).env("COLUMNS", "80");
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("BENZER_")) {
            command.env_remove(name);
        }
        command
    }

    pub fn run(&self, line: &str) -> Ran {
        self.run_with(self.command(&line.split_whitespace().collect::<Vec<_>>()), b"")
    }

    pub fn run_with(&self, mut command: Command, input: &[u8]) -> Ran {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that does not read its input may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let ran =
            Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) };
        assert!(!ran.err.contains("panicked"), "{ran:?}");
        ran
    }
}

impl Ran {
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self:#?}");
        self
    }

    #[track_caller]
    pub fn json(self) -> Value {
        serde_json::from_str(&self.ok().out).unwrap()
    }

    /// Failed with this code and one line that says all of `parts`; nothing on standard output.
    #[track_caller]
    pub fn fails(self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{self:#?}");
        let errors: Vec<&str> = self.err.lines().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!(errors.len(), 1, "{self:#?}");
        for part in parts {
            assert!(errors[0].contains(part), "{part:?} is not in {:#?}", self);
        }
        assert_eq!(self.out, "", "{self:#?}");
    }
}
