//! `benzer eval`: what is written, and what the exit code says.

use crate::bench::Bench;

#[test]
fn an_experiment_leaves_tables_charts_a_record_and_a_page() {
    let bench = Bench::new();
    let ran = bench.run("eval li2011_storage li2011_rho --quick --seed 7 -o out").ok();
    // Whether the code does what theory expects, and whether the paper is right, are two lines.
    assert!(ran.out.contains("  code equals theory: yes; 1595 of 1595 comparisons hold\n"), "{ran:?}");
    assert!(ran.out.contains("  the claim: holds in part\n"), "{ran:?}");
    assert!(ran.err.contains("index.html"), "{ran:?}");
    let table = String::from_utf8(bench.read("out/li2011_storage_table1.csv")).unwrap();
    assert!(
        table.starts_with("pair,r1,r2,R,printed,corrected\nKONG-HONG,0.0145,0.0143,0.925,31,30.9853\n"),
        "{table}"
    );
    assert!(String::from_utf8(bench.read("out/li2011_rho_1.svg")).unwrap().starts_with("<svg"));
    let record: serde_json::Value = serde_json::from_slice(&bench.read("out/run.json")).unwrap();
    let line = &record["experiments"][1];
    assert_eq!(
        (&line["name"], &line["seed"], &line["holds"]),
        (&"li2011_rho".into(), &7.into(), &true.into())
    );
    assert_eq!(line["command"], "benzer eval li2011_storage li2011_rho --quick --seed 7");
    assert!(line["commit"].is_string() && line["cpu"].is_string());
    // An experiment that is run again into the folder replaces its own line only.
    bench.run("eval li2011_storage --quick --seed 8 -o out").ok();
    let record: serde_json::Value = serde_json::from_slice(&bench.read("out/run.json")).unwrap();
    assert_eq!(
        (&record["experiments"][0]["seed"], &record["experiments"][1]["seed"]),
        (&8.into(), &7.into())
    );
    let page = String::from_utf8(bench.read("out/index.html")).unwrap();
    for part in [
        "The claim",
        "The verdict",
        "The claim holds in part.",
        "<svg",
        "li2011_storage_table1.csv",
        "two bits beat one only below R = 0.333",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Nothing is loaded from elsewhere: the only addresses are names of XML namespaces.
    assert!(!page.replace("http://www.w3.org/", "").contains("://"), "the page is self-contained");
}

#[test]
fn experiments_are_listed_and_their_results_are_json() {
    let bench = Bench::new();
    let list = bench.run("eval").ok().out;
    assert!(list.contains("li2011_word_pairs") && list.contains("004, Fig. 3"), "{list}");
    let all = bench.run("eval list --format json").json();
    assert!(all.as_array().unwrap().len() >= 20);
    let result = bench.run("eval li2011_storage --format json -o out").json();
    assert_eq!((&result[0]["holds"], &result[0]["claim"]), (&true.into(), &"in_part".into()));
    assert_eq!(result[0]["failures"].as_array().unwrap().len(), 0);
}

#[test]
fn one_seed_gives_the_same_tables() {
    let bench = Bench::new();
    for folder in ["a", "b"] {
        bench.run(&format!("eval li2010_three_way_probability --quick -o {folder}")).ok();
    }
    let table = "li2010_three_way_probability.csv";
    assert_eq!(bench.read(&format!("a/{table}")), bench.read(&format!("b/{table}")));
    bench.run("eval li2010_three_way_probability --quick --seed 1 -o c").ok();
    assert_ne!(bench.read(&format!("a/{table}")), bench.read(&format!("c/{table}")));
}

#[test]
fn wrong_names_and_folders_are_refused() {
    let bench = Bench::new();
    bench.run("eval li2011_storrage -o out").fails(2, &["li2011_storrage", "benzer eval list"]);
    bench.run("eval li2011_storage --data nowhere -o out").fails(2, &["--data", "nowhere"]);
    bench.write("file", "");
    bench.run("eval li2011_storage -o file/out").fails(1, &["file/out", "-o"]);
    bench.run("eval li2011_duplicates --data . -o out").fails(1, &["docword.kos.txt.gz", "--data"]);
}
