//! Searching a collection: what is asked, what is compared, what is answered.

use benzer_core::Features;
use benzer_core::field::Document;

use crate::best::Best;
use crate::candidates::Candidates;
use crate::error::{Error, Result};
use crate::exact;
use crate::index::{Index, is_gone, now};
use crate::query::{Answer, FieldMatch, Match, Query};
use crate::score::Score;
use crate::settings::Keeps;
use crate::store::{Parts, Record, View};

/// A document that is looked for.
struct Probe {
    words: Vec<u64>,
    features: Vec<Features>,
    document: Option<Document>,
    /// Its id: it is not its own match.
    id: String,
}

/// What a query means for this collection.
pub(crate) struct Terms {
    pub threshold: f64,
    pub fields: Vec<usize>,
    now: u64,
}

impl Index {
    /// The documents that are similar to one that need not be in the collection. If one with its id is, that is not a match.
    ///
    /// # Errors
    /// A document that does not suit the schema; a query that makes no sense; what the store says.
    pub fn search(&self, document: &Document, query: &Query) -> Result<Answer> {
        let mut answers = self.search_many(std::slice::from_ref(document), query)?;
        Ok(answers.pop().expect("one answer for each document"))
    }

    /// [`Index::search`] for many documents in one go.
    ///
    /// # Errors
    /// As [`Index::search`], for the first document that fails.
    pub fn search_many(&self, documents: &[Document], query: &Query) -> Result<Vec<Answer>> {
        let terms = self.terms(query)?;
        let view = self.store().view()?;
        let probe = |document: &Document| -> Result<Probe> {
            let features = self.recorder().features(document)?;
            let mut words = Vec::new();
            self.recorder().words(&features, &mut words)?;
            Ok(Probe { words, features, document: Some(document.clone()), id: document.id.clone() })
        };
        let probes = documents.iter().map(probe).collect::<Result<Vec<_>>>()?;
        self.answers(&*view, &probes, &terms, query)
    }

    /// The documents that are similar to one of the collection.
    ///
    /// # Errors
    /// No such document; a query that makes no sense; what the store says.
    pub fn search_id(&self, id: &str, query: &Query) -> Result<Answer> {
        let terms = self.terms(query)?;
        let view = self.store().view()?;
        let mut probe = None;
        self.visit(&*view, id, Parts::All, &mut |_, record| {
            let document = (!record.document.is_empty()).then(|| exact::document(record.id, record.document));
            let document = document.transpose()?;
            let features =
                document.as_ref().map(|document| self.recorder().features(document)).transpose()?;
            let features = features.unwrap_or_default();
            probe = Some(Probe { words: record.words.to_vec(), features, document, id: id.to_owned() });
            Ok(())
        })?;
        let probe = probe.ok_or_else(|| Error::NoDocument { id: id.to_owned() })?;
        let mut answers = self.answers(&*view, &[probe], &terms, query)?;
        Ok(answers.pop().expect("one answer for each document"))
    }

    pub(crate) fn terms(&self, query: &Query) -> Result<Terms> {
        let threshold = query.threshold.unwrap_or(self.settings().threshold);
        if !(threshold > 0.0 && threshold <= 1.0) {
            return Err(Error::parameter("threshold", "above 0 and at most 1", threshold));
        }
        let names: Vec<&str> = self.settings().fields.iter().map(|field| field.name.as_str()).collect();
        let place = |wanted: &String| {
            let found = names.iter().position(|name| name == wanted);
            found.ok_or_else(|| {
                Error::parameter("fields", format!("some of {}", names.join(", ")), format!("`{wanted}`"))
            })
        };
        let mut fields = query.fields.iter().map(place).collect::<Result<Vec<usize>>>()?;
        fields.sort_unstable();
        fields.dedup();
        if fields.is_empty() {
            fields = self.all_fields().to_vec();
        }
        if query.explain && self.settings().keeps == Keeps::Sketches {
            return Err(Error::parameter(
                "explain",
                "used with a collection that keeps documents",
                "one that keeps sketches",
            ));
        }
        Ok(Terms { threshold, fields, now: now() })
    }

    fn answers(
        &self,
        view: &dyn View,
        probes: &[Probe],
        terms: &Terms,
        query: &Query,
    ) -> Result<Vec<Answer>> {
        let (layout, mut candidates) = (self.recorder().layout(), Candidates::default());
        let words = probes.iter().map(|probe| &probe.words[..]);
        candidates.find(view, (layout, &terms.fields), words)?;
        let most = query.offset.saturating_add(query.limit);
        let mut best: Vec<Best> = probes.iter().map(|_| Best::new(most)).collect();
        let (mut asked, mut compared) = (0, vec![0; probes.len()]);
        view.records(candidates.numbers(), self.parts(probes), &mut |place, record| {
            while candidates.ends()[asked] <= place as usize {
                asked += 1;
            }
            let probe = &probes[asked];
            let shares_key = || layout.share_key(&terms.fields, &probe.words, record.words);
            if record.id == probe.id.as_bytes() || terms.is_gone(&record) || !shares_key() {
                return Ok(());
            }
            compared[asked] += 1;
            self.offer(probe, &record, (terms, query), &mut best[asked])
        })?;
        let (recall, warnings) = self.recall(terms);
        let answer = |(best, n_candidates): (Best, usize)| {
            let (mut matches, n_matches) = best.into_sorted();
            matches.drain(..query.offset.min(matches.len()));
            Answer { matches, n_matches, n_candidates, recall, warnings: warnings.clone() }
        };
        Ok(best.into_iter().zip(compared).map(answer).collect())
    }

