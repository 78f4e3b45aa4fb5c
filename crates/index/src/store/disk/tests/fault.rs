//! What is done to a collection when something goes wrong, and disks without room.

use std::fs::File;
use std::io;

use super::*;

/// What is done to a collection; after each step, what it holds.
pub(super) fn steps() -> Vec<(Step, Model)> {
    let mut model = Model::new();
    let mut steps = Vec::new();
    for i in 0..9 {
        let put = documents(i * 12..i * 12 + 20, i);
        model.extend(put.clone());
        steps.push((Step::Put(put), model.clone()));
        if i % 3 == 1 {
            let id = format!("{:016}", i * 12 + 2);
            model.remove(&id);
            steps.push((Step::Remove(id), model.clone()));
            steps.push((Step::Merge, model.clone()));
        }
        if i % 4 == 3 {
            steps.push((Step::Compact, model.clone()));
        }
    }
    steps
}

pub(super) enum Step {
    Put(Model),
    Remove(String),
    Merge,
    Compact,
}

impl Step {
    pub fn run(&self, disk: &Disk) -> Result<()> {
        match self {
            Self::Put(documents) => disk.put(batch(documents)),
            Self::Remove(id) => disk.remove(&[id.as_bytes()]).map(drop),
            Self::Merge => disk.shared.merge_some().map(drop),
            Self::Compact => disk.compact(),
        }
    }
}

impl Disk {
    /// A collection without the worker, so that everything happens in one order.
    pub(super) fn without_worker(path: &Path, files: Arc<dyn Files>) -> Self {
        let mut disk = Self::open_with(path, Access::Write, DiskOptions { files, sizes: SMALL }).unwrap();
        disk.worker = None;
        disk
    }
}

/// A disk that has room for so many operations.
#[derive(Debug, Default)]
struct Failing {
    /// Operations until one fails; nothing fails at zero.
    left: AtomicUsize,
    /// Whether all later ones that need room fail too.
    is_full: bool,
    /// What the system says.
    error: i32,
}

/// No room, and a disk that is broken.
const ENOSPC: i32 = 28;
const EIO: i32 = 5;

impl Failing {
    fn fails(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        let stays = usize::from(self.is_full);
        self.left.store(if left == 1 { stays } else { left.saturating_sub(1) }, Ordering::Relaxed);
        left == 1
    }

    fn check(&self) -> io::Result<()> {
        if self.fails() { Err(io::Error::from_raw_os_error(self.error)) } else { Ok(()) }
    }

    /// [`Failing::check`] for what needs no room.
    fn check_without_room(&self) -> io::Result<()> {
        if self.is_full { Ok(()) } else { self.check() }
    }
}

impl Files for Failing {
    fn create(&self, path: &Path) -> io::Result<File> {
        self.check()?;
        Quick.create(path)
    }

    fn write(&self, path: &Path, file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
        if self.fails() {
            Quick.write(path, file, at, &bytes[..bytes.len() / 2])?;
            return Err(io::Error::from_raw_os_error(self.error));
        }
        Quick.write(path, file, at, bytes)
    }

    fn cut(&self, path: &Path, file: &File, bytes: u64) -> io::Result<()> {
        self.check_without_room()?;
        Quick.cut(path, file, bytes)
    }

    fn sync(&self, path: &Path, file: &File) -> io::Result<()> {
        self.check_without_room()?;
        Quick.sync(path, file)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check_without_room()?;
        Quick.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.check_without_room()?;
        Quick.remove(path)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.check()?;
        Quick.make_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.check_without_room()?;
        Quick.sync_folder(path)
    }
}

#[test]
fn on_a_full_disk_a_change_fails_and_nothing_is_lost() {
    for (is_full, error) in [(false, ENOSPC), (false, EIO), (true, ENOSPC)] {
        let mut n_errors = 0;
        for fail_at in 1..200 {
            let folder = tempfile::tempdir().unwrap();
            drop(made(folder.path(), &quick()));
            let failing = Arc::new(Failing { is_full, error, ..Failing::default() });
            let disk = Disk::without_worker(folder.path(), failing.clone());
            failing.left.store(fail_at, Ordering::Relaxed);
            let mut before = Model::new();
            let mut failed = false;
            for (step, after) in steps() {
                match step.run(&disk) {
                    Ok(()) => before = after,
                    Err(_) => {
                        assert_eq!(content(&disk), before, "operation {fail_at}");
                        failed = true;
                        if matches!(step, Step::Compact) && !is_full {
                            // A compaction that fails is in nobody's way.
                            let put = documents(900..903, 1);
                            disk.put(batch(&put)).unwrap();
                            before.extend(put);
                        }
                        break;
                    }
                }
            }
            drop(disk);
            assert_eq!(whole_content(folder.path()), before, "operation {fail_at}");
            if !failed {
                break;
            }
            n_errors += 1;
        }
        assert!(n_errors > 20, "{n_errors}");
    }
}

/// A collection whose making fails is not there, or it is there and empty; made again, it is.
#[test]
fn a_collection_that_could_not_be_made_can_be_made_again() {
    let (mut fail_at, mut is_made) = (1, false);
    while !is_made {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/db/c");
        let failing = Arc::new(Failing { left: fail_at.into(), error: EIO, ..Failing::default() });
        let options = DiskOptions { files: failing.clone(), sizes: SMALL };
        is_made = Disk::create_with(&path, &test_settings(), options).is_ok();
        assert!(is_made || failing.left.load(Ordering::Relaxed) == 0, "operation {fail_at}");
        match Disk::create_with(&path, &test_settings(), quick()) {
            Err(error) => assert!(path.join(COLLECTION).exists(), "operation {fail_at}: {error}"),
            Ok(()) => assert!(!is_made, "operation {fail_at}"),
        }
        assert_eq!(whole_content(&path), Model::new(), "operation {fail_at}");
        fail_at += 1;
    }
    assert!(fail_at > 10, "{fail_at}");
}
