//! What an experiment is given: how much to do, on which data, from which seed, and where its rows go.

use std::fmt;
use std::path::{Path, PathBuf};

use benzer_core::hash;

use crate::random::Random;
use crate::{Result, Table};

/// What to run, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// All in minutes, on synthetic data.
    pub quick: bool,
    /// The folder of the data sets; without it, all data are synthetic.
    pub data: Option<PathBuf>,
    /// The one seed.
    pub seed: u64,
    /// Where tables, charts and gallery go.
    pub output: PathBuf,
    /// The command that was given, for the record.
    pub command: String,
}

pub struct Context<'a> {
    pub(crate) options: &'a Options,
    pub(crate) name: &'static str,
    /// Hears what is measured now.
    pub(crate) on_step: &'a dyn Fn(&str),
}

impl Context<'_> {
    pub fn size(&self, quick: usize, full: usize) -> usize {
        if self.options.quick { quick } else { full }
    }

    /// Points to measure at: fewer in a quick run.
    pub fn points<T>(&self, quick: &'static [T], full: &'static [T]) -> &'static [T] {
        if self.options.quick { quick } else { full }
    }

    pub fn data(&self) -> Option<&Path> {
        self.options.data.as_deref().filter(|_| !self.options.quick)
    }

    /// The seed of an independent stream of this experiment.
    pub fn seed(&self, stream: u64) -> u64 {
        hash::split(hash::split(self.options.seed, hash::element(self.name.as_bytes())), stream)
    }

    /// The seed of repetition `run` of a stream.
    pub fn seed_of(&self, stream: u64, run: usize) -> u64 {
        hash::split(self.seed(stream), run as u64)
    }

    /// The random numbers of repetition `run` of a stream.
    pub(crate) fn random(&self, stream: u64, run: usize) -> Random {
        Random::new(self.seed_of(stream, run))
    }

    /// A table in the output folder; `part` tells several of one experiment apart. Errors: the file cannot be made.
    pub fn table(&self, part: &str) -> Result<Table> {
        let name = if part.is_empty() { self.name.to_owned() } else { format!("{}_{part}", self.name) };
        Table::new(&self.options.output.join(format!("{name}.csv")))
    }

    pub fn step(&self, part: impl fmt::Display) {
        (self.on_step)(&part.to_string());
    }
}
