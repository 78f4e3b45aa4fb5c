//! Moving a collection to another number of buckets.
//!
//! The old place is closed for writers and stays searchable; everything is copied to a new place; then the name points there, and the old place is removed. A run that was ended is
//! made good by running it again.

use std::sync::Arc;

use super::collections::OnRedis;
use super::functions::Function;
use super::home::{Entry, Home};
use super::net::{How, Requests};
use super::trouble::Trouble;
use super::{Redis, add_function, refused, view};
use crate::error::{Error, Result};
use crate::record::Records;
use crate::settings::Keeps;
use crate::store::{Cursor, Parts, View};

/// Records that are copied at once.
const AT_ONCE: usize = 1000;

impl OnRedis {
    pub(super) fn move_to(&self, name: &str, expected_documents: u64) -> Result<()> {
        let old = self.listed(name)?;
        self.finish(name)?;
        let from = Redis::new(Arc::clone(&self.client), self.home(old.entry.clone())?);
        let home = from.home();
        let settings = old.entry.settings.clone();
        let new = Entry::new(name, settings, &home.layout, expected_documents);
        let shape = |entry: &Entry| (entry.slices, entry.id_buckets, entry.bits);
        if shape(&new) == shape(&old.entry) {
            return Ok(self.turn(&home, "open")?);
        }
        let to = self.home(new)?;
        self.prepare(&to)?;
        let to = Redis::new(Arc::clone(&self.client), to);
        self.turn(&home, "closed")?;
        let copied =
            copy(&from, &to).and_then(|()| Ok(self.publish(name, Some(&old), Some(&to.home().entry))?));
        if matches!(copied, Ok(true)) {
            return Ok(self.erase(&home)?);
        }
        // It may have been published all the same, and the answer lost. As long as that is not known nothing is removed: running it again does.
        let listed = self.listed(name);
        let stands = |uid: &str| listed.as_ref().is_ok_and(|listed| listed.entry.uid == uid);
        if stands(&to.home().entry.uid) {
            return Ok(self.erase(&home)?);
        }
        if stands(&old.entry.uid) {
            // As it was before, as far as the servers let us.
            let _ = self.turn(&home, "open");
        }
        if listed.is_ok() || matches!(listed, Err(Error::NoCollection { .. })) {
            let _ = self.erase(&to.home());
        }
        Err(copied.err().unwrap_or_else(|| Trouble::Gone.into()))
    }

    /// Opens or closes a collection for writers.
    fn turn(&self, home: &Home, state: &str) -> Result<(), Trouble> {
        let mut requests = Requests::default();
        for at in &home.slices {
            add_function(&mut requests, at.slot, Function::Turn, &[at.open()], &[state.as_bytes()]);
        }
        self.client.call(&requests, How::default())?.iter().try_for_each(refused)
    }
}

fn copy(from: &Redis, to: &Redis) -> Result<()> {
    let view = view::Live::at(from, from.home());
    let mut next = Some(Cursor::START);
    while let Some(at) = next {
        let mut records = Records::default();
        next = view.scan(at, AT_ONCE, Parts::All, &mut |_, record| {
            records.ids.push(record.id);
            records.words.extend_from_slice(record.words);
            records.expires.push(record.expires);
            if from.settings.keeps == Keeps::Documents {
                records.documents.push(record.document);
            }
            Ok(())
        })?;
        to.put_all(&records)?;
    }
    Ok(())
}
