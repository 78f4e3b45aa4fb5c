//! Files in object stores and behind web servers: S3, Google Cloud Storage, Azure, HTTP.
//!
//! ```text
//! Address --stat, list--> Object --open--> ObjectFile: Read + Seek      by ranges, read ahead
//!                                --stream-> Read                        also from servers without ranges
//!         --Folder--> put, list, remove                                 multi-part uploads
//! ```
//!
//! Everything outside of this folder is synchronous: the one small runtime that the clients need is in [`runtime`], and nothing of
//! it is seen elsewhere.
//!
//! - *Interruptions*. A request that fails is repeated with growing pauses, for up to three minutes; a body that breaks off goes on at
//!   the byte where it broke off. An object that changes meanwhile is an error, never a mixture of two.
//! - *Memory*. An open object holds at most [`MOST_HELD`] bytes, an upload eight parts.
//! - *Settings* come from the usual variables: `AWS_*`, `GOOGLE_*`, `AZURE_*`.

mod address;
mod body;
mod connect;
mod error;
mod fetch;
mod folder;
mod object;
mod runtime;
mod windows;

pub(crate) use address::Address;
pub(crate) use folder::{Folder, Stored};
pub(crate) use object::{Object, list, stat};
pub(crate) use windows::{MOST_HELD, ObjectFile};
