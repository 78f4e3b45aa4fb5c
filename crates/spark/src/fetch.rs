//! Texts to the groups that asked for them.

use std::collections::HashMap;

use super::by_slice::{Row, Slice, packed};
use super::out::Out;
use super::parts::{Parts, Records, put_bytes, put_number};
use super::seen::SeenDocuments;
use super::{Settings, kind, place};
use crate::error::{Error, Result};

/// Requests come before texts in a slice.
pub(super) struct Fetch {
    settings: Settings,
    /// Of each document that is wanted the groups.
    wanted: HashMap<Vec<u8>, Vec<Group>>,
    members: Parts,
}

/// A group, and what the document is to be compared with there, packed.
type Group = (Vec<u8>, Vec<u8>);

impl Fetch {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            settings: settings.clone(),
            wanted: HashMap::new(),
            members: Parts::new(kind::PARTS, settings.slices),
        }
    }

    fn requests(&mut self, mut records: Records<'_>) -> Result<()> {
        while !records.is_empty() {
            let (place, group) = (records.bytes()?, records.bytes()?);
            let n = records.number()?;
            let before = records.0;
            for _ in 0..n {
                records.bytes()?;
            }
            let partners = &before[..before.len() - records.0.len()];
            let groups = self.wanted.entry(place.to_vec()).or_default();
            match groups.iter_mut().find(|(other, _)| other == group) {
                Some((_, known)) if partners.is_empty() || !known.is_empty() => {}
                Some((_, known)) => *known = partners.to_vec(),
                None => groups.push((group.to_vec(), partners.to_vec())),
            }
        }
        Ok(())
    }

    fn texts(&mut self, mut records: Records<'_>, seen: &mut SeenDocuments<'_>, out: &mut Out) -> Result<()> {
        while !records.is_empty() {
            let (hash, place, text) = (records.word()?, records.bytes()?, records.bytes()?);
            seen.came(&place::id(&self.settings.keep, place).ok_or_else(Error::damaged)?, hash);
            for (group, partners) in self.wanted.get(place).into_iter().flatten() {
                self.members.add(self.settings.slice(group), |out| {
                    put_bytes(out, group);
                    put_bytes(out, place);
                    put_bytes(out, text);
                    put_number(out, partners.len() as u64);
                    out.extend(partners);
                });
            }
            self.members.send_if_full(out)?;
        }
        Ok(())
    }
}

impl Slice for Fetch {
    fn slice(&mut self, slice: u32, rows: &[Row], out: &mut Out) -> Result<()> {
        let mut seen = SeenDocuments::new(rows)?;
        for row in packed(slice, rows, out)? {
            match row.kind {
                kind::TEXTS => self.texts(row.records(), &mut seen, out)?,
                _ => self.requests(row.records())?,
            }
        }
        self.wanted.clear();
        seen.finish(out)
    }

    fn finish(&mut self, out: &mut Out) -> Result<()> {
        self.members.send(out)
    }
}
