//! The binary as its users see it: output, messages, exit codes, files.

mod against;
mod bench;
mod compare;
mod dedup;
mod help;
mod layers;
mod plan;
mod sketch;
