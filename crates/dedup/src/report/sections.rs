//! The parts of the page, from what matters most to what is looked up.

use std::fmt::Write;

use super::chart::{self, round};
use super::html::{counted, escape, grouped, percent, section};
use super::{EarlierRun, Group, PairFacts, RejectFacts, Report};
use crate::summary::Counts;

impl Report {
    pub(super) fn lead(&self) -> String {
        let removed = if self.mode.is_dry { "would be removed" } else { "was removed" };
        if self.mode.is_contained {
            return format!(
                "<p class=\"lead\">Every document that {removed} contains at least {} of the shingles of an item that was looked for, by exact count.</p>\n",
                percent(self.mode.threshold)
            );
        }
        let rule = match (self.mode.is_chained, self.mode.is_estimated) {
            (true, _) => "is connected to a kept one by similar documents, and need not be similar to it",
            (_, true) => "is estimated by its sketch to be that similar to a kept one",
            _ => "is that similar to a kept one, by exact comparison",
        };
        format!(
            "<p class=\"lead\">Two documents are duplicates from a similarity of {} on. Every document that {removed} {rule}.</p>\n",
            round(self.mode.threshold)
        )
    }

    /// What is not known at a higher threshold.
    fn earlier(&self, out: &mut String) {
        let Some(EarlierRun { folder, threshold }) = &self.earlier else { return };
        let _ = writeln!(
            out,
            "<p>From the pairs of the run in <code>{}</code> at {}. Nothing was read again, so texts are not shown, and the recall was not measured: the report of that run has both.</p>",
            escape(folder),
            round(*threshold)
        );
    }

    pub(super) fn sections(&self, out: &mut String) {
        self.earlier(out);
        self.warnings(out);
        self.overview(out);
        if self.counts.removed > 0 {
            self.shapes(out);
        }
        if self.earlier.is_none() {
            self.recall(out);
        }
        if self.groups.iter().any(|group| !group.pairs.is_empty()) {
            self.pairs(out);
        }
        if self.mode.is_against {
            self.matched(out);
        }
        if !self.old.spans.is_empty() {
            self.spans(out);
        }
        if !self.shapes.largest.is_empty() {
            self.clusters(out);
        }
        if self.counts.rejected > 0 && self.earlier.is_none() {
            self.rejected(out);
        }
        self.settings(out);
    }

    fn matched(&self, out: &mut String) {
        let Counts { against, against_matched, .. } = self.counts;
        let (what, heading) = match self.mode.is_contained {
            true => ("items are in the input", "Items that were found"),
            false => ("old documents have a duplicate in the input", "Old documents that were found"),
        };
        let mut body = format!("<p>{} of {} {what}.", grouped(against_matched), grouped(against));
        if against_matched > self.old.matched.len() as u64 {
            let _ = write!(
                body,
                " These are the first {}; all of them are in <code>pairs.parquet</code>, as <code>id_a</code> where <code>a_is_old</code>.",
                self.old.matched.len()
            );
        }
        let names: Vec<String> =
            self.old.matched.iter().map(|id| format!("<code>{}</code>", escape(id))).collect();
        let _ = writeln!(body, "</p>\n<p>{}</p>", names.join(", "));
        section(out, "matched", heading, &body);
    }

    fn spans(&self, out: &mut String) {
        let mut body = "<p>The least contained items that count, each another one. If these are accidents, the threshold is too low.</p>\n".to_owned();
        for span in &self.old.spans {
            let _ = writeln!(
                body,
                "<article class=\"pair\">\n<p><strong>{}</strong> of item <code>{}</code> in <code>{}</code>, {}</p>\n<p>{}</p>\n</article>",
                percent(span.share),
                escape(&span.item),
                escape(&span.document),
                escape(&span.place),
                escape(&span.text)
            );
        }
        section(out, "spans", "Where the items are", &body);
    }

    fn warnings(&self, out: &mut String) {
        if self.warnings.is_empty() {
            return;
        }
        out.push_str("<div class=\"warnings\" role=\"note\">\n<strong>Look at this first</strong>\n<ul>\n");
        for warning in &self.warnings {
            let _ = writeln!(out, "<li>{}</li>", escape(warning));
        }
        out.push_str("</ul>\n</div>\n");
    }

