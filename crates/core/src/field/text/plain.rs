//! Words of text that is simple in the sense of the module `simple`, a few kilobytes at a time.
//!
//! ```text
//! text --copy, normalized--> buffer --kernel::edges--> bounds --hash--> tokens
//! ```
//!
//! Each arrow is a loop of its own over what fits the first-level cache, so that no loop waits for another
//! one's branches or stores. ASCII is copied by vectors, other simple characters one by one from a table.
//!
//! Two things make a detour. A run of an unsegmented script gives its bigrams straight from the text. A
//! complex character sends the piece it stands in, between ASCII white space or from the last run on, to the
//! general path. In the buffer a separator stands for a detour; it is taken when the words before it are
//! hashed.

use std::ops::Range;

use super::class::is_ascii_space;
use super::kernel::{self, Found, SLACK};
use super::simple::{Simple, Table, common_run};
use super::{Scratch, Shingler, token};
use crate::lines::Lines;

/// How much text to take at once: small enough that text, bounds and hashes stay in the first-level cache.
const CHUNK: usize = token::REACH;

impl Shingler {
    /// Appends the token hashes of all words to `scratch.tokens`, punctuation dropped.
    pub(super) fn hash_plain_words(&self, text: &str, scratch: &mut Scratch) {
        let mut start = 0;
        while start < text.len() {
            let end = chunk_end(text.as_bytes(), start);
            if self.options.lower {
                Copy::<true>::new(self, scratch).run(&text[start..end]);
            } else {
                Copy::<false>::new(self, scratch).run(&text[start..end]);
            }
            start = end;
        }
    }
}

/// Chunks end before white space, where no word goes on.
fn chunk_end(text: &[u8], start: usize) -> usize {
    let full = start + CHUNK;
    if full >= text.len() {
        return text.len();
    }
    let before = text[start + 1..full].iter().rposition(|&b| is_ascii_space(b));
    let after = || text[full..].iter().position(|&b| is_ascii_space(b));
    match before {
        Some(offset) => start + 1 + offset,
        None => after().map_or(text.len(), |offset| full + offset),
    }
}

/// True for the first byte of a character of two bytes.
#[inline(always)]
fn is_first_of_two(byte: &u8) -> bool {
    (0xc2..0xe0).contains(byte)
}

/// What a character that is not plain comes to after what is copied already.
#[cold]
fn after(copied: &[u8], simple: Simple) -> Simple {
    match simple {
        Simple::COMMA if copied.last().is_some_and(u8::is_ascii_digit) => Simple::COMPLEX,
        Simple::COMMA => Simple::SEPARATOR,
        _ => simple,
    }
}

/// A part of the text that is not in the buffer.
#[derive(Debug, Clone)]
pub(super) struct Detour {
    /// Where in the buffer its place is.
    place: u32,
    /// Where in the chunk it lies.
    text: Range<usize>,
    /// A run of characters of three bytes each, or else a piece for the general path.
    is_run: bool,
}

/// The copy of one chunk in progress.
struct Copy<'a, const LOWER: bool> {
    shingler: &'a Shingler,
    scratch: &'a mut Scratch,
    table: Table,
    /// How much of the chunk is done, and how much of the buffer is filled.
    at: usize,
    filled: usize,
    /// What `at` and `filled` were after the last detour.
    base: (usize, usize),
}

impl<'a, const LOWER: bool> Copy<'a, LOWER> {
    fn new(shingler: &'a Shingler, scratch: &'a mut Scratch) -> Self {
        let table = Table::new(shingler.normalizer);
        Self { shingler, scratch, table, at: 0, filled: 0, base: (0, 0) }
    }

    fn run(mut self, chunk: &str) {
        let (text, path) = (chunk.as_bytes(), self.shingler.path);
        self.scratch.detours.clear();
        if self.scratch.buffer.len() < text.len() + 2 * SLACK {
            self.scratch.buffer = Lines::new(0, text.len() + CHUNK + 2 * SLACK);
            // They lie apart from the buffer that was.
            self.scratch.bounds = Lines::default();
        }
        while let Some(next) = text.get(self.at) {
            if next.is_ascii() {
                let room = &mut self.scratch.buffer[self.filled..];
                let n = kernel::copy_ascii::<LOWER>(path, &text[self.at..], room);
                (self.at, self.filled) = (self.at + n, self.filled + n);
            }
            if path.copies_pairs() && text.get(self.at).is_some_and(is_first_of_two) {
                let room = &mut self.scratch.buffer[self.filled..];
                let pairs = self.table.pairs();
                let n = kernel::copy_pairs::<LOWER>(path, pairs, &text[self.at..], room);
                (self.at, self.filled) = (self.at + n, self.filled + n);
            }
            match self.copy_simple(text) {
                Simple::RUN => self.bigrams(text),
                Simple::COMPLEX => self.general(text),
                _ => {}
            }
        }
        self.shingler.hash_buffer(chunk, self.filled, self.scratch);
    }

