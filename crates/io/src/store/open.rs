//! How objects are opened: by ranges where the server gives them, else as one body.

use std::io::Read;
use std::sync::Arc;

use super::body::Body;
use super::object::Object;
use super::windows::ObjectFile;

impl Object {
    /// Opens it to be read at any place; nothing if the server does not give parts of files.
    pub fn open(self: &Arc<Self>) -> Option<ObjectFile> {
        (self.has_ranges || self.bytes == 0).then(|| ObjectFile::new(self))
    }

    /// Opens it to be read from its beginning to its end.
    pub fn stream(self: &Arc<Self>) -> Box<dyn Read + Send> {
        match self.open() {
            Some(file) => Box::new(file),
            None => Box::new(Body::new(self)),
        }
    }
}
