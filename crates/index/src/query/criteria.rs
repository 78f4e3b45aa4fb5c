//! How several fields decide together.
//!
//! The weighted mean reaches the threshold only if some field does, so that a document which matches is found by the bands of a field at the threshold, whatever the weights: the recall is never less than
//! that of one field. The same holds for `any` and `all`, at the thresholds of the fields.
//!
//! A mean needs one scale. Pictures beside texts have another: the same picture, cropped, shares a hundredth of its words. So such a field has a threshold of its own, is enough by itself, and does not go into
//! the mean.

use benzer_core::estimate::Estimate;

use super::{Measure, Query, Rule, check_share, mean};
use crate::error::{Error, Result};
use crate::settings::Settings;

/// What the fields of a match must be like.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Criteria {
    /// The fields that are compared.
    pub fields: Vec<usize>,
    pub measure: Measure,
    pub threshold: f64,
    pub rule: Rule,
    /// Of all fields.
    weights: Vec<f64>,
    /// Of all fields: those that were given.
    thresholds: Vec<Option<f64>>,
    /// Of all fields: what those must reach that are compared beside fields of a higher scale.
    own: Vec<Option<f64>>,
}

impl Criteria {
    /// What a query means for a collection.
    pub fn new(settings: &Settings, query: &Query) -> Result<Self> {
        let place = |name: &'static str, wanted: &str| {
            let found = settings.fields.iter().position(|field| field.name == wanted);
            let names = || settings.fields.iter().map(|field| &*field.name).collect::<Vec<_>>().join(", ");
            found.ok_or_else(|| Error::parameter(name, format!("some of {}", names()), format!("`{wanted}`")))
        };
        let mut weights: Vec<f64> = settings.fields.iter().map(|field| field.weight).collect();
        for (name, weight) in &query.weights {
            weights[place("weights", name)?] = *weight;
        }
        let mut thresholds = vec![None; settings.fields.len()];
        for (name, threshold) in &query.thresholds {
            thresholds[place("thresholds", name)?] = Some(*threshold);
        }
        let named = query.fields.iter().map(|name| place("fields", name)).collect::<Result<Vec<usize>>>()?;
        let is_wanted = |field: &usize| weights[*field] > 0.0 && (named.is_empty() || named.contains(field));
        let fields: Vec<usize> = (0..settings.fields.len()).filter(is_wanted).collect();
        if fields.is_empty() {
            return Err(Error::parameter("weights", "above 0 for some field that is compared", "none"));
        }
        for (name, given) in [("weights", &query.weights), ("thresholds", &query.thresholds)] {
            let is_compared = |wanted: &str| fields.iter().any(|&i| settings.fields[i].name == wanted);
            if let Some((other, _)) = given.iter().find(|(field, value)| **value > 0.0 && !is_compared(field))
            {
                return Err(Error::parameter(name, "of fields that are compared", format!("`{other}`")));
            }
        }
        let (threshold, own) = own_thresholds(settings, query, &fields);
        check_share("threshold", threshold)?;
        let own = own.into_iter().zip(&thresholds).map(|(own, given)| Some(given.unwrap_or(own?))).collect();
        Ok(Self { fields, measure: query.measure, threshold, rule: query.rule, weights, thresholds, own })
    }

    /// Whether a field is not in the mean, because it is on a lower scale than the others.
    pub fn is_apart(&self, field: usize) -> bool {
        self.own[field].is_some()
    }

    /// What a field must reach to be enough: some field of a match does.
    pub fn enough(&self, field: usize) -> f64 {
        match self.rule {
            Rule::Mean => self.own[field].unwrap_or(self.threshold),
            Rule::Any | Rule::All => self.thresholds[field].or(self.own[field]).unwrap_or(self.threshold),
        }
    }

    /// What a field must reach if it is the only one.
    pub fn min_alone(&self, field: usize) -> f64 {
        let own = self.thresholds[field];
        match self.rule {
            Rule::Mean => own.map_or(self.threshold, |own| own.max(self.threshold)),
            Rule::Any | Rule::All => own.unwrap_or(self.threshold),
        }
    }

    /// The fields together: one value, with its own error bar.
    pub fn together(&self, parts: &[(usize, Estimate)]) -> Estimate {
        if let [(_, only)] = parts {
            return *only;
        }
        let value = |part: &&(usize, Estimate)| part.1.value().unwrap_or_default();
        let by_value = |a: &&(usize, Estimate), b: &&(usize, Estimate)| value(a).total_cmp(&value(b));
        let one = match self.rule {
            Rule::Mean => None,
            Rule::Any => parts.iter().max_by(by_value),
            Rule::All => parts.iter().min_by(by_value),
        };
        if let Some((_, one)) = one {
            return *one;
        }
        let common = || parts.iter().filter(|(i, _)| self.own[*i].is_none());
        let mean = mean(common().map(|(i, part)| (self.weights[*i], *part)));
        if mean.value().is_some_and(|mean| mean >= self.threshold) {
            return mean;
        }
        let has_mean = common().next().is_some();
        let is_alone = |(i, part): &&(usize, Estimate)| {
            self.own[*i].is_some_and(|own| !has_mean || part.value().is_some_and(|value| value >= own))
        };
        parts.iter().filter(is_alone).max_by(by_value).map_or(mean, |(_, part)| *part)
    }

    /// Whether estimates are enough, by `reaches`.
    pub fn accepts(
        &self,
        parts: &[(usize, Estimate)],
        together: &Estimate,
        reaches: impl Fn(&Estimate, f64) -> bool,
    ) -> bool {
        let own = |(i, part): &(usize, Estimate)| reaches(part, self.enough(*i));
        match self.rule {
            Rule::Any => parts.iter().any(own),
            Rule::All => !parts.is_empty() && parts.iter().all(own),
            Rule::Mean => {
                let given = |(i, part): &(usize, Estimate)| {
                    self.thresholds[*i].is_none_or(|threshold| reaches(part, threshold))
                };
                let alone =
                    |(i, part): &(usize, Estimate)| self.own[*i].is_some_and(|own| reaches(part, own));
                (reaches(together, self.threshold) || parts.iter().any(alone)) && parts.iter().all(given)
            }
        }
    }

    /// The similarity of exact values of fields, and whether it is enough; nothing if there is no value.
    pub fn exact(&self, values: &[(usize, f64)]) -> Option<(f64, bool)> {
        let parts: Vec<(usize, Estimate)> =
            values.iter().map(|(i, value)| (*i, Estimate::exact(*value))).collect();
        let similarity = match self.rule {
            // As it is, without rounding.
            _ if values.len() == 1 => values[0].1,
            Rule::Mean if self.own.iter().all(Option::is_none) => {
                let sum = |of: &dyn Fn(&(usize, f64)) -> f64| values.iter().map(of).sum::<f64>();
                sum(&|(i, value)| self.weights[*i] * value) / sum(&|(i, _)| self.weights[*i])
            }
            _ => self.together(&parts).value()?,
        };
        if values.is_empty() {
            return None;
        }
        let reaches = |part: &Estimate, threshold: f64| part.value().is_some_and(|value| value >= threshold);
        Some((similarity, self.accepts(&parts, &Estimate::exact(similarity), reaches)))
    }
}

