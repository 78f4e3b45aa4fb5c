//! Collections: documents in as Python has them, settings in and answers out as JSON, which is what the command line shows.

mod documents;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;

use benzer_core::field::{Document, Schema};
use benzer_index::store::{self, Collections};
use benzer_index::{Containment, Index, Keeps, Query, QueryDocument, Records, Settings, Triple};

use crate::error;
use crate::parallel::Pulse;

/// Searches that are handed over first, and at most: signals are looked for between.
const FIRST: usize = 8;
const MAX: usize = 1024;
/// What those that are handed over together should take.
const TOGETHER: Duration = Duration::from_millis(50);

type Given<'py> = Vec<(String, Bound<'py, PyDict>)>;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Collection>()?;
    module.add_function(wrap_pyfunction!(collections, module)?)?;
    module.add_function(wrap_pyfunction!(drop_collection, module)?)
}

/// A collection that is open.
#[pyclass(frozen, module = "benzer._benzer")]
pub(crate) struct Collection {
    /// None after it was closed. Calls share it; closing waits for them.
    index: RwLock<Option<Arc<Index>>>,
}

#[pymethods]
impl Collection {
    /// Opens a collection, or makes it if it is said what it shall be and there is none of that name.
    #[new]
    fn new(py: Python<'_>, url: &str, name: &str, wanted: Option<&str>, read_only: bool) -> PyResult<Self> {
        let settings = wanted.map(|wanted| parsed::<NewCollection>(wanted)?.settings()).transpose()?;
        let index = py.detach(|| {
            let collections = store::open(url).map_err(error::index)?;
            let opened = if read_only { collections.read(name) } else { collections.open(name) };
            let store = match (opened, settings) {
                (Err(benzer_index::Error::NoCollection { .. }), Some(settings)) => {
                    collections.create(name, settings).map_err(error::index)?
                }
                (Err(benzer_index::Error::NoCollection { name }), None) => {
                    let message = format!("there is no collection `{name}`; give a schema to make it");
                    return Err(error::exception("NotFoundError", message));
                }
                (opened, settings) => {
                    let store = opened.map_err(error::index)?;
                    if let Some(settings) = settings {
                        settings.require(store.settings()).map_err(error::index)?;
                    }
                    store
                }
            };
            Index::new(store).map_err(error::index)
        })?;
        Ok(Self { index: RwLock::new(Some(Arc::new(index))) })
    }

    /// What the collection is, as JSON.
    fn settings(&self) -> PyResult<String> {
        json(self.index()?.settings())
    }

    /// Adds documents, all that can be taken or, where it is strict, only all together; what is wrong with each, or nothing.
    fn insert(&self, py: Python<'_>, documents: Given<'_>, strict: bool) -> PyResult<Vec<Option<String>>> {
        let index = self.index()?;
        let mut taken = Vec::with_capacity(documents.len());
        for (id, fields) in documents {
            py.check_signals()?;
            taken.push(documents::document(id, &fields)?);
        }
        py.detach(|| {
            let (recorder, mut pulse) = (index.recorder(), Pulse::new());
            let mut records = Records::with_capacity(recorder.layout(), taken.len());
            let mut troubles = Vec::with_capacity(taken.len());
            for document in taken {
                pulse.check()?;
                // Never gone.
                let recorded = document.and_then(|document| {
                    recorder.record(&document, 0, &mut records).map_err(|e| e.to_string())
                });
                troubles.push(recorded.err());
            }
            if !strict || troubles.iter().all(Option::is_none) {
                index.store().put(records).map_err(error::index)?;
            }
            Ok(troubles)
        })
    }

    /// The documents like each of those given, as JSON.
    fn search(&self, py: Python<'_>, documents: Given<'_>, query: &str) -> PyResult<Vec<String>> {
        let index = self.index()?;
        let documents = documents.into_iter().map(|(id, fields)| self::asked(id, &fields));
        let documents = documents.collect::<PyResult<Vec<_>>>()?;
        py.detach(|| {
            let query: Query = parsed(query)?;
            let (mut answers, mut pulse) = (Vec::with_capacity(documents.len()), Pulse::new());
            let (mut rest, mut n) = (&documents[..], FIRST);
            while !rest.is_empty() {
                let (together, others) = rest.split_at(n.min(rest.len()));
                let start = Instant::now();
                let found = index.search_many(together, &query).map_err(error::index)?;
                answers.extend(found.iter().map(json).collect::<PyResult<Vec<_>>>()?);
                pulse.check()?;
                rest = others;
                n = if start.elapsed() < TOGETHER { (2 * n).min(MAX) } else { (n / 2).max(1) };
            }
            Ok(answers)
        })
    }

    /// The documents like one of the collection, as JSON.
    fn search_id(&self, py: Python<'_>, id: &str, query: &str) -> PyResult<String> {
        let index = self.index()?;
        py.detach(|| {
            let query: Query = parsed(query)?;
            json(&index.search_id(id, &query).map_err(error::index)?)
        })
    }

