//! Pictures on the command line.
#![cfg(feature = "image")]

use crate::bench::Bench;

const ALL: &str = "bay.png bay-small.jpg bay-part.jpg hills.png";

#[test]
fn changed_pictures_are_removed_and_the_largest_kept() {
    let bench = Bench::new();
    let found = bench.run(&format!("dedup --image {ALL} -o out --format json")).json();
    let counts = &found["counts"];
    assert_eq!((&counts["read"], &counts["kept"], &counts["removed"]), (&4.into(), &2.into(), &2.into()));
    assert_eq!(String::from_utf8(bench.read("out/kept.txt")).unwrap(), "bay.png\nhills.png\n");
    assert_eq!(bench.read("out/pictures/bay.png"), bench.read("bay.png"));
    assert!(!bench.path("out/pictures/bay-part.jpg").exists() && bench.path("out/report.html").exists());
    bench.run(&format!("dedup --image {ALL} -o out")).fails(1, &["the results of a finished run"]);
    let table = bench.run(&format!("dedup --image {ALL} -o out --overwrite --link --keep first")).ok().out;
    assert!(table.contains("linked in `out/pictures`"), "{table}");
}

#[test]
fn a_folder_is_read_and_what_is_broken_is_named() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("album")).unwrap();
    for (name, bytes) in [("a.png", bench.read("bay.png")), ("b.png", b"nothing".to_vec())] {
        bench.write(&format!("album/{name}"), bytes);
    }
    let ran = bench.run("dedup --image album -o out --dry-run").ok();
    assert!(ran.err.contains("rejected: album/b.png: not a picture that can be read"), "{ran:?}");
    assert!(ran.err.contains("1 file rejected; all of them are in `out/rejects.jsonl`"), "{ran:?}");
    assert!(!bench.path("out/pictures").exists());
    let none = bench.run("dedup --image album/b.png -o none");
    assert!(none.code == 1 && none.err.contains("1 of 1 files cannot be read"), "{none:?}");
}

#[test]
fn options_of_documents_do_not_go_with_pictures() {
    let bench = Bench::new();
    assert_eq!(bench.run("dedup --image bay.png -o out --threshold 0.5").code, 2);
    assert_eq!(bench.run("dedup articles.jsonl -o out --link").code, 2);
    bench.run("dedup --image bay.png -o out --keep max:size").fails(2, &["pictures have no fields"]);
}

#[test]
fn two_pictures_are_compared_and_their_points_drawn() {
    let bench = Bench::new();
    let found = bench.run("compare bay.png bay-part.jpg --explain points.png --format json").json();
    assert_eq!(found["same"], true);
    assert!(found["inliers"].as_u64().unwrap() >= 8, "{found}");
    assert!((found["degrees"].as_f64().unwrap().abs() - 12.0).abs() < 1.0, "{found}");
    assert!((found["scale"].as_f64().unwrap() - 1.0).abs() < 0.05, "{found}");
    assert_eq!(bench.read("points.png")[..4], *b"\x89PNG");
    let other = bench.run("compare bay.png hills.png").ok().out;
    assert!(other.contains("no: fewer than 8 points"), "{other}");
    bench.run("compare bay.png a.txt").fails(1, &["`a.txt`: not a picture that can be read"]);
    bench.run("compare bay.png").fails(2, &["name two pictures"]);
    bench.run("compare bay.png hills.png --explain").fails(2, &["needs a file for the drawing"]);
}

#[test]
fn texts_are_still_explained_wherever_the_flag_stands() {
    let bench = Bench::new();
    let last = bench.run("compare a.txt b.txt --explain").ok().out;
    assert_eq!(bench.run("compare --explain a.txt b.txt").ok().out, last);
    assert_eq!(bench.run("compare a.txt --explain b.txt").ok().out, last);
}

#[test]
fn a_collection_of_pictures_is_searched_by_a_picture() {
    let bench = Bench::new();
    let line =
        |id: &str| format!("{{\"id\": \"{id}\", \"photo\": \"file:{id}.png\", \"title\": \"{id}\"}}\n");
    bench.write("photos.jsonl", line("bay") + &line("hills") + &line("nowhere"));
    let ran = bench.run("index photos photos.jsonl --image photo").ok();
    assert!(ran.err.contains("field `photo`: cannot read `nowhere.png`"), "{ran:?}");
    let found = bench.run("search photos --file bay-part.jpg --explain --format json").json();
    assert_eq!(found["matches"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["matches"][0]["id"], "bay");
    bench.run("index mixed photos.jsonl --image photo --text title -n 1").ok();
    let table = bench.run("search mixed --file hills.png --field photo --fields photo").ok().out;
    assert!(table.contains("hills"), "{table}");
}
