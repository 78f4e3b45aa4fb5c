//! From a file or a pipe to its uncompressed bytes.
//!
//! The content decides how it is compressed, not the name: a gzip file called `a.jsonl` is read as gzip. Gzip may have
//! many members and zstd many frames, of any window up to `--long=31` (such a frame needs its window, up to 2 GiB, in
//! memory). What is recognised and not read (`xz`, `zip`, UTF-16) is refused before the first line.

mod map;

use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::format::Compression;
use super::reject::RejectReason;
use crate::error::{Error, Result};
pub(in crate::read) use map::Map;

/// How many bytes tell one format from another, and how large the window of a zstd frame is.
const MAGIC_BYTES: u64 = 18;
/// The largest window of `zstd --long`.
const ZSTD_WINDOW_LOG_MAX: u32 = 31;
/// What is read from disk at a time ahead of a decompressor.
const COMPRESSED_CHUNK: usize = 256 << 10;
const GLANCE_CHUNK: usize = 4 << 10;

/// What files may be.
const READ: &str = "json lines, csv, tsv, plain text, parquet or arrow";

/// How far the reading is. Clones see the same counter, from any thread.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    read: Arc<AtomicU64>,
    total: Option<u64>,
}

impl Progress {
    pub(super) fn new(total: Option<u64>) -> Self {
        Self { read: Arc::default(), total }
    }

    /// Bytes read so far, as they are on disk.
    pub fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Bytes on disk of all inputs; unknown when one of them is a pipe.
    pub fn bytes_total(&self) -> Option<u64> {
        self.total
    }

    pub(super) fn add(&self, n: usize) {
        self.read.fetch_add(n as u64, Ordering::Relaxed);
    }
}

/// The uncompressed bytes of one input.
pub(super) struct Stream {
    compression: Compression,
    window: u64,
    /// The first bytes, which were read to tell the format.
    ahead: Vec<u8>,
    decoder: Box<dyn Read + Send>,
    /// What went wrong after those bytes.
    failed: Option<io::Error>,
    /// Whether the source failed, as opposed to what the decoder thinks of its bytes.
    source_failed: Arc<AtomicBool>,
    progress: Progress,
}

/// How a read ended.
#[derive(Debug)]
pub(super) enum End {
    /// There may be more.
    More,
    /// That was all.
    Done,
    /// The rest cannot be decompressed.
    Broken(RejectReason),
}

impl Stream {
    /// Looks at the first bytes and sets up the decoder.
    pub(super) fn new(source: Box<dyn Read + Send>, path: &Path, progress: &Progress) -> Result<Self> {
        Self::with_chunk(COMPRESSED_CHUNK, source, path, progress)
    }

    /// The same for somebody who only looks at the beginning: reads little, and counts nothing.
    pub(super) fn glance(source: Box<dyn Read + Send>, path: &Path) -> Result<Self> {
        Self::with_chunk(GLANCE_CHUNK, source, path, &Progress::default())
    }

    fn with_chunk(
        chunk: usize,
        source: Box<dyn Read + Send>,
        path: &Path,
        progress: &Progress,
    ) -> Result<Self> {
        let source_failed = Arc::new(AtomicBool::new(false));
        let mut source =
            CountedSource { inner: source, progress: progress.clone(), failed: Arc::clone(&source_failed) };
        let fail = |error| Error::read(path, error);
        let mut ahead = Vec::new();
        source.by_ref().take(MAGIC_BYTES).read_to_end(&mut ahead).map_err(fail)?;
        let compression = sniff(&ahead, path)?;
        let window = if compression == Compression::Zstd { zstd_window(&ahead) } else { 0 };
        let stream = |ahead, decoder| Self {
            compression,
            window,
            ahead,
            decoder,
            failed: None,
            source_failed: Arc::clone(&source_failed),
            progress: progress.clone(),
        };
        if compression == Compression::None {
            return Ok(stream(ahead, source.inner));
        }
        let compressed = BufReader::with_capacity(chunk, io::Cursor::new(ahead).chain(source));
        let decoder: Box<dyn Read + Send> = if compression == Compression::Gzip {
            Box::new(flate2::bufread::MultiGzDecoder::new(compressed))
        } else {
            let mut decoder = zstd::Decoder::with_buffer(compressed).map_err(fail)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(fail)?;
            Box::new(decoder)
        };
        Ok(stream(Vec::new(), decoder))
    }

    /// How it is compressed.
    pub(super) fn compression(&self) -> Compression {
        self.compression
    }

    /// How much of what it gave the decoder holds, as far as its first frame tells.
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// The first bytes, uncompressed; they are still there to be read.
    pub(super) fn peek(&mut self) -> &[u8] {
        if self.compression != Compression::None && self.ahead.is_empty() && self.failed.is_none() {
            self.failed = self.decoder.by_ref().take(MAGIC_BYTES).read_to_end(&mut self.ahead).err();
        }
        &self.ahead
    }

