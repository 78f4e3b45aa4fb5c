//! Whole runs over drawn pictures.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use arrow_array::cast::AsArray;
use benzer_core::field::image::{Limits, preview};
use benzer_core::hash;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tempfile::TempDir;

use super::{Keep, Kept, Options, run};
use benzer_dedup::Error;
use benzer_dedup::progress::Silent;

/// A drawing of blobs: the grey value at a place, from 0 to 1 both ways.
fn drawing(seed: u64) -> impl Fn(f32, f32) -> f32 {
    let mut random = hash::stream(seed).map(|value| (value >> 40) as f32 / (1u64 << 24) as f32);
    let mut next = move || random.next().expect("the stream has no end");
    let blobs: Vec<[f32; 5]> = (0..260)
        .map(|_| {
            [
                1.2 * next() - 0.1,
                1.2 * next() - 0.1,
                0.008 + 0.05 * next() * next(),
                0.4 + next(),
                next() - 0.5,
            ]
        })
        .collect();
    move |x, y| {
        let light = |[cx, cy, size, shape, light]: &[f32; 5]| {
            let (dx, dy) = ((x - cx) / size, (y - cy) / (size * shape));
            let distance = dx * dx + dy * dy;
            170.0 * light / (1.0 + distance * distance * distance)
        };
        (128.0 + blobs.iter().map(light).sum::<f32>()).clamp(0.0, 255.0)
    }
}

/// A BMP file of what is seen through a mapping.
fn bmp(width: u32, height: u32, at: impl Fn(f32, f32) -> f32) -> Vec<u8> {
    let row = (width * 3).next_multiple_of(4);
    let size = 54 + row * height;
    let mut bytes = b"BM".to_vec();
    let words = [size, 0, 54, 40, width, height, 1 | 24 << 16, 0, row * height, 2835, 2835, 0, 0];
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    for y in (0..height).rev() {
        let start = bytes.len();
        for x in 0..width {
            let value = at((x as f32 + 0.5) / width as f32, (y as f32 + 0.5) / height as f32) as u8;
            bytes.extend([value; 3]);
        }
        bytes.resize(start + row as usize, 0);
    }
    bytes
}

/// Two pictures, three changed ones of the first, a copy, something flat and something broken.
fn album() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let (bay, hills) = (drawing(1), drawing(2));
    let whole = bmp(300, 260, &bay);
    put("bay.bmp", &whole);
    put("more/copy.bmp", &whole);
    put("more/small.jpg", &preview(&whole, &Limits::default(), 150).unwrap());
    put("crop.bmp", &bmp(200, 180, |x, y| bay(0.2 + 0.66 * x, 0.1 + 0.69 * y)));
    put("mirror.bmp", &bmp(280, 240, |x, y| bay(1.0 - x, y)));
    put("hills.bmp", &bmp(260, 260, &hills));
    put("flat.bmp", &bmp(90, 90, |_, _| 50.0));
    put("broken.jpg", b"\xff\xd8\xff\xe0 not much of a picture");
    put("notes.txt", b"not looked at");
    folder
}

fn options(album: &Path, output: &Path) -> Options {
    Options::new(vec![album.to_owned()], output.to_owned())
}

