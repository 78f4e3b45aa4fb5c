//! The differences of two texts in the text, wrapped at spaces.

use super::explain::{Change, Segment};
use crate::output::{ADDED, MOVED, REMOVED, View, printable};

const CONTEXT: usize = 12;

/// The differences in the text, wrapped at spaces.
pub(super) fn flow(segments: &[Segment], view: &View) -> String {
    let mut words = Vec::new();
    let mut glued = false;
    let last = segments.len().saturating_sub(1);
    for (i, segment) in segments.iter().enumerate() {
        for (text, style) in shown(segment, i == 0, i == last) {
            push_words(&mut words, &mut glued, &text, style, view);
        }
    }
    wrap(&words, view.width)
}

/// What is shown of a segment: a long unchanged one is cut in the middle.
fn shown(segment: &Segment, first: bool, last: bool) -> Vec<(String, Change)> {
    let text = printable(&segment.text);
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let (before, after) = (if first { 0 } else { CONTEXT }, if last { 0 } else { CONTEXT });
    if segment.change != Change::Same || words.len() <= before + after + CONTEXT {
        return vec![(text, segment.change)];
    }
    let skipped = format!(" … {} words the same … ", words.len() - before - after);
    let parts = [words[..before].concat(), skipped, words[words.len() - after..].concat()];
    parts.into_iter().map(|part| (part, Change::Same)).collect()
}

/// A word on a line: how wide it is and how it is printed; nothing is the end of a paragraph.
#[derive(Default)]
struct Word {
    width: usize,
    printed: String,
}

fn push_words(words: &mut Vec<Word>, glued: &mut bool, text: &str, change: Change, view: &View) {
    let (style, open, close) = match change {
        Change::Same => (None, "", ""),
        Change::Removed => (Some(REMOVED), "[-", "-]"),
        Change::Added => (Some(ADDED), "{+", "+}"),
        Change::MovedAway => (Some(MOVED), "[~", "~]"),
        Change::MovedHere => (Some(MOVED), "{~", "~}"),
    };
    let pieces = pieces(text);
    let is_word = |piece: &Option<&str>| piece.is_some();
    let (first, last) = (pieces.iter().position(is_word), pieces.iter().rposition(is_word));
    let starts_apart = text.starts_with(char::is_whitespace);
    for (i, piece) in pieces.iter().enumerate() {
        let Some(piece) = piece else {
            words.push(Word::default());
            continue;
        };
        let mut piece = (*piece).to_owned();
        if !view.color {
            let (open, close) =
                (if first == Some(i) { open } else { "" }, if last == Some(i) { close } else { "" });
            piece = format!("{open}{piece}{close}");
        }
        let width = piece.chars().count();
        let printed = style.map_or(piece.clone(), |style| view.paint(style, &piece));
        match words.last_mut() {
            Some(word) if i == 0 && *glued && !starts_apart => {
                word.width += width;
                word.printed.push_str(&printed);
            }
            _ => words.push(Word { width, printed }),
        }
    }
    if !text.is_empty() {
        *glued = !text.ends_with(char::is_whitespace);
    }
}

/// The words of a text; nothing between two paragraphs.
fn pieces(text: &str) -> Vec<Option<&str>> {
    let mut pieces = Vec::new();
    for (i, paragraph) in text.split("\n\n").enumerate() {
        pieces.extend((i > 0).then_some(None));
        pieces.extend(paragraph.split_whitespace().map(Some));
    }
    pieces
}

fn wrap(words: &[Word], width: usize) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in words {
        if word.width == 0 {
            out.truncate(out.trim_end().len());
            out.push_str("\n\n");
            column = 0;
            continue;
        }
        if column > 0 && column + 1 + word.width > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(&word.printed);
        column += word.width;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Format;

    fn view(width: usize, color: bool) -> View {
        View { format: Format::Table, color, width }
    }

    fn segment(change: Change, text: &str) -> Segment {
        Segment { change, text: text.into(), tokens: text.split_whitespace().count() }
    }

    #[test]
    fn differences_are_marked_without_colour_and_painted_with_it() {
        let segments = [
            segment(Change::Same, "the "),
            segment(Change::Removed, "old grey "),
            segment(Change::Added, "new "),
            segment(Change::Same, "cat"),
        ];
        assert_eq!(flow(&segments, &view(80, false)), "the [-old grey-] {+new+} cat");
        let painted = flow(&segments, &view(80, true));
        assert!(
            !painted.contains("[-") && painted.contains("\u{1b}[1m\u{1b}[32mnew\u{1b}[0m cat"),
            "{painted:?}"
        );
    }

    #[test]
    fn pieces_of_one_word_stay_together_and_lines_wrap_at_spaces() {
        let segments = [
            segment(Change::Same, "a col"),
            segment(Change::Added, "ou"),
            segment(Change::Same, "r is here"),
        ];
        assert_eq!(flow(&segments, &view(12, false)), "a col{+ou+}r\nis here");
        let paragraphs = [segment(Change::Same, "one\n\n"), segment(Change::Added, "two\n\n\nthree")];
        assert_eq!(flow(&paragraphs, &view(80, false)), "one\n\n{+two\n\nthree+}");
    }

    #[test]
    fn a_long_unchanged_passage_is_cut_in_the_middle() {
        let long = "word ".repeat(100);
        let shown = flow(
            &[segment(Change::Added, "x "), segment(Change::Same, &long), segment(Change::Added, "y")],
            &view(80, false),
        );
        assert!(shown.replace("\n", " ").contains("… 76 words the same …"), "{shown}");
    }
}
