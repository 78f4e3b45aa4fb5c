//! Object stores, web servers and tables of other tools, as a user meets them: the binary, a real S3 server (moto), PyArrow and DuckDB.
//!
//! Everything runs on this machine, at ports that are free. The Python packages are pinned in `python/requirements.txt` and
//! installed below `target/` by `tools/python.sh`.

mod flaky;
mod lab;
mod proxy;
mod s3;
mod server;
mod tables;
mod web;
