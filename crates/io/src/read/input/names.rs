//! What a name of a file or an object says.

use std::ffi::OsStr;

/// Whether it is a pattern.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether what has it is passed over in folders.
pub(crate) fn is_hidden(name: &OsStr) -> bool {
    matches!(name.as_encoded_bytes().first(), Some(b'.' | b'_'))
}
