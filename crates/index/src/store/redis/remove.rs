//! Removing documents, by id or because their time has come.

use crate::record::DocNo;
use std::collections::BTreeMap;

use super::functions::Function;
use super::home::Home;
use super::{Redis, Requests, Trouble, add_function, bytes, int, list, refused, row};

/// Documents of one call of the function.
const AT_ONCE: usize = 256;

/// A slice, and those of its numbers whose time has come, as they are stored.
type Gone = (u32, Vec<Vec<u8>>);

/// A document to remove, if it has a number still, or in any case.
pub(super) struct Removal {
    pub id: Vec<u8>,
    pub number: Option<DocNo>,
}

impl Redis {
    pub(super) fn remove_ids(&self, home: &Home, ids: &[&[u8]]) -> Result<u64, Trouble> {
        let removals = ids.iter().map(|id| Removal { id: id.to_vec(), number: None });
        self.remove_some(home, removals.collect())
    }

    /// Removes documents; how many were there.
    pub(super) fn remove_some(&self, home: &Home, removals: Vec<Removal>) -> Result<u64, Trouble> {
        let mut by_slice = BTreeMap::<u32, Vec<(u32, Removal)>>::new();
        for one in removals {
            let (slice, bucket) = home.place(&one.id);
            by_slice.entry(slice).or_default().push((bucket, one));
        }
        let mut requests = Requests::default();
        for (slice, removals) in &by_slice {
            let at = home.slice(*slice);
            for removals in removals.chunks(AT_ONCE) {
                let mut keys = vec![at.open(), at.meta(), at.records(), at.documents(), at.expiry()];
                keys.extend(removals.iter().map(|(bucket, _)| at.ids(*bucket)));
                let words = removals.iter().zip(1u32..).flat_map(|((_, one), place)| {
                    let number = one.number.map(|number| home.parts(number).1.to_be_bytes().to_vec());
                    [place.to_string().into_bytes(), one.id.clone(), number.unwrap_or_default()]
                });
                let words: Vec<Vec<u8>> = words.collect();
                let words: Vec<&[u8]> = words.iter().map(|word| &word[..]).collect();
                add_function(&mut requests, at.slot, Function::Remove, &keys, &words);
            }
        }
        let answers = self.change(&requests)?;
        answers.iter().try_for_each(refused)?;
        Ok(answers.iter().map(|answer| int(answer).unsigned_abs()).sum())
    }

    /// Removes what is gone at a time, a bounded number at once.
    pub(super) fn expire_at(&self, home: &Home, now: u64) -> Result<u64, Trouble> {
        let mut all = 0;
        let mut slices: Vec<u32> = (0..home.entry.slices).collect();
        while !slices.is_empty() {
            let gone = self.gone(home, &slices, now)?;
            slices = gone
                .iter()
                .filter(|(_, numbers)| numbers.len() == AT_ONCE)
                .map(|(slice, _)| *slice)
                .collect();
            let removals = self.removals(home, &gone)?;
            if removals.is_empty() {
                break;
            }
            all += self.remove_some(home, removals)?;
        }
        Ok(all)
    }

    /// Numbers of some slices whose time has come.
    fn gone(&self, home: &Home, slices: &[u32], now: u64) -> Result<Vec<Gone>, Trouble> {
        let mut requests = Requests::default();
        for slice in slices {
            let at = home.slice(*slice);
            let (time, n) = (now.to_string(), AT_ONCE.to_string());
            let words: [&[u8]; 8] = [
                b"ZRANGE",
                &at.expiry().into_bytes(),
                b"0",
                time.as_bytes(),
                b"BYSCORE",
                b"LIMIT",
                b"0",
                n.as_bytes(),
            ];
            requests.command(at.slot, &words);
        }
        let answers = self.client.call(&requests, Default::default())?;
        let numbers = |answer| list(answer).iter().filter_map(bytes).map(<[u8]>::to_vec).collect();
        Ok(slices.iter().copied().zip(answers.iter().map(numbers)).collect())
    }

    /// The ids of some numbers.
    fn removals(&self, home: &Home, gone: &[Gone]) -> Result<Vec<Removal>, Trouble> {
        let mut requests = Requests::default();
        let gone: Vec<&Gone> = gone.iter().filter(|(_, numbers)| !numbers.is_empty()).collect();
        for (slice, numbers) in &gone {
            let at = home.slice(*slice);
            requests.add(at.slot, 2 + numbers.len(), |arguments| {
                arguments.word(b"HMGET");
                arguments.word(at.records().as_bytes());
                numbers.iter().for_each(|number| arguments.word(number));
            });
        }
        let answers = self.client.call(&requests, Default::default())?;
        let (mut removals, mut words) = (Vec::new(), Vec::new());
        for ((slice, numbers), answer) in gone.into_iter().zip(&answers) {
            for (count, value) in numbers.iter().zip(list(answer)) {
                let Ok(count) = <[u8; 4]>::try_from(&count[..]) else { continue };
                let number = home.number(*slice, u32::from_be_bytes(count));
                let record = bytes(value)
                    .and_then(|value| row::read_record(number, value, home.layout.words(), &mut words));
                removals
                    .extend(record.map(|record| Removal { id: record.id.to_vec(), number: Some(number) }));
            }
        }
        Ok(removals)
    }
}
