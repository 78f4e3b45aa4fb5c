//! What the text pipeline needs to know about a character, one table lookup per character.
//!
//! The pinned Unicode crates answer by binary search or by running an algorithm. Their answers are gathered
//! in pages of 256 characters that are filled on first use, so a process pays only for the scripts it meets:
//! an English text fills one page, a Chinese one about a hundred.

use std::{iter::once, sync::OnceLock};

use unicode_general_category::{GeneralCategory as Category, get_general_category};
use unicode_normalization::char::{canonical_combining_class, decompose_canonical, decompose_compatible};
use unicode_normalization::{IsNormalized, is_nfkc_quick};
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::UnicodeSegmentation;

use super::fold;

/// A set of flags about one character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Class(u16);

impl Class {
    /// General_Category L* or N*: what makes a word a word.
    pub const ALPHANUMERIC: Self = Self(1);
    /// General_Category L*, N*, P* or S*: what leaves ink.
    pub const VISIBLE: Self = Self(1 << 1);
    /// White_Space.
    pub const SPACE: Self = Self(1 << 2);
    /// General_Category M*.
    pub const MARK: Self = Self(1 << 3);
    /// General_Category Cf (soft hyphen, joiners, direction marks, byte order mark) and variation selectors.
    pub const INVISIBLE: Self = Self(1 << 4);
    /// A letter or mark of a script that is written without spaces between words.
    pub const UNSEGMENTED: Self = Self(1 << 5);
    /// Word_Break=ALetter.
    pub const LETTER: Self = Self(1 << 6);
    /// NFKC never joins or reorders this character with what stands before it, and the character is not
    /// invisible, so it still stands between its neighbours after those are removed.
    pub const BOUNDARY: Self = Self(1 << 7);
    /// A boundary that NFKC leaves as it is, if the next character is a boundary too.
    pub const STABLE: Self = Self(1 << 8);
    /// Folding may change this character: it has case, is invisible, or is one of the few that the rules
    /// name.
    pub const FOLDS: Self = Self(1 << 9);
    /// Neither this character nor its lower case holds a diacritic that could be stripped.
    pub const PLAIN: Self = Self(1 << 10);

    /// Stripping diacritics removes this mark.
    pub const DIACRITIC: Self = Self(1 << 11);

    #[inline(always)]
    pub fn of(c: char) -> Self {
        let code = c as usize;
        Self(PAGES[code >> 8].get_or_init(|| page(code >> 8))[code & 0xff])
    }

