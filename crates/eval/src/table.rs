//! A table of points: every row is on disk before the next one is measured.

use std::fs::File;
use std::io::Write;
use std::ops::Index;
use std::path::{Path, PathBuf};

use benzer_core::sketch::Family;

use crate::{Curve, Error, Result};

/// A CSV file that grows row by row, and its rows: charts, verdicts and the gallery are read off them.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    file: File,
    rows: Vec<Row>,
}

/// Values by the names of their columns. A column is written once, beside its value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row(Vec<Value>);

#[derive(Debug, Clone, PartialEq)]
struct Value {
    column: &'static str,
    /// Not a number if it is a text.
    number: f64,
    text: String,
}

/// A row of `column: value`.
macro_rules! row {
    ($($column:tt: $value:expr),* $(,)?) => { $crate::table::Row::default()$(.with($column, &$value))* };
}
pub(crate) use row;

impl Row {
    pub(crate) fn with(mut self, column: &'static str, cell: &impl Cell) -> Self {
        self.0.push(Value { column, number: cell.number(), text: cell.text() });
        self
    }

    pub(crate) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|value| value.column)
    }

    /// The values as CSV and the gallery show them.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|value| value.text.as_str())
    }

    pub fn text(&self, column: &str) -> &str {
        &self.value(column).text
    }

    fn value(&self, column: &str) -> &Value {
        let found = self.0.iter().find(|value| value.column == column);
        found.unwrap_or_else(|| panic!("no column `{column}` in {self:?}"))
    }
}

impl Index<&str> for Row {
    type Output = f64;

    /// A number, in full precision.
    fn index(&self, column: &str) -> &f64 {
        &self.value(column).number
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Rows<'a>(Vec<&'a Row>);

impl<'a> Rows<'a> {
    /// Those that show this value in a column.
    pub fn only(&self, column: &str, value: impl Cell) -> Self {
        let text = value.text();
        self.filter(|row| row.text(column) == text)
    }

    pub fn filter(&self, is: impl Fn(&Row) -> bool) -> Self {
        Self(self.0.iter().copied().filter(|row| is(row)).collect())
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &'a Row> + ExactSizeIterator + Clone {
        self.0.iter().copied()
    }

    pub fn column(&self, name: &str) -> impl Iterator<Item = f64> + Clone {
        self.0.iter().map(move |row| row[name])
    }

    /// Columns over another.
    pub fn curves<const N: usize>(&self, x: &str, ys: [&str; N]) -> [Curve; N] {
        ys.map(|y| self.0.iter().map(|row| (row[x], row[y])).collect())
    }
}

/// Something that has a place in a row.
pub(crate) trait Cell {
    /// As CSV and the gallery show it.
    fn text(&self) -> String;

    /// As charts and verdicts take it.
    fn number(&self) -> f64 {
        f64::NAN
    }
}

impl Cell for f64 {
    fn text(&self) -> String {
        significant(*self)
    }

    fn number(&self) -> f64 {
        *self
    }
}

macro_rules! plain_cells {
    ($($kind:ty $(as $number:ty)?),*) => {
        $(impl Cell for $kind {
            fn text(&self) -> String {
                self.to_string()
            }
            $(fn number(&self) -> f64 {
                *self as $number
            })?
        })*
    };
}
plain_cells!(u32 as f64, usize as f64, i32 as f64, &str, String, Family);

impl Table {
    pub(crate) fn new(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(Error::write(path))?;
        Ok(Self { path: path.to_owned(), file, rows: Vec::new() })
    }

    /// Adds a row and writes it; the first one brings the columns. Errors: the file cannot be written.
    pub(crate) fn push(&mut self, row: Row) -> Result<()> {
        match self.rows.first() {
            None => self.write(row.columns())?,
            Some(first) => debug_assert!(row.columns().eq(first.columns()), "all rows have the same columns"),
        }
        self.write(row.cells())?;
        self.rows.push(row);
        Ok(())
    }

    pub fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(crate) fn all(&self) -> Rows<'_> {
        Rows(self.rows.iter().collect())
    }

    fn write<'a>(&self, cells: impl Iterator<Item = &'a str>) -> Result<()> {
        let line = cells.map(quoted).collect::<Vec<_>>().join(",");
        let mut file = &self.file;
        writeln!(file, "{line}").and_then(|()| file.flush()).map_err(Error::write(&self.path))
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
        table.push(row!["pair": "the", "mse": 0.5]).unwrap();
        assert_eq!(table.all().only("pair", "the").curves("mse", ["mse"]), [[(0.5, 0.5)]]);
        assert!(table.rows()[0]["pair"].is_nan() && table.rows()[1].text("mse") == "0.5");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = Table::new(Path::new("no/such/folder/x.csv")).unwrap_err().to_string();
        assert!(error.contains("no/such/folder/x.csv") && error.contains("-o"), "{error}");
    }
}
