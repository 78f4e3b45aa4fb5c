use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use benzer_core::Features;
use benzer_core::hash;
use benzer_io::read::Progress;

use super::*;

struct Quiet(Vec<String>);

impl ReadListener<Error> for Quiet {
    fn begin(&mut self, _: &Progress) {}

    fn rejected(&mut self, rejected: &Rejected) -> Result<()> {
        self.0.push(rejected.reject.to_string());
        Ok(())
    }

    fn read(&mut self) {}
}

fn rows(
    lines: &str,
    content: Content,
    recipe: &Recipe,
    threads: usize,
) -> Result<(String, Made, Vec<String>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sets.txt");
    std::fs::write(&path, lines).unwrap();
    let resources =
        Resources::new(256 << 20, threads, folder.path(), Arc::new(AtomicBool::new(false))).unwrap();
    let source = Source { inputs: vec![path], read: ReadOptions::default(), content, transpose: false };
    let (mut text, mut quiet) = (Vec::new(), Quiet(Vec::new()));
    let made = make(&source, recipe, &resources, &mut quiet, |some| {
        text.extend_from_slice(some);
        Ok(())
    })?;
    Ok((String::from_utf8(text).unwrap(), made, quiet.0))
}

fn shape(registers: u32, bits: u32) -> RowShape {
    RowShape { registers, bits, seed: 42, normalize: false }
}

fn columns(row: &str) -> Vec<u64> {
    row.split(' ').skip(1).map(|pair| pair.strip_suffix(":1").unwrap().parse().unwrap()).collect()
}

#[test]
fn a_row_has_a_one_for_the_value_of_each_register() {
    for (registers, bits) in [(1, 1), (16, 1), (64, 8), (100, 5), (7, 16)] {
        let recipe = Recipe::new(shape(registers, bits), LabelFrom::Id).unwrap();
        let content = Content::Sets(SetFormat::IdItems);
        let (text, made, _) = rows("3 a b c\n-1.5 a d\n7\n", content, &recipe, 2).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((made.n_rows, made.n_empty, lines[2]), (3, 1, "7"));
        assert!(lines[0].starts_with("3 ") && lines[1].starts_with("-1.5 "));
        for (line, items) in lines.iter().zip([&["a", "b", "c"][..], &["a", "d"]]) {
            let features = Features::set(items.iter().map(|item| hash::element(item.as_bytes())));
            let sketch = recipe.sketcher.sketch(&features).unwrap();
            let expected =
                (0..u64::from(registers)).map(|i| (i << bits) + sketch.register(i as usize).unwrap() + 1);
            assert_eq!(columns(line), expected.collect::<Vec<_>>());
            assert!(columns(line).iter().all(|&column| column <= recipe.columns()));
        }
    }
}

#[test]
fn rows_do_not_depend_on_threads_and_equal_columns_count_equal_registers() {
    let lines: String = (0..3_000).map(|i| format!("{} {} {}\n", i % 7, i % 11, i % 13)).collect();
    let recipe = Recipe::new(shape(128, 8), LabelFrom::Nothing).unwrap();
    let (one, made, _) = rows(&lines, Content::Sets(SetFormat::Items), &recipe, 1).unwrap();
    let (four, ..) = rows(&lines, Content::Sets(SetFormat::Items), &recipe, 4).unwrap();
    assert!(one == four && made.n_rows == 3_000 && one.lines().all(|line| line.starts_with("0 ")));
    let parsed: Vec<Vec<u64>> = one.lines().map(columns).collect();
    assert!(parsed.iter().all(|columns| columns.len() == 128 && columns.is_sorted_by(|a, b| a < b)));
    // Lines 0 and 1001 = 7 * 11 * 13 are the same sets.
    assert_eq!(parsed[0], parsed[1001]);
}

#[test]
fn normalized_rows_have_length_one() {
    let recipe = Recipe::new(RowShape { normalize: true, ..shape(64, 4) }, LabelFrom::Nothing).unwrap();
    let (text, ..) = rows("a b\n", Content::Sets(SetFormat::Items), &recipe, 1).unwrap();
    let values: Vec<f64> =
        text.trim().split(' ').skip(1).map(|pair| pair.split_once(':').unwrap().1.parse().unwrap()).collect();
    assert!((values.iter().map(|value| value * value).sum::<f64>() - 1.0).abs() < 1e-6);
}

#[test]
fn texts_become_numbers_by_first_appearance_and_are_not_mixed_with_numbers() {
    let recipe = Recipe::new(shape(2, 1), LabelFrom::Id).unwrap();
    let sets = || Content::Sets(SetFormat::IdItems);
    let (text, made, rejected) = rows("spam a\nham b\n\tc\nspam d\n", sets(), &recipe, 1).unwrap();
    let labels: Vec<&str> = text.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!((labels, made.labels), (vec!["0", "1", "0"], vec!["spam".to_owned(), "ham".to_owned()]));
    assert!(
        rejected[0].ends_with("sets.txt:3: expected an id at the beginning of the line, got `\\tc`"),
        "{rejected:?}"
    );
    for lines in ["spam a\n1 b\n", "1 a\nspam b\n"] {
        let error = rows(lines, sets(), &recipe, 1).unwrap_err().to_string();
        assert!(error.contains("the number 1 and the text `spam`"), "{error}");
    }
}

#[test]
fn more_columns_than_can_be_counted_are_refused() {
    assert!(Recipe::new(shape(32_767, 16), LabelFrom::Nothing).is_ok());
    for (registers, bits) in [(32_768, 16), (128, 32), (128, 64), (128, 0), (128, 17)] {
        assert!(Recipe::new(shape(registers, bits), LabelFrom::Nothing).is_err(), "{registers} {bits}");
    }
}
