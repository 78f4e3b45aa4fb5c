//! Flags over environment over `--config` file.

use crate::bench::{Bench, Ran};

fn registers(ran: Ran) -> u64 {
    ran.json()["sketches"][0]["spec"]["registers"].as_u64().unwrap()
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_file() {
    let bench = Bench::new();
    bench.write(
        "x.toml",
        "registers = 16\n[compare]\nseed = 7\nsketch = [\"b4\", \"odd\"]\n[plan]\nthreshold = 0.5\n",
    );
    let line = "compare a.txt b.txt --format json --config x.toml";
    let from_file = bench.run(line).json();
    assert_eq!(from_file["sketches"][0]["spec"]["registers"], 16);
    assert_eq!(from_file["sketches"][0]["spec"]["seed"], 7);
    assert_eq!(from_file["sketches"][1]["name"], "odd");
    let arguments: Vec<&str> = line.split(' ').collect();
    let with_variable = |arguments: &[&str]| {
        let mut command = bench.command(arguments);
        command.env("BENZER_REGISTERS", "32");
        registers(bench.run_with(command, b""))
    };
    assert_eq!(with_variable(&arguments), 32);
    assert_eq!(with_variable(&[&arguments[..], &["--registers", "64"]].concat()), 64);
    let plan = bench.run("--config x.toml plan --format json").json();
    assert_eq!(plan["goal"]["threshold"], 0.5);
}

#[test]
fn every_option_can_be_a_variable() {
    let bench = Bench::new();
    let mut command = bench.command(&["compare", "a.txt", "b.txt"]);
    command.envs([
        ("BENZER_FORMAT", "json"),
        ("BENZER_EXPLAIN", "1"),
        ("BENZER_STOP_WORDS", "en,de"),
        ("BENZER_BAG", "false"),
    ]);
    let json = bench.run_with(command, b"").json();
    assert_eq!(json["explanations"].as_array().unwrap().len(), 1);
    assert!(json["sketches"][0]["spec"]["pipeline"].as_str().unwrap().contains("stop=de+en"));
}

#[test]
fn a_variable_out_of_range_is_wrong_usage() {
    let bench = Bench::new();
    let mut command = bench.command(&["compare", "a.txt", "b.txt"]);
    command.env("BENZER_REGISTERS", "many");
    bench.run_with(command, b"").fails(2, &["'many'", "'--registers <K>'"]);
}

#[test]
fn a_bad_file_is_named_with_its_key() {
    let bench = Bench::new();
    bench.write("x.toml", "registerz = 16\n");
    bench
        .run("compare a.txt b.txt --config x.toml")
        .fails(2, &["--config `x.toml`", "unknown option `registerz`"]);
    bench.write("x.toml", "seed = 2020-01-01\n");
    bench.run("compare a.txt b.txt --config=x.toml").fails(2, &["`seed` must be text, a number"]);
    bench.write("x.toml", "seed = = 1\n");
    bench.run("compare a.txt b.txt --config x.toml").fails(2, &["--config `x.toml`"]);
    bench
        .run("compare a.txt b.txt --config missing.toml")
        .fails(2, &["--config `missing.toml`", "No such file"]);
}
