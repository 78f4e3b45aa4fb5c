//! What intermediate files depend on, as one string: the same string, the same files.

use benzer_core::hash;
use serde_json::json;

use super::{Options, Search, Verify};
use crate::error::Result;
use crate::read::Reader;
use crate::resolve::Cluster;

/// Raised when the layout of intermediate files, or what they mean, changes.
const LAYOUT: u32 = 1;

/// The fingerprint of a run.
pub(super) fn of(options: &Options, reader: &Reader) -> Result<String> {
    let mut inputs = Vec::new();
    for input in reader.inputs() {
        let (bytes, version) = input.version()?;
        inputs.push(json!([&*input.path, bytes, version]));
    }
    let all = json!({
        "layout": LAYOUT,
        "inputs": inputs,
        "fields": format!("{:?}", options.read),
        "text": format!("{:?}", options.text),
        "settings": settings(options),
        "strict": options.strict,
    });
    Ok(format!("{:016x}", hash::element(all.to_string().as_bytes())))
}

/// What decides the results, for the manifest.
pub(super) fn settings(options: &Options) -> serde_json::Value {
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
        "sketch": options.spec,
        "search": search,
        "verify": if options.verify == Verify::Exact { "exact" } else { "estimate" },
        "cluster": if options.cluster == Cluster::Leaders { "leaders" } else { "components" },
    })
}
