//! Where the parts of a collection lie: its slices, buckets and keys.
//!
//! A collection is cut into slices. All keys of a slice have one hash tag and so one slot; the slices are spread evenly over the slots. Which slice has a document is decided by its id; which one has a
//! posting by band and first bits of the key. The numbers are fixed when the collection is made, from the number of documents that is expected.

use serde::{Deserialize, Serialize};

use benzer_core::hash;
use benzer_core::lsh::BandKey;

use super::slot;
use super::trouble::Trouble;
use crate::record::DocNo;
use crate::settings::{Layout, Settings};

const MAGIC: &str = "BENZRED1";
/// Fewest and most slices.
const SLICES: (u32, u32) = (64, 4096);
/// Documents of a slice, about: a record hash of some megabytes.
const PER_SLICE: u64 = 1 << 14;
/// Ids of a bucket, about: with less than 128 a server packs them into one block.
const PER_ID_BUCKET: u64 = 64;
/// Postings of a block, about.
const PER_BLOCK: u64 = 96;

/// What stands in the list of collections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Tells this collection from others that had its name.
    pub uid: String,
    pub name: String,
    pub expected_documents: u64,
    pub slices: u32,
    /// Id buckets of a slice.
    pub id_buckets: u32,
    /// Bits of a band key that name its block.
    pub bits: u32,
    pub settings: Settings,
}

impl Entry {
    pub fn new(name: &str, settings: Settings, layout: &Layout, expected: u64) -> Self {
        let expected = expected.clamp(1, 1 << 32);
        let near = |n: u64| if n <= 1 { 1 } else { (n * 3 / 4 + 1).next_power_of_two() };
        let slices = near(expected / PER_SLICE).clamp(SLICES.0.into(), SLICES.1.into());
        // No more blocks than an unsigned number of 32 bits can name.
        let max_bits = 31 - (layout.bands().max(1) as u32).next_power_of_two().trailing_zeros();
        Self {
            uid: uid(),
            name: name.to_owned(),
            expected_documents: expected,
            slices: slices as u32,
            id_buckets: near(expected / slices / PER_ID_BUCKET) as u32,
            bits: near(expected / PER_BLOCK).trailing_zeros().clamp(1, max_bits),
            settings,
        }
    }

    /// As it is stored: magic, checksum, JSON.
    pub fn encode(&self) -> String {
        let json = serde_json::to_string(self).expect("settings can always be written");
        format!("{MAGIC}{:016x}{json}", hash::element(json.as_bytes()))
    }

    pub fn decode(bytes: &[u8], name: &str) -> Result<Self, Trouble> {
        let damaged = || Trouble::Damaged { what: format!("the entry of collection {name}") };
        let text =
            std::str::from_utf8(bytes).ok().and_then(|text| text.strip_prefix(MAGIC)).ok_or_else(damaged)?;
        let (sum, json) = text.split_at_checked(16).ok_or_else(damaged)?;
        if u64::from_str_radix(sum, 16).ok() != Some(hash::element(json.as_bytes())) {
            return Err(damaged());
        }
        let entry: Self = serde_json::from_str(json).map_err(|_| damaged())?;
        let is_sound = entry.slices.is_power_of_two() && entry.slices <= SLICES.1 && entry.id_buckets > 0;
        if is_sound && (1..=31).contains(&entry.bits) { Ok(entry) } else { Err(damaged()) }
    }
}

/// Sixteen hex digits that nobody else has.
fn uid() -> String {
    use std::hash::{BuildHasher, Hasher};
    let random = std::collections::hash_map::RandomState::new().build_hasher().finish();
    let time =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |t| t.as_nanos() as u64);
    format!("{:012x}", hash::mix(random ^ hash::mix(time) ^ u64::from(std::process::id())) >> 16)
}

/// A slice: what its keys begin with, and its slot.
#[derive(Debug)]
pub(super) struct Slice {
    pub prefix: String,
    pub slot: u16,
}

/// A collection as it lies on the servers.
#[derive(Debug)]
pub(super) struct Home {
    pub entry: Entry,
    pub slices: Vec<Slice>,
    pub layout: Layout,
}

impl Home {
    pub fn new(entry: Entry, namespace: &str) -> crate::Result<Self> {
        entry.settings.check()?;
        let layout = entry.settings.layout()?;
        let collection = format!("{}/{}", entry.name, entry.uid);
        let slice = |i: u32| {
            let (tag, slot) = slot::tag(&collection, i, entry.slices);
            Slice { prefix: format!("{namespace}:{{{tag}}}:"), slot }
        };
        let slices = (0..entry.slices).map(slice).collect();
        Ok(Self { entry, slices, layout })
    }

    /// The slice and the id bucket of a document.
    pub fn place(&self, id: &[u8]) -> (u32, u32) {
        let hash = hash::element(id);
        let slice = (hash >> 32) as u32 & (self.entry.slices - 1);
        (slice, (hash as u32) % self.entry.id_buckets)
    }

    fn slice_bits(&self) -> u32 {
        self.entry.slices.trailing_zeros()
    }

