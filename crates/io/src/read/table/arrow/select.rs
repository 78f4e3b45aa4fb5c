//! The lists of a record batch, for the wanted columns only. They come from the file, so every number is checked.

use arrow_buffer::Buffer;
use arrow_ipc::{CompressionType, FieldNode, MetadataVersion};

use super::layout::ColumnPlace;
use super::wanted::Wanted;

/// The lists of the wanted columns of a record batch.
pub(super) struct Selected {
    pub(super) nodes: Vec<FieldNode>,
    pub(super) buffers: Vec<arrow_ipc::Buffer>,
    pub(super) variadic: Vec<i64>,
    pub(super) codec: Option<CompressionType>,
    pub(super) version: MetadataVersion,
}

impl Selected {
    /// Nothing if the lists do not fit the schema or the body.
    pub(super) fn find(wanted: &Wanted, message: &arrow_ipc::Message<'_>, n_body: u64) -> Option<Self> {
        let batch = message.header_as_record_batch()?;
        let (all_nodes, all_buffers) = (batch.nodes()?, batch.buffers()?);
        let all_variadic: Vec<i64> = batch.variadicBufferCounts().into_iter().flatten().collect();
        let codec = batch.compression().map(|compression| compression.codec());
        let version = message.version();
        let mut found = Self { nodes: vec![], buffers: vec![], variadic: vec![], codec, version };
        for path in &wanted.paths {
            let place = ColumnPlace::find(&wanted.all, path.names(), version, &all_variadic)?;
            for i in place.nodes {
                found.nodes.push(*(i < all_nodes.len()).then(|| all_nodes.get(i))?);
            }
            for i in place.buffers {
                let buffer = *(i < all_buffers.len()).then(|| all_buffers.get(i))?;
                found.buffers.push(Some(buffer).filter(|buffer| is_inside(buffer, n_body))?);
            }
            found.variadic.extend(place.variadic.into_iter().map(|i| all_variadic[i]));
        }
        Some(found)
    }

    /// What they take in the body.
    pub(super) fn n_bytes(&self) -> u64 {
        self.buffers.iter().map(|buffer| buffer.length() as u64).sum()
    }
}

/// Whether a buffer is in the body at all.
pub(super) fn is_inside(place: &arrow_ipc::Buffer, n_body: u64) -> bool {
    let (offset, length) = (u64::try_from(place.offset()), u64::try_from(place.length()));
    matches!((offset, length), (Ok(offset), Ok(length)) if offset.checked_add(length).is_some_and(|end| end <= n_body))
}

/// A byte of a compressed buffer stands for at most so many: 128 KiB of the same are a zstd block of four bytes or more.
pub(super) const MAX_TIMES: u64 = 1 << 15;

/// What the buffers take when they are decompressed, as they say; nothing if one of them does not say it, or says what cannot be.
pub(super) fn decoded_bytes<'a>(
    body: &Buffer,
    places: impl Iterator<Item = &'a arrow_ipc::Buffer>,
    is_compressed: bool,
) -> Option<u64> {
    let mut all = 0u64;
    for place in places {
        let stored = place.length() as u64;
        let bytes = match is_compressed {
            true if stored > 0 => {
                let prefix = body.get(place.offset() as usize..)?.first_chunk::<8>()?;
                let said = u64::try_from(i64::from_le_bytes(*prefix)).unwrap_or(stored);
                Some(said).filter(|said| *said <= stored.saturating_mul(MAX_TIMES))?
            }
            _ => stored,
        };
        all = all.checked_add(bytes)?;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compressed_buffer_is_not_believed_to_be_absurdly_long() {
        let said = |length: i64, stored: usize| {
            let mut body = vec![0; stored];
            body[..8].copy_from_slice(&length.to_le_bytes());
            let place = arrow_ipc::Buffer::new(0, stored as i64);
            decoded_bytes(&Buffer::from_vec(body), std::iter::once(&place), true)
        };
        assert_eq!(said(1 << 20, 100), Some(1 << 20));
        assert_eq!(said(-1, 100), Some(100), "it is stored as it is");
        assert_eq!(said(4_278_124_560, 849), None);
        assert_eq!(said(i64::MAX, 100_000), None);
    }
}
