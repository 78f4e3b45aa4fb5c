//! A collection: what goes in, and what is found.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use benzer_core::estimate::Estimate;
use benzer_core::field::Document;
use benzer_core::sketch::Sketch;
use benzer_core::{Features, lsh::BandKey};

use crate::error::{Error, Result};
use crate::exact;
use crate::query::{Answer, FieldMatch, Match, Query};
use crate::record::{Recorder, Records};
use crate::score::{Score, Scorer};
use crate::settings::{Keeps, Settings};
use crate::store::{DocNo, Parts, Postings, Record, Stats, Store, View};

/// Documents that [`Index::duplicates`] looks up at a time.
const TOGETHER: usize = 1024;

/// A collection of documents that can be searched for similar ones.
#[derive(Debug)]
pub struct Index {
    store: Arc<dyn Store>,
    recorder: Recorder,
    scorer: Scorer,
    all_fields: Vec<usize>,
}

/// What became of each document of a batch, by position.
#[derive(Debug)]
pub struct Inserted {
    /// Why a document was not taken; nothing for one that was.
    pub outcomes: Vec<Result<()>>,
}

impl Inserted {
    /// How many are in the collection now.
    pub fn n_inserted(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.is_ok()).count()
    }
}

/// A document that is looked for.
struct Probe {
    words: Vec<u64>,
    features: Vec<Features>,
    document: Option<Document>,
    /// Its own number, if it is in the collection: it is not its own match.
    own: Option<DocNo>,
}

/// What a query means for this collection.
struct Terms {
    threshold: f64,
    fields: Vec<usize>,
    now: u64,
}

impl Index {
    /// The collection of a store.
    ///
    /// # Errors
    /// Settings of another version.
    pub fn new(store: Arc<dyn Store>) -> Result<Self> {
        let recorder = Recorder::new(store.settings())?;
        let scorer = Scorer::new(recorder.layout())?;
        let all_fields = (0..recorder.layout().fields().len()).collect();
        Ok(Self { store, recorder, scorer, all_fields })
    }

    /// What the collection is.
    pub fn settings(&self) -> &Settings {
        self.store.settings()
    }

    /// Makes records, as inserting and searching do.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Where the collection is kept.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Adds documents, and replaces those that have the same id, in one commit.
    ///
    /// # Errors
    /// What the store says; then nothing has changed. A document that does not suit the schema is left out, and the answer at its position says why.
    pub fn insert(&self, documents: &[Document]) -> Result<Inserted> {
        self.insert_until(documents, |_| None)
    }

    /// [`Index::insert`] of documents that are gone from some time on, in seconds since 1970.
    ///
    /// # Errors
    /// As [`Index::insert`].
    pub fn insert_until(
        &self,
        documents: &[Document],
        expires: impl Fn(usize) -> Option<u64>,
    ) -> Result<Inserted> {
        let mut records = Records::default();
        let outcomes = documents.iter().enumerate().map(|(i, document)| {
            // Zero means never; what was gone in 1970 is gone in the next second too.
            let expires = expires(i).map_or(0, |time| time.max(1));
            self.recorder.record(document, expires, &mut records)
        });
        let outcomes = outcomes.collect();
        self.store.put(records)?;
        Ok(Inserted { outcomes })
    }

    /// Removes documents; how many there were.
    ///
    /// # Errors
    /// What the store says.
    pub fn remove<I: AsRef<str>>(&self, ids: &[I]) -> Result<u64> {
        let ids: Vec<&[u8]> = ids.iter().map(|id| id.as_ref().as_bytes()).collect();
        self.store.remove(&ids)
    }

    /// Removes what is gone by now; how many there were.
    ///
    /// # Errors
    /// What the store says.
    pub fn expire(&self) -> Result<u64> {
        self.store.expire(now())
    }