    fn overview(&self, out: &mut String) {
        let counts = &self.counts;
        let documents = counts.read - counts.rejected;
        let share = |n: u64| n as f64 / documents.max(1) as f64;
        let removed = if self.mode.is_dry { "would be removed" } else { "removed" };
        let mut cards = vec![
            ("", grouped(documents), "documents".to_owned()),
            ("kept", grouped(counts.kept), format!("kept, {}", percent(share(counts.kept)))),
            ("removed", grouped(counts.removed), format!("{removed}, {}", percent(share(counts.removed)))),
            (
                "",
                grouped(counts.clusters),
                format!("clusters, the largest of {}", grouped(counts.largest_cluster)),
            ),
            ("", grouped(counts.edges), "similar pairs found".to_owned()),
        ];
        if let Some(covered) = self.recall.audit.as_ref().and_then(|audit| audit.covered_share) {
            cards.push(("", percent(covered.value), "of similar pairs dealt with, measured".to_owned()));
        }
        let mut body = "<div class=\"cards\">\n".to_owned();
        for (class, number, what) in cards {
            let _ = writeln!(body, "<div class=\"card {class}\"><b>{number}</b> <span>{what}</span></div>");
        }
        body.push_str("</div>\n");
        self.shares(&mut body);
        if counts.empty > 0 {
            let _ = writeln!(
                body,
                "<p class=\"quiet\">{} without a letter or digit {} similar to nothing; copies of one text are copies all the same, empty texts are kept.</p>",
                counted(counts.empty, "document"),
                if counts.empty == 1 { "is" } else { "are" }
            );
        }
        section(out, "found", "What was found", &body);
    }

    /// What became of the lines, as a bar with its legend.
    fn shares(&self, body: &mut String) {
        let counts = &self.counts;
        let parts = [
            ("kept", "kept", counts.kept),
            ("removed", "near-duplicates", counts.removed - counts.copies),
            ("equal", "exact copies", counts.copies),
            ("rejected", "rejected", counts.rejected),
        ];
        let parts: Vec<_> = parts.into_iter().filter(|part| part.2 > 0).collect();
        let all = counts.read.max(1) as f64;
        let described: Vec<String> =
            parts.iter().map(|part| format!("{} {}", grouped(part.2), part.1)).collect();
        let _ = writeln!(body, "<div class=\"share\" role=\"img\" aria-label=\"{}\">", described.join(", "));
        for (class, _, n) in &parts {
            let _ =
                writeln!(body, "<i class=\"{class}\" style=\"width:{:.3}%\"></i>", 100.0 * *n as f64 / all);
        }
        body.push_str("</div>\n<ul class=\"legend\">\n");
        for (class, name, n) in &parts {
            let _ = writeln!(body, "<li><i class=\"{class}\"></i>{} {name}</li>", grouped(*n));
        }
        body.push_str("</ul>\n");
    }

    fn shapes(&self, out: &mut String) {
        let (bins, equal) = &self.shapes.similarities;
        let estimated = match (self.mode.is_contained, self.mode.is_estimated) {
            (true, _) => "Share of the item that is in the document,",
            (_, true) => "Estimated similarity",
            _ => "Similarity",
        };
        let copies = match self.counts.copies {
            0 => String::new(),
            n => format!(" {} of the same text are left out.", counted(n, "copy").replace("copys", "copies")),
        };
        let at_one = match equal {
            0 => "",
            _ if self.mode.is_contained => " The bar at 1: the whole item is there.",
            _ => {
                " The bar at 1: all shingles agree, and the texts differ in case, punctuation or repetition."
            }
        };
        let of = match self.mode.is_contained {
            true => "for each removed document and the item that it names.",
            false => "of removed documents to the kept one that each names.",
        };
        let caption = format!("{estimated} {of}{copies}{at_one}");
        let mut figures = chart::histogram(bins, *equal, self.mode.threshold, &caption);
        let number = |n: u64| if n < 10_000 { grouped(n) } else { format!("{}k", grouped(n / 1000)) };
        let range = |i: usize| match i {
            0 => "2 documents".to_owned(),
            _ => format!("{} to {}", number((1 << i) + 1), number(1 << (i + 1))),
        };
        let rows: Vec<(String, u64)> =
            self.shapes.cluster_sizes.iter().enumerate().map(|(i, &n)| (range(i), n)).collect();
        figures.push_str(&chart::sizes(
            &rows,
            match self.mode.is_contained {
                true => "How many items are in how many documents, the item counted too.",
                false => "How many clusters have so many documents, the kept one included.",
            },
        ));
        section(
            out,
            "shapes",
            "How similar, and how many at a time",
            &format!("<div class=\"figures\">\n{figures}</div>\n"),
        );
    }