    /// Copies simple characters, and single ASCII characters between them, up to what the kernels are better
    /// at. Returns what stopped it.
    #[inline]
    fn copy_simple(&mut self, text: &[u8]) -> Simple {
        let buffer = &mut self.scratch.buffer[..];
        let pairs = self.shingler.path.copies_pairs();
        let (mut at, mut filled) = (self.at, self.filled);
        let stop = loop {
            let Some(&byte) = text.get(at) else { break Simple::SEPARATOR };
            if pairs && at > self.at && is_first_of_two(&byte) {
                break Simple::SEPARATOR;
            }
            if byte.is_ascii() {
                if text.get(at + 1).is_none_or(u8::is_ascii) {
                    break Simple::SEPARATOR;
                }
                buffer[filled] = if LOWER { byte.to_ascii_lowercase() } else { byte };
                (at, filled) = (at + 1, filled + 1);
                continue;
            }
            let (mut simple, width) = self.table.first(&text[at..]);
            if !simple.is_plain() {
                simple = after(&buffer[..filled], simple);
                if !simple.is_plain() {
                    break simple;
                }
            }
            buffer[filled..filled + 4].copy_from_slice(&simple.word());
            (at, filled) = (at + width, filled + simple.length());
        };
        (self.at, self.filled) = (at, filled);
        stop
    }

    /// Passes over the run that begins here, or leaves it to the general path if what follows might belong to
    /// it.
    fn bigrams(&mut self, text: &[u8]) {
        self.base = (self.at, self.filled);
        let mut end = self.at;
        loop {
            end += common_run(&text[end..]);
            if text.get(end).is_none_or(u8::is_ascii) {
                break;
            }
            match self.table.first(&text[end..]) {
                (Simple::RUN, width) => end += width,
                (Simple::COMPLEX, _) => return self.general(text),
                _ => break,
            }
        }
        self.detour(self.at..end, true);
    }

    /// Leaves the piece around this place to the general path.
    fn general(&mut self, text: &[u8]) {
        let is_space = |&b: &u8| is_ascii_space(b);
        let (start, place) = self.base;
        let before = text[start..self.at].iter().rposition(is_space).map_or(start, |i| start + i + 1);
        let copied = &self.scratch.buffer[place..self.filled];
        self.filled = copied.iter().rposition(is_space).map_or(place, |i| place + i + 1);
        let after = text[self.at..].iter().position(is_space).map_or(text.len(), |i| self.at + i);
        self.detour(before..after, false);
    }

    fn detour(&mut self, text: Range<usize>, is_run: bool) {
        self.at = text.end;
        self.scratch.detours.push(Detour { place: self.filled as u32, text, is_run });
        self.scratch.buffer[self.filled] = b'-';
        self.filled += 1;
        self.base = (self.at, self.filled);
    }
}

impl Shingler {
    /// Appends the token hashes of the first `length` bytes of the buffer, and of the detours in between.
    fn hash_buffer(&self, chunk: &str, length: usize, scratch: &mut Scratch) {
        let Scratch { buffer, bounds, .. } = scratch;
        let found = kernel::edges(self.path, buffer, length, bounds);
        let mut done = 0;
        for i in 0..scratch.detours.len() {
            let Detour { place, text, is_run } = scratch.detours[i].clone();
            let words = scratch.bounds[done..found.n_bounds].as_chunks::<2>().0;
            let n_before = 2 * words.iter().take_while(|[start, _]| *start < place).count();
            hash_words(done..done + n_before, found, scratch);
            done += n_before;
            if is_run {
                hash_run(&chunk.as_bytes()[text.start..], text.len(), &mut scratch.tokens);
            } else {
                self.hash_words(&chunk[text], scratch);
            }
        }
        hash_words(done..found.n_bounds, found, scratch);
    }
}

/// Appends the token hashes of some words of the buffer.
#[inline]
fn hash_words(bounds: Range<usize>, found: Found, scratch: &mut Scratch) {
    let bounds = scratch.bounds[bounds].as_chunks().0;
    let words = bounds.iter().map(|&[start, end]| start as usize..end as usize);
    let text = &scratch.buffer[..];
    if let (false, Some(text), Some([_, end])) = (found.underscore, text.first_chunk(), bounds.last())
        && *end as usize <= token::REACH
    {
        token::hash_each(text, bounds, &mut scratch.tokens);
    } else if found.underscore {
        let is_word = |word: &Range<usize>| text[word.clone()].iter().any(|&b| b != b'_');
        scratch.tokens.extend(words.filter(is_word).map(|word| token::hash(text, word)));
    } else {
        scratch.tokens.extend(words.map(move |word| token::hash(text, word)));
    }
}

/// Appends the hashes of the bigrams of a run at the start of a text; of the one character, if it is alone.
fn hash_run(text: &[u8], length: usize, tokens: &mut Vec<u64>) {
    if length == 3 {
        return tokens.push(token::hash(text, 0..3));
    }
    tokens.extend((0..length / 3 - 1).map(|i| token::hash(text, 3 * i..3 * i + 6)));
}
