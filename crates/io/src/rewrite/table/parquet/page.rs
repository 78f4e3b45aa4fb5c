//! Pages between their encoding, which is one after the other, and their place in the file: compressed by any thread.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};

/// Whether pages of this codec are compressed here. Those of others come compressed from the encoder.
pub(super) fn is_compressed_here(codec: Compression) -> bool {
    matches!(codec, Compression::ZSTD(_) | Compression::SNAPPY)
}

/// Collects the pages of a column as they are encoded.
#[derive(Clone, Default)]
pub(super) struct PageTray(Arc<Mutex<VecDeque<CompressedPage>>>);

impl PageTray {
    pub fn pop(&self) -> Option<CompressedPage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl PageWriter for PageTray {
    /// The sizes are those of the encoder: nobody knows the others yet.
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        let mut spec = PageWriteSpec::new();
        spec.page_type = page.page_type();
        spec.num_values = page.num_values();
        spec.uncompressed_size = page.uncompressed_size();
        spec.compressed_size = page.compressed_size();
        spec.bytes_written = page.compressed_size() as u64;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(page);
        Ok(spec)
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A page as it stands in the file, and what is known of it.
pub(super) struct PageBytes {
    pub bytes: Vec<u8>,
    pub spec: PageWriteSpec,
}

/// What a thread compresses with, made when it is first needed.
#[derive(Default)]
pub(super) struct PageCompressor {
    zstd: Option<(i32, zstd::bulk::Compressor<'static>)>,
    snappy: Option<snap::raw::Encoder>,
}

impl PageCompressor {
    /// Compresses a page and puts its header before it.
    pub fn finish(&mut self, page: CompressedPage, codec: Compression) -> Result<PageBytes> {
        let page = match codec {
            Compression::ZSTD(level) => {
                let bytes = self.zstd(page.data(), level.compression_level())?;
                with_buffer(&page, bytes)
            }
            Compression::SNAPPY => {
                let fail = |error: snap::Error| ParquetError::General(error.to_string());
                let snappy = self.snappy.get_or_insert_with(snap::raw::Encoder::new);
                let bytes = snappy.compress_vec(page.data()).map_err(fail)?;
                with_buffer(&page, bytes)
            }
            _ => page,
        };
        let mut out = TrackedWrite::new(Vec::new());
        let spec = SerializedPageWriter::new(&mut out).write_page(page)?;
        Ok(PageBytes { bytes: out.into_inner()?, spec })
    }

    fn zstd(&mut self, bytes: &[u8], level: i32) -> Result<Vec<u8>> {
        let compressor = match &mut self.zstd {
            Some((of, compressor)) if *of == level => compressor,
            other => &mut other.insert((level, zstd::bulk::Compressor::new(level)?)).1,
        };
        Ok(compressor.compress(bytes)?)
    }
}

/// The same page with other bytes.
fn with_buffer(page: &CompressedPage, bytes: Vec<u8>) -> CompressedPage {
    let uncompressed = page.uncompressed_size();
    let mut page = page.compressed_page().clone();
    let (Page::DataPage { buf, .. } | Page::DataPageV2 { buf, .. } | Page::DictionaryPage { buf, .. }) =
        &mut page;
    *buf = Bytes::from(bytes);
    CompressedPage::new(page, uncompressed)
}
