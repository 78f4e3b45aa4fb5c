//! Documents that a search has found.

use benzer_core::Features;
use benzer_core::estimate::Estimate;
use benzer_core::field::Document;
use serde::Serialize;

use super::explain::{Explanation, Side, explain};
use crate::query::Probe;
use crate::settings::Settings;

/// A similar document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Match {
    /// Its id.
    pub id: String,
    /// The similarity that decided: exact where documents are kept, else the estimate.
    pub similarity: f64,
    /// The exact similarity, where documents are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<f64>,
    /// What the sketches say, with standard error and interval.
    pub estimate: Estimate,
    /// Field by field. A field that is empty in both documents is left out.
    pub fields: Vec<FieldMatch>,
}

/// The similarity of one field.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldMatch {
    /// Its name.
    pub field: String,
    /// What the sketches say.
    pub estimate: Estimate,
    /// The exact similarity, where documents are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<f64>,
    /// What the two share, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

impl Match {
    /// A record, by the estimates of its fields alone.
    pub(crate) fn estimated(
        settings: &Settings,
        id: &[u8],
        parts: &[(usize, Estimate)],
        together: Estimate,
    ) -> Self {
        let field = |(i, estimate): &(usize, Estimate)| FieldMatch {
            field: settings.fields[*i].name.clone(),
            estimate: *estimate,
            exact: None,
            explanation: None,
        };
        Self {
            id: String::from_utf8_lossy(id).into_owned(),
            similarity: together.value().unwrap_or_default(),
            exact: None,
            estimate: together,
            fields: parts.iter().map(field).collect(),
        }
    }

    /// Puts in what is known exactly: of the whole documents, and of fields by their places.
    pub(crate) fn set_exact(
        &mut self,
        similarity: f64,
        parts: &[(usize, Estimate)],
        values: &[(usize, f64)],
    ) {
        (self.similarity, self.exact) = (similarity, Some(similarity));
        for (field, (i, _)) in self.fields.iter_mut().zip(parts) {
            field.exact = values.iter().find(|(j, _)| j == i).map(|(_, value)| *value);
        }
    }

    /// Says of every field what this document shares with the one that was asked for, if the contents of that are known.
    pub(crate) fn explain(
        &mut self,
        settings: &Settings,
        probe: &Probe,
        document: &Document,
        features: &[Features],
    ) {
        let Some(asked) = &probe.document else { return };
        for field in &mut self.fields {
            let place = settings.fields.iter().position(|other| other.name == field.field);
            let Some(i) = place else { continue };
            let query = Side { document: asked, features: &probe.features[i] };
            let found = Side { document, features: &features[i] };
            field.explanation = Some(explain(&settings.schema, &field.field, query, found));
        }
    }
}
