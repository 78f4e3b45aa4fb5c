//! The binary as its users see it: output, messages, exit codes, files.

mod against;
mod bench;
mod collections;
mod compare;
mod dedup;
mod dedup_inputs;
mod eval;
mod folders;
mod help;
mod known;
mod layers;
mod outcome;
mod pictures;
mod plan;
mod processes;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "redis")]
mod redis_server;
mod richer;
mod serve;
mod sets;
mod sketch;
mod verify;
