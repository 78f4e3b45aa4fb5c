//! Words of text that is simple in the sense of the module `simple`, a few kilobytes at a time.
//!
//! ```text
//! text --copy, normalized--> buffer --kernel::edges--> bounds --hash--> tokens
//! ```
//!
//! Each arrow is a loop of its own over what fits the first-level cache, so that no loop waits for another
//! one's branches or stores. ASCII is copied by vectors, other simple characters one by one from a table.
//!
//! Two things interrupt the copy. A run of an unsegmented script gives its bigrams straight from the text.
//! A complex character sends the piece it stands in, between ASCII white space or from the last run on, to
//! the general path.

use std::ops::Range;

use super::class::is_ascii_space;
use super::kernel::{self, SLACK};
use super::simple::{Simple, Table};
use super::{Scratch, Shingler, token};

/// How much text to take at once: small enough that text, bounds and hashes stay in the first-level cache.
const CHUNK: usize = 4096;

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

/// The copy of one chunk in progress.
struct Copy<'a, const LOWER: bool> {
    shingler: &'a Shingler,
    scratch: &'a mut Scratch,
    table: Table,
    /// How much of the chunk is done.
    at: usize,
    /// Where in the chunk the buffer begins.
    base: usize,
    /// How much of the buffer is filled.
    filled: usize,
}

impl<'a, const LOWER: bool> Copy<'a, LOWER> {
    fn new(shingler: &'a Shingler, scratch: &'a mut Scratch) -> Self {
        let table = Table::new(shingler.normalizer);
        Self { shingler, scratch, table, at: 0, base: 0, filled: 0 }
    }

    fn run(mut self, chunk: &str) {
        let text = chunk.as_bytes();
        if self.scratch.buffer.len() < text.len() + 2 * SLACK {
            self.scratch.buffer.resize(text.len() + 2 * SLACK, 0);
        }
        loop {
            let room = &mut self.scratch.buffer[self.filled..];
            let n = kernel::copy_ascii::<LOWER>(self.shingler.path, &text[self.at..], room);
            self.at += n;
            self.filled += n;
            if self.at == text.len() {
                return self.flush();
            }
            let (simple, width) = self.copy_simple(text);
            if simple == Simple::RUN {
                self.bigrams(chunk, width);
            } else if simple == Simple::COMPLEX {
                self.general(chunk);
            }
        }
    }

    /// Copies simple characters, and single ASCII characters between them. Returns what stopped it and its
    /// length.
    #[inline]
    fn copy_simple(&mut self, text: &[u8]) -> (Simple, usize) {
        let buffer = &mut self.scratch.buffer[..];
        let (mut at, mut filled) = (self.at, self.filled);
        let stop = loop {
            let Some(&byte) = text.get(at) else { break (Simple::SEPARATOR, 0) };
            if byte.is_ascii() {
                if text.get(at + 1).is_none_or(u8::is_ascii) {
                    break (Simple::SEPARATOR, 0);
                }
                buffer[filled] = if LOWER { byte.to_ascii_lowercase() } else { byte };
                (at, filled) = (at + 1, filled + 1);
                continue;
            }
            let (simple, width) = self.table.first(&text[at..]);
            if !simple.is_plain() {
                break (simple, width);
            }
            buffer[filled..filled + 4].copy_from_slice(&simple.word());
            (at, filled) = (at + width, filled + simple.length());
        };
        (self.at, self.filled) = (at, filled);
        stop
    }

    /// Hashes the words of the buffer and empties it.
    fn flush(&mut self) {
        hash_buffer(self.shingler, self.scratch, self.filled);
        (self.base, self.filled) = (self.at, 0);
    }

    /// Hashes the run of an unsegmented script that begins here, or leaves it to the general path if what
    /// follows might belong to it.
    fn bigrams(&mut self, chunk: &str, width: usize) {
        self.flush();
        let text = chunk.as_bytes();
        let mut end = self.at + width;
        while let Some(byte) = text.get(end) {
            let (simple, width) = if byte.is_ascii() { break } else { self.table.first(&text[end..]) };
            if simple == Simple::COMPLEX {
                return self.general(chunk);
            }
            if simple != Simple::RUN {
                break;
            }
            end += width;
        }
        let tokens = &mut self.scratch.tokens;
        if end - self.at == width {
            tokens.push(token::hash(text, self.at..end));
        }
        tokens.extend((self.at..end - width).step_by(3).map(|start| token::hash(text, start..start + 6)));
        (self.at, self.base) = (end, end);
    }

    /// Hands the piece around this place to the general path.
    fn general(&mut self, chunk: &str) {
        let text = chunk.as_bytes();
        let is_space = |&b: &u8| is_ascii_space(b);
        let start = text[self.base..self.at].iter().rposition(is_space).map_or(self.base, |i| self.base + i);
        let end = text[self.at..].iter().position(is_space).map_or(text.len(), |i| self.at + i);
        let words = self.scratch.buffer[..self.filled].iter().rposition(is_space).unwrap_or(0);
        hash_buffer(self.shingler, self.scratch, words);
        let start = start + usize::from(is_space(&text[start]));
        self.shingler.hash_words(&chunk[start..end], self.scratch);
        (self.at, self.base, self.filled) = (end, end, 0);
    }
}

/// Appends the token hashes of the first `length` bytes of the buffer.
fn hash_buffer(shingler: &Shingler, scratch: &mut Scratch, length: usize) {
    let Scratch { buffer, bounds, tokens, .. } = scratch;
    if length == 0 {
        return;
    }
    let found = kernel::edges(shingler.path, buffer, length, bounds);
    let words = bounds[..found.n_bounds].as_chunks().0.iter();
    let words = words.map(|&[start, end]| start as usize..end as usize);
    let text = &buffer[..];
    if found.underscore {
        let is_word = |word: &Range<usize>| text[word.clone()].iter().any(|&b| b != b'_');
        tokens.extend(words.filter(is_word).map(|word| token::hash(text, word)));
    } else {
        tokens.extend(words.map(move |word| token::hash(text, word)));
    }
}
