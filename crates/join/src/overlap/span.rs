//! Where in a text a set is.

use std::{collections::HashMap, ops::Range};

use benzer_core::field::text::Shingler;

/// The bytes of a text that hold most of a set: of all windows of as many shingles as the set has elements, the first with the most distinct elements of the set,
/// cut to the first and the last of them. Nothing if the text has none. `elements` are sorted.
pub fn span(shingler: &Shingler, text: &str, elements: &[u64]) -> Option<Range<usize>> {
    let shingles = shingler.shingles(text);
    let is_shared = |i: usize| elements.binary_search(&shingles[i].element).is_ok();
    let mut counts: HashMap<u64, u32> = HashMap::new();
    let mut best: Option<(usize, usize)> = None;
    for i in 0..shingles.len() {
        if let Some(left) = i.checked_sub(elements.len())
            && let Some(count) = counts.get_mut(&shingles[left].element)
        {
            *count -= 1;
            if *count == 0 {
                counts.remove(&shingles[left].element);
            }
        }
        if is_shared(i) {
            *counts.entry(shingles[i].element).or_default() += 1;
            if best.is_none_or(|(max, _)| counts.len() > max) {
                best = Some((counts.len(), i));
            }
        }
    }
    let (_, last) = best?;
    let first = (last + 1).saturating_sub(elements.len());
    let first = (first..=last).find(|&i| is_shared(i))?;
    Some(shingles[first].range.start..shingles[last].range.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::field::text::TextOptions;

    fn found<'a>(text: &'a str, item: &str) -> Option<&'a str> {
        let shingler = Shingler::new(&TextOptions { n: 2, ..TextOptions::default() }).unwrap();
        span(&shingler, text, shingler.features(item).elements()).map(|range| &text[range])
    }

    #[test]
    fn the_span_is_what_the_item_and_the_text_share_and_stray_shingles_are_left_out() {
        let text = "the cat. Élan, «we be OR not, to be», that is the question; a cat: the cat sat";
        assert_eq!(found(text, "be or not to be"), Some("be OR not, to be"));
        assert_eq!(found(text, "or not to bed, the cat"), Some("OR not, to"));
        assert_eq!(found(text, "nothing at all"), None);
        assert_eq!(found("", "to be"), None);
        assert_eq!(found("to be", "to be"), Some("to be"));
        assert_eq!(found("x y z", ""), None);
    }
}
