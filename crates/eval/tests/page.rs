//! What docs/reference/eval.md says of the tables of record is what their records say.
//!
//! `BENZER_WRITE_GOLDEN=1 cargo test --release -p benzer-eval --test page` writes it anew.

use std::path::{Path, PathBuf};

use benzer_eval::Claim;
use benzer_eval::experiments::ALL;
use serde_json::Value;

const BEGIN: &str = "<!-- written by crates/eval/tests/page.rs from docs/eval/run.json -->\n";
const END: &str = "<!-- end -->\n";

/// An experiment of the record: name, source, claim of the source, and what its run found.
struct Row {
    name: String,
    source: String,
    says: String,
    found: Value,
}

fn docs(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(path)
}

fn json(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(docs(path)).unwrap()).unwrap()
}

/// All experiments in the order of the gallery, then the one whose trainers are not ours.
fn rows() -> Vec<Row> {
    let record = json("eval/run.json");
    let of = |name: &str| {
        let found = record["experiments"].as_array().unwrap().iter().find(|line| line["name"] == name);
        found.unwrap_or_else(|| panic!("docs/eval/run.json has no {name}")).clone()
    };
    let mut rows: Vec<Row> = ALL
        .iter()
        .map(|experiment| Row {
            name: experiment.name.to_owned(),
            source: experiment.source.to_owned(),
            says: experiment.claim.to_owned(),
            found: of(experiment.name),
        })
        .collect();
    let found = json("eval/li2011_learning.json");
    let text = |key: &str| found[key].as_str().unwrap().to_owned();
    rows.push(Row { name: text("name"), source: text("source"), says: text("paper"), found });
    rows
}

fn claim(row: &Row) -> Claim {
    serde_json::from_value(row.found["claim"].clone()).unwrap_or_else(|error| panic!("{}: {error}", row.name))
}

fn text<'a>(row: &'a Row, key: &str) -> &'a str {
    row.found[key].as_str().unwrap_or_else(|| panic!("{}: no {key}", row.name))
}

fn page() -> String {
    let rows = rows();
    let agree = rows.iter().filter(|row| row.found["holds"] == true).count();
    let n = |of: Claim| rows.iter().filter(|row| claim(row) == of).count();
    let mut out = format!(
        "In {agree} of {} experiments this code does what theory expects. Of the claims, {} hold for what was measured, {} hold in part, {} do not hold, and {} are not decided by what was measured.\n\n",
        rows.len(),
        n(Claim::Holds),
        n(Claim::InPart),
        n(Claim::Fails),
        n(Claim::Open)
    );
    out += "### Code equals theory\n\n| experiment | code equals theory | comparisons | commit |\n|---|---|---|---|\n";
    for row in &rows {
        let agrees = if row.found["holds"] == true { "yes" } else { "no" };
        out +=
            &format!("| `{}` | {agrees} | {} | `{}` |\n", row.name, text(row, "checks"), text(row, "commit"));
    }
    out += "\n### The claims\n\n| experiment | source | the claim | holds? | what was measured |\n|---|---|---|---|---|\n";
    for row in &rows {
        let (name, source, claim) = (&row.name, &row.source, claim(row));
        out += &format!(
            "| `{name}` | {source} | {} | **{claim}** | {} |\n",
            cell(&row.says),
            cell(text(row, "verdict"))
        );
    }
    out
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[test]
fn the_page_tells_what_code_does_from_what_papers_claim_and_says_what_the_records_say() {
    let path = docs("reference/eval.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the mark where the results begin");
    let (written, after) = rest.split_once(END).expect("the mark where the results end");
    let expected = page();
    if std::env::var_os("BENZER_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{expected}{END}{after}")).unwrap();
        return;
    }
    assert!(
        written == expected,
        "docs/reference/eval.md is older than docs/eval/run.json: write it anew with BENZER_WRITE_GOLDEN=1"
    );
}

#[test]
fn verdicts_of_the_record_claim_what_was_measured() {
    let rows = rows();
    let of = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
    // Which groups were sketched, what share of them is relevant, and all groups of the collection for the claim.
    let groups = text(of("li2010_groups"), "verdict");
    for part in ["54740 groups of three of 70 documents", "26%", "over all ", "groups of KOS", " needs k "] {
        assert!(groups.contains(part), "{part}: {groups}");
    }
    let learning = text(of("li2011_learning"), "verdict");
    assert!(learning.contains("Training on raw words was faster"), "{learning}");
    for row in &rows {
        assert!(
            !text(row, "verdict").contains("Confirmed"),
            "{}: what is confirmed is a claim, not a verdict",
            row.name
        );
    }
}
