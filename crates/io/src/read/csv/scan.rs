//! Where does a record end? Known to the reading thread without parsing the record.
//!
//! A newline ends a record unless it is inside quotes, and a quote opens them only at the beginning of a field. So the
//! scanner looks at newlines and quotes, by vector code, and at nothing else.

/// Finds the ends of records in bytes that come piece by piece.
#[derive(Debug, Clone)]
pub struct Scanner {
    delimiter: u8,
    state: State,
}

/// What the byte before was.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
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
        Self { delimiter, state: State::Start }
    }

    /// The position after the next record end. Looks at all the bytes if there is none, and goes on after them next time.
    pub fn next_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            match self.state {
                State::Start if bytes[at] == b'"' => (self.state, at) = (State::Quoted, at + 1),
                State::Start => self.state = State::Field,
                State::Quoted => match memchr::memchr(b'"', &bytes[at..]) {
                    Some(i) => (self.state, at) = (State::Quote, at + i + 1),
                    None => return None,
                },
                State::Quote if bytes[at] == b'"' => (self.state, at) = (State::Quoted, at + 1),
                State::Quote => self.state = State::Field,
                State::Field => {
                    let Some(i) = memchr::memchr2(b'\n', b'"', &bytes[at..]) else {
                        if bytes.last() == Some(&self.delimiter) {
                            self.state = State::Start;
                        }
                        return None;
                    };
                    let found = at + i;
                    at = found + 1;
                    if bytes[found] == b'\n' {
                        self.state = State::Start;
                        return Some(at);
                    }
                    if found > 0 && bytes[found - 1] == self.delimiter {
                        self.state = State::Quoted;
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
        let (mut state, mut ends) = (State::Start, Vec::new());
        for (i, &byte) in bytes.iter().enumerate() {
            state = match (state, byte) {
                (State::Start, b'"') | (State::Quote, b'"') => State::Quoted,
                (State::Quoted, b'"') => State::Quote,
                (State::Quoted, _) => State::Quoted,
                (_, b',') => State::Start,
                (_, b'\n') => {
                    ends.push(i + 1);
                    State::Start
                }
                _ => State::Field,
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
