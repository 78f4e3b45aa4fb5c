//! Two pictures: bytes of files in, JSON out.

use pyo3::prelude::*;
use serde_json::json;

use benzer_core::field::image::local::{Local, verify};
use benzer_core::field::image::{Limits, decode, thumbnail};

use crate::error;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(compare_pictures, module)?)
}

/// What two pictures have in common, as JSON.
#[pyfunction]
fn compare_pictures(py: Python<'_>, a: &[u8], b: &[u8]) -> PyResult<String> {
    let compared = py.detach(|| -> benzer_core::Result<_> {
        let (a, b) = (decode(a, &Limits::default())?, decode(b, &Limits::default())?);
        let small = thumbnail::features(&a).jaccard(&thumbnail::features(&b));
        let (a, b) = (Local::new(&a), Local::new(&b));
        let agreement = verify(&a, &b);
        Ok(json!({
            "same": agreement.is_some(),
            "inliers": agreement.as_ref().map_or(0, |agreement| agreement.inliers.len()),
            "degrees": agreement.as_ref().map(|agreement| agreement.transform.degrees()),
            "mirrored": agreement.as_ref().map(|agreement| agreement.transform.mirrored),
            "words": a.features().jaccard(&b.features()),
            "thumbnail": small,
        }))
    });
    Ok(compared.map_err(error::core)?.to_string())
}