    /// Appends `n` bytes, or fewer at the end.
    pub(super) fn read(&mut self, n: usize, into: &mut Vec<u8>) -> io::Result<End> {
        let before = into.len();
        let ahead = n.min(self.ahead.len());
        into.extend(self.ahead.drain(..ahead));
        into.reserve(n - ahead);
        let failed = if n > ahead { self.failed.take() } else { None };
        let result = match failed {
            Some(error) => Err(error),
            None => self.decoder.by_ref().take((n - ahead) as u64).read_to_end(into),
        };
        if self.compression == Compression::None {
            self.progress.add(into.len() - before - ahead);
        }
        match result {
            Ok(_) if into.len() - before < n => Ok(End::Done),
            Ok(_) => Ok(End::More),
            Err(error) => self.broken(error).map(End::Broken),
        }
    }

    fn broken(&self, error: io::Error) -> io::Result<RejectReason> {
        let compression = self.compression;
        if compression == Compression::None || self.source_failed.load(Ordering::Relaxed) {
            return Err(error);
        }
        Ok(match error.kind() {
            io::ErrorKind::UnexpectedEof => RejectReason::Truncated { compression },
            _ => RejectReason::Corrupt { compression, detail: error.to_string() },
        })
    }
}

/// Tells the compression by the first bytes; a format that is not read is an error. The name only decides for a file
/// that is too short to tell.
pub(super) fn sniff(start: &[u8], path: &Path) -> Result<Compression> {
    let format = |got, remedy| Err(Error::Format { path: path.into(), expected: READ, got, remedy });
    match start {
        [0x1f, 0x8b, ..] => Ok(Compression::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Ok(Compression::Zstd),
        [b'P', b'A', b'R', b'E', ..] => format("encrypted parquet", "decrypt it first"),
        [b'F', b'E', b'A', b'1', ..] => format("feather version 1", "write it again as version 2"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => format("xz", "decompress it first (`xz -d`)"),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => format("bzip2", "decompress it first (`bzip2 -d`)"),
        [0x04, 0x22, 0x4d, 0x18, ..] => format("lz4", "decompress it first (`lz4 -d`)"),
        [b'P', b'K', 3, 4, ..] => format("zip", "unpack it first (`unzip`)"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            format("utf-16", "convert it to utf-8 (`iconv -f utf-16 -t utf-8`)")
        }
        short if short.len() < 4 => Ok(by_name(short, path)),
        _ => Ok(Compression::None),
    }
}

/// The window of a frame of zstd, which says it right behind its mark, or, if it is all in one piece, how long it is.
fn zstd_window(start: &[u8]) -> u64 {
    let [0x28, 0xb5, 0x2f, 0xfd, descriptor, rest @ ..] = start else { return 0 };
    let is_single = descriptor & 0x20 != 0;
    if !is_single {
        let (exponent, mantissa) = rest.first().map_or((0, 0), |byte| (byte >> 3, u64::from(byte & 7)));
        return (1 << (10 + exponent)) / 8 * (8 + mantissa);
    }
    let id_bytes = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = rest.get(id_bytes..).unwrap_or_default();
    let number = |n: usize| size.iter().take(n).rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    match descriptor >> 6 {
        0 => number(1),
        1 => number(2) + 256,
        2 => number(4),
        _ => number(8),
    }
}

/// What an empty or cut-off file would be: `a.gz` without content is a truncated gzip, `a.jsonl` has no lines.
fn by_name(start: &[u8], path: &Path) -> Compression {
    let extension = path.extension().map(|e| e.to_ascii_lowercase());
    match extension.as_ref().and_then(|e| e.to_str()) {
        Some("gz" | "gzip") if [0x1f, 0x8b].starts_with(start) => Compression::Gzip,
        Some("zst" | "zstd") if [0x28, 0xb5, 0x2f, 0xfd].starts_with(start) => Compression::Zstd,
        _ => Compression::None,
    }
}

/// What a decoder reads from: counts, and remembers whether the source failed.
struct CountedSource {
    inner: Box<dyn Read + Send>,
    progress: Progress,
    failed: Arc<AtomicBool>,
}

impl Read for CountedSource {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.inner.read(into) {
                Ok(n) => {
                    self.progress.add(n);
                    return Ok(n);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_window_of_a_frame_is_what_its_decoder_holds() {
        let content = vec![7; 3 << 20];
        let framed = |log: u32| {
            let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
            encoder.window_log(log).unwrap();
            encoder.write_all(&content).unwrap();
            encoder.finish().unwrap()
        };
        for log in [10, 17, 23, 27] {
            assert_eq!(zstd_window(&framed(log)), 1 << log);
        }
        for n in [0, 100, 300, 70_000] {
            // In one piece its size is told, or else a window that is large enough for it.
            let window = zstd_window(&zstd::bulk::compress(&content[..n], 1).unwrap());
            assert!((n as u64..=(n as u64).max(1024).next_power_of_two()).contains(&window), "{n} {window}");
        }
        assert_eq!(zstd_window(b"\x28\xb5\x2f\xfd"), 0);
    }
}
