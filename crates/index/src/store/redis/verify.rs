//! Reading everything: every checksum, and that the postings are those of the records.
//!
//! The records say which numbers are alive and which postings there must be; of these a sum is made for each block. Then all blocks are read, and the sums of their living postings compared. Blocks that differ are
//! looked at posting by posting. Others may write meanwhile: what is put later is not alive by this list, and what is removed keeps its postings until somebody compacts.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use benzer_core::hash;

use super::compact::LiveNumbers;
use super::home::Home;
use super::net::{How, Requests};
use super::remove::Removal;
use super::row::{self, POSTING};
use super::{Redis, Trouble, bytes, int, view};
use crate::error::Result;
use crate::record::DocNo;
use crate::settings::Keeps;
use crate::store::{Parts, Report};

/// Lines of a report about one kind of damage.
const LINES: usize = 20;

/// Postings of blocks, by slice and block.
pub(super) type Surplus = HashMap<(u32, u32), BTreeSet<[u8; POSTING]>>;

/// What is wrong, for those who read it and for the repair.
#[derive(Default)]
pub(super) struct Damages {
    pub report: Report,
    pub damaged: Vec<Removal>,
    /// Postings that are missing: slice, block, posting.
    pub missing: Vec<(u32, u32, [u8; POSTING])>,
    /// Blocks that have to be written anew, by slice and block: without postings of living records that do not belong there, and without what is no posting.
    pub surplus: Surplus,
    /// Slices whose number of documents is wrong: what they say, and what there is.
    pub miscounted: Vec<(u32, [i64; 2])>,
    /// Slices that have postings of numbers which they have not given out, as far as they remember, and the highest of these.
    pub set_back: Vec<(u32, u32)>,
}

/// What the records say that there must be.
struct Expected {
    living: LiveNumbers,
    /// Of the postings of each block.
    sums: Vec<u64>,
    /// Documents of each slice.
    n_documents: Vec<i64>,
    damages: Damages,
}

/// What some blocks must have, by slice and block, and the ids of the records that are in them.
struct ExpectedPostings {
    blocks: BTreeMap<(u32, u32), BTreeSet<[u8; POSTING]>>,
    ids: HashMap<DocNo, String>,
}

/// What the blocks have.
struct BlocksRead {
    /// Those that do not have what they must, by slice and block.
    suspicious: BTreeSet<(u32, u32)>,
    /// The highest count of each slice that a posting has.
    highest: Vec<u32>,
}

impl Redis {
    pub(super) fn verify_all(&self) -> Result<Damages> {
        let home = self.home();
        let counted = self.field(&home, b"documents")?;
        let Expected { living, sums, n_documents, mut damages } = self.expected(&home)?;
        let BlocksRead { suspicious, highest } = self.read_blocks(&home, &living, sums)?;
        if !suspicious.is_empty() {
            let expected = self.expected_postings(&home, &living, &suspicious)?;
            self.compare_blocks(&home, &living, expected, &mut damages)?;
        }
        let ends = self.ends(&home)?;
        let set_back = (0..).zip(highest).filter(|(slice, highest)| *highest > ends[*slice as usize]);
        damages.set_back = set_back.collect();
        if !damages.set_back.is_empty() {
            let n = damages.set_back.len();
            let what = format!("{n} slices have lost their last writes, and would give numbers out again");
            damages.report.derived.push(what);
        }
        // Only if nobody writes meanwhile can the counts be compared.
        if counted == self.field(&home, b"documents")? && damages.damaged.is_empty() {
            let wrong = counted.iter().zip(&n_documents).zip(0..).filter(|((said, real), _)| said != real);
            damages.miscounted = wrong.map(|((said, real), slice)| (slice, [*said, *real])).collect();
            if !damages.miscounted.is_empty() {
                let n: i64 = damages.miscounted.iter().map(|(_, [said, real])| (said - real).abs()).sum();
                damages.report.derived.push(format!("the number of documents is wrong by {n}"));
            }
        }
        Ok(damages)
    }

    /// Reads all records, and notes those that are not whole.
    fn expected(&self, home: &Arc<Home>) -> Result<Expected> {
        let mut living = LiveNumbers::new(self.ends(home)?);
        let mut sums = vec![0u64; home.layout.bands() << home.entry.bits];
        let mut n_documents = vec![0i64; home.slices.len()];
        let mut damages = Damages::default();
        let keeps = self.settings.keeps == Keeps::Documents;
        let (live, mut words) = (view::Live::at(self, Arc::clone(home)), Vec::new());
        live.scan_all(Parts::All, &mut |home, id, number, record, document| {
            let record = row::read_record(number, record, home.layout.words(), &mut words);
            let is_whole = record.as_ref().is_some_and(|record| record.id == id)
                && (!keeps || row::read_document(number, document).is_some());
            let Some(record) = record.filter(|_| is_whole) else {
                let name = String::from_utf8_lossy(id);
                damages.report.records.push(format!("the record of document `{name}` is damaged"));
                damages.damaged.push(Removal { id: id.to_vec(), number: Some(number) });
                return Ok(());
            };
            damages.report.documents += 1;
            living.add(home, number);
            n_documents[home.parts(number).0 as usize] += 1;
            each_posting(home, number, record.words, |block, posting| {
                sums[block as usize] = sums[block as usize].wrapping_add(sum(&posting));
            });
            Ok(())
        })?;
        Ok(Expected { living, sums, n_documents, damages })
    }

