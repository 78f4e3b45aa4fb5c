//! What the bands promise, beside what was measured.

use std::fmt::Write;

use super::Report;
use super::chart::{self, round};
use super::html::{counted, grouped, percent, section};
use crate::audit::{Audited, Share};

impl Report {
    pub(super) fn recall(&self, out: &mut String) {
        let mut body = String::new();
        match &self.recall.banding {
            Some(banding) => {
                let _ = writeln!(
                    body,
                    "<p>Documents are compared if their sketches agree in one of {} bands of {} registers. Of the pairs at the threshold, {} do; above it, more.</p>",
                    banding.bands(),
                    banding.rows(),
                    percent(banding.probability(self.mode.threshold))
                );
            }
            None => body.push_str("<p>Candidates came from an exact join, which misses nothing.</p>\n"),
        }
        match &self.recall.audit {
            Some(audit) => body.push_str(&self.audited(audit)),
            None if self.mode.is_contained => body.push_str("<p>Every document was compared with every item.</p>\n"),
            None => body.push_str("<p class=\"quiet\">The recall of this run was not measured (<code>--audit off</code>).</p>\n"),
        }
        let is_short = |audit: &&Audited| audit.pairs < 400 && audit.sampled < audit.documents;
        if self.recall.audit.as_ref().filter(is_short).is_some() {
            body.push_str("<p class=\"quiet\">Fewer than 400 pairs were met, which leaves a wide interval; <code>--audit N</code> compares N documents with all others.</p>\n");
        }
        if self.mode.is_against && self.recall.audit.is_some() {
            body.push_str("<p class=\"quiet\">The audit compares documents of the input with each other; old documents are found through the same bands, and were not part of it.</p>\n");
        }
        let bins = self.recall.audit.as_ref().map_or(&[][..], |audit| &audit.bins);
        let measured = bins.iter().any(|bin| bin.met_share.is_some());
        if let Some(banding) = &self.recall.banding {
            let points =
                if measured { " Circles: what was measured on this run, with 95% intervals." } else { "" };
            let caption =
                format!("Line: the share of pairs of each similarity that the bands bring together.{points}");
            let chart = chart::recall(|j| banding.probability(j), self.mode.threshold, bins, &caption);
            let _ = writeln!(body, "<div class=\"figures\">\n{chart}{}</div>", self.measured());
        } else {
            body.push_str(&self.measured());
        }
        if self.counts.oversized_buckets > 0 {
            let _ = writeln!(
                body,
                "<h3>Buckets over the limit</h3>\n<p>{} had more than {} documents, up to {}. There each document was compared with the first {} in keep order only: enough to remove it, and far fewer comparisons. Large clusters are therefore not paired in full.</p>",
                counted(self.counts.oversized_buckets, "bucket"),
                self.recall.cap,
                grouped(self.counts.largest_bucket),
                self.recall.cap
            );
        }
        section(out, "recall-heading", "Is the recall what was promised?", &body);
    }

    fn audited(&self, audit: &Audited) -> String {
        let compared = compared(audit);
        let (Some(recall), Some(met), Some(covered)) = (audit.recall, audit.met_share, audit.covered_share)
        else {
            return format!("<p>The audit compared {compared}, exactly, and met no similar pair.</p>\n");
        };
        let mut text = format!(
            "<p>The audit compared {compared}, exactly, and met {} (copies aside). ",
            counted(audit.pairs, "similar pair")
        );
        match audit.capped {
            0 => {
                let _ = write!(text, "The run had found <strong>{}</strong> of them. ", interval(recall));
            }
            _ => {
                let _ = write!(
                    text,
                    "Of these, <strong>{}</strong> met in a bucket; {} were compared, and the others are beyond the limit of {} a bucket. ",
                    interval(met),
                    interval(recall),
                    self.recall.cap
                );
            }
        }
        let removed = if self.mode.is_dry { "would be removed" } else { "was removed" };
        let left = audit.pairs - audit.covered;
        let _ = writeln!(
            text,
            "Of <strong>{}</strong> at least one document {removed}{}.</p>",
            interval(covered),
            match left {
                0 => String::new(),
                1 => "; of one pair both are kept".to_owned(),
                n => format!("; of {} pairs both are kept", grouped(n)),
            }
        );
        text
    }

    /// The numbers behind the circles.
    fn measured(&self) -> String {
        let Some(audit) = self.recall.audit.as_ref().filter(|audit| audit.pairs > 0) else {
            return String::new();
        };
        let mut out = "<div class=\"table\"><table>\n<thead><tr><th scope=\"col\">similarity</th><th class=\"n\" scope=\"col\">pairs</th><th class=\"n\" scope=\"col\">expected</th><th class=\"n\" scope=\"col\">measured</th><th class=\"n\" scope=\"col\">95% interval</th></tr></thead>\n<tbody>\n".to_owned();
        for bin in &audit.bins {
            let expected =
                self.recall.banding.map_or(1.0, |banding| banding.probability((bin.from + bin.to) / 2.0));
            let (value, range) = match bin.met_share {
                Some(share) if share.low == share.high => (percent(share.value), "exact".to_owned()),
                Some(share) => {
                    (percent(share.value), format!("{} to {}", percent(share.low), percent(share.high)))
                }
                None => ("&ndash;".to_owned(), "&ndash;".to_owned()),
            };
            let _ = writeln!(
                out,
                "<tr><th scope=\"row\">{} to {}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{value}</td><td class=\"n\">{range}</td></tr>",
                round(bin.from),
                round(bin.to),
                grouped(bin.pairs),
                percent(expected)
            );
        }
        out.push_str("</tbody>\n</table></div>\n");
        out
    }
}

fn compared(audit: &Audited) -> String {
    let Audited { sampled, compared, documents, by_minimum, .. } = *audit;
    let others = match (by_minimum, compared == documents) {
        (true, _) => format!("{} others that share a minimum with them", grouped(compared)),
        (_, true) if sampled == documents => {
            return format!("all {} with each other", counted(documents, "document"));
        }
        (_, true) => "all others".to_owned(),
        (_, false) => format!("{} others", grouped(compared)),
    };
    format!("{} drawn at random with {others}", counted(sampled, "document"))
}

fn interval(share: Share) -> String {
    match share.low == share.high {
        true => percent(share.value),
        false => format!("{} ({} to {})", percent(share.value), percent(share.low), percent(share.high)),
    }
}
