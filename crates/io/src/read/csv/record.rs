//! One record into its fields.

/// A field, as a place in the bytes of its record's buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field {
    /// Its content, without the quotes around it.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether a quote stands twice in it for one.
    pub(crate) escaped: bool,
}

/// What is wrong with the quotes of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuoteFault {
    /// The position of the byte that does not fit.
    pub(crate) at: usize,
    pub(crate) expected: &'static str,
}

/// Finds the fields of the record at `start`. Returns the position of its newline, or the end of the bytes.
///
/// A quote inside a field that does not begin with one is an ordinary character. The end is the one that
/// [`Scanner`](super::Scanner) finds, also after a fault.
pub fn split(
    bytes: &[u8],
    start: usize,
    delimiter: u8,
    fields: &mut Vec<Field>,
) -> (usize, Result<(), QuoteFault>) {
    fields.clear();
    let (mut at, mut fault) = (start, None);
    loop {
        let end = if bytes.get(at) == Some(&b'"') {
            match quoted(bytes, at + 1, fields) {
                Some(after) => {
                    let end = plain_end(bytes, after, delimiter);
                    let is_clean = end == after || (end == after + 1 && is_cr(bytes, after, end));
                    if !is_clean {
                        fault.get_or_insert(QuoteFault {
                            at: after,
                            expected: "a delimiter after a closing quote",
                        });
                    }
                    end
                }
                None => {
                    let unclosed = QuoteFault { at, expected: "a closing quote" };
                    return (bytes.len(), Err(fault.unwrap_or(unclosed)));
                }
            }
        } else {
            let end = plain_end(bytes, at, delimiter);
            let is_cr = end > at && is_cr(bytes, end - 1, end);
            fields.push(Field { start: at, end: end - usize::from(is_cr), escaped: false });
            end
        };
        if bytes.get(end) != Some(&delimiter) {
            return (end, fault.map_or(Ok(()), Err));
        }
        at = end + 1;
    }
}

/// Adds the field between quotes, from after the opening one. Returns the position after the closing one.
fn quoted(bytes: &[u8], start: usize, fields: &mut Vec<Field>) -> Option<usize> {
    let (mut at, mut escaped) = (start, false);
    loop {
        let quote = at + memchr::memchr(b'"', bytes.get(at..)?)?;
        if bytes.get(quote + 1) != Some(&b'"') {
            fields.push(Field { start, end: quote, escaped });
            return Some(quote + 1);
        }
        escaped = true;
        at = quote + 2;
    }
}

/// The next delimiter or newline, or the end.
fn plain_end(bytes: &[u8], at: usize, delimiter: u8) -> usize {
    memchr::memchr2(delimiter, b'\n', &bytes[at..]).map_or(bytes.len(), |i| at + i)
}

/// True if there is a carriage return at `at` that belongs to the line end at `end`.
fn is_cr(bytes: &[u8], at: usize, end: usize) -> bool {
    bytes[at] == b'\r' && matches!(bytes.get(end), None | Some(b'\n'))
}

/// Hands the content of an escaped field to `out`, part by part: every pair of quotes as one.
pub fn unescape(written: &[u8], mut out: impl FnMut(&[u8])) {
    let mut rest = written;
    while let Some(i) = memchr::memchr(b'"', rest) {
        out(&rest[..=i]);
        rest = rest.get(i + 2..).unwrap_or_default();
    }
    out(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(record: &str) -> (usize, Result<Vec<String>, &'static str>) {
        let mut found = Vec::new();
        let (end, result) = split(record.as_bytes(), 0, b',', &mut found);
        let text = |field: &Field| {
            let written = &record[field.start..field.end];
            let mut out = Vec::new();
            unescape(written.as_bytes(), |part| out.extend_from_slice(part));
            if field.escaped { String::from_utf8(out).unwrap() } else { written.to_owned() }
        };
        (end, result.map(|()| found.iter().map(text).collect()).map_err(|fault| fault.expected))
    }

    #[test]
    fn quotes_delimiters_newlines_and_empty_fields() {
        let (end, found) = fields("a,\"b, \"\"c\"\"\n\",,\"\"\r\nnext");
        assert_eq!(
            (end, found.unwrap()),
            (18, vec!["a".into(), "b, \"c\"\n".into(), String::new(), String::new()])
        );
        assert_eq!(fields("5\" pipe,x\r").1.unwrap(), ["5\" pipe", "x"]);
        assert_eq!(fields("").1.unwrap(), [""]);
        assert_eq!(fields("a,").1.unwrap(), ["a", ""]);
        assert_eq!(fields("a\rb,c\r\r\n").1.unwrap(), ["a\rb", "c\r"]);
    }

    #[test]
    fn bad_quotes_are_told_and_the_record_still_ends_where_it_ends() {
        assert_eq!(fields("\"a\"b,\"c\n\"\nnext"), (9, Err("a delimiter after a closing quote")));
        assert_eq!(fields("\"a\" ,b\nnext"), (6, Err("a delimiter after a closing quote")));
        assert_eq!(fields("a,\"b\nc\n"), (7, Err("a closing quote")));
    }
}
