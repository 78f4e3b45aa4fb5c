//! The output, which remembers how it failed: an encoder only says that it did.

use std::io::{self, Write};

/// Writes to the output.
pub(super) struct Sink<'a> {
    out: &'a mut (dyn Write + Send),
    failed: Option<io::Error>,
    /// Bytes that were written before their turn.
    ahead: u64,
}

impl<'a> Sink<'a> {
    pub(super) fn new(out: &'a mut (dyn Write + Send)) -> Self {
        Self { out, failed: None, ahead: 0 }
    }

    pub(super) fn failed(self) -> Option<io::Error> {
        self.failed
    }

    /// Writes bytes before their turn: when that comes, as many bytes as went ahead are left out.
    pub(super) fn write_ahead(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.out.write_all(bytes);
        self.ahead += bytes.len() as u64;
        self.keep(written)
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
        if self.ahead > 0 {
            let n = bytes.len().min(usize::try_from(self.ahead).unwrap_or(usize::MAX));
            self.ahead -= n as u64;
            return Ok(n);
        }
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
