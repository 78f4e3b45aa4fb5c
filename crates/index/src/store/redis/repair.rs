//! Making right what the records say: missing postings are added, those that belong elsewhere removed, damaged records taken out.

use super::blocks::Replaced;
use super::functions::Function;
use super::home::Home;
use super::net::Requests;
use super::put::add_blocks;
use super::row;
use super::verify::{Damages, Surplus};
use super::{Redis, Trouble, add_function, refused};
use crate::error::Result;
use crate::store::Report;

impl Redis {
    pub(super) fn repair_all(&self) -> Result<Report> {
        let Damages { mut report, damaged, missing, surplus, miscounted, set_back } = self.verify_all()?;
        let home = self.home();
        let mut say = |what: String| report.repaired.push(what);
        if !set_back.is_empty() {
            self.advance(&home, &set_back)?;
            say("numbers of lost documents are not given out again".to_owned());
        }
        if !surplus.is_empty() {
            // Writers may hold numbers that were given out twice: none of those will come.
            self.raise_fences(&home)?;
        }
        if !damaged.is_empty() {
            let n = self.remove_some(&home, damaged)?;
            say(format!("{n} damaged records were taken out"));
        }
        if !surplus.is_empty() {
            let n = self.clean(&home, &surplus)?;
            say(format!("{n} blocks were cleaned of what does not belong there"));
        }
        if !missing.is_empty() {
            let n = missing.len();
            let mut requests = Requests::default();
            add_blocks(&mut requests, &home, missing);
            self.change(&requests)?.iter().try_for_each(refused)?;
            say(format!("{n} missing postings were made again from the records"));
        }
        if !miscounted.is_empty() {
            self.recount(&home, &miscounted)?;
            say("the documents were counted again".to_owned());
        }
        Ok(report)
    }

    /// Lets slices go on after the highest numbers that they have given out.
    fn advance(&self, home: &Home, set_back: &[(u32, u32)]) -> Result<(), Trouble> {
        let mut requests = Requests::default();
        for (slice, count) in set_back {
            let (at, count) = (home.slice(*slice), count.to_string());
            let keys = [at.open(), at.meta()];
            add_function(&mut requests, at.slot, Function::Advance, &keys, &[count.as_bytes()]);
        }
        self.change(&requests)?.iter().try_for_each(refused)
    }

    /// Writes blocks without some of their postings; how many there were.
    fn clean(&self, home: &Home, surplus: &Surplus) -> Result<u64, Trouble> {
        let mut wanted: Vec<(u32, u32)> = surplus.keys().copied().collect();
        wanted.sort_unstable();
        let mut blocks = self.blocks(home, &wanted)?;
        let replaced = wanted.into_iter().filter_map(|(slice, block)| {
            let old = blocks.remove(&block)?;
            let kept = row::postings(&old).map(|(rest, number)| row::posting(rest, number));
            let kept: Vec<_> = kept.filter(|posting| !surplus[&(slice, block)].contains(posting)).collect();
            Some(Replaced { slice, block, new: kept.concat(), old })
        });
        self.replace(home, &replaced.collect::<Vec<_>>())
    }

    /// Tells slices how many documents they have.
    fn recount(&self, home: &Home, miscounted: &[(u32, [i64; 2])]) -> Result<(), Trouble> {
        let mut requests = Requests::default();
        for (slice, counts) in miscounted {
            let (at, counts) = (home.slice(*slice), counts.map(|n| n.to_string()));
            let words = counts.each_ref().map(|n| n.as_bytes());
            add_function(&mut requests, at.slot, Function::Recount, &[at.open(), at.meta()], &words);
        }
        self.change(&requests)?.iter().try_for_each(refused)
    }
}
