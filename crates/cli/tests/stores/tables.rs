//! Parquet of other tools: what PyArrow and DuckDB wrote is read, and what is written they read as their own, less some rows.

use crate::lab::{Lab, python};

#[test]
fn tables_of_other_writers_lose_rows_and_nothing_else() {
    let lab = Lab::new();
    let (made, results) = (lab.path("made"), lab.path("results"));
    let (made, results) = (made.to_str().unwrap(), results.to_str().unwrap());
    python(&["tables.py", "make", made]);
    lab.run("dedup made/plain -o results/plain", &[]).ok();
    lab.run("dedup made/nested -o results/nested --text-field meta.text --id-field id", &[]).ok();
    lab.run("dedup made/plain -o results/marked --annotate", &[]).ok();
    let told = python(&["tables.py", "check", made, results]);
    assert!(told.lines().count() >= 55, "{told}");
}
