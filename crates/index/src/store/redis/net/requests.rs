//! Commands on their way to the nodes that have their keys.

/// Commands, each with its slot, as they go over the wire.
#[derive(Debug, Default)]
pub(in super::super) struct Requests {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    slots: Vec<u16>,
}

/// A command whose arguments are being written.
pub(in super::super) struct Arguments<'a> {
    bytes: &'a mut Vec<u8>,
}

impl Requests {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds a command of so many words, which `write` writes.
    pub fn add(&mut self, slot: u16, n_words: usize, write: impl FnOnce(&mut Arguments<'_>)) {
        line(&mut self.bytes, b'*', n_words);
        write(&mut Arguments { bytes: &mut self.bytes });
        self.ends.push(self.bytes.len());
        self.slots.push(slot);
    }

    /// Adds a short command.
    pub fn command(&mut self, slot: u16, words: &[&[u8]]) {
        self.add(slot, words.len(), |arguments| words.iter().for_each(|word| arguments.word(word)));
    }

    pub fn of(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    pub fn slot(&self, i: usize) -> u16 {
        self.slots[i]
    }
}

impl Arguments<'_> {
    /// Writes a word.
    pub fn word(&mut self, word: &[u8]) {
        line(self.bytes, b'$', word.len());
        self.bytes.extend_from_slice(word);
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// Writes a number as a word.
    pub fn number(&mut self, number: u64) {
        self.word(number.to_string().as_bytes());
    }
}

fn line(bytes: &mut Vec<u8>, kind: u8, mut number: usize) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    bytes.push(kind);
    bytes.extend_from_slice(&digits[at..]);
    bytes.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_written_as_the_protocol_wants() {
        let mut requests = Requests::default();
        requests.command(7, &[b"GET", b"a\r\n"]);
        requests.add(8, 1, |arguments| arguments.number(1203));
        assert_eq!(requests.of(0), b"*2\r\n$3\r\nGET\r\n$3\r\na\r\n\r\n");
        assert_eq!((requests.of(1), requests.slot(1)), (&b"*1\r\n$4\r\n1203\r\n"[..], 8));
    }
}