    /// A document, if it is there and documents are kept.
    ///
    /// # Errors
    /// What the store says; a document that was damaged.
    pub fn get(&self, id: &str) -> Result<Option<Document>> {
        let view = self.store.view()?;
        let Some(number) = self.number(&*view, id)? else { return Ok(None) };
        let mut found = None;
        view.records(&[number], Parts::All, &mut |_, record| {
            if !record.document.is_empty() {
                found = Some(exact::document(record.id, record.document)?);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The sketches of a document, by field; an empty field has none.
    ///
    /// # Errors
    /// What the store says.
    pub fn sketch(&self, id: &str) -> Result<Option<Vec<(String, Sketch)>>> {
        let view = self.store.view()?;
        let Some(number) = self.number(&*view, id)? else { return Ok(None) };
        let mut sketches = Vec::new();
        view.records(&[number], Parts::Sketches, &mut |_, record| {
            for field in self.recorder.layout().fields() {
                let size = field.size(record.words);
                if size > 0.0 {
                    let words = field.sketch(record.words).to_vec();
                    sketches.push((field.name.clone(), Sketch::from_parts(field.spec.clone(), size, words)?));
                }
            }
            Ok(())
        })?;
        Ok(Some(sketches))
    }

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
        let view = self.store.view()?;
        let ids: Vec<&[u8]> = documents.iter().map(|document| document.id.as_bytes()).collect();
        let own = view.numbers(&ids)?;
        let probe = |(document, own): (&Document, Option<DocNo>)| -> Result<Probe> {
            let features = self.recorder.features(document)?;
            let mut words = Vec::new();
            self.recorder.words(&features, &mut words)?;
            Ok(Probe { words, features, document: Some(document.clone()), own })
        };
        let probes = documents.iter().zip(own).map(probe).collect::<Result<Vec<_>>>()?;
        self.answers(&*view, &probes, &terms, query)
    }

    /// The documents that are similar to one of the collection.
    ///
    /// # Errors
    /// No such document; a query that makes no sense; what the store says.
    pub fn search_id(&self, id: &str, query: &Query) -> Result<Answer> {
        let terms = self.terms(query)?;
        let view = self.store.view()?;
        let own = self.number(&*view, id)?.ok_or_else(|| Error::NoDocument { id: id.to_owned() })?;
        let mut probe = None;
        view.records(&[own], Parts::All, &mut |_, record| {
            let document = (!record.document.is_empty()).then(|| exact::document(record.id, record.document));
            let document = document.transpose()?;
            let features = document.as_ref().map(|document| self.recorder.features(document)).transpose()?;
            let features = features.unwrap_or_default();
            probe = Some(Probe { words: record.words.to_vec(), features, document, own: Some(own) });
            Ok(())
        })?;
        let probe = probe.ok_or_else(|| Error::NoDocument { id: id.to_owned() })?;
        let mut answers = self.answers(&*view, &[probe], &terms, query)?;
        Ok(answers.pop().expect("one answer for each document"))
    }

    /// Hands all pairs of similar documents to `visit`: the ids, and the estimate; the one that came first is first. They are pairs that share a band key and whose estimate reaches the
    /// threshold.
    ///
    /// # Errors
    /// A threshold that makes no sense; what the store says, or what `visit` returns.
    pub fn duplicates(
        &self,
        threshold: Option<f64>,
        mut visit: impl FnMut(&str, &str, &Estimate) -> Result<()>,
    ) -> Result<()> {
        let terms = self.terms(&Query { threshold, ..Query::default() })?;
        let view = self.store.view()?;
        let mut from = Some(0);
        while let Some(start) = from {
            let mut batch: Vec<(DocNo, Vec<u8>, Vec<u64>)> = Vec::new();
            from = view.scan(start, TOGETHER, Parts::Sketches, &mut |number, record| {
                if !terms.is_gone(&record) {
                    batch.push((number, record.id.to_vec(), record.words.to_vec()));
                }
                Ok(())
            })?;
            let words: Vec<&[u64]> = batch.iter().map(|(_, _, words)| &words[..]).collect();
            let candidates = self.candidates(&*view, &words, &terms.fields)?;
            for ((number, id, words), candidates) in batch.iter().zip(candidates) {
                let earlier: Vec<DocNo> = candidates.into_iter().filter(|other| other < number).collect();
                view.records(&earlier, Parts::Sketches, &mut |_, record| {
                    let score =
                        self.scorer.score(self.recorder.layout(), &terms.fields, (words, record.words))?;
                    let layout = self.recorder.layout();
                    if score.value() >= terms.threshold
                        && !terms.is_gone(&record)
                        && layout.share_key(&terms.fields, words, record.words)
                    {
                        visit(
                            &String::from_utf8_lossy(record.id),
                            &String::from_utf8_lossy(id),
                            &score.estimate,
                        )?;
                    }
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// Brings the store into the shape that is searched fastest.
    ///
    /// # Errors
    /// What the store says.
    pub fn compact(&self) -> Result<()> {
        self.store.compact()
    }

    /// How large the collection is.
    ///
    /// # Errors
    /// What the store says.
    pub fn stats(&self) -> Result<Stats> {
        self.store.view()?.stats()
    }

    pub(crate) fn scorer(&self) -> &Scorer {
        &self.scorer
    }

    pub(crate) fn all_fields(&self) -> &[usize] {
        &self.all_fields
    }

    fn number(&self, view: &dyn View, id: &str) -> Result<Option<DocNo>> {
        Ok(view.numbers(&[id.as_bytes()])?.pop().flatten())
    }

    fn terms(&self, query: &Query) -> Result<Terms> {
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
            fields = self.all_fields.clone();
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

    /// The numbers that share a band key of a wanted field with each probe, each once, in order.
    fn candidates(&self, view: &dyn View, probes: &[&[u64]], fields: &[usize]) -> Result<Vec<Vec<DocNo>>> {
        let layout = self.recorder.layout();
        let (mut keys, mut ends) = (Vec::<BandKey>::new(), Vec::with_capacity(probes.len()));
        for words in probes {
            layout.keys_of(words, fields, |key| keys.push(key));
            ends.push(keys.len());
        }
        let mut postings = Postings::default();
        view.postings(&keys, &mut postings)?;
        let mut start = 0;
        let lists = ends.into_iter().map(|end| {
            let mut list = postings.of_all(start..end).to_vec();
            start = end;
            list.sort_unstable();
            list.dedup();
            list
        });
        Ok(lists.collect())
    }

    fn answers(
        &self,
        view: &dyn View,
        probes: &[Probe],
        terms: &Terms,
        query: &Query,
    ) -> Result<Vec<Answer>> {
        let words: Vec<&[u64]> = probes.iter().map(|probe| &probe.words[..]).collect();
        let candidates = self.candidates(view, &words, &terms.fields)?;
        let (recall, warnings) = self.recall(terms);
        let answer = |(probe, candidates): (&Probe, Vec<DocNo>)| -> Result<Answer> {
            let n_candidates = candidates.iter().filter(|other| Some(**other) != probe.own).count();
            let mut matches = self.matches(view, probe, &candidates, terms, query)?;
            matches.sort_by(by_similarity_then_id);
            let n_matches = matches.len();
            matches.drain(..query.offset.min(n_matches));
            matches.truncate(query.limit);
            Ok(Answer { matches, n_matches, n_candidates, recall, warnings: warnings.clone() })
        };
        probes.iter().zip(candidates).map(answer).collect()
    }

    /// The share of documents at the threshold that are found, and what to say about it.
    fn recall(&self, terms: &Terms) -> (f64, Vec<String>) {
        let fields = terms.fields.iter().map(|&i| &self.recorder.layout().fields()[i]);
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

    fn matches(
        &self,
        view: &dyn View,
        probe: &Probe,
        candidates: &[DocNo],
        terms: &Terms,
        query: &Query,
    ) -> Result<Vec<Match>> {
        let is_exact = self.settings().keeps == Keeps::Documents && !probe.features.is_empty();
        let parts = if is_exact { Parts::All } else { Parts::Sketches };
        let mut matches = Vec::new();
        view.records(candidates, parts, &mut |place, record| {
            if probe.own == Some(candidates[place as usize]) || terms.is_gone(&record) {
                return Ok(());
            }
            let pair = (&probe.words[..], record.words);
            let score = self.scorer.score(self.recorder.layout(), &terms.fields, pair)?;
            if !self.recorder.layout().share_key(&terms.fields, pair.0, pair.1) {
                return Ok(());
            }
            let found = match is_exact {
                true if score.may_reach(terms.threshold) => {
                    self.exact_match(probe, &record, &score, terms, query)?
                }
                false if score.value() >= terms.threshold => {
                    Some(self.estimated_match(probe, &record, &score, terms)?)
                }
                _ => None,
            };
            matches.extend(found);
            Ok(())
        })?;
        Ok(matches)
    }

    fn estimated_match(
        &self,
        probe: &Probe,
        record: &Record<'_>,
        score: &Score,
        terms: &Terms,
    ) -> Result<Match> {
        let layout = self.recorder.layout();
        let fields = self.scorer.fields(layout, &terms.fields, (&probe.words, record.words)).map(|field| {
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

    /// A match by the features of the documents, if they reach the threshold.
    fn exact_match(
        &self,
        probe: &Probe,
        record: &Record<'_>,
        score: &Score,
        terms: &Terms,
        query: &Query,
    ) -> Result<Option<Match>> {
        let document = exact::document(record.id, record.document)?;
        let features = self.recorder.features(&document)?;
        let weight = |i: usize| self.recorder.layout().fields()[i].weight;
        let of_fields = terms.fields.iter().map(|&i| (weight(i), &probe.features[i], &features[i]));
        let Some(similarity) =
            exact::similarity(of_fields).filter(|similarity| *similarity >= terms.threshold)
        else {
            return Ok(None);
        };
        let mut found = self.estimated_match(probe, record, score, terms)?;
        (found.similarity, found.exact) = (similarity, Some(similarity));
        for field in &mut found.fields {
            let i =
                self.settings().fields.iter().position(|other| other.name == field.field).unwrap_or_default();
            let pair = (&probe.features[i], &features[i]);
            field.exact = exact::jaccard(pair.0, pair.1);
            if let (true, Some(asked)) = (query.explain, &probe.document) {
                field.explanation =
                    Some(exact::explain(&self.settings().schema, &field.field, (asked, &document), pair));
            }
        }
        Ok(Some(found))
    }
}

impl Terms {
    fn is_gone(&self, record: &Record<'_>) -> bool {
        record.expires != 0 && record.expires <= self.now
    }
}

fn by_similarity_then_id(a: &Match, b: &Match) -> Ordering {
    b.similarity.total_cmp(&a.similarity).then_with(|| a.id.cmp(&b.id))
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