    /// The number of a record, of the slice and its count there.
    pub fn number(&self, slice: u32, count: u32) -> DocNo {
        DocNo(count << self.slice_bits() | slice)
    }

    /// Slice and count of a number.
    pub fn parts(&self, number: DocNo) -> (u32, u32) {
        (number.0 & (self.entry.slices - 1), number.0 >> self.slice_bits())
    }

    /// The largest count of a slice.
    pub fn max_count(&self) -> u32 {
        u32::MAX >> self.slice_bits()
    }

    /// The block of a band key.
    pub fn block(&self, key: BandKey) -> u32 {
        key.band << self.entry.bits | (key.key >> (64 - self.entry.bits)) as u32
    }

    /// The 16 bits of a key after those that name its block.
    pub fn rest(&self, key: u64) -> u16 {
        (key << self.entry.bits >> 48) as u16
    }

    /// The slice of a block.
    pub fn slice_of_block(&self, block: u32) -> u32 {
        block & (self.entry.slices - 1)
    }

    /// All blocks of a slice.
    pub fn blocks_of(&self, slice: u32) -> impl Iterator<Item = u32> + use<> {
        let n_blocks = (self.layout.bands() as u32) << self.entry.bits;
        (slice..n_blocks).step_by(self.entry.slices as usize)
    }

    pub fn slice(&self, slice: u32) -> &Slice {
        &self.slices[slice as usize]
    }
}

impl Slice {
    /// Whether the collection takes changes.
    pub fn open(&self) -> String {
        format!("{}o", self.prefix)
    }

    /// Counts of the slice.
    pub fn meta(&self) -> String {
        format!("{}m", self.prefix)
    }

    pub fn records(&self) -> String {
        format!("{}r", self.prefix)
    }

    pub fn documents(&self) -> String {
        format!("{}d", self.prefix)
    }

    pub fn expiry(&self) -> String {
        format!("{}x", self.prefix)
    }

    pub fn ids(&self, bucket: u32) -> String {
        format!("{}i{bucket:x}", self.prefix)
    }

    pub fn block(&self, block: u32) -> String {
        let mut key = String::new();
        self.write_block(block, &mut key);
        key
    }

    /// Writes the key of a block; `key` is overwritten.
    pub fn write_block(&self, block: u32, key: &mut String) {
        key.clear();
        key.push_str(&self.prefix);
        key.push('p');
        let digits = block.checked_ilog(16).unwrap_or(0);
        key.extend(
            (0..=digits)
                .rev()
                .map(|digit| char::from(b"0123456789abcdef"[(block >> (4 * digit) & 15) as usize])),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Keeps;

    fn home(expected: u64) -> Home {
        let schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "text"}}}"#).unwrap();
        let settings = Settings::with_target(schema, 0.8, 0.95, Keeps::Sketches).unwrap();
        let layout = settings.layout().unwrap();
        Home::new(Entry::new("news", settings, &layout, expected), "benzer").unwrap()
    }

    #[test]
    fn buckets_suit_the_expected_documents() {
        for expected in [0, 1, 1000, 300_000, 1_000_000, 50_000_000, u64::MAX] {
            let home = home(expected);
            let Entry { slices, id_buckets, bits, .. } = home.entry;
            let expected = expected.clamp(1, 1 << 32);
            let per_id_bucket = expected / u64::from(slices) / u64::from(id_buckets);
            let per_block = expected >> bits;
            assert!(per_id_bucket < 128, "{expected}: {per_id_bucket}");
            assert!(per_block <= 192 || bits >= 26, "{expected}: {per_block}");
            if (1_000_000..1 << 30).contains(&expected) {
                assert!(per_id_bucket >= 32 && per_block >= 48, "{expected}");
            }
            assert!((slices as usize) == home.slices.len());
        }
    }

    #[test]
    fn numbers_come_apart_as_they_were_put_together() {
        let home = home(1_000_000);
        for (slice, count) in [(0, 1), (63, 77), (5, home.max_count())] {
            assert_eq!(home.parts(home.number(slice, count)), (slice, count));
        }
        let all: usize = (0..64).map(|slice| home.blocks_of(slice).count()).sum();
        assert_eq!(all, home.layout.bands() << home.entry.bits);
    }

    #[test]
    fn blocks_are_named_in_hex() {
        let slice = Slice { prefix: "a:".to_owned(), slot: 0 };
        for block in [0, 1, 15, 16, 0x1234, 0xabc_def0, u32::MAX] {
            assert_eq!(slice.block(block), format!("a:p{block:x}"));
        }
    }

    #[test]
    fn an_entry_comes_back_and_damage_is_noticed() {
        let entry = home(10).entry;
        let encoded = entry.encode();
        assert_eq!(Entry::decode(encoded.as_bytes(), "news").unwrap(), entry);
        for i in (0..encoded.len()).step_by(7) {
            let mut damaged = encoded.clone().into_bytes();
            damaged[i] ^= 1;
            assert!(Entry::decode(&damaged, "news").is_err(), "byte {i}");
        }
    }
}
