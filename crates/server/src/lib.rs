//! # benzer-server
//!
//! Collections over REST, and a page to look at them.
//!
//! ```text
//! connection --guard: key, rate, permit, time--> route --pool--> Index --> wire type --> JSON
//! ```
//!
//! **The way through**, from `POST /collections/{name}/search` to its answer: [`serve`] takes the connection; `app` puts the layers of its `guard` before the routes: it asks `access` who this is and gives a permit;
//! `request` reads path and body, within the memory of `resources`; `search` in `routes` has a pool of threads of `resources` call the index, which `collections` has open; `wire` makes JSON of
//! what was found.
//!
//! **What it must not know**: how similarity is found; everything is asked of `benzer-index`. Its calls block, so they run on three bounded pools of threads (for reading, for writing, for what goes through
//! whole collections) and never on those that serve connections. A route asks and converts: the JSON of requests and answers stands in `wire`, that of refusals in `error`, and the index knows neither.
//! The OpenAPI document is made from the routes and these types. The page in `ui/` is plain files that are part of the binary, and uses the public API only.
//!
//! ```no_run
//! use benzer_server::{Config, Server, serve::stop_signal};
//!
//! let runtime = tokio::runtime::Runtime::new()?;
//! runtime.block_on(async {
//!     let server = Server::new(Config { db: "./benzer-data".into(), ..Config::default() })?;
//!     let listener = server.listen().await?;
//!     server.run(listener, stop_signal()).await
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Limits.** HTTP/1.1 only. One process serves a collection that is kept in a folder; several share one that is kept in Redis.

pub mod access;
pub mod app;
mod collections;
mod config;
mod error;
pub mod log;
mod metrics;
mod request;
mod resources;
pub mod routes;
pub mod serve;
pub mod state;
mod wire;

pub use config::{Config, Limits, Tls};
pub use serve::{Server, StartError};
