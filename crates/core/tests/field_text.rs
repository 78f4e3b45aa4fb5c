//! The text pipeline against a reference that follows the documentation word for word: whole-text
//! normalization and whole-text segmentation, no pieces, no fast paths, no tables of its own.

use benzer_core::Level;
use benzer_core::field::text::{Bits, Punctuation, Scratch, Shingler, TextOptions, Unit};
use benzer_core::hash;
use proptest::prelude::*;
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::UnicodeSegmentation;

mod reference {
    use super::*;

    pub fn category(c: char) -> &'static str {
        get_general_category(c).abbreviation()
    }

    pub fn normalize(text: &str, options: &TextOptions) -> String {
        let clean = options.unit == Unit::Words && options.punctuation == Punctuation::Drop;
        let kept: String = text.chars().filter(|&c| !(clean && is_invisible(c))).collect();
        let composed: String = if options.nfkc { kept.nfkc().collect() } else { kept };
        let mut folded = String::new();
        for c in composed.chars() {
            match c {
                '‘' | '’' if clean => folded.push('\''),
                _ if options.lower => lower(c, &mut folded),
                _ => folded.push(c),
            }
        }
        if options.strip_diacritics {
            return folded.nfd().filter(|&c| !is_diacritic(c)).nfc().collect();
        }
        folded
    }

    fn lower(c: char, out: &mut String) {
        let c = if c == 'ς' { 'σ' } else { c };
        let mapped = unicode_case_mapping::to_lowercase(c).into_iter().filter(|&code| code != 0);
        let mapped: Vec<char> = mapped.map(|code| char::from_u32(code).unwrap()).collect();
        for c in if mapped.is_empty() { vec![c] } else { mapped } {
            if c != '\u{307}' || !out.ends_with('i') {
                out.push(c);
            }
        }
    }

    fn is_invisible(c: char) -> bool {
        let code = c as u32;
        let selectors = [0x180b..=0x180d, 0x180f..=0x180f, 0xfe00..=0xfe0f, 0xe0100..=0xe01ef];
        category(c) == "Cf" || selectors.iter().any(|range| range.contains(&code))
    }

    fn is_diacritic(c: char) -> bool {
        let optional =
            matches!(c.script(), Script::Inherited | Script::Arabic | Script::Hebrew | Script::Syriac);
        get_general_category(c) == GeneralCategory::NonspacingMark
            && optional
            && canonical_combining_class(c) != 0
            && !['\u{3099}', '\u{309a}'].contains(&c)
    }

    pub fn is_unsegmented(c: char) -> bool {
        let scripts: Vec<&str> = c.script_extension().iter().map(|s| s.full_name()).collect();
        let listed = "Han Hiragana Katakana Tangut Nushu Khitan_Small_Script Thai Lao Khmer Myanmar Tai_Le New_Tai_Lue Tai_Tham \
            Tai_Viet Ahom Balinese Javanese";
        let category = category(c);
        category != "Nd"
            && ["L", "M", "N"].iter().any(|major| category.starts_with(major))
            && !scripts.is_empty()
            && scripts.iter().all(|s| listed.split_whitespace().any(|l| l == *s))
    }

    pub fn words(text: &str, options: &TextOptions) -> Vec<String> {
        let majors: &[&str] =
            if options.punctuation == Punctuation::Drop { &["L", "N"] } else { &["L", "N", "P", "S"] };
        let counts = |word: &&str| word.chars().any(|c| majors.iter().any(|m| category(c).starts_with(m)));
        let (mut tokens, mut stretch) = (Vec::new(), String::new());
        let chars: Vec<char> = text.chars().collect();
        let mut i = 0;
        while i < chars.len() {
            if !is_unsegmented(chars[i]) || category(chars[i]).starts_with('M') {
                stretch.push(chars[i]);
                i += 1;
                continue;
            }
            tokens.extend(stretch.split_word_bounds().filter(counts).map(str::to_owned));
            stretch.clear();
            let mut units: Vec<String> = Vec::new();
            while i < chars.len() && (is_unsegmented(chars[i]) || category(chars[i]).starts_with('M')) {
                match units.last_mut().filter(|_| category(chars[i]).starts_with('M')) {
                    Some(unit) => unit.push(chars[i]),
                    None => units.push(chars[i].to_string()),
                }
                i += 1;
            }
            match &units[..] {
                [one] => tokens.push(one.clone()),
                _ => tokens.extend(units.windows(2).map(|pair| pair.concat())),
            }
        }
        tokens.extend(stretch.split_word_bounds().filter(counts).map(str::to_owned));
        tokens
    }

    pub fn characters(text: &str) -> Vec<String> {
        let is_space = |c: char| category(c).starts_with('Z') || "\t\n\u{b}\u{c}\r\u{85}".contains(c);
        let collapsed = text.split(is_space).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        collapsed.chars().map(String::from).collect()
    }

    pub fn tokens(text: &str, options: &TextOptions) -> Vec<String> {
        let is_space = |c: char| matches!(c, ' ' | '\t'..='\r');
        match (options.unit, options.punctuation) {
            (Unit::Words, Punctuation::Drop) => words(&normalize(text, options), options),
            (Unit::Words, Punctuation::Keep) => {
                text.split(is_space).flat_map(|piece| words(&normalize(piece, options), options)).collect()
            }
            _ => characters(&normalize(text, options)),
        }
    }
}