    fn clusters(&self, out: &mut String) {
        let mut body = "<div class=\"table\"><table>\n<thead><tr><th scope=\"col\">kept document</th><th class=\"n\" scope=\"col\">documents</th><th class=\"n\" scope=\"col\">least similarity</th><th class=\"n\" scope=\"col\">mean</th></tr></thead>\n<tbody>\n".to_owned();
        for cluster in &self.shapes.largest {
            let _ = writeln!(
                body,
                "<tr><td><code>{}</code><span class=\"words\" dir=\"auto\">{}</span></td><td class=\"n\">{}</td><td class=\"n\">{:.3}</td><td class=\"n\">{:.3}</td></tr>",
                escape(&cluster.id),
                escape(&cluster.begins),
                grouped(cluster.size),
                cluster.min,
                cluster.mean
            );
        }
        body.push_str("</tbody>\n</table></div>\n<p class=\"quiet\">All clusters are in <code>clusters.parquet</code>.</p>\n");
        section(out, "clusters", "The largest clusters", &body);
    }

    fn rejected(&self, out: &mut String) {
        let RejectFacts { reasons, examples } = &self.rejects;
        let mut body = format!(
            "<p>{} no document. All of them are in <code>rejects.jsonl</code>, with file, line and reason.</p>\n<div class=\"table\"><table>\n<thead><tr><th scope=\"col\">reason</th><th class=\"n\" scope=\"col\">lines</th></tr></thead>\n<tbody>\n",
            if self.counts.rejected == 1 {
                "1 line is".to_owned()
            } else {
                format!("{} lines are", grouped(self.counts.rejected))
            }
        );
        for (reason, n) in reasons {
            let _ = writeln!(
                body,
                "<tr><td class=\"any\">{}</td><td class=\"n\">{}</td></tr>",
                escape(reason),
                grouped(*n)
            );
        }
        body.push_str("</tbody>\n</table></div>\n<details><summary>The first of them</summary>\n<pre>");
        examples.iter().for_each(|reject| body.push_str(&(escape(reject) + "\n")));
        body.push_str("</pre></details>\n");
        section(out, "rejects", "Lines that are no documents", &body);
    }

    fn settings(&self, out: &mut String) {
        let mut body = "<div class=\"table\"><table>\n<tbody>\n".to_owned();
        for (name, value) in &self.settings {
            let _ = writeln!(
                body,
                "<tr><th scope=\"row\">{name}</th><td class=\"any\">{}</td></tr>",
                escape(value)
            );
        }
        body.push_str("</tbody>\n</table></div>\n");
        if let Some(command) = &self.command {
            let _ = writeln!(body, "<h3>Do it again</h3>\n<pre>{}</pre>", escape(command));
        }
        section(out, "settings", "Settings", &body);
    }

    /// Pairs to look at, side by side.
    fn pairs(&self, out: &mut String) {
        let mut body = match self.earlier {
            None => "<p>What differs is underlined. Case and punctuation do not count.</p>\n".to_owned(),
            Some(_) => String::new(),
        };
        for group in self.groups.iter().filter(|group| !group.pairs.is_empty()) {
            let _ = writeln!(body, "<h3>{}</h3>\n<p>{}</p>", group.heading, group.why);
            for pair in &group.pairs {
                body.push_str(&self.pair(group, pair));
            }
        }
        section(out, "pairs", "Pairs around the threshold", &body);
    }

    fn pair(&self, group: &Group, pair: &PairFacts) -> String {
        let counts = pair.counts.map_or(" estimated".to_owned(), |(both, union)| {
            format!(" ({} of {} shingles are in both)", grouped(both.into()), grouped(union.into()))
        });
        let unaligned = if pair.sides.is_aligned {
            ""
        } else {
            " They differ in too much to be aligned; this is how they begin."
        };
        let mut out = format!(
            "<article class=\"pair\">\n<p><b>{:.4}</b>{counts}.{unaligned}</p>\n<div class=\"sides\">\n",
            pair.similarity
        );
        for side in 0..2 {
            let place = match pair.ids[side] == pair.places[side] {
                true => String::new(),
                false => format!(", {}", escape(&pair.places[side])),
            };
            let _ = writeln!(
                out,
                "<div class=\"{}\"><h4>{}: <code>{}</code>{place}</h4><p class=\"text\" dir=\"auto\">{}</p></div>",
                ["a", "b"][side],
                group.names[side],
                escape(&pair.ids[side]),
                pair.sides.html[side]
            );
        }
        out.push_str("</div>\n</article>\n");
        out
    }
}