/// The threshold of a query for the fields that it compares, and those of fields that are on a lower scale than others of them. Where all are, the threshold is theirs.
fn own_thresholds(settings: &Settings, query: &Query, fields: &[usize]) -> (f64, Vec<Option<f64>>) {
    let default = match query.measure {
        Measure::Jaccard => settings.threshold,
        _ => settings.containment.map_or(settings.threshold, |containment| containment.threshold),
    };
    let own: Vec<Option<f64>> = settings
        .fields
        .iter()
        .enumerate()
        .map(|(i, field)| {
            let own = Settings::own_threshold(&settings.schema, &field.name)?;
            fields.contains(&i).then(|| own.min(query.threshold.unwrap_or(default)))
        })
        .collect();
    match fields.iter().map(|&i| own[i]).collect::<Option<Vec<f64>>>() {
        None => (query.threshold.unwrap_or(default), own),
        Some(all) => {
            let default = all.into_iter().fold(0.0, f64::max);
            (query.threshold.unwrap_or(default), vec![None; own.len()])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn criteria(rule: Rule, thresholds: [Option<f64>; 2]) -> Criteria {
        let measure = Measure::Jaccard;
        let thresholds = thresholds.to_vec();
        let (fields, weights, own) = (vec![0, 1], vec![1.0, 3.0], vec![None; 2]);
        Criteria { fields, measure, threshold: 0.5, rule, weights, thresholds, own }
    }

    #[test]
    fn rules_differ() {
        let judge = |rule, thresholds, values: [f64; 2]| {
            let (similarity, is_enough) =
                criteria(rule, thresholds).exact(&[(0, values[0]), (1, values[1])]).unwrap();
            ((similarity * 1e6).round() / 1e6, is_enough)
        };
        assert_eq!(judge(Rule::Mean, [None; 2], [0.2, 0.8]), (0.65, true));
        assert_eq!(judge(Rule::Mean, [Some(0.3), None], [0.2, 0.8]), (0.65, false));
        assert_eq!(judge(Rule::Any, [None; 2], [0.2, 0.6]), (0.6, true));
        assert_eq!(judge(Rule::Any, [Some(0.1), Some(0.9)], [0.2, 0.6]), (0.6, true));
        assert_eq!(judge(Rule::All, [None; 2], [0.2, 0.9]), (0.2, false));
        assert_eq!(judge(Rule::All, [Some(0.1), None], [0.2, 0.9]), (0.2, true));
        assert_eq!(criteria(Rule::All, [None; 2]).exact(&[]), None);
        assert_eq!(criteria(Rule::Mean, [None; 2]).exact(&[]), None);
    }

    #[test]
    fn a_field_of_a_lower_scale_is_enough_by_itself_and_not_in_the_mean() {
        let criteria = Criteria { own: vec![Some(0.01), None], ..criteria(Rule::Mean, [None; 2]) };
        assert_eq!(criteria.exact(&[(0, 0.3), (1, 0.1)]), Some((0.3, true)), "the first is enough");
        assert_eq!(
            criteria.exact(&[(0, 0.0), (1, 0.6)]),
            Some((0.6, true)),
            "the second is, without the first"
        );
        assert_eq!(criteria.exact(&[(0, 0.005), (1, 0.4)]), Some((0.4, false)));
        assert_eq!(criteria.exact(&[(0, 0.3)]), Some((0.3, true)), "the second is empty in both");
        let asked = Criteria { own: vec![Some(0.5), None], ..criteria.clone() };
        let asked = Criteria { thresholds: vec![Some(0.5), None], ..asked };
        assert_eq!(asked.exact(&[(0, 0.3), (1, 0.9)]), Some((0.9, false)), "what was asked of it counts");
        let all = Criteria { rule: Rule::All, ..criteria };
        assert_eq!(all.exact(&[(0, 0.02), (1, 0.9)]), Some((0.02, true)));
    }

    proptest! {
        #[test]
        fn some_field_of_a_match_is_enough(rule in prop_oneof![Just(Rule::Mean), Just(Rule::Any), Just(Rule::All)], thresholds in prop::array::uniform2(prop::option::of(0.01f64..1.0)), values in prop::array::uniform2(prop::option::weighted(0.7, 0.0f64..=1.0)), own in prop::option::of(0.01f64..0.5)) {
            let own = own.map(|own| thresholds[0].unwrap_or(own));
            let criteria = Criteria { own: vec![own, None], ..criteria(rule, thresholds) };
            // A field that is empty in both documents has no value; the others decide.
            let there: Vec<(usize, f64)> = (0..2).filter_map(|i| Some((i, values[i]?))).collect();
            let Some((_, is_match)) = criteria.exact(&there) else {
                prop_assert!(there.is_empty());
                return Ok(());
            };
            if is_match {
                prop_assert!(there.iter().any(|(i, value)| *value >= criteria.enough(*i) - 1e-12));
            }
        }
    }
}
