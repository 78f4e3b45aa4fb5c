//! Pairs and triples of real collections, against enumeration. The collections are not in the repository: name their folder and run
//! `BENZER_DATA=... cargo test --release -p benzer-dedup --test sets_data -- --ignored`.

use std::collections::{BTreeSet, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use benzer_core::Threshold;
use benzer_io::Error;
use benzer_io::read::{Progress, ReadOptions};
use benzer_join::exact::Measure;
use benzer_sets::pairs::{self, Pair};
use benzer_sets::triples::{self, Verify};
use benzer_sets::{Content, ReadListener, Rejected, Resources, SetFormat, SetStore, Source, load};

fn data() -> PathBuf {
    std::env::var_os("BENZER_DATA").expect("the folder of the collections").into()
}

fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// A bad line is not expected.
struct Whole;

impl ReadListener<Error> for Whole {
    fn begin(&mut self, _: &Progress) {}

    fn rejected(&mut self, rejected: &Rejected) -> Result<(), Error> {
        panic!("{}", rejected.reject)
    }

    fn read(&mut self) {}
}

fn store(path: PathBuf, format: SetFormat, resources: &Resources) -> SetStore {
    let (read, content) = (ReadOptions::default(), Content::Sets(format));
    let source = Source { inputs: vec![path], read, content, transpose: false };
    let (store, loaded) = load(&[&source], resources, &mut Whole).unwrap();
    assert_eq!(loaded[0].warnings, [""; 0]);
    store
}

fn all_pairs(store: &SetStore, threshold: Threshold, resources: &Resources) -> Vec<Pair> {
    let wanted = pairs::Wanted { measure: Measure::Jaccard, threshold, split: None };
    let mut all = Vec::new();
    pairs::find(store, &wanted, resources, |some| -> Result<(), Error> {
        all.extend_from_slice(some);
        Ok(())
    })
    .unwrap();
    all
}

/// (sets, elements in all, elements in any), in order.
type Exact = ([u32; 3], u32, u64);

fn all_triples(store: &SetStore, threshold: Threshold, resources: &Resources) -> Vec<Exact> {
    let wanted = triples::Wanted { threshold, verify: Verify::Exact, spec: Default::default() };
    let mut all = Vec::new();
    triples::find(store, &wanted, resources, |some| -> Result<(), Error> {
        all.extend(some.iter().map(|triple| {
            let (common, union) = triple.exact.unwrap();
            (triple.sets, common, union)
        }));
        Ok(())
    })
    .unwrap();
    all
}

fn resources(folder: &Path) -> Resources {
    Resources::new(1 << 30, 2, folder, Arc::new(AtomicBool::new(false))).unwrap()
}

#[test]
#[ignore = "needs the collections"]
fn pairs_of_kos_are_those_that_were_counted_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let resources = resources(folder.path());
    let store = store(data().join("uci-bow-kos/docword.kos.txt.gz"), SetFormat::Docword, &resources);
    let known = std::fs::read_to_string(data().join("uci-bow-kos/exact_pairs_j30.tsv")).unwrap();
    // id_a, id_b, size_a, size_b, intersection, similarity
    let known: BTreeSet<Vec<u32>> = known
        .lines()
        .map(|line| line.split_whitespace().take(5).map_while(|number| number.parse().ok()).collect())
        .filter(|row: &Vec<u32>| row.len() == 5)
        .collect();
    let id = |set| store.id(set).parse::<u32>().unwrap();
    let found: BTreeSet<Vec<u32>> = all_pairs(&store, "0.3".parse().unwrap(), &resources)
        .iter()
        .map(|pair| vec![id(pair.a), id(pair.b), pair.size_a, pair.size_b, pair.intersection])
        .collect();
    assert_eq!((known.len(), found == known), (38_074, true));
}

