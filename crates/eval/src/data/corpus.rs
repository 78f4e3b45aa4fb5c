//! Collections of sets to try things on: the data sets of `--data`, or synthetic ones.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use benzer_core::Features;
use benzer_core::field::text::{Shingler, TextOptions};
use benzer_core::hash;
use flate2::read::MultiGzDecoder;

use crate::random::Random;
use crate::{Context, Error, Result};

#[derive(Debug, Clone)]
pub(crate) struct Corpus {
    pub name: String,
    pub sets: Vec<Features>,
}

/// Documents of `--data` (KOS as bags of words, Reuters and Enron as sets of words), at most `max` of each; else a synthetic collection.
pub(crate) fn documents(context: &Context<'_>, max: usize) -> Result<Vec<Corpus>> {
    let Some(data) = context.data() else {
        return Ok(vec![synthetic(context.seed(1000), context.size(60, 250), 5)]);
    };
    context.step("reading documents");
    let words = TextOptions { n: 1, ..TextOptions::default() };
    let mut all = vec![kos(data)?];
    for (name, texts) in [("Reuters", reuters(data)?), ("Enron-spam", enron(data)?)] {
        all.push(Corpus { name: name.to_owned(), sets: shingled(&texts, &words)? });
    }
    for corpus in &mut all {
        corpus.sets.retain(|set| !set.is_empty());
        thin(&mut corpus.sets, max);
    }
    Ok(all)
}

/// Every so many of them, so that about `max` are left.
fn thin<T>(items: &mut Vec<T>, max: usize) {
    let step = items.len().div_ceil(max.max(1)).max(1);
    let mut i = 0;
    items.retain(|_| {
        i += 1;
        (i - 1) % step == 0
    });
}

pub(crate) fn shingled(texts: &[String], options: &TextOptions) -> Result<Vec<Features>> {
    let shingler = Shingler::new(options)?;
    Ok(texts.iter().map(|text| shingler.features(text)).collect())
}

pub(crate) fn kos(data: &Path) -> Result<Corpus> {
    Ok(Corpus { name: "KOS".to_owned(), sets: docword(data, 0)? })
}

/// The documents of each KOS word.
pub(crate) fn kos_postings(data: &Path) -> Result<Vec<Features>> {
    docword(data, 1)
}

/// One set for each value of column `of` (0 documents, 1 words), with the values of the other.
fn docword(data: &Path, of: usize) -> Result<Vec<Features>> {
    let path = data.join("uci-bow-kos/docword.kos.txt.gz");
    let mut sets: Vec<Vec<u64>> = Vec::new();
    for line in lines(&path)?.iter().skip(3) {
        let mut numbers = line.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(document)), Some(Ok(word))) = (numbers.next(), numbers.next()) else {
            return Err(Error::data(&path, format!("`{line}` is not `document word count`")));
        };
        let [set, element] = if of == 0 { [document, word] } else { [word, document] };
        let set = set as usize;
        sets.resize(sets.len().max(set + 1), Vec::new());
        sets[set].push(hash::mix(element));
    }
    Ok(sets.into_iter().map(Features::from_vec).filter(|set| !set.is_empty()).collect())
}

/// The rows of each mushroom attribute value.
pub(crate) fn mushroom_items(data: &Path) -> Result<Vec<Features>> {
    let path = data.join("fimi/mushroom.dat");
    let mut items: Vec<Vec<u64>> = Vec::new();
    for (row, line) in lines(&path)?.iter().enumerate() {
        for item in line.split_whitespace() {
            let item: usize = item.parse().map_err(|_| Error::data(&path, format!("`{item}` is no item")))?;
            items.resize(items.len().max(item + 1), Vec::new());
            items[item].push(hash::mix(row as u64));
        }
    }
    Ok(items.into_iter().map(Features::from_vec).filter(|set| !set.is_empty()).collect())
}

/// The texts of Reuters-21578 that have a body.
pub(crate) fn reuters(data: &Path) -> Result<Vec<String>> {
    texts(&data.join("reuters-21578/reuters21578.jsonl.gz"))
}

/// The mails of Enron-spam, part 1.
pub(crate) fn enron(data: &Path) -> Result<Vec<String>> {
    texts(&data.join("enron-spam-1/enron1.jsonl.gz"))
}

fn texts(path: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for line in lines(path)? {
        let value: serde_json::Value =
            serde_json::from_str(&line).map_err(|error| Error::data(path, error.to_string()))?;
        let text = value["text"].as_str().unwrap_or_default();
        if !text.trim().is_empty() {
            texts.push(text.to_owned());
        }
    }
    Ok(texts)
}

