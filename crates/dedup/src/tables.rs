//! The tables of results, each declared once: its columns in the order of the file, their names, what they hold, and whether a cell may be empty.
//!
//! Whoever writes a table has a `match` that gives each column its value, so that none is left out or takes the place of another; whoever reads one names a column by its variant.

use benzer_io::result_table::{Cell, Kind};

/// A column of a table of results.
pub trait Column: Copy + Eq + std::fmt::Debug + 'static {
    /// The name of the file.
    const FILE: &'static str;
    /// All columns, in the order of the file.
    const ALL: &'static [Self];

    /// Its name, with `?` behind it if cells may be empty, and what it holds.
    fn declared(self) -> (&'static str, Kind);

    /// Its name in the file.
    fn name(self) -> &'static str {
        self.declared().0.trim_end_matches('?')
    }

    /// What it holds.
    fn kind(self) -> Kind {
        self.declared().1
    }

    /// The columns before one, in the order of the file.
    fn before(self) -> &'static [Self] {
        let n = Self::ALL.iter().take_while(|column| **column != self).count();
        &Self::ALL[..n]
    }

    /// All declarations, for who begins the table.
    fn declarations() -> Vec<(&'static str, Kind)> {
        Self::ALL.iter().map(|column| column.declared()).collect()
    }

    /// A row of the table, of which `cell` gives each value.
    fn row<'a>(cell: impl FnMut(Self) -> Cell<'a>) -> impl Iterator<Item = Cell<'a>> {
        Self::ALL.iter().copied().map(cell)
    }
}

macro_rules! table {
    ($(#[$doc:meta])* $table:ident in $file:literal { $($column:ident = $name:literal: $kind:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $table {
            $(#[doc = concat!("`", $name, "`")] $column,)*
        }

        impl Column for $table {
            const FILE: &'static str = $file;
            const ALL: &'static [Self] = &[$(Self::$column),*];

            fn declared(self) -> (&'static str, Kind) {
                match self {
                    $(Self::$column => ($name, Kind::$kind),)*
                }
            }
        }
    };
}

table! {
    /// `evidence.parquet`: one row for each removed document.
    EvidenceColumn in "evidence.parquet" {
        RemovedId = "removed_id": Text,
        KeptId = "kept_id": Text,
        Similarity = "similarity": Share,
        Intersection = "intersection?": Number,
        Union = "union?": Number,
        Estimate = "estimate?": Share,
        Low = "low?": Share,
        High = "high?": Share,
        Rule = "rule": Text,
        RemovedFile = "removed_file": Text,
        RemovedRow = "removed_row": Row,
        KeptFile = "kept_file": Text,
        KeptRow = "kept_row": Row,
        KeptIn = "kept_in": Text,
        Size = "size?": Number,
        SpanStart = "span_start?": Row,
        SpanEnd = "span_end?": Row,
        Span = "span?": Text,
    }
}

table! {
    /// `pairs.parquet`: one row for each similar pair.
    PairsColumn in "pairs.parquet" {
        IdA = "id_a": Text,
        IdB = "id_b": Text,
        Intersection = "intersection?": Number,
        Union = "union?": Number,
        Similarity = "similarity": Share,
        ExactCopy = "exact_copy": Flag,
        RankA = "rank_a": Number,
        RankB = "rank_b": Number,
        Size = "size?": Number,
        AIsOld = "a_is_old": Flag,
    }
}

table! {
    /// `clusters.parquet`: one row for each member of a cluster of two or more.
    ClustersColumn in "clusters.parquet" {
        ClusterId = "cluster_id": Text,
        ClusterSize = "cluster_size": Number,
        Id = "id": Text,
        IsKept = "is_kept": Flag,
        Similarity = "similarity": Share,
    }
}

table! {
    /// `places.parquet`: one row for each kept document that is in a pair and stands for nobody. `rank` is that of `pairs.parquet`.
    PlacesColumn in "places.parquet" {
        Id = "id": Text,
        File = "file": Text,
        Row = "row": Row,
        Rank = "rank": Number,
    }
}
