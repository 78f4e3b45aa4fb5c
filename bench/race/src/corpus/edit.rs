//! Edits a text until its exact J with the original is as near to a target as one word allows.

use crate::overlap::Overlap;
use crate::random::Random;
use crate::words::Words;

use super::pool::Pool;

/// How a copy is to differ.
#[derive(Debug, Clone, Copy)]
pub struct Edit {
    /// J with the original.
    pub target: f64,
    /// Where it differs.
    pub place: Place,
}

/// Where a copy differs from the original.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// Words replaced, inserted and deleted here and there
    Everywhere,
    /// One passage replaced
    Passage,
}

/// An edited copy of `base` with J near the target, and the exact overlap of the two.
///
/// Edits change J in steps of several shingles, so words are appended for the rest: each adds one shingle.
pub fn edited(base: &str, edit: Edit, pool: &Pool, random: &mut Random) -> (String, Overlap) {
    let target = edit.target;
    let original = Words::Ascii.shingles(base);
    let overlap = |text: &str| Overlap::of(&original, &Words::Ascii.shingles(text));
    let tokens: Vec<&str> = base.split(' ').collect();
    let changes = match edit.place {
        Place::Everywhere => scattered(&tokens, pool, random),
        Place::Passage => passage(&tokens, pool, random),
    };

    let (mut enough, mut too_many) = (0, changes.len() + 1);
    while too_many - enough > 1 {
        let middle = enough.midpoint(too_many);
        if overlap(&apply(&tokens, &changes[..middle])).jaccard() >= target {
            enough = middle;
        } else {
            too_many = middle;
        }
    }
    let mut text = apply(&tokens, &changes[..enough]);
    let Overlap { intersection, union } = overlap(&text);
    let missing = (f64::from(intersection) / target - f64::from(union)).round().max(0.0) as usize;
    for word in foreign_words(missing, pool, random) {
        text.push(' ');
        text.push_str(word);
    }
    let reached = overlap(&text);
    (text, reached)
}

#[derive(Debug, Clone, Copy)]
enum Operation<'a> {
    Replace(&'a str),
    Insert(&'a str),
    Delete,
}

type Change<'a> = (usize, Operation<'a>);

fn scattered<'a>(tokens: &[&str], pool: &'a Pool, random: &mut Random) -> Vec<Change<'a>> {
    let mut positions: Vec<usize> = (0..tokens.len()).collect();
    random.shuffle(&mut positions);
    positions
        .into_iter()
        .map(|position| {
            let operation = match random.below(4) {
                0 => Operation::Insert(word(pool, random)),
                1 => Operation::Delete,
                _ => Operation::Replace(word(pool, random)),
            };
            (position, operation)
        })
        .collect()
}

fn passage<'a>(tokens: &[&str], pool: &'a Pool, random: &mut Random) -> Vec<Change<'a>> {
    let start = random.below(tokens.len() / 3 + 1);
    let words = foreign_words(tokens.len() - start, pool, random);
    words.into_iter().enumerate().map(|(i, word)| (start + i, Operation::Replace(word))).collect()
}

fn apply(tokens: &[&str], changes: &[Change]) -> String {
    let mut at: Vec<Option<Operation>> = vec![None; tokens.len()];
    changes.iter().for_each(|&(position, operation)| at[position] = Some(operation));
    let mut words = Vec::with_capacity(tokens.len() + changes.len());
    for (&token, operation) in tokens.iter().zip(at) {
        match operation {
            None => words.push(token),
            Some(Operation::Replace(word)) => words.push(word),
            Some(Operation::Insert(word)) => words.extend([word, token]),
            Some(Operation::Delete) => {}
        }
    }
    words.join(" ")
}

fn word<'a>(pool: &'a Pool, random: &mut Random) -> &'a str {
    let words: Vec<&str> = pool.sentence(random).split(' ').collect();
    words[random.below(words.len())]
}

/// Consecutive words of sentences from elsewhere.
fn foreign_words<'a>(n: usize, pool: &'a Pool, random: &mut Random) -> Vec<&'a str> {
    let mut words = Vec::with_capacity(n);
    while words.len() < n {
        words.extend(pool.sentence(random).split(' '));
    }
    words.truncate(n);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> Pool {
        let sentence = |i: u64| {
            let words: Vec<String> =
                (0..12).map(|j| format!("w{}", benzer_core::hash::split(i, j) % 5_000)).collect();
            words.join(" ") + "."
        };
        Pool::new((0..20_000).map(sentence).collect::<Vec<_>>().join("\n"), Random::new(1, 0))
    }

    #[test]
    fn an_edited_copy_is_as_similar_as_asked_within_a_word() {
        let (mut pool, mut random) = (pool(), Random::new(2, 0));
        for _ in 0..200 {
            let (base, target) = (pool.document(600), random.between(0.5, 1.0));
            let place = [Place::Everywhere, Place::Passage][random.below(2)];
            let (_, overlap) = edited(&base, Edit { target, place }, &pool, &mut random);
            let step = 1.5 / f64::from(overlap.union);
            assert!((overlap.jaccard() - target).abs() <= step, "{target} {overlap:?}");
        }
    }

    #[test]
    fn the_same_seed_makes_the_same_copy() {
        let base = pool().document(600);
        let edit = Edit { target: 0.7, place: Place::Everywhere };
        let copy = || edited(&base, edit, &pool(), &mut Random::new(3, 0));
        assert_eq!(copy(), copy());
    }
}
