//! Reading blocks of postings, and replacing their contents.

use std::collections::HashMap;

use ::redis::Value;
use sha1::{Digest, Sha1};

use super::functions::Function;
use super::home::Home;
use super::net::How;
use super::{Redis, Requests, Trouble, add_function, int, refused};

/// Blocks that one call of a function replaces, and about how many bytes.
const AT_ONCE: usize = 64;
const BYTES: usize = 1 << 20;
/// Blocks of one command that reads them.
const KEYS: usize = 512;

/// A block that becomes another.
pub(super) struct Replaced {
    pub slice: u32,
    pub block: u32,
    pub old: Vec<u8>,
    pub new: Vec<u8>,
}

impl Redis {
    /// Blocks by their numbers; `wanted` has slices and blocks, in order. Blocks without a posting are not there.
    pub(super) fn blocks(
        &self,
        home: &Home,
        wanted: &[(u32, u32)],
    ) -> Result<HashMap<u32, Vec<u8>>, Trouble> {
        let mut requests = Requests::default();
        // A single server has no slots: keys of all slices may be in one command, and one look at whether the collection is there is enough.
        let is_cluster = self.client.address.is_cluster;
        let by_slice =
            wanted.chunk_by(|a, b| !is_cluster || a.0 == b.0).flat_map(|blocks| blocks.chunks(KEYS));
        let by_slice: Vec<&[(u32, u32)]> = by_slice.collect();
        let mut key = String::new();
        for blocks in &by_slice {
            let at = home.slice(blocks[0].0);
            requests.add(at.slot, 2 + blocks.len(), |arguments| {
                arguments.word(b"MGET");
                arguments.word(at.open().as_bytes());
                for (slice, block) in *blocks {
                    home.slice(*slice).write_block(*block, &mut key);
                    arguments.word(key.as_bytes());
                }
            });
        }
        let how = How { give_back_moving: true, ..How::default() };
        let answers = self.client.call(&requests, how)?;
        let mut found = HashMap::with_capacity(wanted.len());
        for (blocks, answer) in by_slice.into_iter().zip(answers) {
            let values = match answer {
                Value::Array(values) => values,
                _ => self.one_by_one(home, blocks)?,
            };
            let mut values = values.into_iter();
            if !matches!(values.next(), Some(Value::BulkString(_))) {
                return Err(Trouble::Gone);
            }
            for ((_, block), value) in blocks.iter().zip(values) {
                if let Value::BulkString(bytes) = value {
                    found.insert(*block, bytes);
                }
            }
        }
        Ok(found)
    }

    /// While a slot is on its way to another node, its keys must be asked for one by one.
    fn one_by_one(&self, home: &Home, blocks: &[(u32, u32)]) -> Result<Vec<Value>, Trouble> {
        let at = home.slice(blocks[0].0);
        let mut requests = Requests::default();
        requests.command(at.slot, &[b"GET", at.open().as_bytes()]);
        blocks
            .iter()
            .for_each(|(_, block)| requests.command(at.slot, &[b"GET", at.block(*block).as_bytes()]));
        self.client.call(&requests, How::default())
    }

    /// Replaces what was read of blocks of one slice; what was appended since stays. How many were as they had been read.
    pub(super) fn replace(&self, home: &Home, replaced: &[Replaced]) -> Result<u64, Trouble> {
        let mut requests = Requests::default();
        let mut rest = replaced;
        while let [first, ..] = rest {
            let mut bytes = 0;
            let some = rest.iter().take(AT_ONCE).take_while(|one| {
                let fits = bytes < BYTES && one.slice == first.slice;
                bytes += one.old.len();
                fits
            });
            let (some, tail) = rest.split_at(some.count());
            rest = tail;
            let at = home.slice(first.slice);
            let mut keys = vec![at.open()];
            keys.extend(some.iter().map(|one| at.block(one.block)));
            let words = some.iter().flat_map(|one| {
                let sum: String = Sha1::digest(&one.old).iter().map(|byte| format!("{byte:02x}")).collect();
                [one.old.len().to_string().into_bytes(), sum.into_bytes(), one.new.clone()]
            });
            let words: Vec<Vec<u8>> = words.collect();
            let words: Vec<&[u8]> = words.iter().map(|word| &word[..]).collect();
            add_function(&mut requests, at.slot, Function::Compact, &keys, &words);
        }
        let answers = self.change(&requests)?;
        answers.iter().try_for_each(refused)?;
        Ok(answers.iter().map(|answer| int(answer).unsigned_abs()).sum())
    }
}