/// Checks everything that has two ways to be computed.
fn check(text: &str, options: &TextOptions) {
    let shingler = Shingler::new(options).unwrap();
    let tokens = shingler.tokens(text);
    let found: Vec<&str> = tokens.iter().map(|t| std::str::from_utf8(&t.bytes).unwrap()).collect();
    assert_eq!(found, reference::tokens(text, options), "tokens of {text:?} under {options:?}");

    let hashes: Vec<u64> = found.iter().map(|token| hash::token(token.as_bytes())).collect();
    let shift = 64 - u32::from(options.bits);
    let n = options.n.min(hashes.len()).max(1);
    let expected: Vec<u64> = hashes.windows(n).map(|window| hash::combine(window) >> shift).collect();
    let mut scratch = Scratch::default();
    for level in Level::available() {
        let elements = shingler.clone().at_level(level).elements(text, &mut scratch).to_vec();
        assert_eq!(elements, expected, "{level:?}: elements of {text:?} under {options:?}");
    }
    let spanned: Vec<u64> = shingler.shingles(text).iter().map(|shingle| shingle.element).collect();
    assert_eq!(spanned, expected, "shingles of {text:?}");

    for token in &tokens {
        assert!(text.get(token.range.clone()).is_some_and(|span| !span.is_empty()), "{token:?} of {text:?}");
    }
    assert!(tokens.windows(2).all(|pair| pair[0].range.start <= pair[1].range.start), "order in {text:?}");
}

