//! The five columns that are added.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field};

use crate::rewrite::Annotation;
use crate::rewrite::annotate::ANNOTATIONS;

/// Their fields.
pub(super) fn fields() -> [Field; 5] {
    let [cluster_id, cluster_size, dup_of, similarity, is_duplicate] = ANNOTATIONS;
    [
        Field::new(cluster_id, DataType::Utf8, true),
        Field::new(cluster_size, DataType::Int64, false),
        Field::new(dup_of, DataType::Utf8, true),
        Field::new(similarity, DataType::Float64, true),
        Field::new(is_duplicate, DataType::Boolean, false),
    ]
}

/// Their values.
pub(super) fn arrays(annotations: &[Annotation]) -> [ArrayRef; 5] {
    let cluster_id: StringArray = annotations.iter().map(|a| a.cluster_id.as_deref()).collect();
    let cluster_size: Int64Array = annotations.iter().map(|a| Some(a.cluster_size as i64)).collect();
    let dup_of: StringArray = annotations.iter().map(|a| a.dup_of.as_deref()).collect();
    let similarity: Float64Array = annotations.iter().map(|a| a.similarity).collect();
    let is_duplicate: BooleanArray = annotations.iter().map(|a| Some(a.is_duplicate)).collect();
    [
        Arc::new(cluster_id),
        Arc::new(cluster_size),
        Arc::new(dup_of),
        Arc::new(similarity),
        Arc::new(is_duplicate),
    ]
}
