//! The stages of a run that is asked for, and what they cost beside each other.

use benzer_io::store::Address;

use super::{Course, Planned, Stage};
use crate::request::{Audit, Measure, Request, Search, Verify};

impl Course {
    /// A run that has not begun. Costs are hundredths of a second of a million documents on two cores, in memory; the run itself shows what such a hundredth is here.
    pub fn of(request: &Request) -> Self {
        let compare = &request.compare;
        let is_in_store = matches!(Address::parse(&request.results.folder), Ok(Some(_)));
        let cost = |stage| match stage {
            Stage::Read => Some(58.0),
            Stage::Group => Some(7.0),
            Stage::Against => (!request.old.paths.is_empty()).then_some(30.0),
            Stage::Candidates if compare.search == Search::Exact => Some(600.0),
            Stage::Candidates => Some(33.0),
            Stage::Verify if compare.verify == Verify::Estimate => Some(10.0),
            Stage::Verify => Some(16.0),
            Stage::Resolve => Some(1.0),
            Stage::Audit => {
                (request.audit != Audit::Off && compare.measure == Measure::Jaccard).then_some(4.0)
            }
            Stage::Write => Some(60.0),
            Stage::Upload => is_in_store.then_some(60.0),
        };
        let planned = |stage| cost(stage).map(|cost| Planned { stage, cost });
        Self::new(Stage::ALL.into_iter().filter_map(planned).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Comparison;
    use std::time::Duration;

    #[test]
    fn a_run_has_the_stages_that_it_was_asked_for() {
        let compare = Comparison::new("0.8".parse().unwrap(), Search::Exact);
        let request = Request::new(vec!["in".into()], "out".into(), compare);
        // The number and the number of all of the last stage.
        let last = |request: &Request, stage| {
            let mut course = Course::of(request);
            course.begin(stage, None, Duration::ZERO);
            let position = course.position(Duration::ZERO).unwrap();
            (position.number, position.of)
        };
        assert_eq!(last(&request, Stage::Write), (7, 7));
        let without = request.clone().with(|request| request.audit = Audit::Off);
        assert_eq!(last(&without, Stage::Write), (6, 6));
        let against = request.clone().with(|request| request.old.paths = vec!["old".into()]);
        assert_eq!([last(&against, Stage::Against), last(&against, Stage::Write)], [(3, 8), (8, 8)]);
        let sent = request.with(|request| request.results.folder = "s3://bucket/out".into());
        assert_eq!(last(&sent, Stage::Upload), (8, 8));
    }
}
