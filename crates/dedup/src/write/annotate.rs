//! Marks on documents.

use serde_json::json;

use super::Annotation;

/// Appends a line that is a JSON object, with the five members of the annotation at its end; the rest is byte for byte the same. Where the object has members of these names
/// already, readers see the last ones, which are these.
pub fn annotate_json(line: &str, annotation: &Annotation, out: &mut Vec<u8>) {
    let Annotation { cluster_id, cluster_size, dup_of, similarity, is_duplicate } = annotation;
    let members = [
        ("dup_cluster_id", json!(cluster_id)),
        ("dup_cluster_size", json!(cluster_size)),
        ("dup_of", json!(dup_of)),
        ("dup_similarity", json!(similarity)),
        ("is_duplicate", json!(is_duplicate)),
    ];
    let open = line.trim_end().strip_suffix('}').unwrap_or(line);
    out.extend_from_slice(open.as_bytes());
    let is_empty = open.trim_end().ends_with('{') && open.trim() == "{";
    for (i, (name, value)) in members.iter().enumerate() {
        let comma = if i == 0 && is_empty { "" } else { ", " };
        out.extend_from_slice(format!("{comma}\"{name}\": {value}").as_bytes());
    }
    out.push(b'}');
}
