//! Sorting numbers of records.

use crate::store::DocNo;

/// Fewer are sorted by comparing them.
const FEW: usize = 64;
/// Values of a digit.
const DIGITS: usize = 256;

/// Sorts numbers. Many are sorted by their digits, the last first, as far as they differ: the time does not depend on their order, and nothing has to be foretold.
pub(crate) fn numbers(numbers: &mut [DocNo], scratch: &mut Vec<DocNo>) {
    if numbers.len() < FEW {
        return numbers.sort_unstable();
    }
    let differing = numbers.iter().fold(0, |bits, number| bits | (number ^ numbers[0]));
    scratch.clear();
    scratch.resize(numbers.len(), 0);
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
    let digit = |number: DocNo| (number >> shift) as u8 as usize;
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
                let mut sorted = given.clone();
                numbers(&mut sorted, &mut vec![5; 3]);
                let mut expected = given;
                expected.sort_unstable();
                prop_assert_eq!(sorted, expected);
            }
        }
    }
}
