//! Files in object stores and behind web servers: S3, Google Cloud Storage, Azure, HTTP.
//!
//! ```text
//! Address --stat, list--> Object --open--> ObjectFile: Read + Seek      by ranges, read ahead
//!                                --stream-> Read                        also from servers without ranges
//!         --Folder--> put, list, remove                                 multi-part uploads
//! ```
//!
//! Everything outside of this folder is synchronous: the one small runtime that the clients need is in `runtime.rs`, and nothing of
//! it is seen elsewhere.
//!
//! - *Interruptions*. A request that fails is repeated with growing pauses, for up to three minutes; a body that breaks off goes on at
//!   the byte where it broke off. An object that changes meanwhile is an error, never a mixture of two.
//! - *Memory*. An open object holds at most [`MAX_HELD`] bytes, an upload three parts of 8 MiB.
//! - *Settings* come from the common variables: `AWS_*`, `GOOGLE_*`, `AZURE_*`.

// Without them, nobody makes an object or looks closely at an address.
#![cfg_attr(not(feature = "object-store"), allow(dead_code))]

#[cfg(not(feature = "object-store"))]
mod absent;
mod address;
#[cfg(feature = "object-store")]
mod body;
#[cfg(feature = "object-store")]
mod connect;
#[cfg(feature = "object-store")]
mod error;
#[cfg(feature = "object-store")]
mod fetch;
#[cfg(feature = "object-store")]
mod folder;
#[cfg(feature = "object-store")]
mod object;
#[cfg(feature = "object-store")]
mod open;
#[cfg(feature = "object-store")]
mod runtime;
#[cfg(feature = "object-store")]
mod windows;

#[cfg(not(feature = "object-store"))]
pub use absent::{Folder, MAX_HELD};
#[cfg(not(feature = "object-store"))]
pub(crate) use absent::{Object, ObjectFile, list, stat};
pub use address::Address;
#[cfg(feature = "object-store")]
pub use folder::Folder;
#[cfg(feature = "object-store")]
pub(crate) use object::{Object, list, stat};
#[cfg(feature = "object-store")]
pub use windows::MAX_HELD;
#[cfg(feature = "object-store")]
pub(crate) use windows::ObjectFile;

/// An object that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its size.
    pub bytes: u64,
    /// What changes when its content does.
    pub version: String,
}
