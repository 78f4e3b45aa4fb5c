//! What intermediate files depend on, as one string: the same string, the same files.

use std::sync::Arc;

use benzer_core::hash;
use serde_json::{Value, json};

use crate::error::Result;
use crate::request::{Audit, Measure, Options, Search, Verify};
use benzer_io::read::{Input, Reader};
use benzer_join::resolve::Cluster;

/// Raised when the layout of intermediate files, or what they mean, changes.
const LAYOUT: u32 = 3;

/// The fingerprint of a run, old documents left out.
pub(super) fn of(options: &Options, reader: &Reader) -> Result<String> {
    let inputs = inputs(reader)?;
    let mut settings = settings(options);
    // What is there counts, not where.
    settings["against"] = Value::Null;
    let all = json!({
        "layout": LAYOUT,
        "inputs": inputs,
        "fields": format!("{:?}", options.read),
        "against_fields": format!("{:?}", options.against_read),
        "text": format!("{:?}", options.text),
        "settings": settings,
        "strict": options.strict,
        "minima": options.audit == Audit::Auto,
    });
    Ok(combined(&[all]))
}

/// Path, size and version of each input.
pub(super) fn inputs(reader: &Reader) -> Result<Vec<Value>> {
    let state = |input: &Arc<Input>| {
        let (bytes, version) = input.version()?;
        Ok(json!([input.path.to_string_lossy(), bytes, version]))
    };
    reader.inputs().iter().map(state).collect()
}

/// One string of several values.
pub(super) fn combined(values: &[Value]) -> String {
    format!("{:016x}", hash::element(json!(values).to_string().as_bytes()))
}

/// What decides the results, for the manifest.
pub(super) fn settings(options: &Options) -> Value {
    let search = match options.search {
        Search::Bands(banding) => json!({
            "bands": banding.bands(),
            "rows": banding.rows(),
            "bits": banding.bits().get(),
            "cap": options.cap,
            "recall_at_threshold": banding.probability(options.threshold.value()),
        }),
        Search::Exact => json!("exact"),
    };
    json!({
        "threshold": options.threshold.value(),
        "keep": options.keep.to_string(),
        "text_fields": options.read.text_fields.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "id_field": options.read.id_field.as_ref().map(ToString::to_string),
        "shingles": options.text,
        "sketch": options.spec,
        "search": search,
        "verify": if options.verify == Verify::Exact { "exact" } else { "estimate" },
        "measure": if options.measure == Measure::Jaccard { "jaccard" } else { "containment" },
        "against": options.against.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
        "cluster": if options.cluster == Cluster::Leaders { "leaders" } else { "components" },
    })
}
