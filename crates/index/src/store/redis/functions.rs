//! The library of functions that run inside of the server.
//!
//! Its name has a hash of its code, so that clients of different versions do not get in each other's way. It is loaded where it is missing.

use std::sync::OnceLock;

use benzer_core::hash;

const CODE: &str = include_str!("functions.lua");

/// The functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Put,
    Remove,
    Scan,
    Numbers,
    Fence,
    Compact,
    Settle,
    Recount,
    Advance,
    Turn,
    Publish,
}

impl Function {
    /// The name under which the server knows it: what it is called here, in lower case.
    pub fn name(self) -> String {
        format!("{}_{self:?}", prefix()).to_ascii_lowercase()
    }
}

fn prefix() -> &'static str {
    static PREFIX: OnceLock<String> = OnceLock::new();
    PREFIX.get_or_init(|| format!("benzer_{:08x}", hash::element(CODE.as_bytes()) >> 32))
}

/// The code as the server takes it.
pub(super) fn library() -> String {
    format!("#!lua name={}\n{}", prefix(), CODE.replace("PREFIX", prefix()))
}
