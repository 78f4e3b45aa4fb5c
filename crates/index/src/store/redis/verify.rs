//! Reading everything: every checksum, and that the postings are those of the records.
//!
//! The records say which numbers are alive and which postings there must be; of these a sum is made for each block. Then all blocks are read, and the sums of their living postings compared. Blocks that differ are
//! looked at posting by posting. Others may write meanwhile: what is put later is not alive by this list, and what is removed keeps its postings until somebody compacts.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use benzer_core::hash;

use super::compact::Living;
use super::home::Home;
use super::net::{How, Requests};
use super::remove::Doomed;
use super::row::{self, POSTING};
use super::{Redis, Trouble, bytes, int, view};
use crate::error::Result;
use crate::record::DocNo;
use crate::settings::Keeps;
use crate::store::{Parts, Report};

/// Lines of a report about one kind of damage.
const LINES: usize = 20;

/// What was found, for those who read it and for the repair.
pub(super) struct Found {
    pub report: Report,
    pub damaged: Vec<Doomed>,
    /// Postings that are missing: slice, block, posting.
    pub missing: Vec<(u32, u32, [u8; POSTING])>,
    /// Blocks that have to be written anew, by slice and block: without postings of living records that do not belong there, and without what is no posting.
    pub surplus: HashMap<(u32, u32), BTreeSet<[u8; POSTING]>>,
    /// Slices whose number of documents is wrong: what they say, and what there is.
    pub miscounted: Vec<(u32, [i64; 2])>,
    /// Slices that have postings of numbers which they have not given out, as far as they remember, and the highest of these.
    pub set_back: Vec<(u32, u32)>,
}

impl Redis {
    pub(super) fn verify_all(&self) -> Result<Found> {
        let home = self.home();
        let counted = self.counts(&home)?;
        let mut found = Found {
            report: Report::default(),
            damaged: Vec::new(),
            missing: Vec::new(),
            surplus: HashMap::new(),
            miscounted: Vec::new(),
            set_back: Vec::new(),
        };
        let mut living = Living::new(self.ends(&home)?);
        let mut sums = vec![0u64; home.layout.bands() << home.entry.bits];
        let mut per_slice = vec![0i64; home.slices.len()];
        self.each_record(&home, &mut found, &mut |number, words| {
            living.add(&home, number);
            per_slice[home.parts(number).0 as usize] += 1;
            each_posting(&home, number, words, |block, posting| {
                sums[block as usize] = sums[block as usize].wrapping_add(sum(&posting));
            });
        })?;
        let (mut bad, mut highest) = (BTreeSet::new(), vec![0u32; home.slices.len()]);
        self.each_block(&home, &mut |home, blocks| {
            for (slice, block, bytes) in blocks {
                let sum = living_postings(home, &living, &bytes)
                    .iter()
                    .fold(0u64, |all, one| all.wrapping_add(sum(one)));
                for (_, number) in row::postings(&bytes) {
                    let (slice, count) = home.parts(number);
                    if let Some(highest) = highest.get_mut(slice as usize) {
                        *highest = count.max(*highest);
                    }
                }
                if std::mem::take(&mut sums[block as usize]) != sum || bytes.len() % POSTING != 0 {
                    bad.insert((slice, block));
                }
            }
            Ok(())
        })?;
        // Blocks that should have been there.
        let lost = sums.iter().zip(0u32..).filter(|(sum, _)| **sum != 0);
        bad.extend(lost.map(|(_, block)| (home.slice_of_block(block), block)));
        if !bad.is_empty() {
            self.look_closer(&home, &living, &bad, &mut found)?;
        }
        let ends = self.ends(&home)?;
        let set_back = (0..).zip(highest).filter(|(slice, highest)| *highest > ends[*slice as usize]);
        found.set_back = set_back.collect();
        if !found.set_back.is_empty() {
            let n = found.set_back.len();
            found
                .report
                .derived
                .push(format!("{n} slices have lost their last writes, and would give numbers out again"));
        }
        // Only if nobody writes meanwhile can the counts be compared.
        if counted == self.counts(&home)? && found.damaged.is_empty() {
            let wrong = counted.iter().zip(&per_slice).zip(0..).filter(|((told, real), _)| told != real);
            found.miscounted = wrong.map(|((told, real), slice)| (slice, [*told, *real])).collect();
            if !found.miscounted.is_empty() {
                let n: i64 = found.miscounted.iter().map(|(_, [told, real])| (told - real).abs()).sum();
                found.report.derived.push(format!("the number of documents is wrong by {n}"));
            }
        }
        Ok(found)
    }