    /// The documents that have most in common with a document or the one of an id, and another of the collection, as JSON.
    fn three_way_search(
        &self,
        py: Python<'_>,
        document: Option<(String, Bound<'_, PyDict>)>,
        id: Option<&str>,
        with_id: &str,
        query: &str,
    ) -> PyResult<String> {
        let index = self.index()?;
        let document = document.map(|(id, fields)| self::asked(id, &fields)).transpose()?;
        py.detach(|| {
            let query: Query = parsed(query)?;
            let asked = match &document {
                Some(document) => QueryDocument::Document(document),
                None => QueryDocument::Id(id.unwrap_or_default()),
            };
            json(&index.three_way_search([asked, QueryDocument::Id(with_id)], &query).map_err(error::index)?)
        })
    }

    /// Triples of similar documents with their estimates, as a JSON array.
    fn triples(&self, py: Python<'_>, threshold: Option<f64>) -> PyResult<String> {
        let index = self.index()?;
        py.detach(|| {
            let (mut triples, mut interrupts) = (Vec::new(), Interrupts::new());
            let found = index.triples(threshold, |triple: Triple| {
                triples.push((triple.ids, triple.estimate));
                interrupts.check()
            });
            interrupts.result(found)?;
            json(&triples)
        })
    }

    /// Removes documents; how many there were.
    fn remove(&self, py: Python<'_>, ids: Vec<String>) -> PyResult<u64> {
        let index = self.index()?;
        py.detach(|| index.remove(&ids)).map_err(error::index)
    }

    /// A document as JSON, if it is there.
    fn get(&self, py: Python<'_>, id: &str) -> PyResult<Option<String>> {
        let index = self.index()?;
        py.detach(|| index.get(id)).map_err(error::index)?.map(|document| json(&document)).transpose()
    }

    /// Pairs of similar documents with their estimates, as a JSON array.
    fn duplicates(&self, py: Python<'_>, threshold: Option<f64>) -> PyResult<String> {
        let index = self.index()?;
        py.detach(|| {
            let (mut pairs, mut interrupts) = (Vec::new(), Interrupts::new());
            let found = index.duplicates(threshold, |a, b, estimate| {
                pairs.push((a.to_owned(), b.to_owned(), *estimate));
                interrupts.check()
            });
            interrupts.result(found)?;
            json(&pairs)
        })
    }

    /// How large the collection is, as JSON.
    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        let index = self.index()?;
        json(&py.detach(|| index.stats()).map_err(error::index)?)
    }

    /// Brings the collection into the shape that is searched fastest.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        let index = self.index()?;
        py.detach(|| index.compact()).map_err(error::index)
    }

    /// Gives the collection back, so that another process may write to it.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.index.write().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Collection {
    fn index(&self) -> PyResult<Arc<Index>> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner).clone();
        index.ok_or_else(|| {
            error::exception("StoreError", "the collection is closed; open it again".to_owned())
        })
    }
}

/// Looks for signals while results are visited, and stops the visit for one.
struct Interrupts {
    pulse: Pulse,
    interrupted: PyResult<()>,
}

impl Interrupts {
    fn new() -> Self {
        Self { pulse: Pulse::new(), interrupted: Ok(()) }
    }

    fn check(&mut self) -> benzer_index::Result<()> {
        self.interrupted = self.pulse.check();
        let stopped = || benzer_core::Error::Schema("stopped by a signal".to_owned()).into();
        self.interrupted.as_ref().map(|&()| ()).map_err(|_| stopped())
    }

    fn result<T>(self, found: benzer_index::Result<T>) -> PyResult<T> {
        self.interrupted?;
        found.map_err(error::index)
    }
}

fn asked(id: String, fields: &Bound<'_, PyDict>) -> PyResult<Document> {
    documents::document(id, fields)?.map_err(|trouble| error::exception("SchemaError", trouble))
}

/// The names of all collections.
#[pyfunction]
fn collections(py: Python<'_>, url: &str) -> PyResult<Vec<String>> {
    py.detach(|| open(url)?.list().map_err(error::index))
}

/// Removes a collection with all its documents.
#[pyfunction]
fn drop_collection(py: Python<'_>, url: &str, name: &str) -> PyResult<()> {
    py.detach(|| open(url)?.remove(name).map_err(error::index))
}

fn open(url: &str) -> PyResult<Box<dyn Collections>> {
    store::open(url).map_err(error::index)
}

#[derive(Debug, Deserialize)]
struct NewCollection {
    schema: Schema,
    threshold: Option<f64>,
    recall: Option<f64>,
    keep_documents: bool,
    containment: Option<Containment>,
}

impl NewCollection {
    fn settings(self) -> PyResult<Settings> {
        let default = Settings::new(self.schema.clone()).map_err(error::index)?;
        let keeps = if self.keep_documents { Keeps::Documents } else { Keeps::Sketches };
        let (threshold, recall) =
            (self.threshold.unwrap_or(default.threshold), self.recall.unwrap_or(default.recall));
        let settings = Settings::with_target(self.schema, threshold, recall, keeps);
        let settings = match self.containment {
            Some(containment) => settings.and_then(|settings| settings.with_containment(containment)),
            None => settings,
        };
        settings.map_err(error::index)
    }
}

fn parsed<'a, T: serde::Deserialize<'a>>(text: &'a str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| error::exception("SchemaError", error.to_string()))
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| error::parameter(error.to_string()))
}
