//! Files that are cut while they are read.
//!
//! Inputs of a deduplication and the files of a collection are looked at as memory. Where somebody else cuts such a file, or the disk fails, there is nothing to look at, and the system ends the
//! process with SIGBUS. Here it says why, and ends as after any other error.

/// What is said. Nothing can be formatted at that moment.
const MESSAGE: &[u8] = b"\nerror: a file that is being read was cut or cannot be read any more (SIGBUS)\n  what was finished before is whole: put the file back and run the command again (dedup: with --resume)\n";

/// From here on SIGBUS is explained before the process ends.
#[cfg(unix)]
pub(crate) fn report_truncated_files() {
    extern "C" fn report(_: libc::c_int) {
        // SAFETY: both calls may be made in a handler of signals; the message lives as long as the program.
        unsafe {
            libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::_exit(1);
        }
    }
    let handler: extern "C" fn(libc::c_int) = report;
    // SAFETY: the handler touches nothing that another thread could hold.
    unsafe { libc::signal(libc::SIGBUS, handler as libc::sighandler_t) };
}

#[cfg(not(unix))]
pub(crate) fn report_truncated_files() {}
