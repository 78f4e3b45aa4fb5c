//! The proof of a deduplication run: its result is that of the definition, its evidence holds, nothing is lost, whatever happens to the disk.

mod accounting;
mod again;
mod against;
mod archive;
mod audit;
mod contain;
mod corpus;
mod evidence;
mod full_disk;
mod integrity;
mod lab;
mod matrix;
mod memory;
mod oracle;
mod order;
mod power_loss;
mod precision;
mod report;
mod resume;
mod rethreshold;
mod same_result;
mod writing;
