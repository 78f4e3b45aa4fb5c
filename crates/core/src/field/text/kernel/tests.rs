//! Every path against plain loops, and with that against each other.

use proptest::prelude::*;

use super::*;

fn paths() -> Vec<Path> {
    Level::available().into_iter().map(Path::new).collect()
}

/// The edges of words by the rules in the module `edges`, byte by byte.
fn words(text: &[u8]) -> Vec<u32> {
    let at = |i: usize| text.get(i).copied().unwrap_or(0);
    let before = |i: usize| if i == 0 { 0 } else { at(i - 1) };
    let is_letter = |b: u8| b.is_ascii_alphabetic() || !b.is_ascii();
    let is_inside = |i: usize| {
        let letters = is_letter(before(i)) && is_letter(at(i + 1));
        let digits = before(i).is_ascii_digit() && at(i + 1).is_ascii_digit();
        b".':".contains(&at(i)) && letters || b".',;".contains(&at(i)) && digits
    };
    let is_word = |i: usize| is_letter(at(i)) || at(i).is_ascii_digit() || at(i) == b'_' || is_inside(i);
    let is_edge = |&i: &usize| is_word(i) != (i > 0 && is_word(i - 1));
    (0..=text.len()).filter(is_edge).map(|i| i as u32).collect()
}

fn check_edges(text: &[u8]) {
    let expected = words(text);
    for path in paths() {
        let mut buffer = [text, &[b'x'; SLACK]].concat();
        let mut bounds = Lines::new(7, 3);
        let found = edges(path, &mut buffer, text.len(), &mut bounds);
        let shown = String::from_utf8_lossy(text);
        assert_eq!(bounds[..found.n_bounds], expected, "{path:?} {shown:?}");
        assert_eq!(found.underscore, text.contains(&b'_'), "{path:?} {shown:?}");
    }
}

fn check_copy(text: &[u8]) {
    let n = text.iter().take_while(|b| b.is_ascii()).count();
    for path in paths() {
        let mut copy = vec![0xff; text.len() + SLACK];
        assert_eq!(copy_ascii::<true>(path, text, &mut copy), n, "{path:?} {text:?}");
        assert_eq!(copy[..n], text[..n].to_ascii_lowercase(), "{path:?}");
        assert_eq!(copy_ascii::<false>(path, text, &mut copy), n, "{path:?} {text:?}");
        assert_eq!(copy[..n], text[..n], "{path:?}");
    }
}

/// As `char::to_lowercase` for some of the characters of two bytes.
fn becomes(code: u32) -> Option<[u8; 2]> {
    let c = char::from_u32(code).filter(|_| code % 7 != 3)?;
    c.to_lowercase().to_string().as_bytes().try_into().ok()
}

fn check_pairs(text: &str) {
    let pairs = Pairs::new(becomes);
    let replace = |c: char| {
        if c.is_ascii() {
            Some(c.to_ascii_lowercase().to_string())
        } else {
            becomes(c as u32).and_then(|pair| String::from_utf8(pair.to_vec()).ok())
        }
    };
    let expected: String = text.chars().map_while(replace).collect();
    for path in paths() {
        let mut copy = vec![0xff; text.len() + SLACK];
        let n = copy_pairs::<true>(path, &pairs, text.as_bytes(), &mut copy);
        let full = if path == Path(Level::Avx512) { expected.len() } else { 0 };
        assert_eq!((n, &copy[..n]), (full, &expected.as_bytes()[..n]), "{path:?} {text:?}");
    }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let word_like = prop::sample::select(b"aZ09_.,:;' -\"\n\x80\xff".to_vec());
    let byte = prop_oneof![4 => word_like, 1 => 0u8..128, 1 => any::<u8>()];
    prop::collection::vec(byte, 0..300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_path_finds_the_words(text in bytes()) {
        check_edges(&text);
    }

    #[test]
    fn every_path_copies_ascii(start in prop::collection::vec(0u8..128, 0..300), end in bytes()) {
        check_copy(&start);
        check_copy(&end);
        check_copy(&[start, end].concat());
    }

    #[test]
    fn pairs_are_replaced_up_to_the_first_obstacle(start in "[ -~äÖßжЖΩω]{0,200}", end in "[ -~\u{80}-\u{900}]{0,150}") {
        check_pairs(&start);
        check_pairs(&end);
        check_pairs(&(start + &end));
    }

    #[test]
    fn every_path_combines_tokens(tokens in prop::collection::vec(any::<u64>(), 1..70), n in 1usize..32, short: bool) {
        let (n, shift) = (n.min(tokens.len()), if short { 32 } else { 0 });
        let expected: Vec<u64> = tokens.windows(n).map(|window| hash::combine(window) >> shift).collect();
        for path in paths() {
            let mut out = vec![0; expected.len()];
            shingles(path, &tokens, n, shift, &mut out);
            prop_assert_eq!(&out, &expected, "{:?}", path);
        }
    }
}

#[test]
fn every_path_knows_every_byte_in_every_place_of_a_block() {
    for byte in 0..=255 {
        for (at, around) in (0..130).flat_map(|at| [(at, b'a'), (at, b'1'), (at, b' ')]) {
            let mut text = vec![around; 131];
            text[at] = byte;
            check_edges(&text);
            check_copy(&text);
        }
    }
}

#[test]
fn every_path_knows_every_triple_across_the_edge_of_a_block() {
    let bytes: Vec<u8> = (b'!'..=b'~').filter(u8::is_ascii_punctuation).chain(*b" a1\x80").collect();
    for &first in &bytes {
        for &second in &bytes {
            for &third in &bytes {
                let mut text = vec![b'1'; 62];
                text.extend([first, second, third, b'a']);
                check_edges(&text);
                check_edges(&text[1..]);
            }
        }
    }
}

#[test]
fn a_word_can_fill_a_block_and_so_can_edges() {
    for length in 0..300 {
        check_edges(&vec![b'a'; length]);
        check_edges(&b"a ".repeat(length));
        check_edges(&[b" ".repeat(length % 3), b"a ".repeat(length)].concat());
    }
}
