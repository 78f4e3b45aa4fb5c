//! # benzer-server
//!
//! Collections over REST, and a page to look at them.
//!
//! ```text
//! connection --guard: key, rate, place, time--> route --pool--> Index --> JSON
//! ```
//!
//! - [`routes`]: thin shells over the index, one file for each thing; [`wire`]: the JSON that they speak, from which the OpenAPI document is made.
//! - [`guard`]: what every request goes through; [`access`], [`keys`]: who may do what; [`budget`], [`pool`]: what keeps memory and threads bounded.
//! - [`shelf`]: the open collections. [`serve`]: listening, TLS, stopping. `ui/`: the page, plain files that are part of the binary.
//!
//! There is no logic of similarity here: everything is asked of `benzer-index`. Its calls block, so they run on bounded pools of threads and never on those that serve connections.
//!
//! ```no_run
//! use benzer_server::{Config, Server, serve::told_to_stop};
//!
//! let runtime = tokio::runtime::Runtime::new()?;
//! runtime.block_on(async {
//!     let server = Server::new(Config { db: "./benzer-data".into(), ..Config::default() })?;
//!     let listener = server.listen().await?;
//!     server.run(listener, told_to_stop()).await
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Limits.** HTTP/1.1 only. One process serves a collection that is kept in a folder; several share one that is kept in Redis.

pub mod access;
pub mod app;
pub mod body;
pub mod budget;
pub mod config;
pub mod demo;
pub mod error;
pub mod guard;
pub mod keys;
pub mod log;
pub mod metrics;
#[cfg(feature = "image")]
pub mod multipart;
pub mod pool;
pub mod routes;
pub mod serve;
pub mod shelf;
pub mod tls;
pub mod wire;

pub use config::{Config, Limits, Tls};
pub use serve::{Server, StartError};
