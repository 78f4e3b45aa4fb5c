//! Sets that are scattered over the lines of their files: words of documents, lines of items.

use std::collections::HashMap;

use benzer_core::hash;
use benzer_flow::sort::Sorter;
use benzer_io::read::{Reject, RejectReason};
use benzer_io::{Result, Strings};

use crate::format::SetFormat;
use crate::parse::{Content, Parsed, Parser, WordLine, WordLineSays, transaction};
use crate::rejected::Rejected;
use crate::resources::Resources;
use crate::store::SetWriter;

/// Bytes of an entry in a hash map of items, spare entries included.
const MAP_ENTRY: usize = 40;

/// Elements by the set they belong to, sorted as they come.
#[derive(Debug)]
pub(super) struct Grouped<'a> {
    parser: &'a Parser<'a>,
    /// (set, element): a set is input and document, or a word, or an item by its first place.
    elements: Sorter<(u64, u64)>,
    numbers: HashMap<u64, u32>,
    names: Strings,
    /// What each input promises at its beginning, and the entries it has.
    headers: Vec<Header>,
    resources: &'a Resources,
}

#[derive(Debug, Default, Clone)]
struct Header {
    /// Documents, words, entries.
    promised: [Option<u64>; 3],
    n_entries: u64,
}

impl<'a> Grouped<'a> {
    pub fn new(parser: &'a Parser<'a>, resources: &'a Resources) -> Result<Self> {
        Ok(Self {
            parser,
            elements: resources.workspace(0)?.sorter(1).dedup(),
            numbers: HashMap::new(),
            names: Strings::default(),
            headers: vec![Header::default(); parser.inputs.len()],
            resources,
        })
    }

    /// Takes what a batch says; gives lines that contradict the beginning of their file.
    pub fn add(&mut self, parsed: &Parsed) -> Result<Vec<Rejected>> {
        let mut numbers = Vec::with_capacity(parsed.hashes.len());
        for (i, &hash) in parsed.hashes.iter().enumerate() {
            let n = self.numbers.len() as u32;
            numbers.push(*self.numbers.entry(hash).or_insert(n));
            if self.numbers.len() as u32 > n {
                self.names.push(parsed.items.get(i));
            }
        }
        let bytes = self.names.n_bytes() + MAP_ENTRY * self.numbers.len();
        self.resources.require_budget(bytes, self.numbers.len() as u64)?;
        for &(item, line) in &parsed.members {
            self.elements.push((numbers[item as usize].into(), line))?;
        }
        let mut rejected = Vec::new();
        for line in &parsed.words {
            if let Some(expected) = self.add_words(line)? {
                rejected.push(self.reject(line, expected));
            }
        }
        Ok(rejected)
    }

    /// Takes a line of `docword`; says what it should have been if it does not fit the header.
    fn add_words(&mut self, line: &WordLine) -> Result<Option<String>> {
        let header = &mut self.headers[line.input as usize];
        match line.says {
            WordLineSays::Header(number) => header.promised[line.line as usize - 1] = Some(number),
            WordLineSays::Has { document, word } => {
                header.n_entries += 1;
                let [documents, words, _] = header.promised;
                let above = |number: u32, max: Option<u64>| max.filter(|&max| u64::from(number) > max);
                if let Some(max) = above(document, documents) {
                    return Ok(Some(format!("a document of at most {max}, as line 1 says")));
                }
                if let Some(max) = above(word, words) {
                    return Ok(Some(format!("a word of at most {max}, as line 2 says")));
                }
                let of_document = u64::from(line.input) << 32 | u64::from(document);
                self.elements.push(match self.parser.transpose {
                    true => (word.into(), transaction(line.input, document.into())),
                    false => (of_document, hash::element(word.to_string().as_bytes())),
                })?;
            }
        }
        Ok(None)
    }

    fn reject(&self, line: &WordLine, expected: String) -> Rejected {
        let got = match line.says {
            WordLineSays::Header(number) => number.to_string(),
            WordLineSays::Has { document, word } => format!("{document} {word}"),
        };
        let file = self.parser.inputs[line.input as usize].path.clone();
        let reason = RejectReason::NotASet { expected, got };
        Rejected {
            reject: Reject { file, input: line.input, line: line.line, offset: 0, reason },
            line: None,
        }
    }

    /// Puts the sets into the store; says which files do not have what they promise.
    pub fn finish(self, store: &mut SetWriter<'_>) -> Result<Vec<String>> {
        let Self { parser, elements, names, headers, .. } = self;
        let name = |set: u64| -> Vec<u8> {
            match (parser.content, parser.transpose) {
                (Content::Sets(SetFormat::Docword), true) => set.to_string().into_bytes(),
                (Content::Sets(SetFormat::Docword), false) => {
                    parser.place((set >> 32) as u32, set & 0xffff_ffff).into_bytes()
                }
                _ => names.get(set as usize).to_vec(),
            }
        };
        let mut elements = elements.finish()?.peekable();
        let mut of_set = Vec::new();
        while let Some((set, first)) = elements.next().transpose()? {
            of_set.clear();
            of_set.push(first);
            while let Some(next) = elements.next_if(|next| next.as_ref().is_ok_and(|next| next.0 == set)) {
                of_set.push(next?.1);
            }
            store.push(&name(set), &of_set)?;
        }
        let wrong = parser.inputs.iter().zip(&headers).filter_map(|(input, header)| {
            let promised = header.promised[2].filter(|&promised| promised != header.n_entries)?;
            Some(format!(
                "`{}` has {} entries, and its third line promises {promised}; it may be cut off",
                input.path.display(),
                header.n_entries
            ))
        });
        Ok(wrong.collect())
    }
}