/// Every one of the 971 million triples of 1,800 documents is measured, by counting.
#[test]
#[ignore = "needs the collections"]
fn triples_of_1800_documents_are_those_of_brute_force() {
    const N: usize = 1_800;
    let text = String::from_utf8(unpacked(&data().join("uci-bow-kos/docword.kos.txt.gz"))).unwrap();
    let mut sets = vec![BTreeSet::new(); N];
    let mut having = vec![Vec::new(); 6_907];
    let mut kept = Vec::new();
    for line in text.lines().skip(3) {
        let numbers: Vec<usize> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        if numbers[0] <= N {
            sets[numbers[0] - 1].insert(numbers[1]);
            having[numbers[1]].push(numbers[0] - 1);
            kept.push(line);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docword");
    std::fs::write(&path, format!("{N}\n6906\n{}\n{}\n", kept.len(), kept.join("\n"))).unwrap();
    let resources = resources(folder.path());
    let threshold: Threshold = "0.2".parse().unwrap();
    let found = all_triples(&store(path, SetFormat::Docword, &resources), threshold, &resources);

    let shared: Vec<Vec<u64>> =
        sets.iter().map(|a| sets.iter().map(|b| a.intersection(b).count() as u64).collect()).collect();
    let (mut expected, mut n_measured) = (Vec::new(), 0u64);
    for a in 0..N {
        for b in a + 1..N {
            let mut common = vec![0u64; N];
            sets[a]
                .intersection(&sets[b])
                .for_each(|&word| having[word].iter().for_each(|&c| common[c] += 1));
            for c in b + 1..N {
                n_measured += 1;
                let sizes = shared[a][a] + shared[b][b] + shared[c][c];
                let union = sizes - shared[a][b] - shared[a][c] - shared[b][c] + common[c];
                if threshold.is_reached(common[c], union) {
                    expected.push(([a, b, c].map(|i| i as u32), common[c] as u32, union));
                }
            }
        }
    }
    assert_eq!(n_measured, 970_380_600);
    assert!(expected.len() > 1_000, "{}", expected.len());
    assert!(found == expected, "{} found, {} expected", found.len(), expected.len());
}

/// 10,000 images as sets of pixels: the triangles of the exact join, one by one.
#[test]
#[ignore = "needs the collections"]
fn triples_of_10000_images_are_the_triangles_of_the_exact_join() {
    const N: usize = 10_000;
    let pixels = unpacked(&data().join("mnist-t10k/t10k-images-idx3-ubyte.gz"));
    let images: Vec<&[u8]> = pixels[16..].chunks(784).collect();
    let lines: Vec<String> = images
        .iter()
        .map(|image| (0..784).filter(|&i| image[i] > 0).map(|i| i.to_string()).collect::<Vec<_>>().join(" "))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("images.dat");
    std::fs::write(&path, lines.join("\n")).unwrap();
    let resources = resources(folder.path());
    let store = store(path, SetFormat::Items, &resources);
    assert_eq!(store.len() as usize, N);
    let threshold: Threshold = "0.65".parse().unwrap();
    let pairs: HashSet<(u32, u32)> =
        all_pairs(&store, threshold, &resources).iter().map(|pair| (pair.a, pair.b)).collect();
    let mut later = vec![Vec::new(); N];
    pairs.iter().for_each(|&(a, b)| later[a as usize].push(b));
    later.iter_mut().for_each(|sets| sets.sort_unstable());
    let (mut expected, mut n_triangles) = (Vec::new(), 0u64);
    for a in 0..N as u32 {
        for (i, &b) in later[a as usize].iter().enumerate() {
            for &c in later[a as usize][i + 1..].iter().filter(|&&c| pairs.contains(&(b, c))) {
                n_triangles += 1;
                let having = |i: usize| [a, b, c].iter().filter(|&&set| images[set as usize][i] > 0).count();
                let counts: Vec<usize> = (0..784).map(having).collect();
                let count = |least: usize| counts.iter().filter(|&&n| n >= least).count();
                if threshold.is_reached(count(3) as u64, count(1) as u64) {
                    expected.push(([a, b, c], count(3) as u32, count(1) as u64));
                }
            }
        }
    }
    assert!(n_triangles > 1_000_000 && expected.len() > 100_000, "{n_triangles} {}", expected.len());
    let found = all_triples(&store, threshold, &resources);
    assert!(found == expected, "{} found, {} expected", found.len(), expected.len());
}
