//! `--help` teaches, and what it teaches works.

use crate::bench::Bench;

const COMMANDS: [&str; 17] = [
    "compare",
    "dedup",
    "explain",
    "rethreshold",
    "pairs",
    "groups",
    "features",
    "plan",
    "sketch",
    "index",
    "search",
    "verify",
    "repair",
    "collections",
    "serve",
    "key",
    "eval",
];

/// The lines under "Examples:".
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    lines.take_while(|line| !line.is_empty()).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn every_example_of_the_help_runs() {
    for flag in ["--help", "-h"] {
        let bench = Bench::new();
        for command in COMMANDS {
            let help = bench.run(&format!("{command} {flag}")).ok();
            let examples = examples(&help.out);
            assert!(examples.len() >= 2, "{command} has {examples:?}");
            for example in examples {
                let arguments = example.strip_prefix("benzer ").expect("an example is a call of benzer");
                // A server does not end by itself; with --check it says whether it would start.
                let check = if command == "serve" { " --check" } else { "" };
                let ran = bench.run(&format!("{arguments}{check}")).ok();
                assert!(!ran.err.contains("warning"), "{example}: {ran:?}");
                assert!(!ran.out.contains("nothing similar"), "{example} finds nothing: {ran:?}");
            }
        }
    }
}

fn document(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The calls of the guide, in a folder that has the samples under `examples/` as the repository does.
#[test]
fn every_command_of_the_tour_runs() {
    let bench = Bench::new();
    let tour = document("docs/guide/commands.md");
    let calls: Vec<&str> = tour.lines().filter_map(|line| line.strip_prefix("benzer ")).collect();
    assert!(calls.len() >= 15, "{calls:?}");
    for call in calls {
        let arguments = call.split(" #").next().unwrap().replace("examples/", "");
        let check = if arguments.starts_with("serve") { " --check" } else { "" };
        bench.run(&format!("{}{check}", arguments.trim())).ok();
    }
}

/// The README is short, and shows what its first command prints and its pictures are.
#[test]
fn the_readme_says_what_is_so_in_at_most_800_words() {
    let bench = Bench::new();
    let readme = document("README.md");
    let n_words = readme.split_whitespace().count();
    assert!(n_words <= 800, "{n_words} words");
    let (_, command) = readme.split_once("--bin benzer -- ").unwrap();
    let (command, rest) = command.split_once('\n').unwrap();
    let (_, shown) = rest.split_once("```text\n").unwrap();
    let (shown, _) = shown.split_once("...\n```").unwrap();
    let ran = bench.run(&command.replace("examples/", "")).ok();
    assert!(ran.out.starts_with(shown) || ran.err.starts_with(shown), "{ran:?}");
    let missing: Vec<&str> = readme
        .split('"')
        .filter(|part| part.starts_with("docs/images/"))
        .filter(|path| {
            !std::path::Path::new(&format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).exists()
        })
        .collect();
    assert!(readme.contains("docs/images/race-dark.svg") && missing.is_empty(), "{missing:?}");
}

/// The chart of the README is what its program draws from the newest results.
#[test]
fn the_chart_of_the_readme_is_that_of_the_newest_results() {
    let chart = format!("{}/../../bench/chart.py", env!("CARGO_MANIFEST_DIR"));
    let ran = std::process::Command::new("python3").args([&chart, "--check"]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn help_names_every_command_and_fits_eighty_columns() {
    let bench = Bench::new();
    let help = bench.run("--help").ok().out;
    assert!(COMMANDS.iter().all(|command| help.contains(&format!("  {command} "))), "{help}");
    for command in COMMANDS {
        for line in bench.run(&format!("{command} --help")).ok().out.lines().chain(help.lines()) {
            assert!(line.chars().count() <= 80, "{command}: {line}");
        }
    }
}

#[test]
fn no_command_and_an_unknown_one_are_wrong_usage() {
    let bench = Bench::new();
    assert_eq!(bench.run("").code, 2);
    bench.run("comapre a b").fails(2, &["unrecognized subcommand 'comapre'"]);
    assert!(bench.run("--version").ok().out.starts_with("benzer 0."));
}
