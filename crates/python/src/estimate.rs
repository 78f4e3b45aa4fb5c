//! Estimates with their error bars, of two or more sketches.

use pyo3::prelude::*;

use benzer_core::estimate::{Estimate, of};
use benzer_core::estimate::{Registers, Scheme, two_way};
use benzer_core::sketch::{self, Bits};

use crate::error;
use crate::sketch::Sketch;

/// Value, standard error and the ends of the 95% interval.
type Bar = (f64, f64, f64, f64);

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(jaccard, module)?)?;
    module.add_function(wrap_pyfunction!(containment, module)?)?;
    module.add_function(wrap_pyfunction!(intersection, module)?)?;
    module.add_function(wrap_pyfunction!(union, module)?)?;
    module.add_function(wrap_pyfunction!(hamming, module)?)?;
    module.add_function(wrap_pyfunction!(n_way, module)?)?;
    module.add_function(wrap_pyfunction!(three_way, module)?)?;
    module.add_function(wrap_pyfunction!(venn, module)?)?;
    module.add_function(wrap_pyfunction!(set_size, module)?)?;
    module.add_function(wrap_pyfunction!(jaccard_of_counts, module)?)
}

fn bar(estimate: Estimate) -> PyResult<Bar> {
    match estimate {
        Estimate::Value(m) => Ok((m.value, m.standard_error, m.low, m.high)),
        Estimate::Saturated { at_most } => Err(error::exception(
            "SaturatedError",
            format!(
                "the sketch is full: all that can be said is at most {at_most}; use more registers or bits"
            ),
        )),
        Estimate::Undefined { why } => Err(error::exception("UndefinedError", why.to_owned())),
    }
}

fn checked(estimate: benzer_core::Result<Estimate>) -> PyResult<Bar> {
    bar(estimate.map_err(error::core)?)
}

#[pyfunction]
fn jaccard(a: &Sketch, b: &Sketch) -> PyResult<Bar> {
    checked(of::jaccard(&a.inner, &b.inner))
}

#[pyfunction]
fn containment(a: &Sketch, b: &Sketch) -> PyResult<(Bar, Bar)> {
    let [first, second] = of::containment(&a.inner, &b.inner).map_err(error::core)?;
    Ok((bar(first)?, bar(second)?))
}

#[pyfunction]
fn intersection(a: &Sketch, b: &Sketch) -> PyResult<Bar> {
    checked(of::intersection(&a.inner, &b.inner))
}

#[pyfunction]
fn union(a: &Sketch, b: &Sketch) -> PyResult<Bar> {
    checked(of::union(&a.inner, &b.inner))
}

#[pyfunction]
fn hamming(a: &Sketch, b: &Sketch) -> PyResult<Bar> {
    checked(of::hamming(&a.inner, &b.inner))
}

#[pyfunction]
fn three_way(a: &Sketch, b: &Sketch, c: &Sketch) -> PyResult<Bar> {
    checked(of::three_way(&a.inner, &b.inner, &c.inner))
}

#[pyfunction]
fn n_way(sketches: Vec<PyRef<'_, Sketch>>) -> PyResult<Bar> {
    checked(of::n_way(&inner(&sketches)))
}

/// For each cell of the Venn diagram its members (bit i: in set i), its share of the union, and its size where that is known.
#[pyfunction]
fn venn(sketches: Vec<PyRef<'_, Sketch>>) -> PyResult<Vec<(u32, Bar, Option<Bar>)>> {
    let venn = of::venn(&inner(&sketches)).map_err(error::core)?;
    let cells = venn.cells.into_iter();
    cells.map(|cell| Ok((cell.members, bar(cell.share)?, cell.size.map(bar).transpose()?))).collect()
}

#[pyfunction]
fn set_size(sketch: &Sketch) -> PyResult<Bar> {
    checked(of::set_size(&sketch.inner))
}

/// The estimate from how many of the registers of two b-bit sketches are equal.
#[pyfunction]
fn jaccard_of_counts(equal: usize, registers: usize, bits: u32) -> PyResult<Bar> {
    if equal > registers || registers == 0 || Bits::new(bits).is_err() {
        return Err(error::parameter(format!(
            "expected at most {registers} equal registers of 1 to 16, 32 or 64 bits, got {equal} of {bits} bits"
        )));
    }
    let scheme = Scheme::from(sketch::SketchSpec::default().family);
    checked(two_way::jaccard(equal, bits, Registers { k: registers, scheme }, None))
}

fn inner<'a>(sketches: &'a [PyRef<'_, Sketch>]) -> Vec<&'a sketch::Sketch> {
    sketches.iter().map(|sketch| &sketch.inner).collect()
}
