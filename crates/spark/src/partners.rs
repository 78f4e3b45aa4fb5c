//! What each document is to be compared with.

use std::collections::{BTreeSet, HashMap};

use super::by_slice::{Row, Slice, packed};
use super::out::Out;
use super::parts::{Parts, Records, put_bytes, put_number};
use super::{Settings, kind, place};
use crate::error::Result;

/// Documents of a slice with the same first partner. If there are more, they make a group of their own in each slice, so that no group becomes too large.
const FEW: usize = 8;

/// Makes groups, and asks for the texts of their members.
pub(super) struct Partners {
    settings: Settings,
    requests: Parts,
}

/// A document in a bucket, and those before it.
struct Membership<'a> {
    place: &'a [u8],
    /// Where the first members of its bucket begin, and how many are meant.
    first: usize,
    n: usize,
}

impl Partners {
    pub(super) fn new(settings: &Settings) -> Self {
        let requests = Parts::new(kind::PARTS, settings.slices);
        Self { settings: settings.clone(), requests }
    }

    /// Asks for a text: document, group, and for a document that is to be compared with others, those.
    fn request(&mut self, place: &[u8], group: &[u8], partners: &[&[u8]]) {
        let id = place::id(&self.settings.keep, place);
        self.requests.add(self.settings.slice(id.as_deref().unwrap_or_default().as_bytes()), |out| {
            put_bytes(out, place);
            put_bytes(out, group);
            put_number(out, partners.len() as u64);
            partners.iter().for_each(|partner| put_bytes(out, partner));
        });
    }
}

impl Slice for Partners {
    fn slice(&mut self, slice: u32, rows: &[Row], out: &mut Out) -> Result<()> {
        let (mut firsts, mut memberships) = (Vec::new(), Vec::new());
        for row in packed(slice, rows, out)? {
            read(row.records(), &mut firsts, &mut memberships)?;
        }
        memberships.sort_unstable_by_key(|membership: &Membership<'_>| membership.place);
        let mut documents: Vec<(&[u8], Vec<&[u8]>)> = Vec::new();
        for same in memberships.chunk_by(|a, b| a.place == b.place) {
            let all =
                same.iter().flat_map(|membership| &firsts[membership.first..membership.first + membership.n]);
            let mut partners: Vec<&[u8]> = all.copied().collect();
            partners.sort_unstable();
            partners.dedup();
            documents.push((same[0].place, partners));
        }
        let mut groups: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for (i, (_, partners)) in documents.iter().enumerate() {
            groups.entry(partners.first().copied().unwrap_or_default()).or_default().push(i);
        }
        for (leader, members) in groups {
            let salt = if members.len() > FEW { slice + 1 } else { 0 };
            let mut group = salt.to_le_bytes().to_vec();
            group.extend(leader);
            let mut earlier: BTreeSet<&[u8]> = BTreeSet::new();
            for &i in &members {
                let (place, partners) = &documents[i];
                self.request(place, &group, partners);
                earlier.extend(partners);
            }
            earlier.into_iter().for_each(|place| self.request(place, &group, &[]));
        }
        self.requests.send_if_full(out)
    }

    fn finish(&mut self, out: &mut Out) -> Result<()> {
        self.requests.send(out)
    }
}

fn read<'a>(
    mut records: Records<'a>,
    firsts: &mut Vec<&'a [u8]>,
    memberships: &mut Vec<Membership<'a>>,
) -> Result<()> {
    while !records.is_empty() {
        let first = firsts.len();
        for _ in 0..records.number()? {
            firsts.push(records.bytes()?);
        }
        for _ in 0..records.number()? {
            let (place, n) = (records.bytes()?, records.number()? as usize);
            memberships.push(Membership { place, first, n: n.min(firsts.len() - first) });
        }
    }
    Ok(())
}