/// Characters with a history of trouble, and the white space and punctuation that word rules care about.
const TRAPS: &[&str] = &[
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u{b}",
    "\u{c}",
    "\u{85}",
    "\u{a0}",
    "\u{3000}",
    "\u{2028}",
    "\u{1c}",
    "\0",
    ".",
    "'",
    ":",
    ",",
    ";",
    "_",
    "-",
    "\"",
    "’",
    "‘",
    "·",
    "․",
    "：",
    "，",
    "a",
    "B",
    "z",
    "Q",
    "0",
    "7",
    "Ａ",
    "９",
    "＿",
    "é",
    "e\u{301}",
    "\u{301}",
    "\u{300}\u{323}",
    "\u{307}",
    "i",
    "I",
    "İ",
    "ı",
    "ß",
    "ẞ",
    "Σ",
    "ς",
    "σ",
    "ﬁ",
    "ﬃ",
    "ŉ",
    "ǆ",
    "ǅ",
    "½",
    "²",
    "①",
    "Ⓐ",
    "㎏",
    "℃",
    "ª",
    "\u{ad}",
    "\u{200b}",
    "\u{200c}",
    "\u{200d}",
    "\u{feff}",
    "\u{202e}",
    "\u{2060}",
    "\u{fe0f}",
    "👍",
    "👍🏽",
    "👨\u{200d}👩\u{200d}👧",
    "🇹🇷",
    "🇩",
    "❤",
    "א",
    "שׁ",
    "״",
    "׳",
    "ب",
    "ﷺ",
    "ً",
    "٣",
    "۰",
    "ह",
    "ि",
    "\u{94d}",
    "\u{93c}",
    "क\u{93c}",
    "한",
    "\u{1112}",
    "\u{1161}",
    "\u{11ab}",
    "ﾡ",
    "中",
    "文",
    "々",
    "〇",
    "。",
    "、",
    "ひ",
    "カ",
    "ー",
    "ｶ",
    "ﾞ",
    "か\u{3099}",
    "\u{3099}",
    "ก",
    "ำ",
    "ั",
    "่",
    "๑",
    "ກ",
    "ຳ",
    "ខ",
    "្",
    "က",
    "်",
    "ကို",
    "\u{1b05}",
    "ꦲ",
    "я",
    "Й",
    "и\u{306}",
    "ё",
    "α",
    "ΐ",
    "Ὀ",
    "𝒜",
    "𐐀",
    "\u{1d165}",
    "\u{344}",
    "\u{340}",
    "Å",
    "Ω",
    "\u{0958}",
    "\u{f73}",
    "\u{2126}\u{301}",
    "\u{1e9b}\u{323}",
    "豈",
    "\u{2f800}",
    "\u{10ffff}",
    "\u{e000}",
    "\u{378}",
];

fn trap_text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(TRAPS), 0..24).prop_map(|parts| parts.concat())
}

fn mostly_ascii_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => "[a-zA-Z]{1,9}",
        2 => "[a-zA-Z0-9_.,:;'\"-]{1,20}",
        1 => "[ -~]{0,70}",
        1 => prop::sample::select(TRAPS).prop_map(str::to_owned),
        1 => "\\PC{1,4}",
    ];
    let space = prop::sample::select(vec![" ", " ", " ", "\n", "\t", "\r\n", "", "  "]);
    prop::collection::vec((word, space), 0..30)
        .prop_map(|pairs| pairs.iter().map(|(word, space)| format!("{word}{space}")).collect())
}

