//! A table of points: every row is on disk before the next one is measured.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// A CSV file that grows row by row, and its rows for the gallery.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    file: File,
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

/// Cells, each with the name of its column: that is written once, beside the value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Row {
    columns: Vec<&'static str>,
    cells: Vec<String>,
}

impl Row {
    pub fn with(mut self, column: &'static str, cell: &impl Cell) -> Self {
        self.columns.push(column);
        self.cells.push(cell.text());
        self
    }

    /// This row, and then the cells of another.
    pub fn and(mut self, other: Self) -> Self {
        self.columns.extend(other.columns);
        self.cells.extend(other.cells);
        self
    }
}

/// A row of `column: value`.
macro_rules! row {
    ($($column:literal: $cell:expr),* $(,)?) => { $crate::table::Row::default()$(.with($column, &$cell))* };
}
pub(crate) use row;

/// Something that has a place in a row.
pub(crate) trait Cell {
    /// As CSV and the gallery show it.
    fn text(&self) -> String;
}

impl Cell for f64 {
    fn text(&self) -> String {
        significant(*self)
    }
}

macro_rules! plain_cells {
    ($($kind:ty),*) => {
        $(impl Cell for $kind {
            fn text(&self) -> String {
                self.to_string()
            }
        })*
    };
}
plain_cells!(u32, u64, usize, i32, &str, String, bool, char);

impl Table {
    pub(crate) fn new(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(Error::write(path))?;
        Ok(Self { path: path.to_owned(), file, columns: Vec::new(), rows: Vec::new() })
    }

    /// Adds a row and writes it; the first one brings the columns.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn push(&mut self, row: Row) -> Result<()> {
        if self.rows.is_empty() {
            self.write(&row.columns)?;
            self.columns = row.columns;
        } else {
            debug_assert_eq!(row.columns, self.columns, "all rows have the same columns");
        }
        self.write(&row.cells)?;
        self.rows.push(row.cells);
        Ok(())
    }

    /// The file's name.
    pub fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[&'static str] {
        &self.columns
    }

    /// All rows so far.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    fn write(&mut self, cells: &[impl AsRef<str>]) -> Result<()> {
        let line = cells.iter().map(|cell| quoted(cell.as_ref())).collect::<Vec<_>>().join(",");
        writeln!(self.file, "{line}").and_then(|()| self.file.flush()).map_err(Error::write(&self.path))
    }
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

/// Six significant digits, without an exponent where that is readable.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { "none".to_owned() };
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..=8).contains(&magnitude) {
        return format!("{value:.5e}");
    }
    let text = format!("{value:.*}", (5 - magnitude).max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_six_digits_and_no_noise() {
        let cases = [
            (0.5, "0.5"),
            (1.0 / 3.0, "0.333333"),
            (123456.789, "123457"),
            (1.5e-9, "1.50000e-9"),
            (0.0, "0"),
        ];
        for (value, text) in cases {
            assert_eq!(significant(value), text);
        }
        assert_eq!(significant(f64::NAN), "none");
    }

    #[test]
    fn a_row_is_on_disk_before_the_next_one_comes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.csv");
        let mut table = Table::new(&path).unwrap();
        table.push(row!["pair": "of, and"].and(row!["mse": 0.25])).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "pair,mse\n\"of, and\",0.25\n");
        assert_eq!((table.columns(), table.rows().len()), (&["pair", "mse"][..], 1));
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = Table::new(Path::new("no/such/folder/x.csv")).unwrap_err().to_string();
        assert!(error.contains("no/such/folder/x.csv") && error.contains("-o"), "{error}");
    }
}
