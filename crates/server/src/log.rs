//! Logs on standard error: text for people, or JSON for machines.

use tracing_subscriber::filter::LevelFilter;

/// How logs look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// One line of text for each event.
    Text,
    /// One JSON object for each event.
    Json,
}

/// Starts logging from a level on: `error`, `warn`, `info`, `debug`, `trace` or `off`. Later calls do nothing.
///
/// # Errors
/// Another level.
pub fn start(level: &str, format: LogFormat) -> Result<(), String> {
    let level: LevelFilter = level.parse().map_err(|_| {
        format!("`{level}` is no level of logs; expected error, warn, info, debug, trace or off")
    })?;
    let builder =
        tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_target(false);
    let _ = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    Ok(())
}
