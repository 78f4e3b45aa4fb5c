//! Sketches and what makes them.

use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString, PyType};

use benzer_cli::options::sketches::{SketchArguments, SketchName};
use benzer_core::Features;
use benzer_core::field::Value;
use benzer_core::field::text::{Shingler, TextOptions};
use benzer_core::field::values::{self, ValuesOptions};
use benzer_core::hash;
use benzer_core::sketch::{Bits, Packing, SketchSpec, odd};

use crate::datasketch::registers;
use crate::error;

/// Values that are taken before signals are looked for.
const SEEN_TOGETHER: usize = 1 << 14;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Sketch>()?;
    module.add_class::<Sketcher>()
}

const SKETCH: &str = "a benzer.Sketch";

/// A sketch with the spec it was made under.
#[pyclass(frozen, eq, module = "benzer._benzer")]
#[derive(PartialEq)]
pub(crate) struct Sketch {
    pub(crate) inner: benzer_core::sketch::Sketch,
}

#[pymethods]
impl Sketch {
    /// Reads the bytes that `encode` gave.
    #[classmethod]
    fn decode(_: &Bound<'_, PyType>, bytes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bytes: &[u8] = error::argument("bytes", "the bytes that `encode` gave", bytes)?;
        benzer_core::sketch::Sketch::decode(bytes).map(Self::from).map_err(error::core)
    }

    /// A sketch of the hash values of a MinHash; the size of its set is not known.
    #[classmethod]
    fn of_minhash(
        _: &Bound<'_, PyType>,
        scheme: &str,
        seed: u64,
        hashvalues: &Bound<'_, PyAny>,
        is_empty: bool,
    ) -> PyResult<Self> {
        let words = registers(hashvalues)?;
        let spec = spec(scheme, words.len() as u32, seed, "datasketch")?;
        let sketcher = spec.sketcher().map_err(error::core)?;
        let of_size = |size: f64| sketcher.restore(&words, size);
        // The union of a set with itself is the set, of a size that is not known.
        let sketch = match is_empty {
            true => of_size(0.0),
            false => of_size(1.0).and_then(|sketch| sketcher.merge(&sketch, &sketch)),
        };
        sketch.map(Self::from).map_err(error::core)
    }

    /// The sketch as bytes, with its spec and a checksum.
    fn encode<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.encode())
    }

    /// What two sketches must share to be comparable, in words.
    #[getter]
    fn spec(&self) -> String {
        self.inner.spec().to_string()
    }

    /// Elements of the set, or the sum of their weights, where that is known.
    #[getter]
    fn size(&self) -> Option<f64> {
        self.inner.size()
    }

    /// The stored words.
    #[getter]
    fn words<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, self.inner.words())
    }

    /// The same sketch with a size that the caller knows.
    fn with_size(&self, size: &Bound<'_, PyAny>) -> PyResult<Self> {
        let size = error::argument("size", "a number", size)?;
        self.inner.clone().with_size(size).map(Self::from).map_err(error::core)
    }

    /// The same sketch with less kept of each register: `b8`, `xor2`, `odd256`, ...
    fn pack(&self, kept: &Bound<'_, PyAny>) -> PyResult<Self> {
        let kept: &str = error::argument("kept", "a string such as 'b8', 'xor2' or 'odd256'", kept)?;
        let registers = self.inner.spec().registers;
        let packing = spec(kept, registers, 0, "raw")?.packing;
        self.inner.pack(packing).map(Self::from).map_err(error::core)
    }

    /// The sketch of the union.
    fn merge(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        let other: PyRef<'_, Self> = error::argument("other", SKETCH, other)?;
        let sketcher = self.inner.spec().sketcher().map_err(error::core)?;
        sketcher.merge(&self.inner, &other.inner).map(Self::from).map_err(error::core)
    }

    /// The Odd Sketch of the symmetric difference.
    fn symmetric_difference(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        let other: PyRef<'_, Self> = error::argument("other", SKETCH, other)?;
        odd::symmetric_difference(&self.inner, &other.inner).map(Self::from).map_err(error::core)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("decode")?, (self.encode(py),)))
    }

    fn __repr__(&self) -> String {
        let size = self.inner.size().map_or("unknown size".to_owned(), |size| format!("size {size}"));
        format!("<benzer.Sketch {}; {size}>", self.inner.spec())
    }
}

impl From<benzer_core::sketch::Sketch> for Sketch {
    fn from(inner: benzer_core::sketch::Sketch) -> Self {
        Self { inner }
    }
}

/// Makes sketches of one spec, of sets (`values`) or texts.
#[pyclass(frozen, module = "benzer._benzer")]
pub(crate) struct Sketcher {
    /// Of sets of values.
    pub(crate) values: Box<dyn benzer_core::sketch::Sketcher>,
    /// Of texts.
    pub(crate) texts: Box<dyn benzer_core::sketch::Sketcher>,
    pub(crate) shingler: Shingler,
}

