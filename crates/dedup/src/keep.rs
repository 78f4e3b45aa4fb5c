//! Which of two similar documents is kept: the keep order.
//!
//! The order is (policy key, id, row). The policy key is bytes that compare as the policy wants; ids that are integers compare by number and come before others, which compare
//! bytewise; without an id field the id is input number and line, which is the row. `last` turns the whole order around.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use benzer_io::read::{FieldPath, Order};

use crate::error::{Error, Result};

/// Who comes first in keep order.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Keep {
    /// The smallest id, or the first row.
    #[default]
    First,
    /// The largest id, or the last row.
    Last,
    /// The longest text, in bytes of UTF-8.
    Longest,
    /// The shortest text.
    Shortest,
    /// The largest value of a field; documents without one come last.
    Max(FieldPath),
    /// The smallest value of a field; documents without one come last.
    Min(FieldPath),
}

impl Keep {
    /// The field to read for it.
    pub fn field(&self) -> Option<&FieldPath> {
        match self {
            Self::Max(field) | Self::Min(field) => Some(field),
            _ => None,
        }
    }

    /// True if documents have a policy key at all.
    pub fn has_key(&self) -> bool {
        !matches!(self, Self::First | Self::Last)
    }

    /// Appends the policy key of a document.
    pub fn push_key(&self, text: &str, value: Option<Order<'_>>, out: &mut Vec<u8>) {
        let length = text.len() as u64;
        match self {
            Self::First | Self::Last => {}
            Self::Longest => out.extend((!length).to_be_bytes()),
            Self::Shortest => out.extend(length.to_be_bytes()),
            Self::Max(_) => push_value(value, true, out),
            Self::Min(_) => push_value(value, false, out),
        }
    }
}

/// How the keys of ids begin: integers by their number of digits, counted from here, up or down; those of many digits; texts.
const POSITIVE: u8 = 0x40;
const NEGATIVE: u8 = 0x3f;
const MANY_DIGITS: usize = 0x3f;
const TEXT_ID: u8 = 0x80;

/// An id that is an integer: that is written as one, in a string or not.
struct Integer<'a> {
    is_negative: bool,
    /// Zeros in front.
    zeros: &'a [u8],
    digits: &'a [u8],
}

impl<'a> Integer<'a> {
    #[inline]
    fn of(id: &'a [u8]) -> Option<Self> {
        let (is_negative, all) = match id {
            [b'-', b'1'..=b'9', ..] => (true, &id[1..]),
            [b'0'..=b'9', ..] => (false, id),
            _ => return None,
        };
        let n_zeros = all.iter().take_while(|digit| **digit == b'0').count();
        let (zeros, digits) = all.split_at(n_zeros);
        digits.iter().all(u8::is_ascii_digit).then_some(Self { is_negative, zeros, digits })
    }
}

/// Integers by number, and then all other ids bytewise. Of those that are the same number, the one with fewer zeros in front comes first.
#[inline]
pub(crate) fn compare_ids(a: &[u8], b: &[u8]) -> Ordering {
    match (Integer::of(a), Integer::of(b)) {
        (None, None) => a.cmp(b),
        // What is written with as many digits compares like its bytes.
        (Some(x), Some(y)) if a.len() == b.len() && !x.is_negative && !y.is_negative => a.cmp(b),
        _ => id_key(a).cmp(id_key(b)),
    }
}

/// An id as bytes that compare as ids do: integers by number, and then all others bytewise.
pub fn id_key(id: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let (is_integer, Integer { is_negative, zeros, digits }) = match Integer::of(id) {
        Some(integer) => (true, integer),
        None => (false, Integer { is_negative: false, zeros: &[], digits: id }),
    };
    let n = digits.len().min(MANY_DIGITS) as u8;
    let first = match (is_integer, is_negative) {
        (false, _) => TEXT_ID,
        (true, false) => POSITIVE + n,
        (true, true) => NEGATIVE - n,
    };
    let has_length = is_integer && digits.len() >= MANY_DIGITS;
    let length = (digits.len() as u32).to_be_bytes().into_iter().filter(move |_| has_length);
    let sign = if is_negative { u8::MAX } else { 0 };
    let number = length.chain(digits.iter().copied()).map(move |byte| byte ^ sign);
    // Zeros are behind the number: they count where that is the same.
    std::iter::once(first).chain(number).chain(zeros.iter().copied())
}

/// The id of an [`id_key`]; nothing if these bytes are none.
pub fn id_of_key(key: &[u8]) -> Option<Vec<u8>> {
    let (&first, rest) = key.split_first()?;
    if first == TEXT_ID {
        return Some(rest.to_vec());
    }
    let (sign, n) = match first {
        NEGATIVE.. => (0, usize::from(first.checked_sub(POSITIVE)?)),
        _ => (u8::MAX, usize::from(NEGATIVE - first)),
    };
    let (n, rest) = match n {
        MANY_DIGITS => {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            (u32::from_be_bytes(length.map(|byte| byte ^ sign)) as usize, rest)
        }
        n => (n, rest),
    };
    let (digits, zeros) = rest.split_at_checked(n).filter(|_| first < TEXT_ID)?;
    let minus = (sign != 0).then_some(b'-');
    let number = zeros.iter().copied().chain(digits.iter().map(|byte| byte ^ sign));
    Some(minus.into_iter().chain(number).collect())
}

/// How policy keys of a field begin.
const TEXT: u8 = 1;
const MISSING: u8 = 2;

