//! Text: a file becomes whole lines, one buffer after the other ([`TextFile`]) or in stretches that any thread reads ([`CutFile`]); lines become documents ([`parse`]).

mod csv_records;
mod cut;
mod file;
mod json_lines;
mod line_counts;
mod parser;
mod plain;
mod stretch;

pub(super) use file::{Stop, TextFile};
pub(super) use json_lines::text_of;
pub(super) use line_counts::LinesBefore;
pub(super) use parser::into_text;
pub(super) use stretch::CutFile;

use super::json::Decoded;
use super::options::Plan;
use super::rows::{Found, Lines, Segment, SegmentKind};
use super::utf8;
use parser::Parser;

/// Lines as text, and what was found in them.
pub(super) struct ParsedLines {
    pub(super) data: String,
    /// Texts and ids that do not stand in `data` as they are.
    pub(super) decoded: String,
    /// The original bytes of lines that are not UTF-8; in `data` they are blank.
    pub(super) damaged: Vec<u8>,
    pub(super) segments: Vec<Segment>,
    pub(super) found: Found,
}

/// Finds the documents of lines. `decoded` is a buffer for texts, whatever is in it; there will be about so many documents.
/// Lines of a stretch are numbered in the end, when those before them have long been counted.
pub(super) fn parse(
    lines: Lines,
    before: Option<&LinesBefore>,
    decoded: Vec<u8>,
    expected: usize,
    plan: &Plan,
) -> ParsedLines {
    let Lines { data, mut segments, rejects } = lines;
    let (data, bad_lines, damaged) = into_text(data, &segments);
    let mut parser = Parser::new(&data, bad_lines, plan);
    parser.decoded = Decoded::new(decoded);
    parser.found.rows = Vec::with_capacity(expected + expected / 8);
    parser.found.reject_lines = vec![None; rejects.len()];
    parser.found.rejects = rejects;
    for (number, segment) in segments.iter().enumerate() {
        let number = number as u32;
        match &segment.kind {
            SegmentKind::Json => json_lines::parse(&mut parser, number, segment),
            SegmentKind::Csv(header) => csv_records::parse(&mut parser, number, segment, header),
            SegmentKind::Lines => plain::lines(&mut parser, number, segment),
            SegmentKind::File => plain::file(&mut parser, number, segment),
            SegmentKind::Rows | SegmentKind::Parsed(_) => {
                unreachable!("documents of these are found elsewhere")
            }
        }
    }
    let Parser { decoded, mut found, .. } = parser;
    let decoded = utf8::into_string(decoded.into_bytes()).expect("escapes in UTF-8 stand for characters");
    if let Some(before) = before.map(LinesBefore::get) {
        segments.iter_mut().for_each(|segment| segment.first_line += before);
        found.rejects.iter_mut().for_each(|reject| reject.line += before);
    }
    found.sort_rejects();
    ParsedLines { data, decoded, damaged, segments, found }
}
