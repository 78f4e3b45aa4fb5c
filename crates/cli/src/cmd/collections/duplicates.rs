//! `benzer collections duplicates`: all similar documents of a collection.

use std::io::Write;

use anyhow::bail;
use benzer_core::estimate::Estimate;
use benzer_index::Error;
use clap::Args;
use serde::Serialize;

use crate::Usage;
use crate::options::db::{DbArguments, failed};
use crate::output::{Format, View, printable};

/// Which collection, and what of it.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The collection
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    db: DbArguments,
    /// The least similarity [default: that of the collection]
    #[arg(long, value_name = "T")]
    threshold: Option<f64>,
    /// Three documents at a time, by what all of them have in common
    #[arg(long, conflicts_with = "clusters")]
    triples: bool,
    /// Documents with those that are similar to them, the largest cluster first
    #[arg(long)]
    clusters: bool,
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Line<'a> {
    ids: &'a [&'a str],
    estimate: &'a Estimate,
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    if arguments.limit == Some(0) {
        bail!(Usage::new("--limit must be at least 1"));
    }
    let index = arguments.db.read(&arguments.name)?;
    let (mut n, mut trouble) = (0, None);
    let mut put = |ids: &[&str], estimate: &Estimate| {
        let written = line(ids, estimate, view, out);
        n += 1;
        let is_over = arguments.limit.is_some_and(|limit| n >= limit);
        trouble = written.err();
        // The search has no other way to end early.
        if trouble.is_some() || is_over { Err(over()) } else { Ok(()) }
    };
    let done = if arguments.triples {
        index.triples(arguments.threshold, |triple| {
            put(&triple.ids.each_ref().map(String::as_str), &triple.estimate)
        })
    } else if arguments.clusters {
        index.clusters(arguments.threshold, || Ok(())).and_then(|clusters| {
            clusters.into_iter().try_for_each(|cluster| {
                let all =
                    std::iter::once(&cluster.leader).chain(cluster.members.iter().map(|member| &member.id));
                let ids: Vec<&str> = all.map(String::as_str).collect();
                // The least similar member stands for the cluster.
                cluster.members.last().map_or(Ok(()), |last| put(&ids, &last.estimate))
            })
        })
    } else {
        index.duplicates(arguments.threshold, |a, b, estimate| put(&[a, b], estimate))
    };
    match (trouble, done) {
        (Some(trouble), _) => Err(trouble),
        (None, Err(Error::Store { backend: OVER, .. })) => {
            talk!("there may be more: these are the first {n}, as --limit says");
            Ok(())
        }
        (None, done) => done.map_err(failed),
    }
}

const OVER: &str = "output";

fn over() -> Error {
    Error::Store { backend: OVER, source: "nothing more is wanted".into() }
}

fn line(ids: &[&str], estimate: &Estimate, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    if view.format == Format::Json {
        serde_json::to_writer(&mut *out, &Line { ids, estimate })?;
        return Ok(writeln!(out)?);
    }
    let ids: Vec<String> = ids.iter().map(|id| printable(id)).collect();
    let similarity = estimate.measured().map_or(String::new(), |measured| {
        format!("{:.3}  ({:.3} to {:.3})", measured.value, measured.low, measured.high)
    });
    Ok(writeln!(out, "{similarity}  {}", ids.join("  "))?)
}
