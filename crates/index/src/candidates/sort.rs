//! Numbers of records in order.

use crate::record::DocNo;

/// Fewer are sorted by comparing them.
const FEW: usize = 64;
/// Values of a digit.
const DIGITS: usize = 256;

/// Words of marks, at most: for four million numbers.
const WORDS: usize = 1 << 16;

/// Which numbers came, a bit for each.
#[derive(Debug, Default)]
pub(super) struct Marks {
    words: Vec<u64>,
    /// Which words are not zero.
    groups: Vec<u64>,
}

impl Marks {
    /// Appends many numbers, each once and in order. Does nothing and returns false if there are few, or too far from each other.
    pub fn add_distinct(&mut self, given: &[DocNo], numbers: &mut Vec<DocNo>) -> bool {
        if given.len() < FEW {
            return false;
        }
        let (low, high) =
            given.iter().fold((u32::MAX, 0), |(low, high), number| (low.min(number.0), high.max(number.0)));
        let n_words = ((high - low) / 64) as usize + 1;
        if n_words > WORDS {
            return false;
        }
        if self.words.len() < n_words {
            self.words.resize(n_words.next_power_of_two(), 0);
            self.groups.resize(self.words.len().div_ceil(64), 0);
        }
        let (words, groups) = (&mut self.words[..], &mut self.groups[..n_words.div_ceil(64)]);
        for number in given {
            let place = (number.0 - low) as usize;
            words[place / 64] |= 1 << (place % 64);
            groups[place / 4096] |= 1 << (place / 64 % 64);
        }
        numbers.reserve(given.len());
        for (i, group) in groups.iter_mut().enumerate() {
            for place in ones(std::mem::take(group)) {
                let word = 64 * i + place as usize;
                let first = low + 64 * word as u32;
                numbers.extend(ones(std::mem::take(&mut words[word])).map(|place| DocNo(first + place)));
            }
        }
        true
    }
}

/// The places of ones.
fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        place
    })
}

/// Sorts numbers. Many are sorted by their digits, the last first, as far as they differ: the time does not depend on their order, and nothing has to be foretold.
pub(super) fn numbers(numbers: &mut [DocNo], scratch: &mut Vec<DocNo>) {
    if numbers.len() < FEW {
        return numbers.sort_unstable();
    }
    let differing = numbers.iter().fold(0, |bits, number| bits | (number.0 ^ numbers[0].0));
    scratch.clear();
    scratch.resize(numbers.len(), DocNo::default());
    let (mut from, mut to) = (&mut *numbers, &mut scratch[..]);
    let mut is_swapped = false;
    for shift in (0..32).step_by(8).filter(|shift| differing >> shift & 0xff != 0) {
        by_digit(from, to, shift);
        (from, to) = (to, from);
        is_swapped = !is_swapped;
    }
    if is_swapped {
        to.copy_from_slice(from);
    }
}

/// Orders numbers by one digit, and leaves those that have the same in their order.
fn by_digit(from: &[DocNo], to: &mut [DocNo], shift: u32) {
    let digit = |number: DocNo| (number.0 >> shift) as u8 as usize;
    let mut starts = [0u32; DIGITS];
    from.iter().for_each(|number| starts[digit(*number)] += 1);
    let mut start = 0;
    for place in &mut starts {
        start += std::mem::replace(place, start);
    }
    for &number in from {
        let place = &mut starts[digit(number)];
        to[*place as usize] = number;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorted_as_by_comparing(given in prop::collection::vec(prop_oneof![any::<u32>(), 0u32..300, 70_000u32..90_000, Just(u32::MAX)], 0..400), same in any::<u32>()) {
            for given in [given.clone(), given.iter().map(|number| number % 7 + same / 2).collect()] {
                let mut expected: Vec<DocNo> = given.into_iter().map(DocNo).collect();
                let mut sorted = expected.clone();
                numbers(&mut sorted, &mut vec![DocNo(5); 3]);
                expected.sort_unstable();
                prop_assert_eq!(&sorted, &expected);
                expected.dedup();
                let (mut marks, mut distinct) = (Marks::default(), Vec::new());
                if marks.add_distinct(&sorted, &mut distinct) {
                    prop_assert_eq!(&distinct, &expected);
                    prop_assert!(marks.words.iter().chain(&marks.groups).all(|word| *word == 0));
                }
                prop_assert!(sorted.len() < FEW || !distinct.is_empty() || sorted[sorted.len() - 1].places_after(sorted[0]) >= 64 * (WORDS - 1));
            }
        }
    }
}
