//! What experiments are tried on: collections and pictures of `--data` or synthetic ones, and sets that are made with the similarities wanted.

pub(crate) mod corpus;
pub(crate) mod pictures;
pub(crate) mod plant;
pub(crate) mod universe;
