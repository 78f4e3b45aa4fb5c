//! How much kept documents have in common with a query, read off their contents without making documents of them.
//!
//! A search for the best compares hundreds of documents. The size of each is in its record; so all that is missing are the elements that it shares with the query, which are looked up one by one as the contents
//! are read. Contents that are not sets of values or shingles of a text are left to the general way ([`super::exact`]), and so is everything that is not written as [`crate::Recorder`] writes it.

use std::borrow::Cow;

use benzer_core::Features;
use benzer_core::field::Kind;
use benzer_core::field::text::{Scratch, Shingler};
use benzer_core::hash;
use memchr::memchr2;

use crate::query::Criteria;
use crate::settings::Settings;

/// The fields of a query that documents are compared with.
#[derive(Default)]
pub(crate) struct Overlap<'a> {
    fields: Vec<QueryField<'a>>,
    scratch: Scratch,
}

/// A field of the query.
struct QueryField<'a> {
    place: usize,
    name: &'a str,
    /// Nothing for values, which are elements as they are.
    shingler: Option<&'a Shingler>,
    elements: Elements,
}

impl<'a> Overlap<'a> {
    /// For the fields that a search compares; nothing if one of them is no set or needs more than reading.
    pub fn new(settings: &'a Settings, criteria: &Criteria, features: &[Features]) -> Option<Self> {
        let field = |&place: &usize| {
            let name = settings.fields[place].name.as_str();
            let (_, spec) = settings.schema.fields().find(|(field, _)| *field == name)?;
            let shingler = match &spec.kind {
                Kind::Text(options) if !options.bag => Some(settings.schema.shingler(name)?),
                Kind::Values(options) if !options.bag => None,
                _ => return None,
            };
            Some(QueryField { place, name, shingler, elements: Elements::new(features[place].elements()) })
        };
        let fields = criteria.fields.iter().map(field).collect::<Option<_>>()?;
        Some(Self { fields, scratch: Scratch::default() })
    }

    /// How many elements of each field some contents share with the query: by the place of the field. Nothing if they have to be read in the general way.
    pub fn of(&mut self, contents: &[u8]) -> Option<impl Iterator<Item = (usize, f64)>> {
        self.fields.iter_mut().for_each(|field| field.elements.begin());
        let mut json = Json { rest: contents };
        json.take(b'{')?;
        while json.take(b'}').is_none() {
            let name = json.string()?;
            json.take(b':')?;
            match self.fields.iter_mut().find(|field| field.name == name) {
                Some(field) => field.read(&mut json, &mut self.scratch)?,
                None => json.pass()?,
            }
            if json.rest.first() != Some(&b'}') {
                json.take(b',')?;
            }
        }
        if !json.rest.is_empty() {
            return None;
        }
        Some(self.fields.iter().map(|field| (field.place, f64::from(field.elements.common))))
    }
}

impl QueryField<'_> {
    fn read(&mut self, json: &mut Json<'_>, scratch: &mut Scratch) -> Option<()> {
        let elements = &mut self.elements;
        match self.shingler {
            Some(shingler) => {
                let text = json.string()?;
                shingler.elements(&text, scratch).iter().for_each(|element| elements.meet(*element));
                Some(())
            }
            None => json.values(|value| elements.meet(hash::element(value))),
        }
    }
}

/// The elements of a set, and which of them were met.
struct Elements {
    /// Elements where their bits say or behind; empty places have the number 0.
    places: Vec<(u64, u32)>,
    shift: u32,
    /// The number of the document in which they are met: what was met before has a lower one.
    document: u32,
    common: u32,
}

impl Elements {
    fn new(elements: &[u64]) -> Self {
        let n = (4 * elements.len()).next_power_of_two().max(4);
        let mut table = Self { places: vec![(0, 0); n], shift: 64 - n.ilog2(), document: 1, common: 0 };
        for &element in elements {
            let mut at = table.first(element);
            while table.places[at].1 > 0 {
                at = (at + 1) % n;
            }
            table.places[at] = (element, 1);
        }
        table
    }

