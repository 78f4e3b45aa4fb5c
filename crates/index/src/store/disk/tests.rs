//! The store on disk, opened and opened again.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::store::conformance;

#[test]
fn disk_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let n = AtomicUsize::new(0);
    conformance::run(&mut |settings| {
        let path: PathBuf = folder.path().join(n.fetch_add(1, Ordering::Relaxed).to_string());
        crate::store::disk(&path, &settings)
    });
    for name in names(folder.path()).unwrap() {
        let report = Disk::open(&folder.path().join(name), Access::Read).unwrap().verify().unwrap();
        assert!(report.is_whole(), "{report:?}");
    }
}
