//! What makes two pictures one, for explanations.

use benzer_core::field::image::local::{LEAST_INLIERS, Local, verify};
use benzer_core::field::image::{ImageFeatures, ImageOptions};
use benzer_core::field::{Content, Document, Kind, Schema};

/// The geometric check of a field of pictures, in words; nothing if it is no such field, or a picture is missing.
pub(crate) fn evidence(schema: &Schema, field: &str, query: &Document, found: &Document) -> Option<String> {
    let (_, spec) = schema.fields().find(|(name, _)| *name == field)?;
    let Kind::Image(options @ ImageOptions { features: ImageFeatures::Local, .. }) = &spec.kind else {
        return None;
    };
    let local = |document: &Document| match document.fields.get(field)? {
        Content::Text(text) => Some(Local::new(&options.decoded(text).ok()?)),
        _ => None,
    };
    Some(match verify(&local(query)?, &local(found)?) {
        Some(agreement) => format!(
            "{} points of {} that look alike lie upon each other: turned by {:.0} degrees{}",
            agreement.inliers.len(),
            agreement.n_alike,
            agreement.transform.degrees(),
            if agreement.transform.mirrored { ", mirrored" } else { "" }
        ),
        None => format!("fewer than {LEAST_INLIERS} points lie upon each other: another picture"),
    })
}