    /// Reads all blocks, whose living postings must have these sums.
    fn read_blocks(&self, home: &Arc<Home>, living: &LiveNumbers, mut sums: Vec<u64>) -> Result<BlocksRead> {
        let (mut suspicious, mut highest) = (BTreeSet::new(), vec![0u32; home.slices.len()]);
        self.each_block(home, &mut |home, blocks| {
            for (slice, block, bytes) in blocks {
                let postings = living_postings(home, living, &bytes);
                let found = postings.iter().fold(0u64, |all, one| all.wrapping_add(sum(one)));
                for (_, number) in row::postings(&bytes) {
                    let (slice, count) = home.parts(number);
                    if let Some(highest) = highest.get_mut(slice as usize) {
                        *highest = count.max(*highest);
                    }
                }
                if std::mem::take(&mut sums[block as usize]) != found || bytes.len() % POSTING != 0 {
                    suspicious.insert((slice, block));
                }
            }
            Ok(())
        })?;
        // Blocks that should have been there.
        let lost = sums.iter().zip(0u32..).filter(|(sum, _)| **sum != 0);
        suspicious.extend(lost.map(|(_, block)| (home.slice_of_block(block), block)));
        Ok(BlocksRead { suspicious, highest })
    }

    /// Reads all records again for what some blocks must have.
    fn expected_postings(
        &self,
        home: &Arc<Home>,
        living: &LiveNumbers,
        suspicious: &BTreeSet<(u32, u32)>,
    ) -> Result<ExpectedPostings> {
        let none = |of: &(u32, u32)| (*of, BTreeSet::new());
        let mut blocks: BTreeMap<_, _> = suspicious.iter().map(none).collect();
        let mut ids = HashMap::new();
        let (live, mut words) = (view::Live::at(self, Arc::clone(home)), Vec::new());
        live.scan_all(Parts::Sketches, &mut |home, id, number, record, _| {
            let record = row::read_record(number, record, home.layout.words(), &mut words);
            if let Some(record) = record.filter(|_| living.has(home, number)) {
                each_posting(home, number, record.words, |block, posting| {
                    if let Some(postings) = blocks.get_mut(&(home.slice_of_block(block), block)) {
                        postings.insert(posting);
                        ids.entry(number).or_insert_with(|| String::from_utf8_lossy(id).into_owned());
                    }
                });
            }
            Ok(())
        })?;
        Ok(ExpectedPostings { blocks, ids })
    }

    /// Compares some blocks posting by posting.
    fn compare_blocks(
        &self,
        home: &Home,
        living: &LiveNumbers,
        expected: ExpectedPostings,
        damages: &mut Damages,
    ) -> Result<()> {
        let wanted: Vec<(u32, u32)> = expected.blocks.keys().copied().collect();
        let blocks = self.blocks(home, &wanted)?;
        let mut hurt = BTreeSet::new();
        for ((slice, block), expected) in expected.blocks {
            let bytes = blocks.get(&block).map(Vec::as_slice).unwrap_or_default();
            let there = living_postings(home, living, bytes);
            for posting in expected.difference(&there) {
                hurt.extend(row::postings(posting).map(|(_, number)| number));
                damages.missing.push((slice, block, *posting));
            }
            let surplus: BTreeSet<_> = there.difference(&expected).copied().collect();
            if !surplus.is_empty() || bytes.len() % POSTING != 0 {
                damages.surplus.insert((slice, block), surplus);
            }
        }
        let derived = &mut damages.report.derived;
        for number in hurt.iter().take(LINES) {
            let id = expected.ids.get(number).map_or("", String::as_str);
            derived.push(format!("document `{id}` is not found by all of its bands"));
        }
        if hurt.len() > LINES {
            derived.push(format!("and {} more documents", hurt.len() - LINES));
        }
        if !damages.surplus.is_empty() {
            let n = damages.surplus.len();
            derived.push(format!("{n} blocks have something that does not belong there"));
        }
        Ok(())
    }

    /// The last number that each slice has given out.
    fn ends(&self, home: &Home) -> Result<Vec<u32>, Trouble> {
        Ok(self.field(home, b"next")?.into_iter().map(|end| end.max(0) as u32).collect())
    }

    /// A count of each slice.
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
fn living_postings(home: &Home, living: &LiveNumbers, block: &[u8]) -> BTreeSet<[u8; POSTING]> {
    let alive = row::postings(block).filter(|(_, number)| living.has(home, *number));
    alive.map(|(rest, number)| row::posting(rest, number)).collect()
}
