//! Numbers and texts, fit for a terminal and for JSON.

pub use benzer_dedup::report::grouped;

/// Text from outside, fit for a terminal: control characters would be commands to it.
pub fn printable(text: &str) -> String {
    let shown = |c: char| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c };
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

/// A number of bytes, in the unit that leaves one to four digits before the point.
pub fn bytes(bytes: f64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut size = bytes;
    let mut unit = 0;
    while size >= 1000.0 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{size:.0} bytes") } else { format!("{size:.1} {}", units[unit]) }
}

/// A size or count as JSON shows it: whole if it is whole.
pub(crate) fn number(value: f64) -> serde_json::Number {
    if value.fract() == 0.0 && (0.0..9e15).contains(&value) {
        (value as u64).into()
    } else {
        serde_json::Number::from_f64(value).unwrap_or_else(|| 0.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_bytes_have_a_unit() {
        assert_eq!(
            ["1", "1,000", "12,345,678"],
            [1, 1000, 12_345_678].map(grouped).each_ref().map(|s| &s[..])
        );
        assert_eq!(bytes(144.0), "144 bytes");
        assert_eq!(bytes(3.5 * 1024.0 * 1024.0), "3.5 MiB");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\r\nc\td"), "a\u{fffd}[31mb\nc\td");
    }
}
