//! Where does a record end? Known to the reading thread without parsing the record.
//!
//! A newline ends a record unless it is inside quotes, and a quote opens them only at the beginning of a field. So the
//! scanner looks at newlines and quotes, by vector code, and at nothing else.

/// Finds the ends of records in bytes that come piece by piece.
#[derive(Debug, Clone)]
pub struct Scanner {
    delimiter: u8,
    state: QuoteState,
}

/// What the byte before was.
#[derive(Debug, Clone, Copy, PartialEq)]
enum QuoteState {
    /// The end of a record or a delimiter: a field begins.
    Start,
    /// Inside a field without quotes, or after its closing quote.
    Field,
    /// Inside quotes.
    Quoted,
    /// A quote inside quotes: the closing one, unless another follows.
    Quote,
}

impl Scanner {
    pub fn new(delimiter: u8) -> Self {
        Self { delimiter, state: QuoteState::Start }
    }

    /// The position after the next record end. Looks at all the bytes if there is none, and goes on after them next time.
    pub fn next_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            match self.state {
                QuoteState::Start if bytes[at] == b'"' => (self.state, at) = (QuoteState::Quoted, at + 1),
                QuoteState::Start => self.state = QuoteState::Field,
                QuoteState::Quoted => match memchr::memchr(b'"', &bytes[at..]) {
                    Some(i) => (self.state, at) = (QuoteState::Quote, at + i + 1),
                    None => return None,
                },
                QuoteState::Quote if bytes[at] == b'"' => (self.state, at) = (QuoteState::Quoted, at + 1),
                QuoteState::Quote => self.state = QuoteState::Field,
                QuoteState::Field => {
                    let Some(i) = memchr::memchr2(b'\n', b'"', &bytes[at..]) else {
                        if bytes.last() == Some(&self.delimiter) {
                            self.state = QuoteState::Start;
                        }
                        return None;
                    };
                    let found = at + i;
                    at = found + 1;
                    if bytes[found] == b'\n' {
                        self.state = QuoteState::Start;
                        return Some(at);
                    }
                    if found > 0 && bytes[found - 1] == self.delimiter {
                        self.state = QuoteState::Quoted;
                    }
                }
            }
        }
        None
    }

    /// The position after the last record end in these bytes.
    pub fn last_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut last = None;
        while let Some(n) = self.next_end(&bytes[last.unwrap_or(0)..]) {
            last = Some(last.unwrap_or(0) + n);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, byte by byte: the ends of all records.
    fn ends(bytes: &[u8]) -> Vec<usize> {
        let (mut state, mut ends) = (QuoteState::Start, Vec::new());
        for (i, &byte) in bytes.iter().enumerate() {
            state = match (state, byte) {
                (QuoteState::Start, b'"') | (QuoteState::Quote, b'"') => QuoteState::Quoted,
                (QuoteState::Quoted, b'"') => QuoteState::Quote,
                (QuoteState::Quoted, _) => QuoteState::Quoted,
                (_, b',') => QuoteState::Start,
                (_, b'\n') => {
                    ends.push(i + 1);
                    QuoteState::Start
                }
                _ => QuoteState::Field,
            };
        }
        ends
    }

    proptest! {
        #[test]
        fn ends_are_those_of_the_definition_however_the_bytes_are_cut(
            text in "[a,\"\n]{0,80}",
            cuts in prop::collection::vec(0usize..80, 0..4),
        ) {
            let bytes = text.as_bytes();
            let expected = ends(bytes);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort();
            let (mut each, mut found) = (Scanner::new(b','), Vec::new());
            let (mut last, mut lasts) = (Scanner::new(b','), Vec::new());
            for piece in cuts.windows(2) {
                let mut at = piece[0];
                while let Some(n) = each.next_end(&bytes[at..piece[1]]) {
                    at += n;
                    found.push(at);
                }
                lasts.extend(last.last_end(&bytes[piece[0]..piece[1]]).map(|n| piece[0] + n));
            }
            prop_assert_eq!(&found, &expected);
            prop_assert!(lasts.iter().all(|end| expected.contains(end)));
            prop_assert_eq!(lasts.last(), expected.last());
        }
    }
}
