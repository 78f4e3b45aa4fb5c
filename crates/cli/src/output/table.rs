//! Tables of text that fit a width: columns that do not fit go below, under the first column repeated.

use super::{HEADING, View};

/// A table. The first column names the rows.
#[derive(Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// On which side the cells of a column are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

#[derive(Debug)]
struct Column {
    heading: String,
    align: Align,
}

const GAP: &str = "  ";

impl Table {
    pub fn column(mut self, heading: impl Into<String>, align: Align) -> Self {
        self.columns.push(Column { heading: heading.into(), align });
        self
    }

    /// Adds a row; missing cells at its end are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    pub fn render(&self, view: &View) -> String {
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        let mut out = String::new();
        let mut next = 1;
        while next < self.columns.len() || out.is_empty() {
            let mut used = widths.first().copied().unwrap_or(0);
            let start = next;
            while next < self.columns.len()
                && (next == start || used + GAP.len() + widths[next] <= view.width)
            {
                used += GAP.len() + widths[next];
                next += 1;
            }
            if !out.is_empty() {
                out.push('\n');
            }
            let shown: Vec<usize> = std::iter::once(0).chain(start..next).collect();
            self.part(&shown, &widths, view, &mut out);
        }
        out
    }

    fn part(&self, shown: &[usize], widths: &[usize], view: &View, out: &mut String) {
        let headings: Vec<String> = self.columns.iter().map(|column| column.heading.clone()).collect();
        if headings.iter().any(|heading| !heading.is_empty()) {
            let line = self.line(&headings, shown, widths);
            out.push_str(&view.paint(HEADING, &line));
            out.push('\n');
        }
        for row in &self.rows {
            out.push_str(&self.line(row, shown, widths));
            out.push('\n');
        }
    }

    fn line(&self, cells: &[String], shown: &[usize], widths: &[usize]) -> String {
        let cell = |&i: &usize| {
            let text = cells.get(i).map_or("", String::as_str);
            let pad = " ".repeat(widths[i].saturating_sub(length(text)));
            match self.columns[i].align {
                Align::Left => format!("{text}{pad}"),
                Align::Right => format!("{pad}{text}"),
            }
        };
        shown.iter().map(cell).collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| length(cell));
        cells.chain([length(&self.columns[column].heading)]).max().unwrap_or(0)
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Format;

    fn view(width: usize, color: bool) -> View {
        View { format: Format::Table, color, width }
    }

    fn table() -> Table {
        let mut table = Table::default();
        table = table.column("", Align::Left).column("exact", Align::Right).column("b8", Align::Left);
        table.row(["jaccard", "0.5", "0.48 [0.4, 0.6]"]);
        table.row(["union", "12345"]);
        table
    }

    #[test]
    fn columns_are_aligned_and_lines_have_no_trailing_space() {
        let expected = "         exact  b8\njaccard    0.5  0.48 [0.4, 0.6]\nunion    12345\n";
        assert_eq!(table().render(&view(80, false)), expected);
    }

    #[test]
    fn columns_that_do_not_fit_go_below() {
        let expected = "         exact\njaccard    0.5\nunion    12345\n\n         b8\njaccard  0.48 [0.4, 0.6]\nunion\n";
        assert_eq!(table().render(&view(24, false)), expected);
    }

    #[test]
    fn headings_are_bold_with_colour() {
        assert!(table().render(&view(80, true)).starts_with("\u{1b}[1m         exact  b8\u{1b}[0m\n"));
    }

    #[test]
    fn a_table_of_one_column_is_a_list() {
        let mut list = Table::default().column("id", Align::Left);
        list.row(["a"]);
        assert_eq!(list.render(&view(80, false)), "id\na\n");
    }
}
