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
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Something that has a place in a row.
pub trait Cell {
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

/// Cells of different kinds as one row.
macro_rules! row {
    ($($cell:expr),* $(,)?) => { &[$($crate::table::Cell::text(&$cell)),*][..] };
}
pub(crate) use row;

impl Table {
    pub(crate) fn new(path: &Path, columns: &[&str]) -> Result<Self> {
        let file = File::create(path).map_err(Error::write(path))?;
        let columns: Vec<String> = columns.iter().map(|&name| name.to_owned()).collect();
        let mut table = Self { path: path.to_owned(), file, columns: columns.clone(), rows: Vec::new() };
        table.write(&columns)?;
        Ok(table)
    }

    /// Adds a row and writes it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn push(&mut self, row: &[String]) -> Result<()> {
        debug_assert_eq!(row.len(), self.columns.len(), "a row has a cell for each column");
        self.write(row)?;
        self.rows.push(row.to_vec());
        Ok(())
    }

    /// The file's name.
    pub fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// All rows so far.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    fn write(&mut self, cells: &[String]) -> Result<()> {
        let line = cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",");
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
        let mut table = Table::new(&path, &["pair", "mse"]).unwrap();
        table.push(row!["of, and", 0.25]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "pair,mse\n\"of, and\",0.25\n");
        assert_eq!(table.rows().len(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = Table::new(Path::new("no/such/folder/x.csv"), &["a"]).unwrap_err().to_string();
        assert!(error.contains("no/such/folder/x.csv") && error.contains("-o"), "{error}");
    }
}
