//! Visual words: descriptors as elements of a set.
//!
//! Chum, Philbin and Zisserman (Near Duplicate Image Detection: min-Hash and tf-idf Weighting, 2008) make words by clustering many descriptors. Here a word is the signs of
//! 28 fixed projections, and nothing is learned: low frequencies over the 4 x 4 cells times low frequencies over the eight directions. They hold most of the variance of descriptors of photos, so
//! that noise rarely turns a sign; those whose median is not near zero in photos are left out. Random projections kept a third fewer words through a crop at the same rate of chance matches
//! (`docs/concepts/images.md` has the table).
//!
//! Each descriptor gives two words: its own, and the one with the least certain sign turned. And of a descriptor and the one that it would have in the mirrored picture the smaller word counts, so that mirrored
//! pictures have the same words.

use super::describe::{CELLS, DIRECTIONS, Descriptor, LENGTH, mirrored};
use crate::hash;

/// Version of the words, part of the pipeline id.
pub(in crate::field::image) const VERSION: &str = "signs28";

/// Frequencies over the rows of cells, over their columns, and over the directions.
const PROJECTIONS: [(usize, usize, usize); 28] = [
    (0, 1, 1),
    (0, 3, 1),
    (0, 0, 2),
    (1, 0, 2),
    (0, 0, 4),
    (0, 1, 0),
    (0, 1, 3),
    (2, 0, 2),
    (1, 0, 3),
    (1, 1, 1),
    (2, 3, 1),
    (1, 0, 4),
    (0, 1, 2),
    (1, 2, 1),
    (0, 1, 4),
    (2, 1, 2),
    (3, 0, 2),
    (1, 0, 0),
    (1, 0, 1),
    (1, 2, 2),
    (1, 1, 4),
    (1, 3, 1),
    (0, 1, 5),
    (1, 1, 3),
    (3, 2, 2),
    (2, 1, 1),
    (3, 1, 2),
    (0, 2, 4),
];

/// Cosines over four cells, in small integers.
const OVER_CELLS: [[i32; CELLS]; 4] = [[1, 1, 1, 1], [2, 1, -1, -2], [1, -1, -1, 1], [1, -2, 2, -1]];

/// Cosines and sines over eight directions, in small integers.
const OVER_DIRECTIONS: [[i32; DIRECTIONS]; 6] = [
    [1, 1, 1, 1, 1, 1, 1, 1],
    [10, 7, 0, -7, -10, -7, 0, 7],
    [0, 7, 10, 7, 0, -7, -10, -7],
    [1, 0, -1, 0, 1, 0, -1, 0],
    [0, 1, 0, -1, 0, 1, 0, -1],
    [10, -7, 0, 7, -10, 7, 0, -7],
];

/// The two elements of a descriptor.
pub(super) fn elements(descriptor: &Descriptor) -> [u64; 2] {
    let (ours, theirs) = (word(descriptor), word(&mirrored(descriptor)));
    let (signs, least_certain) = if ours.0 <= theirs.0 { ours } else { theirs };
    [signs, signs ^ (1 << least_certain)].map(|signs| hash::element(&signs.to_le_bytes()))
}

/// The signs of all projections, and which of them is the least certain.
fn word(descriptor: &Descriptor) -> (u32, usize) {
    let spectrum = spectrum(descriptor);
    let (mut signs, mut least_certain, mut smallest) = (0, 0, f32::INFINITY);
    for (bit, &(row, column, direction)) in PROJECTIONS.iter().enumerate() {
        let value = spectrum[row][column][direction];
        signs |= u32::from(value > 0) << bit;
        let square = |weights: &[i32]| weights.iter().map(|w| w * w).sum::<i32>();
        let norm =
            square(&OVER_CELLS[row]) * square(&OVER_CELLS[column]) * square(&OVER_DIRECTIONS[direction]);
        let certain = (value.abs() as f32) / (norm as f32).sqrt();
        if certain < smallest {
            (smallest, least_certain) = (certain, bit);
        }
    }
    (signs, least_certain)
}

/// All projections, one side after the other.
fn spectrum(descriptor: &Descriptor) -> [[[i32; 6]; CELLS]; CELLS] {
    debug_assert_eq!(descriptor.len(), LENGTH);
    let mut cells = [[[0i32; 6]; CELLS]; CELLS];
    for (i, cell) in descriptor.chunks_exact(DIRECTIONS).enumerate() {
        for (out, weights) in cells[i / CELLS][i % CELLS].iter_mut().zip(&OVER_DIRECTIONS) {
            *out = weights.iter().zip(cell).map(|(weight, &value)| weight * i32::from(value)).sum();
        }
    }
    let mut across = [[[0i32; 6]; CELLS]; CELLS];
    for (row, out) in cells.iter().zip(&mut across) {
        for (frequency, weights) in OVER_CELLS.iter().enumerate() {
            for direction in 0..6 {
                out[frequency][direction] =
                    weights.iter().zip(row).map(|(weight, cell)| weight * cell[direction]).sum();
            }
        }
    }
    let mut all = [[[0i32; 6]; CELLS]; CELLS];
    for (frequency, weights) in OVER_CELLS.iter().enumerate() {
        for column in 0..CELLS {
            for direction in 0..6 {
                all[frequency][column][direction] =
                    weights.iter().zip(&across).map(|(weight, row)| weight * row[column][direction]).sum();
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(seed: u64) -> Descriptor {
        let mut values = hash::stream(seed).map(|value| (value % 120) as u8);
        std::array::from_fn(|_| values.next().expect("the stream has no end"))
    }

    #[test]
    fn a_mirrored_descriptor_has_the_same_words() {
        for seed in 0..200 {
            let one = descriptor(seed);
            let mut words = [elements(&one), elements(&mirrored(&one))];
            words.iter_mut().for_each(|pair| pair.sort_unstable());
            assert_eq!(words[0], words[1]);
            assert_eq!(mirrored(&mirrored(&one)), one);
        }
    }

    #[test]
    fn the_spectrum_is_the_plain_sum_of_products() {
        let one = descriptor(7);
        let all = spectrum(&one);
        for &(row, column, direction) in &PROJECTIONS {
            let mut sum = 0;
            for (i, &value) in one.iter().enumerate() {
                let (r, c, d) = (i / 32, i / 8 % 4, i % 8);
                sum += i32::from(value)
                    * OVER_CELLS[row][r]
                    * OVER_CELLS[column][c]
                    * OVER_DIRECTIONS[direction][d];
            }
            assert_eq!(all[row][column][direction], sum);
        }
    }

    #[test]
    fn a_little_noise_leaves_most_words_and_another_descriptor_none() {
        let mut kept = 0;
        for seed in 0..200 {
            let one = descriptor(seed);
            let mut noisy = one;
            for (value, noise) in noisy.iter_mut().zip(hash::stream(seed + 1000)) {
                *value = value.saturating_add((noise % 5) as u8);
            }
            let words = elements(&one);
            kept += elements(&noisy).iter().filter(|word| words.contains(word)).count();
            assert!(elements(&descriptor(seed + 5000)).iter().all(|word| !words.contains(word)));
        }
        assert!(kept > 200, "{kept} of 400 words");
    }
}
