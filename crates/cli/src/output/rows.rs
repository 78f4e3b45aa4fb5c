//! Many results as rows: tab-separated, JSON lines or Parquet.
//!
//! TSV has a header; a tab, newline, carriage return or backslash in a value is written as `\t`, `\n`, `\r`, `\\`. What is missing is empty in TSV and null elsewhere.

use std::io::Write;
use std::path::Path;

use benzer_io::result_table::{Cell, Kind, Table};
use benzer_storage::{FileWriter, Files};
use clap::ValueEnum;

use super::Format;
use crate::Usage;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// A header, then tab-separated values
    Tsv,
    /// A JSON object on each line
    Jsonl,
    /// A Parquet file
    Parquet,
}

impl RowFormat {
    /// What was asked for; else what the name of the file says; else JSON lines with `--format json`, and TSV.
    pub(crate) fn choose(asked: Option<Self>, output: Option<&Path>, format: Format) -> Self {
        let extension = output.and_then(Path::extension).and_then(|extension| extension.to_str());
        asked.unwrap_or(match (extension, format) {
            (Some("parquet" | "pq"), _) => Self::Parquet,
            (Some("jsonl" | "ndjson"), _) | (_, Format::Json) => Self::Jsonl,
            _ => Self::Tsv,
        })
    }
}

pub(crate) struct Rows<'a> {
    columns: Vec<(&'static str, Kind)>,
    out: Out<'a>,
    line: Vec<u8>,
}

enum Out<'a> {
    Text(Text<'a>, RowFormat),
    Table(Box<Table<FileWriter>>),
}

enum Text<'a> {
    Standard(&'a mut dyn Write),
    File(Box<FileWriter>),
}

impl<'a> Rows<'a> {
    /// Begins rows of these columns; those whose name ends with `?` may be missing.
    pub fn new(
        columns: &[(&'static str, Kind)],
        format: RowFormat,
        output: Option<&Path>,
        standard: &'a mut dyn Write,
    ) -> anyhow::Result<Self> {
        let out = match (output, format) {
            (None, RowFormat::Parquet) => {
                anyhow::bail!(Usage::new("a parquet file is read from its end: name one with -o FILE"));
            }
            (Some(path), RowFormat::Parquet) => {
                Out::Table(Box::new(Table::new(Files::new().create(path)?, columns)?))
            }
            (Some(path), _) => Out::Text(Text::File(Box::new(Files::new().create(path)?)), format),
            (None, _) => Out::Text(Text::Standard(standard), format),
        };
        let mut rows = Self { columns: columns.to_vec(), out, line: Vec::new() };
        if format == RowFormat::Tsv {
            let names: Vec<&str> = columns.iter().map(|(name, _)| name.trim_end_matches('?')).collect();
            rows.line.extend_from_slice(names.join("\t").as_bytes());
            rows.write_line()?;
        }
        Ok(rows)
    }

    pub fn push(&mut self, cells: &[Cell<'_>]) -> anyhow::Result<()> {
        match &mut self.out {
            Out::Table(table) => return Ok(table.push(cells.iter().copied())?),
            Out::Text(_, RowFormat::Jsonl) => {
                let before = std::iter::once(b'{').chain(std::iter::repeat(b','));
                for ((cell, (name, _)), before) in cells.iter().zip(&self.columns).zip(before) {
                    self.line.push(before);
                    write!(self.line, "\"{}\":", name.trim_end_matches('?'))?;
                    json(cell, &mut self.line)?;
                }
                self.line.push(b'}');
            }
            Out::Text(..) => {
                for (i, cell) in cells.iter().enumerate() {
                    if i > 0 {
                        self.line.push(b'\t');
                    }
                    tsv(cell, &mut self.line)?;
                }
            }
        }
        self.write_line()
    }

    fn write_line(&mut self) -> anyhow::Result<()> {
        self.line.push(b'\n');
        match &mut self.out {
            Out::Text(Text::Standard(out), _) => out.write_all(&self.line)?,
            Out::Text(Text::File(file), _) => file.append(&self.line)?,
            Out::Table(_) => {}
        }
        self.line.clear();
        Ok(())
    }

    /// Ends the rows: a file is in its place from here on.
    pub fn finish(self) -> anyhow::Result<()> {
        match self.out {
            Out::Text(Text::Standard(out), _) => out.flush()?,
            Out::Text(Text::File(file), _) => drop(file.commit()?),
            Out::Table(table) => drop(table.finish()?.commit()?),
        }
        Ok(())
    }
}

fn json(cell: &Cell<'_>, to: &mut Vec<u8>) -> anyhow::Result<()> {
    match cell {
        Cell::Text(text) => serde_json::to_writer(to, text)?,
        Cell::Number(number) => write!(to, "{number}")?,
        Cell::Row(number) => write!(to, "{number}")?,
        Cell::Share(share) => serde_json::to_writer(to, share)?,
        Cell::Flag(flag) => write!(to, "{flag}")?,
        Cell::Null => to.extend_from_slice(b"null"),
    }
    Ok(())
}

fn tsv(cell: &Cell<'_>, to: &mut Vec<u8>) -> anyhow::Result<()> {
    match cell {
        Cell::Text(text) => {
            for byte in text.bytes() {
                match byte {
                    b'\t' => to.extend_from_slice(b"\\t"),
                    b'\n' => to.extend_from_slice(b"\\n"),
                    b'\r' => to.extend_from_slice(b"\\r"),
                    b'\\' => to.extend_from_slice(b"\\\\"),
                    other => to.push(other),
                }
            }
        }
        Cell::Share(share) => write!(to, "{share}")?,
        Cell::Null => {}
        other => json(other, to)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: RowFormat) -> String {
        let mut out = Vec::new();
        let columns = [("id", Kind::Text), ("n?", Kind::Number), ("share", Kind::Share)];
        let mut rows = Rows::new(&columns, format, None, &mut out).unwrap();
        rows.push(&[Cell::Text("a\tb\\\"c\n"), Cell::Number(7), Cell::Share(1.0 / 3.0)]).unwrap();
        rows.push(&[Cell::Text("é"), Cell::Null, Cell::Share(1.0)]).unwrap();
        rows.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_of_any_kind_stay_in_their_cells() {
        let tsv = "id\tn\tshare\na\\tb\\\\\"c\\n\t7\t0.3333333333333333\né\t\t1\n";
        assert_eq!(written(RowFormat::Tsv), tsv);
        let jsonl = written(RowFormat::Jsonl);
        let lines: Vec<serde_json::Value> =
            jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0], serde_json::json!({"id": "a\tb\\\"c\n", "n": 7, "share": 1.0 / 3.0}));
        assert_eq!(lines[1], serde_json::json!({"id": "é", "n": null, "share": 1.0}));
    }

    #[test]
    fn the_format_is_that_of_the_name_unless_asked_otherwise() {
        let of = |name: &str| RowFormat::choose(None, Some(Path::new(name)), Format::Table);
        assert_eq!(
            ["a.parquet", "a.jsonl", "a.tsv", "a"].map(of),
            [RowFormat::Parquet, RowFormat::Jsonl, RowFormat::Tsv, RowFormat::Tsv]
        );
        assert_eq!(RowFormat::choose(None, None, Format::Json), RowFormat::Jsonl);
        assert_eq!(
            RowFormat::choose(Some(RowFormat::Tsv), Some(Path::new("a.parquet")), Format::Json),
            RowFormat::Tsv
        );
    }
}
