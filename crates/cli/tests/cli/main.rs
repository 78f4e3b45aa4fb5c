//! The binary as its users see it: output, messages, exit codes, files.

mod against;
mod bench;
mod collections;
mod compare;
mod dedup;
mod folders;
mod help;
mod layers;
mod plan;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "redis")]
mod redis_server;
mod sets;
mod sketch;
