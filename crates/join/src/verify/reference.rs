//! The first document of a cluster, in which the elements of the others are looked up.
//!
//! The others are changed copies: most of their elements stand behind the same element as in the first document, and are compared there, eight at a time. Only after a difference an element is looked
//! up in a table, and from where it stands the comparison goes on.

use benzer_core::Level;
use benzer_core::slots::{n_slots, probe};

/// Table places per element, at least.
const SPARE: usize = 2;

/// Its elements, and where they stand.
#[derive(Debug, Default)]
pub(super) struct ReferenceDocument {
    /// In the order of the text.
    elements: Vec<u64>,
    /// One more than where an element stands first, by its low bits; zero where nothing is.
    table: Vec<u32>,
    /// Elements that stand there again: where, and where they stand first.
    again: Vec<(u32, u32)>,
}

impl ReferenceDocument {
    /// Holds these elements, in the order of the text.
    pub fn fill(&mut self, elements: &[u64]) {
        let Self { elements: held, table, again } = self;
        held.clear();
        held.extend_from_slice(elements);
        table.clear();
        table.resize(n_slots(elements.len(), SPARE), 0);
        again.clear();
        for (&element, place) in elements.iter().zip(0..) {
            let at = slot(held, table, element);
            match table[at] {
                0 => table[at] = place + 1,
                first => again.push((place, first - 1)),
            }
        }
    }

    /// How many places its elements have.
    pub fn places(&self) -> usize {
        self.elements.len()
    }

    /// How many distinct elements it has.
    pub fn distinct(&self) -> usize {
        self.elements.len() - self.again.len()
    }

    /// Sets a bit for each element of the first document that is among `elements`, where it stands first, and moves the others to `others`; their number.
    pub fn split(&self, elements: &[u64], bits: &mut [u64], others: &mut [u64]) -> usize {
        match Level::best() {
            // SAFETY: the level is only the best one if the CPU has it, and it includes the feature.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { self.split_avx512(elements, bits, others) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { self.split_avx2(elements, bits, others) },
            _ => self.split_plainly(elements, bits, others),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn split_avx512(&self, elements: &[u64], bits: &mut [u64], others: &mut [u64]) -> usize {
        self.split_plainly(elements, bits, others)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn split_avx2(&self, elements: &[u64], bits: &mut [u64], others: &mut [u64]) -> usize {
        self.split_plainly(elements, bits, others)
    }

    #[inline(always)]
    fn split_plainly(&self, elements: &[u64], bits: &mut [u64], others: &mut [u64]) -> usize {
        let (mut rest, mut n) = (elements, 0);
        let mut place = 0;
        loop {
            let same = common(rest, &self.elements[place..]);
            set(bits, place, same);
            rest = &rest[same..];
            // Up to the next one that the first document has.
            let found = rest.iter().position(|&element| {
                let found = self.table[slot(&self.elements, &self.table, element)] as usize;
                place = found;
                others[n] = element;
                n += usize::from(found == 0);
                found != 0
            });
            let Some(found) = found else { break };
            set(bits, place - 1, 1);
            rest = &rest[found + 1..];
        }
        for &(place, first) in &self.again {
            let bit = bits[place as usize / 64] >> (place % 64) & 1;
            bits[place as usize / 64] &= !(1 << (place % 64));
            bits[first as usize / 64] |= bit << (first % 64);
        }
        n
    }
}

/// Where in the table an element is, or would be.
#[inline(always)]
fn slot(elements: &[u64], table: &[u32], element: u64) -> usize {
    probe(element, table.len(), |at| {
        (table[at] == 0 || elements[table[at] as usize - 1] == element).then_some(at)
    })
}

/// How many elements are the same at the beginning of both.
#[inline(always)]
fn common(a: &[u64], b: &[u64]) -> usize {
    let (eights, _) = a.as_chunks::<8>();
    let pairs = eights.iter().zip(b.as_chunks::<8>().0);
    let is_equal =
        |(a, b): &(&[u64; 8], &[u64; 8])| a.iter().zip(*b).fold(0, |all, (a, b)| all | (a ^ b)) == 0;
    let n = 8 * pairs.take_while(is_equal).count();
    n + a[n..].iter().zip(&b[n..]).take_while(|(a, b)| a == b).count()
}

/// Sets so many bits from one on.
#[inline(always)]
fn set(bits: &mut [u64], mut from: usize, mut n: usize) {
    while n > 0 {
        let here = n.min(64 - from % 64);
        bits[from / 64] |= (u64::MAX >> (64 - here)) << (from % 64);
        (from, n) = (from + here, n - here);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Parts of one list, with other elements between them.
    fn copies() -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
        let list = prop::collection::vec(
            prop_oneof![4 => 0u64..400, 1 => (0u64..9).prop_map(|x| x << 32), 2 => any::<u64>()],
            0..300,
        );
        let parts = prop::collection::vec(
            (any::<prop::sample::Index>(), 0usize..90, prop::collection::vec(0u64..900, 0..7)),
            0..9,
        );
        (list, parts).prop_map(|(list, parts)| {
            let part = |(from, n, others): &(prop::sample::Index, usize, Vec<u64>)| {
                let from = from.index(list.len() + 1);
                [&list[from..list.len().min(from + n)], others].concat()
            };
            let copy = parts.iter().flat_map(part).collect();
            (list, copy)
        })
    }

    proptest! {
        #[test]
        fn each_element_is_a_bit_or_among_the_others((list, copy) in copies()) {
            let mut first = ReferenceDocument::default();
            for _ in 0..2 {
                first.fill(&list);
                let (mut bits, mut others) = (vec![0; list.len() / 64 + 1], vec![0; copy.len()]);
                let n = first.split(&copy, &mut bits, &mut others);
                let (mut plain_bits, mut plain_others) = (vec![0; bits.len()], vec![0; others.len()]);
                prop_assert_eq!(first.split_plainly(&copy, &mut plain_bits, &mut plain_others), n);
                prop_assert_eq!((&plain_bits, &plain_others[..n]), (&bits, &others[..n]));
                let in_list: BTreeSet<u64> = list.iter().copied().collect();
                let expected: Vec<u64> = copy.iter().copied().filter(|element| !in_list.contains(element)).collect();
                prop_assert_eq!(&others[..n], &expected[..]);
                let has = |place: usize| bits[place / 64] >> (place % 64) & 1 == 1;
                let found: Vec<u64> = (0..list.len()).filter(|place| has(*place)).map(|place| list[place]).collect();
                let shared: BTreeSet<u64> = copy.iter().copied().filter(|element| in_list.contains(element)).collect();
                prop_assert_eq!(found.len(), shared.len());
                prop_assert_eq!(first.distinct(), in_list.len());
                prop_assert_eq!(found.into_iter().collect::<BTreeSet<u64>>(), shared);
            }
        }
    }
}