    fn first(&self, element: u64) -> usize {
        (element.wrapping_mul(hash::FINISH) >> self.shift) as usize
    }

    /// Another document.
    fn begin(&mut self) {
        (self.document, self.common) = (self.document + 1, 0);
    }

    #[inline]
    fn meet(&mut self, element: u64) {
        let mut at = self.first(element);
        loop {
            let place = &mut self.places[at];
            if place.1 == 0 {
                return;
            }
            if place.0 == element {
                self.common += u32::from(place.1 < self.document);
                place.1 = self.document;
                return;
            }
            at = (at + 1) % self.places.len();
        }
    }
}

/// Contents as they are written: without white space.
struct Json<'a> {
    rest: &'a [u8],
}

impl<'a> Json<'a> {
    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        self.rest = self.rest.strip_prefix(&[byte])?;
        Some(())
    }

    /// What is before `end` and behind it.
    fn until(&mut self, end: usize) -> Option<&'a [u8]> {
        let (before, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(before)
    }

    /// A string with its quotation marks, and whether some of its characters are escaped.
    fn quoted(&mut self) -> Option<(&'a [u8], bool)> {
        if self.rest.first() != Some(&b'"') {
            return None;
        }
        let (mut at, mut is_escaped) = (1, false);
        loop {
            at += memchr2(b'"', b'\\', self.rest.get(at..)?)?;
            if self.rest[at] == b'"' {
                return Some((self.until(at + 1)?, is_escaped));
            }
            (at, is_escaped) = (at + 2, true);
        }
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        let (quoted, is_escaped) = self.quoted()?;
        match is_escaped {
            true => serde_json::from_slice(quoted).ok().map(Cow::Owned),
            false => std::str::from_utf8(&quoted[1..quoted.len() - 1]).ok().map(Cow::Borrowed),
        }
    }

    /// Strings and integers of a list: an integer is the same value as its decimal text.
    fn values(&mut self, mut each: impl FnMut(&[u8])) -> Option<()> {
        self.take(b'[')?;
        while self.take(b']').is_none() {
            match self.rest.first()? {
                b'"' => each(self.string()?.as_bytes()),
                _ => {
                    let sign = usize::from(self.rest[0] == b'-');
                    let digits = self.rest[sign..].iter().position(|byte| !byte.is_ascii_digit())?;
                    if digits == 0 {
                        return None;
                    }
                    each(self.until(sign + digits)?);
                }
            }
            if self.rest.first() != Some(&b']') {
                self.take(b',')?;
            }
        }
        Some(())
    }

    /// Passes over a field that is not compared.
    fn pass(&mut self) -> Option<()> {
        match self.rest.first()? {
            b'"' => self.quoted().map(|_| ()),
            b'[' => self.values(|_| ()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use benzer_core::field::{Content, Document, Value};
    use proptest::prelude::*;

    use super::*;
    use crate::query::Query;
    use crate::record::Recorder;
    use crate::settings::Keeps;

    fn settings() -> Settings {
        let schema = r#"{"fields": {"body": {"kind": "text", "n": 2}, "note": {"kind": "text", "unit": "characters", "n": 3}, "tags": {"kind": "values"}}}"#;
        Settings::with_target(serde_json::from_str(schema).unwrap(), 0.8, 0.95, Keeps::Documents).unwrap()
    }

    fn written(document: &Document) -> Vec<u8> {
        serde_json::to_vec(&document.fields).unwrap()
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            proptest::collection::vec("[ab]", 0..12).prop_map(|words| words.join(" ")),
            "[a-b\"\\\\\n\u{1}ä漢😀 ]{0,20}",
        ]
    }

    fn document() -> impl Strategy<Value = Document> {
        let value = prop_oneof![
            (-30i64..30).prop_map(Value::from),
            (0u64..30).prop_map(|n| Value::from(n.to_string())),
            Just(Value::from(u64::MAX)),
            text().prop_map(Value::from),
        ];
        let tags = proptest::collection::vec(value, 0..12).prop_map(Content::Values);
        let fields = [
            ("body", text().prop_map(Content::from).boxed()),
            ("note", text().prop_map(Content::from).boxed()),
            ("other", text().prop_map(Content::from).boxed()),
            ("tags", tags.boxed()),
        ];
        let fields = fields.map(|(name, content)| {
            proptest::option::of(content).prop_map(move |content| Some((name, content?)))
        });
        fields.prop_map(|fields| Document::new("x", fields.into_iter().flatten()))
    }

    proptest! {
        #[test]
        fn as_many_elements_are_shared_as_features_say(query in document(), others in proptest::collection::vec(document(), 1..4), only in prop_oneof![Just(vec![]), Just(vec!["tags".to_owned()]), Just(vec!["note".to_owned(), "body".to_owned()])]) {
            let settings = settings();
            let recorder = Recorder::new(&settings).unwrap();
            let criteria = Criteria::new(&settings, &Query { fields: only, ..Query::default() }).unwrap();
            let asked = recorder.features(&query).unwrap();
            let mut overlap = Overlap::new(&settings, &criteria, &asked).unwrap();
            for other in &others {
                let features = recorder.features(other).unwrap();
                let mut words = Vec::new();
                recorder.words(&features, &mut words).unwrap();
                let found: Vec<(usize, f64)> = overlap.of(&written(other)).unwrap().collect();
                let expected: Vec<(usize, f64)> = criteria.fields.iter().map(|&i| (i, asked[i].intersection(&features[i]))).collect();
                prop_assert_eq!(found, expected);
                for &i in &criteria.fields {
                    prop_assert_eq!(recorder.layout().fields()[i].size(&words), features[i].size());
                }
            }
        }

        #[test]
        fn whatever_the_bytes_are_reading_ends(contents in proptest::collection::vec(proptest::sample::select(b"{}[]\":,\\-019aetgs\xff".to_vec()), 0..40), from in 0usize..60) {
            let settings = settings();
            let criteria = Criteria::new(&settings, &Query::default()).unwrap();
            let mut overlap = Overlap::new(&settings, &criteria, &vec![Features::set([1, 2]); 3]).unwrap();
            let _ = overlap.of(&contents).map(Iterator::count);
            let whole = written(&Document::new("x", [("body", Content::from("a\n\"b")), ("tags", Content::values([-5i64, 7]))]));
            let _ = overlap.of(&whole[..from.min(whole.len())]).map(Iterator::count);
        }
    }

    #[test]
    fn what_is_written_in_another_way_is_left_to_the_general_one() {
        let settings = settings();
        let criteria = Criteria::new(&settings, &Query::default()).unwrap();
        let mut overlap = Overlap::new(&settings, &criteria, &vec![Features::set([1, 2]); 3]).unwrap();
        let counts = Content::Counts(BTreeMap::from([("a".to_owned(), 2.0)]));
        assert!(overlap.of(&written(&Document::new("x", [("tags", counts)]))).is_none());
        for contents in [
            &b""[..],
            b"{",
            b"{\"tags\": [1]}",
            b"{\"tags\":[1]}}",
            b"{\"tags\":[1.5]}",
            b"{\"tags\":[-]}",
            b"{\"tags\":5}",
            b"{\"body\":\"\\x\"}",
            b"{\"body\":\"\xff\"}",
        ] {
            assert!(overlap.of(contents).is_none(), "{}", String::from_utf8_lossy(contents));
        }
        let bag = r#"{"fields": {"tags": {"kind": "values", "bag": true}}}"#;
        let settings =
            Settings::with_target(serde_json::from_str(bag).unwrap(), 0.8, 0.95, Keeps::Documents).unwrap();
        let criteria = Criteria::new(&settings, &Query::default()).unwrap();
        assert!(Overlap::new(&settings, &criteria, &[Features::default()]).is_none());
    }
}
