//! `manifest.json` and `run.json`: what was made, and how.

use benzer_storage::Stamp;
use serde_json::{Value, json};

use super::fingerprint;
use super::folders::STDIN;
use super::write::ResultWriter;
use crate::error::Result;
use crate::results::{inputs, manifest};

impl ResultWriter<'_> {
    /// Writes both, the manifest last.
    pub fn manifest(&self, stamps: &[(String, Stamp)]) -> Result<()> {
        let Self { job, summary, .. } = self;
        let request = job.request;
        let files: Vec<_> = stamps
            .iter()
            .map(|(name, stamp)| json!({"name": name, "bytes": stamp.bytes, "checksum": format!("{:016x}", stamp.checksum)}))
            .collect();
        let whole = json!({
            "benzer": env!("CARGO_PKG_VERSION"),
            "format": manifest::FORMAT,
            "settings": fingerprint::settings(request),
            "counts": summary.counts,
            "similarities": summary.histogram,
            "audit": summary.audit,
            "warnings": summary.warnings,
            "files": files,
        });
        let mut run = job.create(manifest::RUN)?;
        run.append(&manifest::sealed(&self.facts()?))?;
        run.commit()?;
        let mut file = job.create(manifest::NAME)?;
        file.append(&manifest::sealed(&whole))?;
        file.commit()?;
        Ok(())
    }

    /// What is not the same when a run is repeated.
    fn facts(&self) -> Result<Value> {
        let Self { job, summary, .. } = self;
        let request = job.request;
        let timings: Vec<_> = summary
            .timings
            .iter()
            .map(|timing| json!({"stage": timing.stage.name(), "seconds": timing.took.as_secs_f64(), "resumed": timing.resumed}))
            .collect();
        Ok(json!({
            "command": request.results.command,
            "directory": std::env::current_dir().ok().map(|folder| folder.to_string_lossy().into_owned()),
            "given": request.input.names(),
            "inputs": inputs::named(self.view.corpus, &job.folders.work.join(STDIN))?,
            "read": inputs::how(&request.input.read),
            "threads": request.resources.threads,
            "memory": request.resources.memory,
            "spilled_bytes": summary.spilled_bytes,
            "peak_memory_bytes": peak_memory(),
            "stages": timings,
        }))
    }
}

/// The most memory this process ever had, mapped files included, as Linux tells it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(peak.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}
