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

/// Products with a title, tags and a picture, as a catalogue has them: some have the same picture, some the same title.
fn catalogue(bench: &Bench) {
    let line = |id: &str, title: &str, photo: &str| {
        format!(
            "{}\n",
            serde_json::json!({"id": id, "title": title, "tags": ["wall", id], "photo": format!("file:{photo}")})
        )
    };
    bench.write(
        "catalogue.jsonl",
        line("bay", "a framed print of a quiet bay at night", "bay.png")
            + &line("bay-crop", "postcard, 10 x 15", "bay-part.jpg")
            + &line("hills", "a poster of green hills in the morning sun", "hills.png")
            + &line("hills-2", "a poster of green hills in the morning sun", "bay-small.jpg"),
    );
}

#[test]
fn a_catalogue_finds_a_picture_whatever_the_texts_beside_it_say() {
    let bench = Bench::new();
    catalogue(&bench);
    bench.run("index shop catalogue.jsonl --text title --values tags --image photo -n 2").ok();
    let ids = |call: &str| -> Vec<String> {
        let answer = bench.run(&format!("{call} --format json")).json();
        assert!(answer["recall"].as_f64().unwrap() >= 0.9, "{call}: {answer}");
        answer["matches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let bays = |mut found: Vec<String>| {
        found.sort();
        assert_eq!(found, ["bay", "bay-crop", "hills-2"]);
    };
    bays(ids("search shop --file bay-part.jpg"));
    bays(ids("search shop --file bay-part.jpg --field photo"));
    assert_eq!(ids("search shop --id bay-crop").len(), 2, "by all its fields");
    assert_eq!(ids("search shop --file hills.png"), ["hills"]);
    let pairs = bench.run("collections duplicates shop --format json").ok().out;
    assert_eq!(pairs.lines().count(), 3, "three have the bay: {pairs}");
    // What was asked of the picture counts.
    assert!(ids("search shop --id bay-crop --field-thresholds photo=0.99").is_empty());
    bench.run("index two catalogue.jsonl --image photo,other").ok();
    bench.run("search two --file bay.png").fails(2, &["--field must name one of the fields of pictures"]);
    bench.run("index words catalogue.jsonl --text title").ok();
    bench.run("search words --file bay.png").fails(1, &["`bay.png` is not a text in UTF-8"]);
}
