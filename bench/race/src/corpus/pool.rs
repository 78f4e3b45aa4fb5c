//! Sentences of real prose, dealt out to documents.
//!
//! The first pass deals sections of consecutive sentences, so that documents read as they were written. When every sentence has been
//! used, later passes deal them in scattered order: two documents then share a sentence at most by chance, never a run of them.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::random::Random;

/// Consecutive sentences that stay together in the first pass.
const SECTION: usize = 64;

/// Prose and the position of the next sentence.
#[derive(Debug)]
pub struct Pool {
    text: String,
    sentences: Vec<Sentence>,
    /// Numbers of the sentences in the order of the current pass.
    order: Vec<u32>,
    random: Random,
    dealt: usize,
}

#[derive(Debug, Clone, Copy)]
struct Sentence {
    start: usize,
    end: usize,
    ends_paragraph: bool,
}

impl Pool {
    /// Reads sentences, one per line, with an empty line between paragraphs.
    pub fn read(path: &Path, random: Random) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| {
            format!("cannot read prose from {}; `bench/corpus/make` prepares it", path.display())
        })?;
        let pool = Self::new(text, random);
        ensure!(pool.sentences.len() >= SECTION, "{} holds fewer than {SECTION} sentences", path.display());
        Ok(pool)
    }

    pub(super) fn new(text: String, mut random: Random) -> Self {
        let (mut sentences, mut start) = (Vec::<Sentence>::new(), 0);
        for line in text.split('\n') {
            if line.is_empty() {
                sentences.last_mut().into_iter().for_each(|sentence| sentence.ends_paragraph = true);
            } else {
                sentences.push(Sentence { start, end: start + line.len(), ends_paragraph: false });
            }
            start += line.len() + 1;
        }
        let mut sections: Vec<u32> = (0..sentences.len() as u32).step_by(SECTION).collect();
        random.shuffle(&mut sections);
        let end = sentences.len() as u32;
        let order = sections.iter().flat_map(|&start| start..end.min(start + SECTION as u32)).collect();
        Self { text, sentences, order, random, dealt: 0 }
    }

    /// The next document of about `bytes` bytes, in whole sentences.
    pub fn document(&mut self, bytes: usize) -> String {
        // One sentence that returns in a later pass would be a copy; two are hardly ever dealt together again.
        let at_least = if self.dealt < self.sentences.len() { 1 } else { 2 };
        let (mut text, mut n_sentences) = (String::with_capacity(bytes + 200), 0);
        loop {
            let sentence = self.sentences[self.position()];
            let length = sentence.end - sentence.start;
            if n_sentences >= at_least && text.len() + length / 2 > bytes {
                return text.trim_end().to_string();
            }
            text.push_str(&self.text[sentence.start..sentence.end]);
            text.push_str(if sentence.ends_paragraph { "\n\n" } else { " " });
            self.advance();
            n_sentences += 1;
        }
    }

    /// Any sentence.
    pub fn sentence(&self, random: &mut Random) -> &str {
        let sentence = self.sentences[random.below(self.sentences.len())];
        &self.text[sentence.start..sentence.end]
    }

    fn position(&self) -> usize {
        self.order[self.dealt % self.order.len()] as usize
    }

    fn advance(&mut self) {
        self.dealt += 1;
        if self.dealt.is_multiple_of(self.order.len()) {
            self.random.shuffle(&mut self.order);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(n: usize) -> Pool {
        let lines: Vec<String> = (0..n).map(|i| format!("Sentence {i} here.")).collect();
        Pool::new(lines.join("\n"), Random::new(5, 0))
    }

    #[test]
    fn every_pass_deals_every_sentence_once() {
        let mut pool = pool(200);
        for _ in 0..3 {
            let mut positions: Vec<usize> = (0..200)
                .map(|_| {
                    let position = pool.position();
                    pool.advance();
                    position
                })
                .collect();
            positions.sort_unstable();
            assert!(positions.into_iter().eq(0..200));
        }
    }

    #[test]
    fn a_document_is_whole_sentences_of_about_the_asked_length() {
        let text = pool(200).document(100);
        assert!((80..130).contains(&text.len()) && text.ends_with("here."), "{text}");
    }
}