    /// True if any of the flags of `other` is set.
    #[inline(always)]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// True if all of the flags of `other` are set.
    #[inline(always)]
    pub fn has_all(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// True for the six ASCII characters with White_Space; `u8::is_ascii_whitespace` leaves out the vertical tab.
#[inline(always)]
pub(super) fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// True if stripping diacritics removes `c` from a decomposed text: a combining nonspacing mark that scripts
/// share (Script=Inherited), or one of Arabic, Hebrew or Syriac, where marks are optional vowels. Marks of
/// other scripts are letters of their alphabets (Indic and Thai vowels) and stay; so do the voicing marks of
/// kana, without which は, ば and ぱ would be one.
fn is_diacritic(c: char) -> bool {
    let scripts = [Script::Inherited, Script::Arabic, Script::Hebrew, Script::Syriac];
    get_general_category(c) == Category::NonspacingMark
        && scripts.contains(&c.script())
        && canonical_combining_class(c) != 0
        && !matches!(c, '\u{3099}' | '\u{309a}')
}

type Page = Box<[u16; 256]>;

static PAGES: [OnceLock<Page>; 0x1100] = [const { OnceLock::new() }; 0x1100];

#[cold]
fn page(number: usize) -> Page {
    let flags = |i: usize| {
        let code = (number << 8 | i) as u32;
        char::from_u32(code).map_or(0, |c| describe(c).0)
    };
    Box::new(std::array::from_fn(flags))
}

fn describe(c: char) -> Class {
    let category = get_general_category(c);
    let alphanumeric = is_alphanumeric(category);
    let flags = [
        (Class::ALPHANUMERIC, alphanumeric),
        (Class::VISIBLE, alphanumeric || is_punctuation_or_symbol(category)),
        (Class::SPACE, is_space(c, category)),
        (Class::MARK, is_mark(category)),
        (Class::INVISIBLE, is_invisible(c, category)),
        (Class::UNSEGMENTED, is_unsegmented(c, category)),
        (Class::LETTER, alphanumeric && is_word_letter(c)),
        (Class::BOUNDARY, is_boundary(c)),
        (Class::STABLE, is_boundary(c) && is_nfkc_quick(once(c)) == IsNormalized::Yes),
        (Class::FOLDS, is_invisible(c, category) || fold::is_folded(c)),
        (Class::PLAIN, fold::lower(c).into_iter().flatten().chain(once(c)).all(is_plain)),
        (Class::DIACRITIC, is_diacritic(c)),
    ];
    Class(flags.iter().filter(|(_, set)| *set).fold(0, |all, (flag, _)| all | flag.0))
}

fn is_alphanumeric(category: Category) -> bool {
    matches!(category.abbreviation().as_bytes()[0], b'L' | b'N')
}

fn is_mark(category: Category) -> bool {
    category.abbreviation().starts_with('M')
}

fn is_punctuation_or_symbol(category: Category) -> bool {
    matches!(category.abbreviation().as_bytes()[0], b'P' | b'S')
}

/// White_Space is the separators and six controls.
fn is_space(c: char, category: Category) -> bool {
    category.abbreviation().starts_with('Z') || matches!(c, '\t'..='\r' | '\u{85}')
}

fn is_invisible(c: char, category: Category) -> bool {
    let selector = matches!(c, '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    selector || category == Category::Format
}

/// Letters and marks, but not decimal digits: a number is a word in every script.
fn is_unsegmented(c: char, category: Category) -> bool {
    let eligible = category != Category::DecimalNumber && (is_alphanumeric(category) || is_mark(category));
    let extension = c.script_extension();
    let shared = extension.is_common() || extension.is_inherited() || extension.is_empty();
    eligible && !shared && extension.iter().all(is_unsegmented_script)
}

/// Scripts written without spaces between words: those of Han ideographs and kana, the scripts of
/// Line_Break=SA, other ideographic scripts, and Balinese and Javanese, whose whole lines UAX #29 would take
/// for one word.
fn is_unsegmented_script(script: Script) -> bool {
    const IDEOGRAPHIC: [Script; 6] = [
        Script::Han,
        Script::Hiragana,
        Script::Katakana,
        Script::Tangut,
        Script::Nushu,
        Script::Khitan_Small_Script,
    ];
    const SOUTHEAST_ASIAN: [Script; 11] = [
        Script::Thai,
        Script::Lao,
        Script::Khmer,
        Script::Myanmar,
        Script::Tai_Le,
        Script::New_Tai_Lue,
        Script::Tai_Tham,
        Script::Tai_Viet,
        Script::Ahom,
        Script::Balinese,
        Script::Javanese,
    ];
    IDEOGRAPHIC.contains(&script) || SOUTHEAST_ASIAN.contains(&script)
}

/// Word_Break is not public in the segmentation crate, but its behaviour tells an ALetter: it joins letters,
/// digits and itself from both sides, while a Numeric also joins over a comma, a Hebrew_Letter over a double
/// quote and an ExtendNumLet with Katakana.
fn is_word_letter(c: char) -> bool {
    let is_one_word = |text: String| text.split_word_bounds().count() == 1;
    ["a", "1"].iter().all(|x| is_one_word(format!("{x}{c}")) && is_one_word(format!("{c}{x}")))
        && is_one_word(format!("{c}{c}"))
        && !is_one_word(format!("{c},{c}"))
        && !is_one_word(format!("{c}\"{c}"))
        && !is_one_word(format!("{c}\u{30a2}"))
}

fn is_boundary(c: char) -> bool {
    let mut first = None;
    decompose_compatible(c, |part| first = first.or(Some(part)));
    let first = first.unwrap_or(c);
    !is_invisible(c, get_general_category(c))
        && canonical_combining_class(first) == 0
        && is_nfkc_quick(once(first)) == IsNormalized::Yes
}

fn is_plain(c: char) -> bool {
    let mut plain = true;
    decompose_canonical(c, |part| plain &= !is_diacritic(part));
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_without_spaces_are_known() {
        for c in "中文々〇ひらカナーไทยລາວខ្មែရန်မာ\u{3099}".chars() {
            assert!(Class::of(c).has(Class::UNSEGMENTED), "{c:?}");
        }
        for c in "aéяα한글עبह1๑、。・「😀_ \u{301}".chars() {
            assert!(!Class::of(c).has(Class::UNSEGMENTED), "{c:?}");
        }
    }

    #[test]
    fn word_letters_are_found_by_probing() {
        for c in "azAZéßяαبह한ﬁ".chars() {
            assert!(Class::of(c).has(Class::LETTER), "{c:?}");
        }
        for c in "05٣_'.:-א中ア\u{301} 😀".chars() {
            assert!(!Class::of(c).has(Class::LETTER), "{c:?}");
        }
    }

    #[test]
    fn normalization_boundaries_are_known() {
        for c in "aé中ﬁＡ½가한".chars() {
            assert!(Class::of(c).has(Class::BOUNDARY), "{c:?}");
        }
        for c in ['\u{301}', '\u{1161}', '\u{11a8}', '\u{ff9e}', '\u{3099}'] {
            assert!(!Class::of(c).has(Class::BOUNDARY), "{c:?}");
        }
        assert!(Class::of('é').has(Class::STABLE) && !Class::of('ﬁ').has(Class::STABLE));
    }
}