fn lines(path: &Path) -> Result<Vec<String>> {
    let unreadable = |error: std::io::Error| Error::data(path, error.to_string());
    let file = File::open(path).map_err(unreadable)?;
    let is_gzip = path.extension().is_some_and(|extension| extension == "gz");
    let bytes: Box<dyn Read> = if is_gzip { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    BufReader::new(bytes).lines().collect::<std::io::Result<_>>().map_err(unreadable)
}

/// Documents of words from a Zipf-like vocabulary, each with near-duplicates of all similarities: `bases * each` sets.
pub(crate) fn synthetic(seed: u64, bases: usize, each: usize) -> Corpus {
    let mut random = Random::new(seed);
    let mut sets = Vec::with_capacity(bases * each);
    for _ in 0..bases {
        let size = 60 + random.below(120) as usize;
        let base: Vec<u64> = (0..size).map(|_| word(&mut random)).collect();
        for copy in 0..each {
            // The first is the original; of the others, ever less stays.
            let replaced = copy as f64 / each as f64 * random.unit();
            let words = base.iter().map(|&w| if random.unit() < replaced { word(&mut random) } else { w });
            sets.push(Features::set(words.collect::<Vec<_>>()));
        }
    }
    Corpus { name: "synthetic".to_owned(), sets }
}

/// Texts of words from a Zipf-like vocabulary, some of which come again with a part rewritten.
pub(crate) fn prose(seed: u64, n: usize) -> Vec<String> {
    let mut random = Random::new(seed);
    let mut texts: Vec<Vec<String>> = Vec::with_capacity(n);
    let spell = |random: &mut Random| format!("w{:x}", word(random) % 65_536);
    for i in 0..n {
        let length = 40 + random.below(200) as usize;
        let fresh: Vec<String> = (0..length).map(|_| spell(&mut random)).collect();
        let text = match i % 4 {
            3 => {
                let of = &texts[random.below(i as u64) as usize];
                let replaced = 0.3 * random.unit();
                of.iter()
                    .map(|w| if random.unit() < replaced { spell(&mut random) } else { w.clone() })
                    .collect()
            }
            _ => fresh,
        };
        texts.push(text);
    }
    texts.iter().map(|words| words.join(" ")).collect()
}

/// Texts of words that are spelled from syllables, of very different lengths.
pub(crate) fn letters(seed: u64, n: usize) -> Vec<String> {
    const SYLLABLES: [&str; 24] = [
        "an", "be", "co", "de", "en", "er", "fi", "ga", "ing", "in", "ka", "lo", "me", "no", "on", "pre",
        "ra", "re", "sti", "ta", "ter", "the", "un", "ver",
    ];
    let mut random = Random::new(seed);
    let spell = |seed: u64| {
        let mut letters = Random::new(seed);
        (0..1 + letters.below(4)).map(|_| SYLLABLES[letters.below(24) as usize]).collect::<String>()
    };
    let mut text = |_| {
        let length = 20 + (random.unit().powi(3) * 800.0) as usize;
        (0..length).map(|_| spell(word(&mut random))).collect::<Vec<_>>().join(" ")
    };
    (0..n).map(&mut text).collect()
}

/// A word whose frequency falls with its rank, out of some ten thousand.
fn word(random: &mut Random) -> u64 {
    hash::mix((10_000f64.powf(random.unit()) * 3.0) as u64)
}

/// The similarity of every pair `i < j`, row by row.
pub(crate) fn similarities(sets: &[Features]) -> Vec<f32> {
    let mut postings: std::collections::HashMap<u64, Vec<u32>> = std::collections::HashMap::new();
    for (i, set) in sets.iter().enumerate() {
        for &element in set.elements() {
            postings.entry(element).or_default().push(i as u32);
        }
    }
    let mut all = Vec::with_capacity(sets.len() * sets.len().saturating_sub(1) / 2);
    let mut common = vec![0u32; sets.len()];
    for (i, set) in sets.iter().enumerate() {
        common[i + 1..].fill(0);
        for element in set.elements() {
            let members = &postings[element];
            let after = members.partition_point(|&j| j as usize <= i);
            members[after..].iter().for_each(|&j| common[j as usize] += 1);
        }
        all.extend((i + 1..sets.len()).map(|j| {
            let both = common[j] as f32;
            both / ((set.len() + sets[j].len()) as f32 - both)
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarities_are_those_of_the_sets() {
        let corpus = synthetic(5, 4, 3);
        let mut all = similarities(&corpus.sets).into_iter();
        for (i, a) in corpus.sets.iter().enumerate() {
            for b in &corpus.sets[i + 1..] {
                assert!((f64::from(all.next().unwrap()) - a.jaccard(b).unwrap()).abs() < 1e-6);
            }
        }
        assert!(all.next().is_none());
    }

    #[test]
    fn a_data_set_that_is_missing_is_named_with_its_remedy() {
        let error = kos(Path::new("nowhere")).unwrap_err().to_string();
        assert!(error.contains("docword.kos") && error.contains("--data"), "{error}");
    }
}