#[pymethods]
impl Sketcher {
    #[new]
    fn new(name: &str, registers: u32, seed: u64, text: &str) -> PyResult<Self> {
        let options: TextOptions =
            serde_json::from_str(text).map_err(|error| error::parameter(error.to_string()))?;
        let shingler = Shingler::new(&options).map_err(error::core)?;
        let make = |pipeline: &str| spec(name, registers, seed, pipeline)?.sketcher().map_err(error::core);
        let bag = ValuesOptions { bag: options.bag };
        let texts = make(shingler.pipeline().as_str())?;
        Ok(Self { values: make(bag.pipeline().as_str())?, texts, shingler })
    }

    /// The spec of text sketches, in words.
    #[getter]
    fn spec(&self) -> String {
        self.texts.spec().to_string()
    }

    /// Bits that are kept of a register, if registers are kept one by one.
    #[getter]
    fn bits(&self) -> Option<u32> {
        match self.texts.spec().packing {
            Packing::Bits(bits) if self.texts.spec().words() == bits.words(self.registers()) => {
                Some(bits.get())
            }
            _ => None,
        }
    }

    /// Stored words of a sketch.
    #[getter]
    fn words(&self) -> usize {
        self.texts.spec().words()
    }

    /// Registers of a sketch.
    #[getter]
    fn registers(&self) -> usize {
        self.texts.spec().registers as usize
    }

    /// The sketch of a text.
    fn text(&self, py: Python<'_>, text: &str) -> PyResult<Sketch> {
        py.detach(|| self.texts.sketch(&self.shingler.features(text))).map(Sketch::from).map_err(error::core)
    }

    /// The sketch of values: strings, bytes or integers.
    #[pyo3(signature = (values, weights = None))]
    fn set(&self, values: &Bound<'_, PyAny>, weights: Option<Vec<f64>>) -> PyResult<Sketch> {
        let mut elements = Vec::new();
        extend(&mut elements, values, &|| "values".to_owned())?;
        let features = match weights {
            None if self.shingler.options().bag => Features::bag(elements),
            None => Features::from_vec(elements),
            Some(weights) if weights.len() == elements.len() => {
                Features::weighted(elements.into_iter().zip(weights)).map_err(error::core)?
            }
            Some(weights) => {
                let (n, got) = (elements.len(), weights.len());
                return Err(error::parameter(format!(
                    "`weights` must be {n}, one for each value, got {got}"
                )));
            }
        };
        self.of(values.py(), &features)
    }

    /// The sketch of elements that are hashed already.
    fn elements(&self, elements: PyReadonlyArray1<'_, u64>) -> PyResult<Sketch> {
        let features = Features::from_vec(elements.as_array().to_vec());
        self.of(elements.py(), &features)
    }

    /// A sketch from the words of a row of a bulk call of texts, and the size of its set.
    fn restore(&self, words: PyReadonlyArray1<'_, u64>, size: f64) -> PyResult<Sketch> {
        let words = words.as_array().to_vec();
        if words.len() != self.texts.spec().words() {
            let (expected, got) = (self.texts.spec().words(), words.len());
            return Err(error::parameter(format!("`words` must be {expected} of them, got {got}")));
        }
        self.texts.restore(&words, size).map(Sketch::from).map_err(error::core)
    }
}

impl Sketcher {
    fn of(&self, py: Python<'_>, features: &Features) -> PyResult<Sketch> {
        py.detach(|| self.values.sketch(features)).map(Sketch::from).map_err(error::core)
    }
}

/// Adds the elements of values. `name` is what they are called where they are wrong.
pub(crate) fn extend(
    elements: &mut Vec<u64>,
    values: &Bound<'_, PyAny>,
    name: &dyn Fn() -> String,
) -> PyResult<()> {
    let iterator = match values.cast::<PyString>().is_ok() || values.cast::<PyBytes>().is_ok() {
        true => None,
        false => values.try_iter().ok(),
    };
    let Some(iterator) = iterator else {
        return Err(error::unfit(&name(), "a list, a set or another iterable of values", values));
    };
    for (i, value) in iterator.enumerate() {
        let value = value?;
        if i.is_multiple_of(SEEN_TOGETHER) {
            values.py().check_signals()?;
        }
        elements.push(if let Ok(text) = value.cast::<PyString>() {
            hash::element(text.to_str()?.as_bytes())
        } else if let Ok(bytes) = value.cast::<PyBytes>() {
            hash::element(bytes.as_bytes())
        } else if value.is_instance_of::<PyInt>() || value.hasattr("__index__")? {
            match value.extract::<i64>() {
                Ok(integer) => values::element(&Value::from(integer)),
                Err(_) => hash::element(value.str()?.to_str()?.as_bytes()),
            }
        } else {
            let name = format!("{}[{i}]", name());
            return Err(error::unfit(&name, "a string, bytes or an integer (str, bytes or int)", &value));
        });
    }
    Ok(())
}

fn spec(name: &str, registers: u32, seed: u64, pipeline: &str) -> PyResult<SketchSpec> {
    let parsed: SketchName =
        name.parse().map_err(|expected| error::parameter(format!("`sketch`: {expected}, got `{name}`")))?;
    Ok(parsed.spec(&SketchArguments { registers, seed }, pipeline))
}

/// Bits of registers that are kept one by one.
pub(crate) fn kept(spec: &Arc<SketchSpec>) -> Option<Bits> {
    match spec.packing {
        Packing::Bits(bits) => Some(bits),
        _ => None,
    }
}
