//! The worked examples of the sources, by hand: 001 (the slides) and 002 (the report).

use benzer_core::Features;
use benzer_core::hash::element;
use benzer_core::sketch::permutations::{Linear, signature};

/// Elements a to e as the rows 0 to 4 of example 3.6.
fn rows(letters: &str) -> Vec<u64> {
    letters.bytes().map(|letter| u64::from(letter - b'a')).collect()
}

/// The element that comes first in a permuted order of rows.
fn first(set: &str, order: &str) -> char {
    let rank = |row: u64| order.bytes().position(|l| u64::from(l - b'a') == row).unwrap() as u64;
    let minimum = signature(&rows(set), &[rank])[0].unwrap();
    order.chars().nth(minimum as usize).unwrap()
}

#[test]
fn slides_example_3_6_s1_and_s4_are_two_thirds_similar() {
    let [s1, s4] = ["ad", "acd"].map(|set| Features::set(rows(set)));
    assert_eq!(s1.jaccard(&s4), Some(2.0 / 3.0));
}

#[test]
fn slides_example_3_7_minhash_is_the_first_row_of_the_permuted_order() {
    // S1 = {a, d}, S2 = {c}, S3 = {b, d, e}, S4 = {a, c, d}; permuted order b, e, a, d, c.
    let minhash = ["ad", "c", "bde", "acd"].map(|set| first(set, "beadc"));
    assert_eq!(minhash, ['a', 'c', 'b', 'a']);
}

#[test]
fn slides_example_3_8_two_hash_functions_simulate_permutations() {
    let functions = [(1, 1), (3, 1)].map(|(a, b)| Linear::new(a, b, 5).unwrap()).map(|h| move |x| h.apply(x));
    let signatures = ["ad", "c", "bde", "acd"].map(|set| signature(&rows(set), &functions));
    let expected = [[1, 0], [3, 2], [0, 0], [1, 0]].map(|s| s.map(Some).to_vec());
    assert_eq!(signatures, expected);
    assert_eq!(signature(&[], &functions), [None, None], "an empty column keeps infinity");
}

#[test]
fn slides_jaccard_examples() {
    let three_of_eight = (Features::set(0..5), Features::set(2..8));
    assert_eq!(three_of_eight.0.jaccard(&three_of_eight.1), Some(3.0 / 8.0));
    let columns: [Vec<u64>; 2] = [vec![1, 2, 4], vec![0, 2, 4, 5]];
    let [c1, c2] = columns.map(Features::set);
    assert_eq!(c1.jaccard(&c2), Some(0.4));
}

#[test]
fn slides_shingles_of_abcab_as_a_set_and_as_a_bag() {
    let shingles = || ["ab", "bc", "ca", "ab"].map(|s| element(s.as_bytes()));
    assert_eq!(Features::set(shingles()).len(), 3);
    assert_eq!(Features::bag(shingles()).size(), 4.0);
}

#[test]
fn slides_signature_matrix_and_its_similarities() {
    let matrix = ["1010", "1001", "0101", "0101", "0101", "1010", "1010"];
    let column =
        |c: usize| (0..7u64).filter(|&r| matrix[r as usize].as_bytes()[c] == b'1').collect::<Vec<_>>();
    let permutations = [[1u64, 3, 7, 6, 2, 5, 4], [4, 2, 1, 3, 6, 7, 5], [3, 4, 7, 6, 1, 2, 5]];
    let functions = permutations.map(|ranks| move |row: u64| ranks[row as usize]);
    let signatures: Vec<Vec<u64>> =
        (0..4).map(|c| signature(&column(c), &functions).into_iter().map(Option::unwrap).collect()).collect();
    // The slide's matrix M, with the permutations in reverse order.
    let by_row = |p: usize| signatures.iter().map(|s| s[p]).collect::<Vec<_>>();
    assert_eq!([by_row(2), by_row(1), by_row(0)], [[2, 1, 2, 1], [2, 1, 4, 1], [1, 2, 1, 2]]);
    for ((a, b), (columns, signature)) in
        [((0, 2), (0.75, 2.0 / 3.0)), ((1, 3), (0.75, 1.0)), ((0, 1), (0.0, 0.0)), ((2, 3), (0.0, 0.0))]
    {
        assert_eq!(Features::set(column(a)).jaccard(&Features::set(column(b))), Some(columns));
        let equal = signatures[a].iter().zip(&signatures[b]).filter(|(x, y)| x == y).count();
        assert_eq!(equal as f64 / 3.0, signature);
    }
}

#[test]
fn report_section_1_2_half_similar_sets() {
    assert_eq!(Features::set([1, 2, 3]).jaccard(&Features::set([1, 2, 4])), Some(0.5));
}

#[test]
fn report_tables_1_and_2_a_characteristic_matrix_and_its_permutation() {
    // Table 1: S1 = {b}, S2 = {c}, S3 = {a, b, d}; Table 2 permutes the rows to c, a, b, d.
    assert_eq!(["b", "c", "abd"].map(|set| first(set, "cabd")), ['b', 'c', 'a']);
}
