//! From files to what is compared, on many threads.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use benzer_core::Features;
use benzer_core::field::image::decode;
use benzer_core::field::image::local::Local;
use benzer_core::sketch::{SketchSpec, Sketcher};
use twox_hash::XxHash3_128;

use super::find::Input;
use super::keypoints::{KeypointSpan, KeypointWriter, Keypoints};
use super::{Options, check_cancelled, features};
use benzer_dedup::progress::Observer;
use benzer_dedup::{Error, Result};
use benzer_storage::Files;

#[derive(Debug)]
pub(super) struct Picture {
    pub input: usize,
    pub hash: u128,
    pub size: (u32, u32),
    pub features: Features,
    /// Their sketch; nothing if there are none.
    pub words: Vec<u64>,
    pub place: KeypointSpan,
}

#[derive(Debug)]
pub(super) struct Reject {
    pub input: usize,
    pub reason: String,
}

#[derive(Debug)]
pub(super) struct Read {
    pub inputs: Vec<Input>,
    /// In the order of the inputs.
    pub pictures: Vec<Picture>,
    pub rejects: Vec<Reject>,
    pub keypoints: Keypoints,
    pub spec: SketchSpec,
}

impl Read {
    pub fn path(&self, picture: &Picture) -> &Path {
        &self.inputs[picture.input].path
    }

    pub fn rejected(&self) -> Vec<String> {
        let line =
            |reject: &Reject| format!("{}: {}", self.inputs[reject.input].path.display(), reject.reason);
        self.rejects.iter().map(line).collect()
    }
}

/// Reads all files. The result does not depend on the number of threads.
pub(super) fn extract(
    inputs: Vec<Input>,
    options: &Options,
    files: &Files,
    observer: &dyn Observer,
) -> Result<Read> {
    let spec = features().sketch_spec();
    let writer = KeypointWriter::create(files, &options.output)?;
    let (mut pictures, mut rejects) = {
        let sketcher = spec.sketcher()?;
        let work = Work {
            inputs: &inputs,
            options,
            observer,
            sketcher: &*sketcher,
            writer: &writer,
            next: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            found: Mutex::default(),
        };
        let outcomes: Vec<Result<()>> = thread::scope(|scope| {
            let run = || work.read_all().inspect_err(|_| work.stop.store(true, Ordering::Relaxed));
            let workers: Vec<_> = (0..options.threads.max(1)).map(|_| scope.spawn(run)).collect();
            let join = |worker: thread::ScopedJoinHandle<'_, _>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().map(join).collect()
        });
        outcomes.into_iter().collect::<Result<()>>()?;
        work.found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    };
    pictures.sort_by_key(|picture| picture.input);
    rejects.sort_by_key(|reject| reject.input);
    Ok(Read { inputs, pictures, rejects, keypoints: writer.finish()?, spec })
}

struct Work<'a> {
    inputs: &'a [Input],
    options: &'a Options,
    observer: &'a dyn Observer,
    sketcher: &'a dyn Sketcher,
    writer: &'a KeypointWriter,
    next: AtomicUsize,
    bytes: AtomicU64,
    stop: AtomicBool,
    found: Mutex<(Vec<Picture>, Vec<Reject>)>,
}

impl Work<'_> {
    fn read_all(&self) -> Result<()> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(input) = self.inputs.get(number) else { return Ok(()) };
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            check_cancelled(self.observer)?;
            let read = self.read(number, input)?;
            let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match read {
                Ok(picture) => found.0.push(picture),
                Err(reason) if self.options.strict => {
                    let reject = format!("{}: {reason}", input.path.display());
                    return Err(Error::Strict { reject });
                }
                Err(reason) => found.1.push(Reject { input: number, reason }),
            }
            drop(found);
            let bytes = self.bytes.fetch_add(input.bytes, Ordering::Relaxed) + input.bytes;
            self.observer.reached(bytes);
        }
    }

    /// A picture, or why it is none.
    fn read(&self, number: usize, input: &Input) -> Result<std::result::Result<Picture, String>> {
        let limits = &self.options.limits;
        if input.bytes > limits.bytes {
            let reason = format!("the file has {} bytes, and at most {} are read", input.bytes, limits.bytes);
            return Ok(Err(reason));
        }
        let bytes = match fs::read(&input.path) {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err(format!("cannot be read: {error}"))),
        };
        let grey = match decode(&bytes, limits) {
            Ok(grey) => grey,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let local = Local::new(&grey);
        let features = local.features();
        let words = match features.is_empty() {
            true => Vec::new(),
            false => self.sketcher.sketch(&features)?.words().to_vec(),
        };
        let size = (grey.width() as u32, grey.height() as u32);
        Ok(Ok(Picture {
            input: number,
            hash: XxHash3_128::oneshot(&bytes),
            size,
            features,
            words,
            place: self.writer.push(&local)?,
        }))
    }
}