/// All results by name, but for those with times in them.
fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap);
    files
        .filter(|entry| entry.file_type().is_file() && entry.file_name() != "run.json")
        .map(|entry| {
            let name = entry.path().strip_prefix(folder).unwrap().display().to_string();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

fn kept(output: &Path) -> Vec<String> {
    let list = fs::read_to_string(output.join("kept.txt")).unwrap();
    let name = |line: &str| line.rsplit('/').next().unwrap().to_owned();
    list.lines().map(name).collect()
}

#[test]
fn changed_pictures_are_removed_for_the_largest_and_everything_else_stays() {
    let (album, output) = (album(), tempfile::tempdir().unwrap());
    let before = results(album.path());
    let summary = run(&options(album.path(), output.path()), &Silent).unwrap();
    let counts = &summary.counts;
    assert_eq!((counts.read, counts.kept, counts.removed, counts.rejected), (8, 3, 4, 1));
    assert_eq!((counts.copies, counts.empty, counts.clusters), (1, 1, 1));
    assert_eq!(kept(output.path()), ["bay.bmp", "flat.bmp", "hills.bmp"]);
    let pictures: Vec<String> = results(&output.path().join("pictures")).into_keys().collect();
    assert_eq!(pictures, ["bay.bmp", "flat.bmp", "hills.bmp"]);
    let original = fs::read(album.path().join("bay.bmp")).unwrap();
    assert_eq!(fs::read(output.path().join("pictures/bay.bmp")).unwrap(), original);
    assert!(summary.rejects[0].contains("broken.jpg: the picture is damaged"), "{:?}", summary.rejects);
    let rejects = fs::read_to_string(output.path().join("rejects.jsonl")).unwrap();
    assert_eq!(rejects.lines().count(), 1);
    assert!(results(album.path()) == before, "the originals are as they were");
}

/// How many rows of the evidence have each rule.
fn rules(output: &Path) -> BTreeMap<String, u64> {
    let file = fs::File::open(output.join("evidence.parquet")).unwrap();
    let mut rules = BTreeMap::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        let column = batch.column_by_name("rule").unwrap().as_string::<i32>().clone();
        column.iter().flatten().for_each(|rule| *rules.entry(rule.to_owned()).or_default() += 1);
    }
    rules
}

/// A copy of a picture that goes too is like the kept one by its points, not by its bytes.
#[test]
fn the_counts_are_those_of_the_evidence() {
    let (album, output) = (album(), tempfile::tempdir().unwrap());
    for i in 0..3 {
        fs::copy(album.path().join("mirror.bmp"), album.path().join(format!("more/mirror-{i}.bmp"))).unwrap();
    }
    let counts = run(&options(album.path(), output.path()), &Silent).unwrap().counts;
    let rules = rules(output.path());
    assert_eq!((rules["exact-copy"], rules["verified"]), (1, 6));
    assert_eq!((counts.copies, counts.removed - counts.copies), (rules["exact-copy"], rules["verified"]));
}

#[test]
fn the_report_shows_each_cluster_without_scripts_or_requests() {
    let (album, output) = (album(), tempfile::tempdir().unwrap());
    run(&options(album.path(), output.path()), &Silent).unwrap();
    let report = fs::read_to_string(output.path().join("report.html")).unwrap();
    assert_eq!(report.matches("<img ").count(), 5);
    assert_eq!(report.matches("src=\"data:image/jpeg;base64,").count(), 5);
    for part in ["more/small.jpg", "mirrored", "the same bytes", "1 cluster", "broken.jpg"] {
        assert!(report.contains(part), "{part}");
    }
    assert!(!report.contains("<script") && !report.contains("http:") && !report.contains("https:"));
}

#[test]
fn names_that_are_markup_are_shown_as_names() {
    let (album, output) = (album(), tempfile::tempdir().unwrap());
    let hostile = ["\"><img src=x onerror=alert(1)>.bmp", "<script>alert(1)<&'.jpg"];
    fs::rename(album.path().join("bay.bmp"), album.path().join(hostile[0])).unwrap();
    fs::rename(album.path().join("broken.jpg"), album.path().join(hostile[1])).unwrap();
    run(&options(album.path(), output.path()), &Silent).unwrap();
    let report = fs::read_to_string(output.path().join("report.html")).unwrap();
    assert!(!report.contains("<script") && !report.contains("<img src=x") && !report.contains("\"><img src"));
    assert!(
        report.contains("&lt;img src=x onerror=alert(1)&gt;") && report.contains("&lt;script&gt;alert(1)")
    );
}

#[test]
fn results_do_not_depend_on_threads() {
    let album = album();
    let with = |threads: usize| {
        let output = tempfile::tempdir().unwrap();
        run(&Options { threads, ..options(album.path(), output.path()) }, &Silent).unwrap();
        results(output.path())
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn the_policy_decides_who_is_kept() {
    let album = album();
    let with = |keep: Keep| {
        let output = tempfile::tempdir().unwrap();
        let options = Options { keep, kept: Kept::Listed, ..options(album.path(), output.path()) };
        run(&options, &Silent).unwrap();
        assert!(!output.path().join("pictures").exists());
        kept(output.path())
    };
    assert!(with(Keep::Smallest).contains(&"small.jpg".to_owned()));
    assert!(with(Keep::First).contains(&"bay.bmp".to_owned()));
    assert!(with(Keep::Last).contains(&"small.jpg".to_owned()));
}

#[test]
fn links_are_other_names_of_the_same_files() {
    use std::os::unix::fs::MetadataExt;
    let album = album();
    let output = album.path().join("out");
    run(&Options { kept: Kept::Linked, ..options(album.path(), &output) }, &Silent).unwrap();
    let inode = |path: &Path| fs::metadata(path).unwrap().ino();
    assert_eq!(inode(&output.join("pictures/hills.bmp")), inode(&album.path().join("hills.bmp")));
    // The results inside of the album are not read by the next run.
    let again = Options { overwrite: true, ..options(album.path(), &output) };
    assert_eq!(run(&again, &Silent).unwrap().counts.read, 8);
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_done() {
    let (album, output) = (album(), tempfile::tempdir().unwrap());
    let good = options(album.path(), output.path());
    run(&good, &Silent).unwrap();
    let message = |options: &Options| run(options, &Silent).unwrap_err().to_string();
    assert!(message(&good).contains("the results of a finished run"), "{}", message(&good));
    let strict = Options { strict: true, overwrite: true, ..good.clone() };
    assert!(matches!(run(&strict, &Silent), Err(Error::Strict { .. })));
    let missing = Options { inputs: vec![album.path().join("nowhere")], ..good.clone() };
    assert!(message(&missing).contains("cannot open"));
    let twice = vec![album.path().to_owned(), album.path().join("more")];
    assert!(run(&Options { inputs: twice, overwrite: true, ..good.clone() }, &Silent).is_ok());
    let empty = tempfile::tempdir().unwrap();
    let none = Options { inputs: vec![empty.path().to_owned()], ..good };
    assert!(message(&none).contains("no readable input"));
}
