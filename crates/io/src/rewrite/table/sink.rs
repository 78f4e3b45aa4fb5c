//! The output, which remembers how it failed: an encoder only says that it did.

use std::io::{self, Write};

/// Writes to the output.
pub(super) struct Sink<'a> {
    out: &'a mut (dyn Write + Send),
    failed: Option<io::Error>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(out: &'a mut (dyn Write + Send)) -> Self {
        Self { out, failed: None }
    }

    pub(super) fn failed(self) -> Option<io::Error> {
        self.failed
    }

    fn keep<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let copy = io::Error::new(error.kind(), error.to_string());
            self.failed.get_or_insert(error);
            copy
        })
    }
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.out.write(bytes);
        // Interrupted is not failed: the caller tries again.
        match result {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            result => self.keep(result),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.out.flush();
        self.keep(result)
    }
}
