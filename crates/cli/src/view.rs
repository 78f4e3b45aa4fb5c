//! How results are shown: format, colour, width.

use std::io::{self, IsTerminal};

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;

pub use benzer_dedup::report::grouped;

/// What a command prints on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// For programs: every number at full precision.
    Json,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How a command shows its result.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Table or JSON.
    pub format: Format,
    /// Whether to use colour.
    pub color: bool,
    /// Columns of the terminal, or 80.
    pub width: usize,
}

/// A narrower terminal is taken for one of this width.
const NARROWEST: usize = 40;
/// Lines longer than this are hard to read.
const WIDEST: usize = 120;

impl View {
    /// What suits standard output.
    pub fn new(format: Format, color: Color) -> Self {
        let plain = set("NO_COLOR") || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let color = match color {
            Color::Auto => io::stdout().is_terminal() && !plain,
            Color::Always => true,
            Color::Never => false,
        };
        Self { format, color, width: width() }
    }

    /// The text in a style, if colour is on.
    pub fn paint(&self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("{}{text}{}", style.render(), style.render_reset())
        } else {
            text.to_owned()
        }
    }
}

/// For headings.
pub const HEADING: Style = Style::new().bold();
/// For what is only in the first of two.
pub const REMOVED: Style = AnsiColor::Red.on_default().strikethrough();
/// For what is only in the second of two.
pub const ADDED: Style = AnsiColor::Green.on_default().bold();
/// For what is in both, in another place.
pub const MOVED: Style = AnsiColor::Yellow.on_default();
/// For what is left out or said by the way.
pub const QUIET: Style = Style::new().dimmed();

fn width() -> usize {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let terminal = || Some(terminal_size::terminal_size()?.0.0.into());
    columns().or_else(terminal).unwrap_or(80).clamp(NARROWEST, WIDEST)
}

fn set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

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
