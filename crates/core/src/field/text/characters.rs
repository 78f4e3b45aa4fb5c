//! Characters and bytes as tokens.
//!
//! A character is a Unicode scalar value of the normalized text and hashes as its UTF-8. A run of
//! White_Space, whatever its kind and length, is one space; there is none at the start and none at the end.

use std::ops::Range;

use super::class::{Class, is_ascii_space};
use super::normalize::Normalizer;
use super::{Scratch, pieces};
use crate::hash;

/// The token hash of a byte.
pub(super) const fn byte(byte: u8) -> u64 {
    hash::token_words(byte as u64, 0, 1)
}

/// The token hash of a character.
#[inline]
pub(super) fn character(c: char) -> u64 {
    hash::token(c.encode_utf8(&mut [0; 4]).as_bytes())
}

/// Appends the token hashes of all characters of `text` to `scratch.tokens`.
pub(super) fn tokens(text: &str, normalizer: &Normalizer, scratch: &mut Scratch) {
    let Scratch { normalized, tokens, .. } = scratch;
    let mut space = false;
    for piece in pieces(text) {
        let piece = &text[piece];
        if piece.is_ascii() {
            tokens.extend(space.then_some(byte(b' ')));
            tokens.extend(piece.bytes().map(|b| byte(normalizer.ascii(b))));
            space = true;
            continue;
        }
        normalized.clear();
        normalizer.push(piece, normalized, &mut ());
        collapse(normalized, &mut space, |token| match token {
            Collapsed::Space(_) => tokens.push(byte(b' ')),
            Collapsed::Char(c, _) => tokens.push(character(c)),
        });
        space = !tokens.is_empty();
    }
}

/// What remains of white space and what stands around it, and where in the piece it stands.
pub(super) enum Collapsed {
    /// A run of white space between two characters; its range is empty if it lies between two pieces.
    Space(Range<usize>),
    /// A character that is not white space.
    Char(char, Range<usize>),
}

/// Emits the characters of one piece; `space` says on entry and on return whether white space is due before
/// the next character. White space at the start of the text is never due.
pub(super) fn collapse(piece: &str, space: &mut bool, mut emit: impl FnMut(Collapsed)) {
    let (mut started, mut end) = (*space, 0);
    for (at, c) in piece.char_indices() {
        if is_space(c) {
            *space = started;
            continue;
        }
        if std::mem::take(space) {
            emit(Collapsed::Space(end..at));
        }
        started = true;
        end = at + c.len_utf8();
        emit(Collapsed::Char(c, at..end));
    }
}

#[inline]
fn is_space(c: char) -> bool {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() => is_ascii_space(byte),
        _ => Class::of(c).has(Class::SPACE),
    }
}
