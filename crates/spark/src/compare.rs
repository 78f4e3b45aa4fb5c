//! The members of groups, compared.

use benzer_core::field::text::{Scratch, Shingler};
use benzer_core::lsh::Prefilter;
use benzer_core::sketch::Sketcher;

use super::by_slice::{Row, Slice, packed};
use super::out::Out;
use super::parts::Records;
use super::{Settings, kind};
use crate::error::{Error, Result};
use benzer_flow::{Progress, Workers};
use benzer_join::bands::CandidateLists;
use benzer_join::verify::{FeatureSource, PairFilter, Texts, verify_held};
use benzer_join::{Edge, Estimates, Rank};

const REMEMBERED: usize = 4 << 20;

/// Gives the edges: pairs that pass the prefilter and reach the threshold.
pub(super) struct Compare {
    settings: Settings,
    shingler: Shingler,
    sketcher: Box<dyn Sketcher>,
    prefilter: Prefilter,
    estimates: Estimates,
}

/// A document in a group, sorted by both: its number is its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Member<'a> {
    group: &'a [u8],
    place: &'a [u8],
    text: &'a str,
    partners: &'a [u8],
}

struct HeldTexts<'a>(&'a [Member<'a>]);

impl Texts for HeldTexts<'_> {
    fn bytes(&self, rank: Rank) -> benzer_flow::Result<u64> {
        Ok(self.0[rank.index()].text.len() as u64)
    }

    fn with_text(&self, rank: Rank, visit: &mut dyn FnMut(&str)) -> benzer_flow::Result<()> {
        visit(self.0[rank.index()].text);
        Ok(())
    }
}

impl Compare {
    pub(super) fn new(settings: Settings) -> Result<Self> {
        Ok(Self {
            shingler: settings.shingler()?,
            sketcher: settings.sketcher()?,
            prefilter: Prefilter::new(&settings.spec, settings.threshold.value())?,
            estimates: Estimates::new(&settings.spec)?,
            settings,
        })
    }

    /// The sketches of all members, one after the other.
    fn sketches(&self, members: &[Member<'_>]) -> Result<Vec<u64>> {
        let n_words = self.settings.spec.words();
        let mut words = vec![0; members.len() * n_words];
        let (mut scratch, mut elements) = (Scratch::default(), Vec::new());
        for (run, words) in members.chunks(256).zip(words.chunks_mut(256 * n_words)) {
            let mut offsets = vec![0];
            for member in run {
                let start = offsets[offsets.len() - 1];
                offsets.push(self.shingler.write_elements(member.text, &mut scratch, &mut elements, start));
            }
            self.sketcher.sketch_many(&elements[..offsets[run.len()]], &offsets, words)?;
        }
        Ok(words)
    }

    /// The pairs (later, earlier) that pass the prefilter, in order.
    fn candidates(&self, members: &[Member<'_>], words: &[u64]) -> Result<Vec<(Rank, Rank)>> {
        let mut candidates = Vec::new();
        for (later, member) in members.iter().enumerate() {
            let mut partners = Records(member.partners);
            while !partners.is_empty() {
                let wanted = (member.group, partners.bytes()?);
                let earlier =
                    members[..later].binary_search_by_key(&wanted, |other| (other.group, other.place));
                // Who changed between two readings is missing; `fetch` has counted it.
                let Ok(earlier) = earlier else { continue };
                let words = |i: usize| &words[i * self.settings.spec.words()..][..self.settings.spec.words()];
                if self.prefilter.passes(words(later), words(earlier)) {
                    candidates.push((Rank(later as u32), Rank(earlier as u32)));
                }
            }
        }
        Ok(candidates)
    }
}

impl Slice for Compare {
    fn slice(&mut self, slice: u32, rows: &[Row], out: &mut Out) -> Result<()> {
        let mut members = Vec::new();
        for row in packed(slice, rows, out)? {
            let mut records = row.records();
            while !records.is_empty() {
                let (group, place, text) = (records.bytes()?, records.bytes()?, records.bytes()?);
                let text = simdutf8::basic::from_utf8(text).map_err(|_| Error::damaged())?;
                members.push(Member { group, place, text, partners: records.bytes()? });
            }
        }
        members.sort_unstable();
        let words = self.sketches(&members)?;
        let candidates: CandidateLists = self.candidates(&members, &words)?.into_iter().collect();
        let texts = HeldTexts(&members);
        let (shingler, held) = (&self.shingler, size_of::<u64>() * REMEMBERED);
        let sources = FeatureSource { texts: &texts, shingler, remembered: REMEMBERED, held };
        let n_words = self.settings.spec.words();
        let words = |rank: Rank| &words[rank.index() * n_words..][..n_words];
        let wanted = PairFilter::Reaching(self.settings.threshold);
        let workers = Workers { threads: 1, progress: &Progress::silent() };
        for Edge { later, earlier, intersection, union } in
            verify_held([&candidates], sources, wanted, workers)?.iter()
        {
            let equal = self.estimates.equal(words(later), words(earlier));
            let counts = [intersection, union, equal].map(u32::to_le_bytes).concat();
            let places = [later, earlier].map(|rank| members[rank.index()].place);
            out.row(0, kind::EDGE, [places[0], places[1], &counts])?;
        }
        Ok(())
    }
}