    /// Hands number and words of every record that is whole to `visit`, and notes those that are not.
    fn each_record(
        &self,
        home: &Arc<Home>,
        found: &mut Found,
        visit: &mut dyn FnMut(DocNo, &[u64]),
    ) -> Result<()> {
        let keeps = self.settings.keeps == Keeps::Documents;
        let (live, mut words, mut next) = (view::Live::at(self, Arc::clone(home)), Vec::new(), Some(0));
        while let Some(from) = next {
            next = live.scan_raw(from, 4096, Parts::All, &mut |home, id, number, record, document| {
                let record = row::read_record(number, record, home.layout.words(), &mut words);
                let is_whole = record.as_ref().is_some_and(|record| record.id == id)
                    && (!keeps || row::read_document(number, document).is_some());
                match record {
                    Some(record) if is_whole => {
                        visit(number, record.words);
                        found.report.documents += 1;
                    }
                    _ => {
                        let name = String::from_utf8_lossy(id);
                        found.report.records.push(format!("the record of document `{name}` is damaged"));
                        found.damaged.push(Doomed { id: id.to_vec(), number: Some(number) });
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Compares some blocks posting by posting.
    fn look_closer(
        &self,
        home: &Arc<Home>,
        living: &Living,
        bad: &BTreeSet<(u32, u32)>,
        found: &mut Found,
    ) -> Result<()> {
        let mut expected: HashMap<u32, BTreeSet<[u8; POSTING]>> = HashMap::new();
        let mut ids: HashMap<DocNo, String> = HashMap::new();
        let (live, mut words, mut next) = (view::Live::at(self, Arc::clone(home)), Vec::new(), Some(0));
        while let Some(from) = next {
            next = live.scan_raw(from, 4096, Parts::Sketches, &mut |home, id, number, record, _| {
                let record = row::read_record(number, record, home.layout.words(), &mut words);
                if let Some(record) = record.filter(|_| living.has(home, number)) {
                    each_posting(home, number, record.words, |block, posting| {
                        if bad.contains(&(home.slice_of_block(block), block)) {
                            expected.entry(block).or_default().insert(posting);
                            ids.entry(number).or_insert_with(|| String::from_utf8_lossy(id).into_owned());
                        }
                    });
                }
                Ok(())
            })?;
        }
        let wanted: Vec<(u32, u32)> = bad.iter().copied().collect();
        let blocks = self.blocks(home, &wanted)?;
        let mut hurt = BTreeSet::new();
        for (slice, block) in wanted {
            let there =
                blocks.get(&block).map_or_else(BTreeSet::new, |bytes| living_postings(home, living, bytes));
            let expected = expected.remove(&block).unwrap_or_default();
            for posting in expected.difference(&there) {
                hurt.extend(row::postings(posting).map(|(_, number)| number));
                found.missing.push((slice, block, *posting));
            }
            let surplus: BTreeSet<_> = there.difference(&expected).copied().collect();
            let is_torn = blocks.get(&block).is_some_and(|bytes| bytes.len() % POSTING != 0);
            if !surplus.is_empty() || is_torn {
                found.surplus.insert((slice, block), surplus);
            }
        }
        for number in hurt.iter().take(LINES) {
            let id = ids.get(number).map_or("", String::as_str);
            found.report.derived.push(format!("document `{id}` is not found by all of its bands"));
        }
        if hurt.len() > LINES {
            found.report.derived.push(format!("and {} more documents", hurt.len() - LINES));
        }
        if !found.surplus.is_empty() {
            let n = found.surplus.len();
            found.report.derived.push(format!("{n} blocks have something that does not belong there"));
        }
        Ok(())
    }

    /// The counted documents of each slice.
    fn counts(&self, home: &Home) -> Result<Vec<i64>, Trouble> {
        self.field(home, b"documents")
    }

    /// The last number that each slice has given out.
    fn ends(&self, home: &Home) -> Result<Vec<u32>, Trouble> {
        Ok(self.field(home, b"next")?.into_iter().map(|end| end.max(0) as u32).collect())
    }

    fn field(&self, home: &Home, field: &[u8]) -> Result<Vec<i64>, Trouble> {
        let mut requests = Requests::default();
        for at in &home.slices {
            requests.command(at.slot, &[b"GET", at.open().as_bytes()]);
            requests.command(at.slot, &[b"HGET", at.meta().as_bytes(), field]);
        }
        let answers = self.client.call(&requests, How::default())?;
        let number = |pair: &[::redis::Value]| bytes(&pair[0]).map(|_| int(&pair[1])).ok_or(Trouble::Gone);
        answers.chunks_exact(2).map(number).collect()
    }
}

fn sum(posting: &[u8; POSTING]) -> u64 {
    hash::element(posting)
}

fn each_posting(home: &Home, number: DocNo, words: &[u64], mut visit: impl FnMut(u32, [u8; POSTING])) {
    home.layout.keys(words, |key| visit(home.block(key), row::posting(home.rest(key.key), number)));
}

/// The postings of a block whose numbers are alive, each once.
fn living_postings(home: &Home, living: &Living, block: &[u8]) -> BTreeSet<[u8; POSTING]> {
    let alive = row::postings(block).filter(|(_, number)| living.has(home, *number));
    alive.map(|(rest, number)| row::posting(rest, number)).collect()
}