    /// Documents are needed only where similarities can be exact.
    fn parts(&self, probes: &[Probe]) -> Parts {
        let is_exact = probes.iter().any(|probe| self.is_exact(probe));
        if is_exact { Parts::All } else { Parts::Sketches }
    }

    fn is_exact(&self, probe: &Probe) -> bool {
        self.settings().keeps == Keeps::Documents && !probe.features.is_empty()
    }

    /// The share of documents at the threshold that are found, and what to say about it.
    fn recall(&self, terms: &Terms) -> (f64, Vec<String>) {
        let fields = terms.fields.iter().map(|&i| &self.recorder().layout().fields()[i]);
        // Some field reaches the threshold if the mean does: the worst of them is the bound.
        let recall = fields.map(|field| field.probability(terms.threshold)).fold(1.0, f64::min);
        let built = self.settings().threshold;
        let below = format!(
            "the collection was built for similarities from {built} on: at {} it finds {:.1}% of the documents",
            terms.threshold,
            100.0 * recall
        );
        (recall, if terms.threshold < built { vec![below] } else { Vec::new() })
    }

    /// Offers a candidate, which shares a band key, if it reaches the threshold.
    fn offer(
        &self,
        probe: &Probe,
        record: &Record<'_>,
        (terms, query): (&Terms, &Query),
        best: &mut Best,
    ) -> Result<()> {
        let layout = self.recorder().layout();
        let pair = (&probe.words[..], record.words);
        let score = self.scorer().score(layout, &terms.fields, pair)?;
        let is_exact = self.is_exact(probe);
        let may_match =
            if is_exact { score.may_reach(terms.threshold) } else { score.value() >= terms.threshold };
        if !may_match {
            return Ok(());
        }
        if is_exact {
            return self.offer_exact(probe, record, &score, (terms, query), best);
        }
        best.offer(score.value(), record.id, || self.estimated_match(probe, record, &score, terms))
    }

    fn estimated_match(
        &self,
        probe: &Probe,
        record: &Record<'_>,
        score: &Score,
        terms: &Terms,
    ) -> Result<Match> {
        let layout = self.recorder().layout();
        let fields = self.scorer().fields(layout, &terms.fields, (&probe.words, record.words)).map(|field| {
            let (i, estimate) = field?;
            Ok(FieldMatch {
                field: layout.fields()[i].name.clone(),
                estimate,
                exact: None,
                explanation: None,
            })
        });
        Ok(Match {
            id: String::from_utf8_lossy(record.id).into_owned(),
            similarity: score.value(),
            exact: None,
            estimate: score.estimate,
            fields: fields.collect::<Result<_>>()?,
        })
    }

    /// Offers a candidate if the features of the documents reach the threshold.
    fn offer_exact(
        &self,
        probe: &Probe,
        record: &Record<'_>,
        score: &Score,
        (terms, query): (&Terms, &Query),
        best: &mut Best,
    ) -> Result<()> {
        let document = exact::document(record.id, record.document)?;
        let features = self.recorder().features(&document)?;
        let weight = |i: usize| self.recorder().layout().fields()[i].weight;
        let of_fields = terms.fields.iter().map(|&i| (weight(i), &probe.features[i], &features[i]));
        let Some(similarity) =
            exact::similarity(of_fields).filter(|similarity| *similarity >= terms.threshold)
        else {
            return Ok(());
        };
        best.offer(similarity, record.id, || {
            let mut found = self.estimated_match(probe, record, score, terms)?;
            (found.similarity, found.exact) = (similarity, Some(similarity));
            for field in &mut found.fields {
                let fields = &self.settings().fields;
                let i = fields.iter().position(|other| other.name == field.field).unwrap_or_default();
                let pair = (&probe.features[i], &features[i]);
                field.exact = exact::jaccard(pair.0, pair.1);
                if let (true, Some(asked)) = (query.explain, &probe.document) {
                    let documents = (asked, &document);
                    field.explanation =
                        Some(exact::explain(&self.settings().schema, &field.field, documents, pair));
                }
            }
            Ok(found)
        })
    }
}

impl Terms {
    pub fn is_gone(&self, record: &Record<'_>) -> bool {
        is_gone(record, self.now)
    }
}
