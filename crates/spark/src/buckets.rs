//! Documents that share a band key.

use std::collections::HashMap;

use super::bands::has_more;
use super::by_slice::{Row, Slice, packed};
use super::out::Out;
use super::parts::{Parts, Records, put_bytes, put_number};
use super::{Settings, kind, place};
use crate::error::{Error, Result};

/// Finds copies, and sends each of the others with the first members of its buckets.
pub(super) struct Buckets {
    settings: Settings,
    memberships: Parts,
}

#[derive(Debug, Clone, Copy)]
struct Member<'a> {
    key: u64,
    band: u64,
    hash: u64,
    place: &'a [u8],
    /// In the first band, and of texts without elements, the other half of the hash and the number of elements.
    more: Option<(u64, u64)>,
}

impl Buckets {
    pub(super) fn new(settings: &Settings) -> Self {
        let memberships = Parts::new(kind::PARTS, settings.slices);
        Self { settings: settings.clone(), memberships }
    }

    fn bucket(&mut self, bucket: &mut [Member<'_>], out: &mut Out) -> Result<()> {
        bucket.sort_unstable_by_key(|member| member.place);
        let mut firsts: HashMap<u64, Member<'_>> = HashMap::with_capacity(bucket.len());
        let mut members: Vec<&[u8]> = Vec::with_capacity(bucket.len());
        for (i, member) in bucket.iter().enumerate() {
            if i > 0 && bucket[i - 1].place == member.place {
                // `fetch` counts repeated ids.
                continue;
            }
            match firsts.get(&member.hash) {
                None => {
                    firsts.insert(member.hash, *member);
                    members.push(member.place);
                }
                Some(first) => self.copy(member, first, out)?,
            }
        }
        self.send_members(&members);
        Ok(())
    }

    /// Sends a copy where the whole hash is known.
    fn copy(&self, copy: &Member<'_>, first: &Member<'_>, out: &mut Out) -> Result<()> {
        let (Some((rest, n)), Some((first_rest, _))) = (copy.more, first.more) else { return Ok(()) };
        if rest != first_rest {
            return Err(Error::Handed {
                expected: "different hashes for different texts",
                got: format!("the same for `{}`", name(&self.settings, copy.place)),
                remedy: "somebody searched for such texts: look at that document, and leave it out",
            });
        }
        let n = n as u32;
        let counts = [n, n, self.settings.spec.registers].map(u32::to_le_bytes).concat();
        out.row(self.settings.slice(copy.place), kind::COPY, [copy.place, first.place, &counts])
    }

    /// The first members, once for each slice that has members behind them, and those members with the number of the first ones that they are paired with.
    fn send_members(&mut self, members: &[&[u8]]) {
        let cap = self.settings.cap;
        let mut later: Vec<(u32, usize)> =
            (1..members.len()).map(|i| (self.settings.slice(members[i]), i)).collect();
        later.sort_unstable();
        for in_slice in later.chunk_by(|a, b| a.0 == b.0) {
            let max = in_slice.last().map_or(0, |&(_, i)| i.min(cap));
            self.memberships.add(in_slice[0].0, |out| {
                put_number(out, max as u64);
                members[..max].iter().for_each(|first| put_bytes(out, first));
                put_number(out, in_slice.len() as u64);
                for &(_, i) in in_slice {
                    put_bytes(out, members[i]);
                    put_number(out, i.min(cap) as u64);
                }
            });
        }
    }
}

impl Slice for Buckets {
    fn slice(&mut self, slice: u32, rows: &[Row], out: &mut Out) -> Result<()> {
        let mut members = Vec::new();
        for row in packed(slice, rows, out)? {
            let mut records = row.records();
            while !records.is_empty() {
                members.push(member(&mut records)?);
            }
        }
        members.sort_unstable_by_key(|member| (member.key, member.band));
        for bucket in members.chunk_by_mut(|a, b| (a.key, a.band) == (b.key, b.band)) {
            if bucket.len() > 1 {
                self.bucket(bucket, out)?;
            }
        }
        self.memberships.send_if_full(out)
    }

    fn finish(&mut self, out: &mut Out) -> Result<()> {
        self.memberships.send(out)
    }
}

fn member<'a>(records: &mut Records<'a>) -> Result<Member<'a>> {
    let (band, key, hash, place) = (records.number()?, records.word()?, records.word()?, records.bytes()?);
    let more = if has_more(band as usize) { Some((records.word()?, records.number()?)) } else { None };
    Ok(Member { key, band, hash, place, more })
}

/// The id of a document, for messages.
pub(super) fn name(settings: &Settings, place: &[u8]) -> String {
    place::id(&settings.keep, place).unwrap_or_else(|| String::from_utf8_lossy(place).into_owned())
}
