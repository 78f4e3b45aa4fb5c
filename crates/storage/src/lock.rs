//! One writer at a time in a folder.

use std::fs::{self, File, TryLockError};
use std::io::{Seek, Write};
use std::path::Path;

use super::error::{Error, Result};

/// The right to write in a folder, until it is dropped or the process ends, however it ends: the kernel keeps it, not the file. It is
/// advisory, so only writers that ask are kept out.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// The name of the file that is locked. It stays when the lock is gone: removing it could give two writers a lock each.
    pub const NAME: &str = "lock";

    /// Takes the lock of a folder.
    ///
    /// # Errors
    /// Another holder, in this or another process; a folder that is missing or cannot be written to.
    pub fn acquire(folder: &Path) -> Result<Self> {
        let path = folder.join(Self::NAME);
        let fail = |error| Error::disk("lock", &path, error);
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let pid = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
                return Err(Error::Locked { folder: folder.into(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
        file.set_len(0).and_then(|()| file.rewind()).map_err(fail)?;
        writeln!(file, "{}", std::process::id()).map_err(fail)?;
        Ok(Self { file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file is not enough: a process that is being started may still have it.
        self.file.unlock().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// What the child process of the test below locks.
    const FOLDER: &str = "BENZER_TEST_LOCK_FOLDER";

    #[test]
    fn a_second_holder_is_refused_with_the_pid_of_the_first() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(Lock::NAME), "99999999999 of a run that is long gone").unwrap();
        let lock = Lock::acquire(folder.path()).unwrap();
        let error = Lock::acquire(folder.path()).unwrap_err().to_string();
        let expected = format!(
            "another run (pid {}) is using `{}`; wait for it, or choose another output and --work-dir",
            std::process::id(),
            folder.path().display()
        );
        assert_eq!(error, expected);
        drop(lock);
        Lock::acquire(folder.path()).unwrap();
    }

    #[test]
    fn a_dropped_lock_is_free_while_another_process_still_has_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::acquire(folder.path()).unwrap();
        let inherited = lock.file.try_clone().unwrap();
        drop(lock);
        Lock::acquire(folder.path()).unwrap();
        drop(inherited);
    }

    #[test]
    fn a_missing_folder_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let error = Lock::acquire(&folder.path().join("no")).unwrap_err().to_string();
        assert!(error.starts_with("cannot lock") && error.ends_with("make its folder first"), "{error}");
    }

    #[test]
    fn a_killed_process_releases_its_lock() {
        if let Some(folder) = std::env::var_os(FOLDER) {
            let _lock = Lock::acquire(Path::new(&folder)).unwrap();
            println!("locked");
            loop {
                std::thread::park();
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "lock::tests::a_killed_process_releases_its_lock"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = std::io::BufReader::new(child.stdout.take().unwrap());
        assert!(std::io::BufRead::lines(said).any(|line| line.unwrap().contains("locked")));
        let held = Lock::acquire(folder.path()).unwrap_err();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(matches!(held, Error::Locked { pid: Some(pid), .. } if pid == child.id()), "{held}");
        Lock::acquire(folder.path()).unwrap();
    }
}