/// How many keys of a field are of texts, and how many of documents that do not have it.
pub(crate) fn kinds<'a>(keys: impl Iterator<Item = &'a [u8]>) -> (u64, u64) {
    keys.fold((0, 0), |(texts, missing), key| match key.first() {
        Some(&TEXT) => (texts + 1, missing),
        Some(&MISSING) => (texts, missing + 1),
        _ => (texts, missing),
    })
}

/// Numbers come before texts, whichever way the order goes, and a missing value after both.
fn push_value(value: Option<Order<'_>>, descending: bool, out: &mut Vec<u8>) {
    let start = out.len() + 1;
    match value {
        Some(Order::Number(number)) if !number.is_nan() => {
            out.push(0);
            // The order of the bits of a float, with the sign turned.
            let bits = (number + 0.0).to_bits();
            let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
            out.extend(ordered.to_be_bytes());
        }
        Some(Order::Text(text)) => {
            out.push(TEXT);
            // Zero is escaped and two zeros end the text, so that a prefix comes before what it begins.
            text.bytes().for_each(|byte| if byte == 0 { out.extend([0, 255]) } else { out.push(byte) });
            out.extend([0, 0]);
        }
        _ => out.push(MISSING),
    }
    if descending {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

impl FromStr for Keep {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let expected = "first, last, longest, shortest, max:FIELD or min:FIELD";
        Ok(match (text, text.split_once(':')) {
            ("first", _) => Self::First,
            ("last", _) => Self::Last,
            ("longest", _) => Self::Longest,
            ("shortest", _) => Self::Shortest,
            (_, Some(("max", field))) => Self::Max(field.parse()?),
            (_, Some(("min", field))) => Self::Min(field.parse()?),
            _ => return Err(Error::parameter("keep", expected, text)),
        })
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => f.write_str("first"),
            Self::Last => f.write_str("last"),
            Self::Longest => f.write_str("longest"),
            Self::Shortest => f.write_str("shortest"),
            Self::Max(field) => write!(f, "max:{field}"),
            Self::Min(field) => write!(f, "min:{field}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(keep: &str, value: Option<Order<'_>>) -> Vec<u8> {
        let mut key = Vec::new();
        keep.parse::<Keep>().unwrap().push_key("text", value, &mut key);
        key
    }

    #[test]
    fn values_order_as_numbers_then_texts_then_nothing() {
        let ascending = [
            Some(Order::Number(f64::NEG_INFINITY)),
            Some(Order::Number(-2.5)),
            Some(Order::Number(-0.0)),
            Some(Order::Number(1e-300)),
            Some(Order::Number(7.0)),
            Some(Order::Text("")),
            Some(Order::Text("a")),
            Some(Order::Text("a\0")),
            Some(Order::Text("ab")),
            None,
        ];
        let keys: Vec<_> = ascending.iter().map(|value| key("min:f", *value)).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        assert_eq!(key("min:f", Some(Order::Number(0.0))), key("min:f", Some(Order::Number(-0.0))));
        assert_eq!(key("min:f", Some(Order::Number(f64::NAN))), key("min:f", None));
        let numbers: Vec<_> = ascending[..5].iter().map(|value| key("max:f", *value)).collect();
        assert!(numbers.is_sorted_by(|a, b| a > b));
        let texts: Vec<_> = ascending[5..9].iter().map(|value| key("max:f", *value)).collect();
        assert!(texts.is_sorted_by(|a, b| a > b));
        assert!(numbers[0] < texts[3] && texts[0] < key("max:f", None));
    }

    #[test]
    fn integers_compare_by_number_and_come_before_texts() {
        let (long, longer) = ("9".repeat(62), "1".repeat(63));
        let ascending = [
            &format!("-{longer}"),
            &format!("-{long}"),
            "-10",
            "-9",
            "-1",
            "0",
            "00",
            "1",
            "01",
            "7",
            "007",
            "9",
            "10",
            "010",
            "11",
            "18446744073709551616",
            &long,
            &longer,
            &format!("0{longer}"),
            &format!("1{longer}"),
            "",
            "-",
            "-0",
            "-01",
            "0x",
            "1.0",
            "10 ",
            "2a",
            "a10",
            "a9",
            "\u{7f}",
            "é",
        ];
        let keys: Vec<Vec<u8>> = ascending.iter().map(|id| id_key(id.as_bytes()).collect()).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        for (a, key_a) in ascending.iter().zip(&keys) {
            for (b, key_b) in ascending.iter().zip(&keys) {
                assert_eq!(compare_ids(a.as_bytes(), b.as_bytes()), key_a.cmp(key_b));
            }
        }
        for (id, key) in ascending.iter().zip(&keys) {
            assert_eq!(id_of_key(key).as_deref(), Some(id.as_bytes()));
        }
        for none in [&[][..], &[0x3f], &[0x41], &[0x7f, 1], &[0x81, 1]] {
            assert_eq!(id_of_key(none), None);
        }
    }

    #[test]
    fn policies_are_written_as_they_are_read() {
        for text in ["first", "last", "longest", "shortest", "max:meta.score", "min:date"] {
            assert_eq!(text.parse::<Keep>().unwrap().to_string(), text);
        }
        let error = "best".parse::<Keep>().unwrap_err().to_string();
        assert!(error.contains("max:FIELD"), "{error}");
        assert!("max:".parse::<Keep>().is_err());
    }
}