fn options() -> impl Strategy<Value = TextOptions> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (flags, 1usize..8).prop_map(|((words, nfkc, lower, strip_diacritics, keep, short), n)| TextOptions {
        unit: if words { Unit::Words } else { Unit::Characters },
        n,
        nfkc,
        lower,
        strip_diacritics,
        punctuation: if keep { Punctuation::Keep } else { Punctuation::Drop },
        bits: if short { Bits::B32 } else { Bits::B64 },
        ..Default::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn ascii_text_matches_the_reference(text in "[ -~\t\n\r\u{b}\u{c}]{0,200}", n in 1usize..7) {
        check(&text, &TextOptions { n, ..Default::default() });
    }

    #[test]
    fn ascii_words_and_separators_match_the_reference(text in "[abZ019_.,:;'\" \r\n-]{0,200}") {
        check(&text, &TextOptions { n: 1, ..Default::default() });
        check(&text, &TextOptions { n: 1, lower: false, ..Default::default() });
    }

    #[test]
    fn mostly_ascii_text_matches_the_reference(text in mostly_ascii_text(), options in options()) {
        check(&text, &options);
        check(&text, &TextOptions::default());
    }

    #[test]
    fn treacherous_unicode_matches_the_reference(text in trap_text(), options in options()) {
        check(&text, &options);
        check(&text, &TextOptions { n: 2, ..Default::default() });
    }

    #[test]
    fn arbitrary_unicode_matches_the_reference(text in "\\PC{0,40}|.{0,40}", options in options()) {
        check(&text, &options);
    }

    #[test]
    fn equivalent_texts_have_equal_elements(text in trap_text()) {
        let shingler = Shingler::new(&TextOptions::default()).unwrap();
        let features = shingler.features(&text);
        let decomposed: String = text.nfd().collect();
        prop_assert_eq!(&shingler.features(&decomposed), &features);
        let compatible: String = text.nfkc().collect();
        prop_assert_eq!(&shingler.features(&compatible), &features);
    }

    #[test]
    fn bytes_are_shingled_as_they_are(text in "\\PC{0,30}", n in 1usize..100) {
        let options = TextOptions { unit: Unit::Bytes, n, ..Default::default() };
        let hashes: Vec<u64> = text.bytes().map(|b| hash::token(&[b])).collect();
        let window = n.min(hashes.len()).max(1);
        let expected: Vec<u64> = hashes.windows(window).map(hash::combine).collect();
        let mut scratch = Scratch::default();
        prop_assert_eq!(Shingler::new(&options).unwrap().elements(&text, &mut scratch), expected);
    }
}

/// The segmentation crate may have shortcuts of its own for ASCII; one letter of another script at the end
/// rules them out.
#[test]
fn ascii_rules_are_those_of_the_full_algorithm() {
    let bytes: Vec<char> = (0u8..128).map(char::from).collect();
    let shingler = Shingler::new(&TextOptions { n: 1, ..Default::default() }).unwrap();
    let mut scratch = Scratch::default();
    for left in ["a", "1", "_", "", "a.", "1,"] {
        for right in ["b", "2", "_", "", "'b", ".2"] {
            for &c in &bytes {
                let text = format!("{left}{c}{right}");
                let forced = format!("{text}\nя");
                let mut expected = reference::tokens(&forced, shingler.options());
                assert_eq!(expected.pop().as_deref(), Some("я"));
                let expected: Vec<u64> =
                    expected.iter().map(|t| hash::combine(&[hash::token(t.as_bytes())])).collect();
                assert_eq!(shingler.elements(&text, &mut scratch), expected, "{text:?}");
            }
        }
    }
}

/// All that punctuation can do next to itself and to letters and digits.
#[test]
fn every_triple_of_punctuation_matches_the_reference() {
    let chars: Vec<char> = ('!'..='~').filter(char::is_ascii_punctuation).chain("a1’…é中".chars()).collect();
    let options = TextOptions { n: 1, ..Default::default() };
    for first in &chars {
        for second in &chars {
            let text: String = chars.iter().map(|third| format!("{first}{second}{third} ")).collect();
            check(&text, &options);
        }
    }
}

/// Texts longer than the fast path takes at once, with and without white space to cut them at.
#[test]
fn long_texts_match_the_reference_wherever_they_are_cut() {
    let passages = ["Don’t — e.g. 3.14 ", "größe\n", "слово,", "中文字", "e\u{301}t ", "snake_case ", "x"];
    for (i, passage) in passages.iter().enumerate() {
        for padding in (0..70).step_by(3) {
            let (first, second) = (passage.repeat(300), passages[(i + 1) % 7].repeat(300));
            let text = format!("{}{first}{second}", "y".repeat(padding));
            check(&text, &TextOptions { n: 3, ..Default::default() });
        }
    }
}

/// One character between others of each kind.
fn in_company(c: &char) -> String {
    format!("x{c}y {c}1{c}\n1{c}1 _{c}_ א{c}א 中{c}中 ア{c}ア {c}{c} b{c} {c}b\t")
}

/// Every assigned character on its own and between letters, so that no table entry goes unseen.
#[test]
fn every_character_matches_the_reference() {
    let all =
        ('\0'..=char::MAX).filter(|&c| reference::category(c) != "Cn" && reference::category(c) != "Co");
    let chars: Vec<char> = all.collect();
    let default = TextOptions { n: 1, ..Default::default() };
    let stripped = TextOptions { strip_diacritics: true, n: 1, ..Default::default() };
    for group in chars.chunks(61) {
        let text: String = group.iter().map(in_company).collect();
        check(&text, &default);
        check(&text, &stripped);
    }
}
