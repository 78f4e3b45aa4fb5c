//! What a handler takes of a request: who asks, the parts of the path, the body.

mod body;
mod caller;
mod json;
#[cfg(feature = "image")]
pub mod multipart;
mod path;

pub use body::{Media, Received};
pub use caller::{Caller, Opened};
pub use json::{Json, check_depth};
pub use path::PathParts;
