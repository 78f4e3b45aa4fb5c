//! Outputs compressed as their inputs were, in parts of a fixed size.
//!
//! So many bytes, from the beginning on, are a member of a gzip file or a frame of a Zstandard file, and both formats allow many of them behind each other. A part needs nothing of the others, so any thread compresses it,
//! and the bytes of an output depend on its content only.

use std::io::{self, Write};

use benzer_storage::FileWriter;
use libdeflater::{CompressionLvl, Compressor as Deflate};

use crate::error::{Error, Result};
use crate::read::Compression;

/// As small as what `gzip` makes by default, in two thirds of the time.
const GZIP_LEVEL: i32 = 5;
/// The level of `zstd` by default.
const ZSTD_LEVEL: i32 = 3;
/// Bytes of content in a member of gzip: 32 times as far as it looks back.
const GZIP_PART: usize = 1 << 20;
/// Bytes of content in a frame of Zstandard: twice as far as it looks back at its default level.
const ZSTD_PART: usize = 4 << 20;

/// Bytes of content that are compressed together; nothing if they are left as they are.
pub fn part_bytes(compression: Compression) -> Option<usize> {
    match compression {
        Compression::None => None,
        Compression::Gzip => Some(GZIP_PART),
        Compression::Zstd => Some(ZSTD_PART),
    }
}

/// What a thread needs to compress parts, made when it is first needed.
#[derive(Default)]
pub struct Compressor {
    deflate: Option<Deflate>,
    zstd: Option<zstd::bulk::Compressor<'static>>,
}

impl Compressor {
    /// Appends a part, compressed; also one without bytes is a member or a frame.
    ///
    /// # Errors
    /// No memory for the compression.
    pub fn compress(&mut self, part: &[u8], compression: Compression, into: &mut Vec<u8>) -> io::Result<()> {
        match compression {
            Compression::None => into.extend_from_slice(part),
            Compression::Gzip => {
                let level = CompressionLvl::new(GZIP_LEVEL).expect("levels go to 12");
                let deflate = self.deflate.get_or_insert_with(|| Deflate::new(level));
                let start = into.len();
                into.resize(start + deflate.gzip_compress_bound(part.len()), 0);
                let n = deflate.gzip_compress(part, &mut into[start..]);
                into.truncate(start + n.expect("the bound is enough"));
            }
            Compression::Zstd => self.frame(part, into)?,
        }
        Ok(())
    }

    fn frame(&mut self, part: &[u8], into: &mut Vec<u8>) -> io::Result<()> {
        let compressor = match &mut self.zstd {
            Some(compressor) => compressor,
            none => {
                let mut new = zstd::bulk::Compressor::new(ZSTD_LEVEL)?;
                new.include_checksum(true)?;
                none.insert(new)
            }
        };
        let start = into.len();
        into.reserve(zstd::zstd_safe::compress_bound(part.len()));
        let mut end = io::Cursor::new(into);
        end.set_position(start as u64);
        compressor.compress_to_buffer(part, &mut end)?;
        Ok(())
    }
}

/// An output that compresses what it is given, on this thread. Errors name the file.
pub struct CompressedWriter {
    out: FileWriter,
    compression: Compression,
    compressor: Compressor,
    /// The beginning of a part.
    part: Vec<u8>,
    compressed: Vec<u8>,
    n_parts: u64,
}

impl CompressedWriter {
    /// Compresses what goes to a file.
    pub fn new(out: FileWriter, compression: Compression) -> Self {
        let (part, compressed) = (Vec::new(), Vec::new());
        Self { out, compression, compressor: Compressor::default(), part, compressed, n_parts: 0 }
    }

    /// Compresses the parts that are whole.
    fn take(&mut self, mut bytes: &[u8], size: usize) -> io::Result<()> {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(size - self.part.len()));
            self.part.extend_from_slice(now);
            bytes = rest;
            if self.part.len() == size {
                self.end_part()?;
            }
        }
        Ok(())
    }

    fn end_part(&mut self) -> io::Result<()> {
        self.compressed.clear();
        self.compressor.compress(&self.part, self.compression, &mut self.compressed)?;
        self.part.clear();
        self.n_parts += 1;
        self.out.write_all(&self.compressed)
    }

    /// Ends the compression; the file still waits for its commit.
    ///
    /// # Errors
    /// No memory for the compression; an output that fails.
    pub fn finish(mut self) -> Result<FileWriter> {
        let is_compressed = self.compression != Compression::None;
        if is_compressed && (self.n_parts == 0 || !self.part.is_empty()) {
            self.end_part().map_err(Error::Write)?;
        }
        Ok(self.out)
    }
}

impl Write for CompressedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match part_bytes(self.compression) {
            None => self.out.write(bytes),
            Some(size) => self.take(bytes, size).map(|()| bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // Everything is flushed at the commit.
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_storage::Files;
    use std::io::Read;

    fn content(n: usize) -> Vec<u8> {
        (0..n as u64).map(|i| (benzer_core::hash::mix(i / 3) % 40) as u8).collect()
    }

    fn decompressed(compression: Compression, bytes: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        match compression {
            Compression::None => content.extend_from_slice(bytes),
            Compression::Gzip => {
                flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut content).map(drop).unwrap();
            }
            Compression::Zstd => zstd::stream::copy_decode(bytes, &mut content).unwrap(),
        }
        content
    }

    #[test]
    fn the_bytes_depend_on_the_content_only_and_ordinary_decoders_give_it_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let size = part_bytes(compression).unwrap_or(1 << 20);
            for n in [0, 1, size - 1, size, size + 1, 2 * size + 77] {
                let content = content(n);
                let mut expected = Vec::new();
                let mut compressor = Compressor::default();
                for part in content.chunks(size) {
                    compressor.compress(part, compression, &mut expected).unwrap();
                }
                if n == 0 {
                    compressor.compress(&[], compression, &mut expected).unwrap();
                }
                assert_eq!(decompressed(compression, &expected), content);
                for step in [size / 3 + 5, 3 * size] {
                    let mut out = CompressedWriter::new(Files::new().create(&path).unwrap(), compression);
                    content.chunks(step).for_each(|bytes| out.write_all(bytes).unwrap());
                    out.finish().unwrap().commit().unwrap();
                    assert!(std::fs::read(&path).unwrap() == expected, "{compression:?}, {n} bytes");
                }
            }
        }
    }

    #[test]
    fn what_an_output_says_goes_through_the_compression() {
        let files = Files::failing(benzer_storage::fault::When::AfterBytes(10), io::ErrorKind::StorageFull);
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let folder = tempfile::tempdir().unwrap();
            let mut out =
                CompressedWriter::new(files.create(&folder.path().join("out")).unwrap(), compression);
            let written = out.write_all(&content(100_000)).map_err(Error::Write);
            let error = written.and_then(|()| Ok(out.finish()?.commit()?)).unwrap_err().to_string();
            assert!(error.contains("free some space"), "{error}");
        }
    }
}
