//! Pairs to look at, side by side.

use std::fmt::Write;

use super::html::{escape, grouped, section};
use super::{Group, PairFacts, Report};

impl Report {
    pub(super) fn pairs(&self, out: &mut String) {
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
