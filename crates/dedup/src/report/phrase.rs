//! Short phrases made of longer ones.

/// Characters of a document's beginning.
const BEGINNING: usize = 160;

pub(crate) fn beginning(text: &str) -> String {
    let head: String = text.chars().take(4 * BEGINNING).collect();
    let words = head.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = words.chars().take(BEGINNING).collect();
    if cut.len() < words.len() { format!("{cut}…") } else { cut }
}

/// The kind of a reason: without places, numbers and advice.
pub(crate) fn kind(reason: &str) -> String {
    let ends = [" at column ", ": ", "; ", " (", ", expected at most"];
    let end = ends.iter().filter_map(|end| reason.find(end)).min().unwrap_or(reason.len());
    let mut kind = String::new();
    for c in reason[..end].chars() {
        match c.is_ascii_digit() {
            true if kind.ends_with('N') => {}
            true => kind.push('N'),
            false => kind.push(c),
        }
    }
    kind
}

/// A command that a shell reads as these arguments.
pub(crate) fn quoted(arguments: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    let quote = |argument: &String| match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.clone(),
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    };
    arguments.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_what_was_written() {
        let arguments = ["benzer", "my file.jsonl", "it's", "$HOME", "--keep", "max:score", ""];
        let expected = r#"benzer 'my file.jsonl' 'it'\''s' '$HOME' --keep max:score '' "#;
        assert_eq!(quoted(&arguments.map(str::to_owned)), expected.trim_end());
    }

    #[test]
    fn reasons_are_told_apart_by_kind_and_not_by_place() {
        let kinds = [
            ("invalid json at column 5: expected a value, got `x`", "invalid json"),
            ("no field `text`; name the right one with --text-field or --id-field", "no field `text`"),
            (
                "expected 3 fields as in the header, got 12; quote fields",
                "expected N fields as in the header, got N",
            ),
            ("line of 1048577 bytes, expected at most 1048576; raise it", "line of N bytes"),
            ("damaged parquet (eof): other rows are read", "damaged parquet"),
        ];
        for (reason, expected) in kinds {
            assert_eq!(kind(reason), expected);
        }
    }

    #[test]
    fn a_beginning_is_one_line() {
        assert_eq!(beginning(&"word\n\n ".repeat(100)).chars().count(), BEGINNING + 1);
        assert_eq!(beginning(" short\ttext "), "short text");
    }
}
