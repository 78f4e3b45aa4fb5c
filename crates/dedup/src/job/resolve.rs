//! Who is removed.

use benzer_flow::workers::both;
use benzer_join::Edge;
use benzer_join::resolve::{Cluster, Components, Leaders};

use super::setup::Job;
use crate::corpus::CorpusView;
use crate::decide::{self, Removal, Rule};
use crate::edges::Edges;
use crate::error::Result;
use crate::outcome;
use crate::progress::Stage;
use crate::request::Output;
use crate::summary::Summary;

impl Job<'_> {
    /// One removal for each document that goes, in keep order.
    pub fn resolve(
        &self,
        view: &CorpusView<'_>,
        edges: &Edges,
        copies: &[Edge],
        summary: &mut Summary,
    ) -> Result<Vec<Removal>> {
        self.observer.begin(Stage::Resolve, None);
        let threads = self.request.resources.threads;
        let (decisive, ()) = both(threads, || self.decisive(view, edges), || self.release_inputs(view));
        let decisive = decisive?;
        let rule = self.request.rule();
        let removals = decisive.into_iter().map(|edge| Removal { edge, rule }).collect();
        let removals = decide::with_copies(removals, copies);
        let counts = &mut summary.counts;
        counts.removed = removals.len() as u64;
        counts.kept = u64::from(view.len()) - counts.removed;
        counts.removed_against = removals.iter().filter(|removal| view.is_old(removal.kept())).count() as u64;
        summary.warnings.extend(outcome::all_known(counts, self.request.compare.measure));
        counts.copies = removals.iter().filter(|removal| removal.rule == Rule::ExactCopy).count() as u64;
        Ok(removals)
    }

    /// Lines that nobody will write are hardly looked at any more. To forget where they are in memory takes a while, which others would wait for at the end.
    fn release_inputs(&self, view: &CorpusView<'_>) {
        if let (Output::DryRun | Output::Evidence, Some(rereader)) =
            (self.request.results.write, &view.corpus.rereader)
        {
            rereader.release();
        }
    }

    /// The edge from each document that is similar enough to a kept one.
    fn decisive(&self, view: &CorpusView<'_>, edges: &Edges) -> Result<Vec<Edge>> {
        match self.request.cluster {
            Cluster::Leaders => {
                let mut leaders = Leaders::default();
                edges.parts(|edges| {
                    edges.iter().for_each(|edge| leaders.push(*edge));
                    Ok(())
                })?;
                Ok(leaders.finish())
            }
            Cluster::Components => {
                let mut components = Components::new(view.len());
                edges.parts(|edges| {
                    edges.iter().for_each(|edge| components.push(*edge));
                    Ok(())
                })?;
                self.measure(view, components.finish())
            }
        }
    }
}
