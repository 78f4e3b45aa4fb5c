//! The lower case of a character on its own, and which characters the rules of [`normalize`](super::normalize) name.

/// COMBINING DOT ABOVE, which is dropped straight after an i.
pub(super) const DOT_ABOVE: char = '\u{307}';

/// The lower case of one character on its own: one or two characters.
pub(super) fn lower(c: char) -> [Option<char>; 2] {
    if c == 'ς' {
        return [Some('σ'), None];
    }
    match unicode_case_mapping::to_lowercase(c) {
        [0, _] => [Some(c), None],
        [first, 0] => [char::from_u32(first), None],
        [first, second] => [char::from_u32(first), char::from_u32(second)],
    }
}

/// True if some rule, other than the one about invisible characters, may change `c` when it is folded.
pub(super) fn is_folded(c: char) -> bool {
    matches!(c, '\u{2018}' | '\u{2019}' | DOT_ABOVE) || lower(c) != [Some(c), None]
}
