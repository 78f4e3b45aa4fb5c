//! Names of files that are not finished: hidden, unique, and recognisable by a later run.
//!
//! `out.parquet` is written as `.out.parquet.1234-7.tmp`: process 1234, its seventh temporary file.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{disk::Disk, handle::Handle};

/// Characters kept of the name: a temporary name is longer than the name, and 255 bytes are the limit.
const KEPT: usize = 50;

/// Makes a file under a temporary name beside `path`.
pub(super) fn create(disk: &dyn Disk, path: &Path) -> io::Result<(PathBuf, Handle)> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let Some(name) = path.file_name() else { return Err(io::ErrorKind::IsADirectory.into()) };
    let kept: String = name.to_string_lossy().chars().take(KEPT).collect();
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_file_name(format!(".{kept}.{}-{number}.tmp", std::process::id()));
        match disk.create(&temporary) {
            // Left by a killed process that had our number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return Ok((temporary, created?)),
        }
    }
}

/// Whether a file has a temporary name.
pub(super) fn is_name(name: &OsStr) -> bool {
    let parts = || {
        let (_, numbers) = name.to_str()?.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
        numbers.split_once('-')
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts().is_some_and(|(process, number)| digits(process) && digits(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_temporary_names_are_recognised() {
        for name in [".out.parquet.12-3.tmp", ".run.1-1.tmp", ".é.1-1.tmp"] {
            assert!(is_name(OsStr::new(name)), "{name}");
        }
        for name in
            ["out.12-3.tmp", ".out.tmp", ".out.12.tmp", ".out.12-.tmp", ".out.a-1.tmp", ".1-1.tmp", ""]
        {
            assert!(!is_name(OsStr::new(name)), "{name}");
        }
    }
}
