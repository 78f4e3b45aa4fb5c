//! Small corpora: words of a small vocabulary, copies, edits, chains, and texts that are hardly any.

use benzer_core::hash::split;
use serde_json::json;

/// Seeded draws.
pub struct Random {
    seed: u64,
    n: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self { seed, n: 0 }
    }

    /// A number in `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.n += 1;
        (split(self.seed, self.n) % n as u64) as usize
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        (1..items.len()).for_each(|i| items.swap(i, self.below(i + 1)));
    }
}

/// What is written to a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub id: String,
    pub text: String,
}

impl Document {
    /// The line, without its end.
    pub fn line(&self) -> String {
        json!({"id": self.id, "text": self.text}).to_string()
    }
}

/// Lines with their ends.
pub fn lines(documents: &[Document]) -> String {
    documents.iter().map(|document| document.line() + "\n").collect()
}

/// `n` documents of up to `longest` words. The order of the ids is not that of the documents; some repeat if asked for.
pub fn documents(random: &mut Random, n: usize, longest: usize, repeat_ids: bool) -> Vec<Document> {
    let mut texts: Vec<String> = Vec::new();
    for _ in 0..n {
        let text = text(random, &texts, longest);
        texts.push(text);
    }
    let mut ids: Vec<usize> = (0..n).collect();
    random.shuffle(&mut ids);
    let name = |id: usize| if repeat_ids { format!("é{}", id / 2) } else { format!("é{id}") };
    ids.into_iter().zip(texts).map(|(id, text)| Document { id: name(id), text }).collect()
}

fn text(random: &mut Random, before: &[String], longest: usize) -> String {
    let Some(last) = before.last() else { return words(random, longest) };
    let any = &before[random.below(before.len())];
    match random.below(16) {
        0 => String::new(),
        1 => "?! ... -".to_owned(),
        2 => words(random, 3),
        3 | 4 => any.clone(),
        // The same words, and not the same text.
        5 => format!("{}!", any.to_uppercase()),
        6..9 => edited(random, last),
        9..13 => edited(random, any),
        _ => words(random, longest),
    }
}

fn word(random: &mut Random) -> String {
    format!("w{}", random.below(40))
}

fn words(random: &mut Random, longest: usize) -> String {
    let n = 1 + random.below(longest);
    (0..n).map(|_| word(random)).collect::<Vec<_>>().join(" ")
}

/// Up to three words are replaced, inserted, removed or appended.
fn edited(random: &mut Random, text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(words.len() + 1);
        match random.below(4) {
            0 if at < words.len() => words[at] = word(random),
            1 if at < words.len() => drop(words.remove(at)),
            2 => words.insert(at, word(random)),
            _ => words.push(word(random)),
        }
    }
    words.join(" ")
}
