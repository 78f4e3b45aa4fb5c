//! Checking a collection, and making it right again.

use std::sync::PoisonError;

use super::Shared;
use super::block::Next;
use super::compact::OnDamage;
use super::log::{HEADER, check_header};
use super::open::{Found, Removed};
use super::part::Part;
use super::segment::id_key;
use super::state::State;
use crate::error::Result;
use crate::record::DocNo;
use crate::store::{Parts, Report};

impl Shared {
    pub fn verify(&self) -> Result<Report> {
        self.refresh()?;
        let state = self.state();
        let warnings = self.trouble().into_iter().collect();
        let mut report = Report { warnings, derived: self.folder.damaged_files(), ..Report::default() };
        self.verify_log(&state, &mut report);
        for part in &state.parts {
            self.verify_part(&state, part, &mut report);
        }
        Ok(report)
    }

    /// Every checksum of the log, and that every living record is in a segment.
    fn verify_log(&self, state: &State, report: &mut Report) {
        let words = state.rows.map.words();
        if let Err(error) = check_header(words, &self.folder.known(Some(state.rows.salt)), &self.folder.path)
        {
            report.records.push(error.to_string());
        }
        let mut removed = Removed::of(&state.rows);
        // Of removals that cannot be read any more in the log.
        state.parts.iter().flat_map(Part::removed).for_each(|number| removed.add(number));
        let mut at = HEADER;
        let end = state.end.place.max(state.rows.acknowledged);
        while at < end {
            match state.rows.next(at) {
                Next::Block(block) => {
                    for (number, place) in block.places() {
                        let is_whole = state.rows.whole(place, Parts::All).is_some();
                        let is_found = state.place_of(number) == Some(place);
                        match (is_whole, removed.has(number), is_found) {
                            (true, false, true) => report.documents += 1,
                            (true, true, false) | (false, true, _) => {}
                            (true, false, false) => {
                                report.derived.push(format!("record {number} is in no segment"))
                            }
                            (true, true, true) => {
                                report.derived.push(format!("record {number} is removed, and in a segment"))
                            }
                            (false, false, _) => report.records.push(self.damaged(number).to_string()),
                        }
                    }
                    at = block.end;
                }
                Next::Lost { until } => {
                    let what = format!(
                        "{} bytes at {} of the log cannot be read: documents that were put there are lost, and others that were replaced or removed there may be back",
                        8 * (until - at),
                        8 * at
                    );
                    report.records.push(what);
                    at = until;
                }
                Next::End => {
                    report.records.push(format!("the log cannot be read from byte {} on", 8 * at));
                    break;
                }
            }
        }
    }

    /// Every checksum of a segment, and that its postings are those of its records, no fewer and no more.
    fn verify_part(&self, state: &State, part: &Part, report: &mut Report) {
        let segment = &part.segment;
        let name = segment.path.as_ref().map_or_else(
            || format!("the segment of records {} to {}", segment.shape.first, segment.shape.last),
            |path| format!("`{}`", path.display()),
        );
        if let Some(stretch) = segment.path.as_ref().and_then(|_| segment.damage(|| true)) {
            report.derived.push(format!("{name} is damaged in MiB {stretch}"));
            return;
        }
        let words = segment.words();
        let layout = &self.folder.layout;
        let mut expected = vec![0usize; layout.bands() + 1];
        let mut missing = 0u64;
        let mut look = |directory: usize, key: u64, local: usize| {
            let place = segment.shape.directories[directory];
            let mut is_there = false;
            if place.may_have(words[place.at(key)], key) {
                place.find(words, key, |found| is_there |= found as usize == local);
            }
            expected[directory] += 1;
            missing += u64::from(!is_there);
        };
        for local in 0..segment.len() {
            let Some(row) = state.rows.whole(segment.place(local), Parts::Sketches) else { return };
            layout.keys(row.record.words, |key| look(key.band as usize, key.key, local));
            look(layout.bands(), id_key(row.record.id), local);
        }
        let surplus = segment.shape.directories.iter().zip(expected).any(|(place, n)| place.n != n);
        if missing > 0 || surplus {
            report.derived.push(format!("{name} does not agree with its records"));
        }
    }

    /// Derives everything again if a segment is damaged. `go_on` is asked now and then.
    pub fn rebuild_damaged(&self, mut go_on: impl FnMut() -> bool) -> Result<()> {
        let state = self.state();
        let is_damaged =
            |part: &Part| part.segment.path.is_some() && part.segment.damage(&mut go_on).is_some();
        if state.parts.iter().any(is_damaged) { self.rebuild("a segment is damaged") } else { Ok(()) }
    }

    fn rebuild(&self, why: &str) -> Result<()> {
        let _merging = self.merging.lock().unwrap_or_else(PoisonError::into_inner);
        let mut log = self.log()?;
        let Found { log: new, state, .. } = self.folder.rebuild(why.to_owned())?;
        *log = new;
        log.end_at(state.end.place)?;
        self.replace(&log, state)
    }

    pub fn repair(&self) -> Result<Report> {
        // Refused at once where we only read.
        drop(self.log()?);
        let mut report = self.verify()?;
        // First, because the records are written anew as the segments list them.
        if !report.derived.is_empty() {
            self.rebuild("it did not agree with the records")?;
            report.repaired.push("all segments were derived again".to_owned());
        }
        if !report.records.is_empty() {
            let _merging = self.merging.lock().unwrap_or_else(PoisonError::into_inner);
            let damaged: Vec<DocNo> = self.rewrite(OnDamage::LeaveOut)?;
            let what = format!("the records were written anew, without {} that are damaged", damaged.len());
            report.repaired.push(what);
        }
        Ok(report)
    }
}
