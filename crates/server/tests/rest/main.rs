//! The API as its users see it: requests in, answers out.

mod batches;
mod collections;
mod duplicates;
mod lab;
mod limits;
mod page;
mod pictures;
mod richer;
mod security;
mod similarity;
mod tls;
mod wire;
