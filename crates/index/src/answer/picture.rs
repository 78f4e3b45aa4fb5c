//! What makes two pictures one, for explanations.

use benzer_core::field::image::local::{LEAST_INLIERS, Local, verify};
use benzer_core::field::image::{ImageFeatures, ImageOptions};
use benzer_core::field::{Content, Document, Kind, Schema};

/// What the geometric check of two pictures says.
pub(super) struct Evidence {
    pub words: String,
    /// The points that lie upon each other, in thousandths of the sides.
    pub points: Vec<[u16; 4]>,
}

/// The geometric check of a field of pictures. Nothing if it is no such field, or a picture is missing.
pub(super) fn evidence(schema: &Schema, field: &str, query: &Document, found: &Document) -> Option<Evidence> {
    let (_, spec) = schema.fields().find(|(name, _)| *name == field)?;
    let Kind::Image(options @ ImageOptions { features: ImageFeatures::Local, .. }) = &spec.kind else {
        return None;
    };
    let local = |document: &Document| match document.fields.get(field)? {
        Content::Text(text) => Some(Local::new(&options.decoded(text).ok()?)),
        _ => None,
    };
    let (a, b) = (local(query)?, local(found)?);
    let Some(agreement) = verify(&a, &b) else {
        let words = format!("fewer than {LEAST_INLIERS} points lie upon each other: another picture");
        return Some(Evidence { words, points: Vec::new() });
    };
    let words = format!(
        "{} points of {} that look alike lie upon each other: turned by {:.0} degrees{}",
        agreement.inliers.len(),
        agreement.n_alike,
        agreement.transform.degrees(),
        if agreement.transform.mirrored { ", mirrored" } else { "" }
    );
    let points = agreement.inliers.iter().map(|&(i, j)| {
        let ([x, y], [u, v]) = (place(&a, i), place(&b, j));
        [x, y, u, v]
    });
    Some(Evidence { words, points: points.collect() })
}

/// Where a keypoint is, in thousandths of the sides.
fn place(local: &Local, point: u32) -> [u16; 2] {
    let (point, (width, height)) = (local.points()[point as usize], local.size());
    [point.x / width as f32, point.y / height as f32].map(|share| (1000.0 * share).clamp(0.0, 1000.0) as u16)
}
