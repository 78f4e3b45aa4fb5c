//! Sorting more records than fit into memory.
//!
//! ```text
//! push --> buffer --full: sort--> run on disk ...  --finish: merge--> Sorted: the records in order
//!                 --never full: sort--------------------------------> Sorted, straight from memory
//! ```
//!
//! - [`Record`]: small, of a fixed size. Integers are records, and so are tuples of two to four records.
//! - [`Sorter`] takes records in any order. Each thread fills its own; [`Sorted::merge`] puts the results together.
//! - [`Sorted`] gives them in order. With [`Sorter::dedup`], equal ones once.
//!
//! The budget counts the records in memory, the whole capacity of their buffer included, and the blocks of the runs. What is left of
//! the books, some hundred bytes a run and a few a block, is not counted. A run is a file of checksummed blocks that is never synced and is deleted
//! when it was read: a damaged one is an error, and wrong data never comes out.
//!
//! ```
//! use benzer_storage::Files;
//! use benzer_flow::sort::Sorter;
//!
//! let folder = tempfile::tempdir()?;
//! let mut sorter = Sorter::new(1024, folder.path(), &Files::new());
//! for i in 0..10_000u64 {
//!     sorter.push((i * 7919 % 10_000, i as u32))?;
//! }
//! let sorted = sorter.finish()?;
//! assert!(sorted.len() == 10_000 && sorted.spilled_bytes() > 100_000);
//! let keys: Vec<u64> = sorted.map(|record| record.map(|(key, _)| key)).collect::<Result<_, _>>()?;
//! assert!(keys.into_iter().eq(0..10_000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod merge;
mod record;
mod run;
mod sorted;
mod sorter;

pub use record::Record;
pub use sorted::Sorted;
pub use sorter::{Sorter, Workspace};

#[cfg(test)]
mod tests;
