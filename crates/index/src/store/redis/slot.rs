//! Which slot of a cluster a key is in, and hash tags that lie in wanted slots.

/// Slots of a cluster.
pub(super) const SLOTS: u16 = 16_384;
/// Slices are spread over so many equal ranges of slots, or as many as there are slices.
const RANGES: u32 = 256;

/// The slot of a hash tag (CRC-16 of XMODEM, as Redis Cluster defines it).
pub(super) fn of(tag: &[u8]) -> u16 {
    let crc =
        tag.iter().fold(0u16, |crc, byte| {
            (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| {
                if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 }
            })
        });
    crc % SLOTS
}

/// A tag for a slice of a collection, and its slot: `NAME/UID/SLICE.SALT`, with the least salt for which the slices are spread evenly over the slots.
pub(super) fn tag(collection: &str, slice: u32, slices: u32) -> (String, u16) {
    let ranges = slices.min(RANGES);
    let wanted = slice % ranges;
    (0u32..)
        .map(|salt| {
            let tag = format!("{collection}/{slice:x}.{salt:x}");
            let slot = of(tag.as_bytes());
            (tag, slot)
        })
        .find(|(_, slot)| u32::from(*slot) * ranges / u32::from(SLOTS) == wanted)
        .expect("some salt gives every slot")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_redis() {
        // CLUSTER KEYSLOT of a server.
        assert_eq!((of(b"foo"), of(b"123456789"), of(b"")), (12_182, 12_739, 0));
    }

    #[test]
    fn slices_are_spread_evenly() {
        for slices in [1, 64, 512] {
            let mut seen = vec![0u32; slices.min(256) as usize];
            for slice in 0..slices {
                let (tag, slot) = tag("news/0f", slice, slices);
                assert_eq!(of(tag.as_bytes()), slot);
                let range = usize::from(slot) * seen.len() / usize::from(SLOTS);
                seen[range] += 1;
            }
            assert!(seen.iter().all(|n| *n == slices / seen.len() as u32), "{slices}");
        }
    }
}
