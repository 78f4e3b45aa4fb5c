//! What intermediate files depend on, as one string: the same string, the same files.

use std::sync::Arc;

use benzer_core::hash;
use benzer_io::read::{Input, Reader};
use benzer_join::resolve::Cluster;
use serde_json::{Value, json};

use crate::error::Result;
use crate::request::{Audit, Request, Search};

/// Raised when the layout of intermediate files, or what they mean, changes.
const LAYOUT: u32 = 4;

/// The fingerprint of a run, old documents left out.
pub(super) fn of(request: &Request, reader: &Reader) -> Result<String> {
    let inputs = inputs(reader)?;
    let mut settings = settings(request);
    // What is there counts, not where.
    settings["against"] = Value::Null;
    let all = json!({
        "layout": LAYOUT,
        "inputs": inputs,
        "fields": format!("{:?}", request.input.read),
        "against_fields": format!("{:?}", request.old.read),
        "text": format!("{:?}", request.compare.text),
        "settings": settings,
        "strict": request.strict,
        "minima": request.audit == Audit::Auto,
    });
    Ok(combined(&[all]))
}

pub(super) fn inputs(reader: &Reader) -> Result<Vec<Value>> {
    let state = |input: &Arc<Input>| {
        let (bytes, version) = input.version()?;
        Ok(json!([input.path.to_string_lossy(), bytes, version]))
    };
    reader.inputs().iter().map(state).collect()
}

pub(super) fn combined(values: &[Value]) -> String {
    format!("{:016x}", hash::element(json!(values).to_string().as_bytes()))
}

/// What decides the results, for the manifest.
pub(super) fn settings(request: &Request) -> Value {
    let search = match request.compare.search {
        Search::Bands(banding) => json!({
            "bands": banding.bands(),
            "rows": banding.rows(),
            "bits": banding.bits().get(),
            "cap": request.compare.cap,
            "recall_at_threshold": banding.probability(request.compare.threshold.value()),
        }),
        Search::Exact => json!("exact"),
    };
    json!({
        "threshold": request.compare.threshold.value(),
        "keep": request.keep.to_string(),
        "text_fields": request.input.read.text_fields.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "id_field": request.input.read.id_field.as_ref().map(ToString::to_string),
        "shingles": request.compare.text,
        "sketch": request.compare.spec,
        "search": search,
        "verify": request.compare.verify.name(),
        "measure": request.compare.measure.name(),
        "against": request.old.paths.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
        "cluster": if request.cluster == Cluster::Leaders { "leaders" } else { "components" },
    })
}
