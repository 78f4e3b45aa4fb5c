//! The place of a document in keep order, as bytes: they compare as the keep order does, and the id can be read back from them.

use benzer_dedup::keep::{Keep, id_key, id_of_key};
use benzer_io::read::Order;

pub(super) fn push(keep: &Keep, text: &str, value: Option<Order<'_>>, id: &str, out: &mut Vec<u8>) {
    if *keep != Keep::Last {
        keep.push_key(text, value, out);
        out.extend(id_key(id.as_bytes()));
        return;
    }
    // The order turned around. Zero is escaped and two zeros end the id, so that a prefix comes after what it begins.
    let start = out.len();
    id_key(id.as_bytes()).for_each(|byte| if byte == 0 { out.extend([0, 255]) } else { out.push(byte) });
    out.extend([0, 0]);
    out[start..].iter_mut().for_each(|byte| *byte = !*byte);
}

/// The id in a place; nothing if these bytes are no place.
pub(super) fn id(keep: &Keep, place: &[u8]) -> Option<String> {
    let bytes = match keep {
        Keep::First => place.to_vec(),
        Keep::Last => {
            let turned: Vec<u8> = place.iter().map(|byte| !byte).collect();
            let (id, rest) = unescape(&turned, 0)?;
            rest.is_empty().then_some(id)?
        }
        Keep::Longest | Keep::Shortest => place.get(8..)?.to_vec(),
        Keep::Max(_) | Keep::Min(_) => {
            let zero = if matches!(keep, Keep::Max(_)) { 255 } else { 0 };
            match place.split_first()? {
                (0, rest) => rest.get(8..)?.to_vec(),
                (1, rest) => unescape(rest, zero)?.1.to_vec(),
                (_, rest) => rest.to_vec(),
            }
        }
    };
    String::from_utf8(id_of_key(&bytes)?).ok()
}

/// What was escaped, and what is behind its end. `zero` is the byte that was zero.
fn unescape(bytes: &[u8], zero: u8) -> Option<(Vec<u8>, &[u8])> {
    let (mut text, mut rest) = (Vec::new(), bytes);
    loop {
        let (&byte, after) = rest.split_first()?;
        if byte != zero {
            text.push(byte);
            rest = after;
            continue;
        }
        let (&next, after) = after.split_first()?;
        if next == zero {
            return Some((text, after));
        }
        text.push(zero);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(which: u8, number: i8, text: &str) -> Option<Order<'_>> {
        match which % 3 {
            0 => Some(Order::Number(f64::from(number))),
            1 => Some(Order::Text(text)),
            _ => None,
        }
    }

    proptest! {
        #[test]
        fn places_compare_as_keys_and_ids_and_hold_the_id(
            a in "[\\x00ab\u{ff}]{0,4}|-?[0-9]{1,3}", b in "[\\x00ab\u{ff}]{0,4}|-?[0-9]{1,3}", x in "[\\x00a]{0,3}", y in "[\\x00a]{0,3}",
            which in any::<(u8, u8)>(), numbers in any::<(i8, i8)>(),
        ) {
            for keep in ["first", "last", "longest", "shortest", "max:f", "min:f"] {
                let keep: Keep = keep.parse().unwrap();
                let key = |text: &str, which, number| {
                    let mut key = Vec::new();
                    keep.push_key(text, value(which, number, text), &mut key);
                    key
                };
                let place = |text: &str, which, number, id: &str| {
                    let mut place = Vec::new();
                    push(&keep, text, value(which, number, text), id, &mut place);
                    place
                };
                let places = [place(&x, which.0, numbers.0, &a), place(&y, which.1, numbers.1, &b)];
                let name = |key: Vec<u8>, id: &str| (key, id_key(id.as_bytes()).collect::<Vec<u8>>());
                let by_parts = name(key(&x, which.0, numbers.0), &a).cmp(&name(key(&y, which.1, numbers.1), &b));
                let expected = if keep == Keep::Last { by_parts.reverse() } else { by_parts };
                prop_assert_eq!(places[0].cmp(&places[1]), expected);
                prop_assert_eq!(id(&keep, &places[0]), Some(a.clone()));
            }
        }
    }

    #[test]
    fn bytes_that_are_no_place_have_no_id() {
        for (keep, bytes) in [
            ("last", &[255u8, 255, 1][..]),
            ("last", &[1]),
            ("longest", &[1, 2]),
            ("max:f", &[0, 1]),
            ("min:f", &[]),
        ] {
            assert_eq!(id(&keep.parse().unwrap(), bytes), None, "{keep}");
        }
        assert_eq!(id(&Keep::First, &[255]), None);
    }
}
