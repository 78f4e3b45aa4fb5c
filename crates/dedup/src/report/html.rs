//! Text as HTML: everything that comes from outside is escaped here.

use std::fmt::Write;

/// A text between tags or in a quoted attribute. Control characters, which HTML does not allow, are shown as replaced.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\r' => {}
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A number with commas.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 cluster`, `2 clusters`.
pub fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A share in percent; what is not all or nothing does not look like it.
pub(super) fn percent(share: f64) -> String {
    let rounded = (1000.0 * share).round() / 10.0;
    match share {
        _ if share < 1.0 && rounded >= 100.0 => {
            format!("{:.2}%", (9999.0f64).min((10_000.0 * share).floor()) / 100.0)
        }
        _ if share > 0.0 && rounded <= 0.0 => "&lt; 0.1%".to_owned(),
        _ => format!("{rounded:.1}%"),
    }
}

/// A section with a heading that can be linked to.
pub(super) fn section(out: &mut String, id: &str, heading: &str, body: &str) {
    let _ =
        writeln!(out, "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{heading}</h2>\n{body}</section>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_is_markup() {
        assert_eq!(
            escape("<script>a&b</script> \"'\u{0}\u{7f}\r\n"),
            "&lt;script&gt;a&amp;b&lt;/script&gt; &quot;&#39;\u{fffd}\u{fffd}\n"
        );
    }

    #[test]
    fn almost_all_is_not_all() {
        assert_eq!(
            [1.0, 0.0, 0.5, 0.9996, 0.00001].map(percent),
            ["100.0%", "0.0%", "50.0%", "99.96%", "&lt; 0.1%"]
        );
        assert_eq!(percent(0.999_999), "99.99%");
        assert_eq!(
            (counted(1, "pair"), counted(1_234_567, "pair")),
            ("1 pair".into(), "1,234,567 pairs".into())
        );
    }
}
