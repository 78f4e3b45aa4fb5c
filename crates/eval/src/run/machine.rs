//! What a run was made with: processor, cores, commit. What cannot be known is said so.

use std::fs;
use std::process::Command;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub cpu: String,
    pub cores: usize,
    pub level: String,
    pub commit: String,
}

pub(crate) fn describe() -> Machine {
    let unknown = || "unknown".to_owned();
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find_map(|line| line.strip_prefix("model name")).and_then(|line| line.split_once(':'));
    Machine {
        cpu: model.map_or_else(unknown, |(_, name)| name.trim().to_owned()),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        level: format!("{:?}", benzer_core::Level::best()).to_lowercase(),
        commit: commit().unwrap_or_else(unknown),
    }
}

/// The commit of the folder that the run was started in, with a mark if files differ from it.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| -> Option<String> {
        let output = Command::new("git").args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed =
        git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|text| !text.is_empty());
    Some(if changed { format!("{commit} with changes") } else { commit })
}
