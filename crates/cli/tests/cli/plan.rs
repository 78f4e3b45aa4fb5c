use crate::bench::Bench;

#[test]
fn the_default_plan_is_the_default_of_the_product() {
    let bench = Bench::new();
    let ran = bench.run("plan --threshold 0.8").ok();
    assert!(ran.out.starts_with("128 registers of 8 bits, 18 x 7 (fast:2)\n"), "{}", ran.out);
    for part in ["b8 *", "xor", "odd", "100%", "of pairs of similarity 0.8 are found"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    for line in ran.out.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert_eq!(ran.out, bench.run("plan").ok().out);
}

#[test]
fn every_preset_and_the_table_of_a_shortfall_fit_eighty_columns() {
    let bench = Bench::new();
    for preset in ["fineweb", "nemo", "datasketch", "lance"] {
        let ran = bench.run(&format!("plan --preset {preset} --docs 1e9")).ok();
        assert!(ran.out.contains(&format!("preset {preset}: ")), "{}", ran.out);
        for line in ran.out.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
    let short = bench.run("plan --docs 1e9 --memory 16GiB");
    for line in short.out.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn json_is_the_plan_of_the_core() {
    let bench = Bench::new();
    let json = bench.run("plan --threshold 0.7 --docs 5e7 --set-size 200 --error 0.02 --format json").json();
    let goal = benzer_core::plan::Goal {
        threshold: 0.7,
        documents: 50_000_000,
        set_size: 200.0,
        error: Some(0.02),
        ..Default::default()
    };
    let expected = serde_json::to_value(benzer_core::plan::plan(&goal).unwrap()).unwrap();
    assert_eq!(json, expected);
    let preset = bench.run("plan --preset fineweb --format json").json();
    assert_eq!((&preset["goal"]["threshold"], &preset["preset"]["name"]), (&0.72.into(), &"fineweb".into()));
}

#[test]
fn a_plan_that_cannot_be_met_says_what_would_have_to_give() {
    let bench = Bench::new();
    let ran = bench.run("plan --docs 1e9 --memory 16GiB");
    assert_eq!(ran.code, 1);
    for part in ["error: this plan cannot be met", "raise --memory to", "lower --docs to"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert!(ran.out.contains("too much memory: full, b16"), "{}", ran.out);
    let json = bench.run("plan --docs 1e9 --memory 16GiB --format json");
    assert_eq!(json.code, 1);
    let answer: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(answer["remedies"][0]["argument"], "memory");
    // The remedy works.
    let remedy = answer["remedies"][0]["text"].as_str().unwrap().replace(' ', "");
    bench.run(&format!("plan --docs 1e9 --memory {remedy}")).ok();
}

#[test]
fn the_curve_is_drawn_to_a_file() {
    let bench = Bench::new();
    let ran = bench.run("plan --svg curve.svg").ok();
    assert_eq!(ran.err, "curves drawn to `curve.svg`\n");
    assert!(bench.read("curve.svg").starts_with(b"<svg "));
    bench.run("plan --svg no/curve.svg").fails(1, &["cannot write `no/curve.svg`"]);
}

#[test]
fn goals_out_of_range_are_wrong_usage() {
    let bench = Bench::new();
    for threshold in ["0", "-1", "1.01", "nan", "inf"] {
        bench
            .run(&format!("plan --threshold={threshold}"))
            .fails(2, &["--threshold must be above 0 and at most 1"]);
    }
    bench.run("plan --threshold high").fails(2, &["'--threshold <T>'"]);
    bench.run("plan --recall 1").fails(2, &["--recall must be below 1"]);
    bench.run("plan --recall 0").fails(2, &["--recall must be above 0"]);
    bench.run("plan --docs 0").fails(2, &["--docs must be at least 1"]);
    bench.run("plan --docs 1.5").fails(2, &["'--docs <N>'", "such as 1000000 or 1e9"]);
    bench.run("plan --set-size 0").fails(2, &["--set-size must be at least 1"]);
    bench.run("plan --memory lots").fails(2, &["'--memory <SIZE>'", "such as 16GiB"]);
    bench.run("plan --error 2").fails(2, &["--error must be above 0 and below 1"]);
    bench.run("plan --preset dolma").fails(2, &["fineweb, nemo, datasketch, lance"]);
}

#[test]
fn extreme_goals_are_answered_in_time() {
    let bench = Bench::new();
    for line in [
        "--threshold 1",
        "--threshold 0.001",
        "--docs 1e18",
        "--set-size 1",
        "--set-size 1e300",
        "--error 1e-9",
        "--memory 1",
    ] {
        let ran = bench.run(&format!("plan {line}"));
        assert!(ran.code == 0 || (ran.code == 1 && ran.err.contains("cannot be met")), "{line}: {ran:?}");
    }
}
