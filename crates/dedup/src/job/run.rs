//! The stages of a run, one after the other. Each takes what it needs from those before, and tells the summary what people should know of it.

use std::time::Instant;

use super::group::Distinct;
use super::old::{ArchiveGrowth, OldSources};
use super::open::Opened;
use super::read::ReadCorpus;
use super::resume::{IsWanted, saving};
use super::setup::{Job, Setup};
use super::write::Decided;
use crate::corpus::{Corpus, CorpusView};
use crate::edges::Edges;
use crate::error::Result;
use crate::found_old::FoundOld;
use crate::progress::Stage;
use crate::request::{Audit, Measure};
use crate::summary::{Summary, Timing};

pub(super) struct Finished {
    pub summary: Summary,
    pub fingerprint: String,
}

/// Does all of it. What fails leaves nothing that looks finished.
pub(super) fn run(setup: Setup<'_>) -> Result<Finished> {
    match stages(&setup) {
        Ok(finished) => {
            setup.folders.finish(setup.files)?;
            Ok(finished)
        }
        Err(error) => {
            setup.folders.withdraw(setup.files);
            Err(error)
        }
    }
}

fn stages(setup: &Setup<'_>) -> Result<Finished> {
    let warnings = setup.request.compare.remark.iter().cloned().collect();
    let mut summary = Summary { warnings, ..Summary::default() };
    let (old, job, corpus, unsaved) = timed(Stage::Read, &mut summary, |summary| {
        let Opened { reader, old, budget, checkpoints } = setup.open(summary)?;
        let ReadCorpus { corpus, budget, saves, unsaved } =
            setup.read(reader, budget, &checkpoints, summary)?;
        Ok((old, Job::new(setup, budget, checkpoints.saving(saves)), corpus, unsaved))
    })?;
    job.check_read(&corpus.inputs, &mut summary)?;
    let is_worth_it = job.checkpoints.saves(summary.took(Stage::Read));
    let save = unsaved
        .filter(|_| is_worth_it)
        .map(|manifest| |is_wanted: IsWanted<'_>| job.save_corpus(&corpus, manifest, is_wanted));
    saving(save, &mut summary, |summary| stages_after_read(&job, &corpus, old, summary))?;
    Ok(Finished { summary, fingerprint: job.checkpoints.fingerprint })
}

fn stages_after_read(job: &Job<'_>, corpus: &Corpus, old: OldSources, summary: &mut Summary) -> Result<()> {
    let request = job.request;
    let (ranking, mut distinct) = timed(Stage::Group, summary, |summary| job.group(corpus, summary))?;

    let (mut found_old, mut old_edges) = (FoundOld::default(), None);
    if !request.old.paths.is_empty() {
        let input = CorpusView { corpus, ranking: &ranking, found_old: &found_old };
        let matched =
            timed(Stage::Against, summary, |summary| job.against(&input, old.inputs, distinct, summary))?;
        (distinct, found_old, old_edges) = (matched.distinct, matched.found_old, matched.edges);
    }
    let view = CorpusView { corpus, ranking: &ranking, found_old: &found_old };

    let (edges, unsaved) = match job.saved_edges(summary)? {
        Some(edges) => (edges, None),
        None => {
            let candidates = timed(Stage::Candidates, summary, |summary| {
                job.candidates(&view, &distinct.compared, summary)
            })?;
            timed(Stage::Verify, summary, |summary| job.verify(&view, candidates, old_edges, summary))?
        }
    };
    let is_worth_it = job.checkpoints.saves(summary.took(Stage::Candidates) + summary.took(Stage::Verify));
    let save = unsaved
        .filter(|_| is_worth_it)
        .map(|manifest| |is_wanted: IsWanted<'_>| job.save_edges(&edges, &view, manifest, is_wanted));
    saving(save, summary, |summary| stages_after_verify(job, view, &edges, &distinct, &old.growth, summary))
}

fn stages_after_verify(
    job: &Job<'_>,
    view: CorpusView<'_>,
    edges: &Edges,
    distinct: &Distinct,
    growth: &ArchiveGrowth,
    summary: &mut Summary,
) -> Result<()> {
    let Distinct { compared, copies, .. } = distinct;
    let removals = timed(Stage::Resolve, summary, |summary| job.resolve(&view, edges, copies, summary))?;
    let decided = Decided { view, edges, copies, removals: &removals };

    // With containment, documents of the input are not compared with each other.
    let request = job.request;
    let is_audited = request.audit != Audit::Off && request.compare.measure == Measure::Jaccard;
    let findings = match is_audited {
        true => Some(timed(Stage::Audit, summary, |summary| job.audit(&decided, compared, summary))?),
        false => None,
    };
    timed(Stage::Write, summary, |summary| job.write(&decided, findings.as_ref(), growth, summary))
}

fn timed<T>(stage: Stage, summary: &mut Summary, work: impl FnOnce(&mut Summary) -> Result<T>) -> Result<T> {
    let start = Instant::now();
    let made = work(summary)?;
    summary.timings.push(Timing { stage, took: start.elapsed(), resumed: false });
    Ok(made)
}
