//! Keypoints and descriptors of all pictures, in a temporary file.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;

use benzer_core::field::image::local::{Descriptor, Keypoint, LENGTH, Local, Size};

use benzer_dedup::Result;
use benzer_storage::{Files, Scratch};

const RECORD: usize = 16 + LENGTH;

/// Where the keypoints of a picture are, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct KeypointSpan {
    offset: u64,
    n: u32,
    size: Size,
}

/// The file while it is written, by many threads.
#[derive(Debug)]
pub(super) struct KeypointWriter {
    scratch: Mutex<Scratch>,
}

#[derive(Debug)]
pub(super) struct Keypoints {
    scratch: Scratch,
    file: File,
}

impl KeypointWriter {
    pub fn create(files: &Files, folder: &Path) -> Result<Self> {
        Ok(Self { scratch: Mutex::new(files.temporary(&folder.join("keypoints.bin"))?) })
    }

    pub fn push(&self, local: &Local) -> Result<KeypointSpan> {
        let mut bytes = Vec::with_capacity(local.points().len() * RECORD);
        for (point, descriptor) in local.points().iter().zip(local.descriptors()) {
            for value in [point.x, point.y, point.scale, point.angle] {
                bytes.extend(value.to_le_bytes());
            }
            bytes.extend(descriptor);
        }
        let mut scratch = self.scratch.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let offset = scratch.bytes();
        scratch.append(&bytes)?;
        Ok(KeypointSpan { offset, n: local.points().len() as u32, size: local.size() })
    }

    pub fn finish(self) -> Result<Keypoints> {
        let mut scratch = self.scratch.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let file = scratch.read()?;
        Ok(Keypoints { scratch, file })
    }
}

impl Keypoints {
    pub fn get(&self, place: KeypointSpan) -> Result<Local> {
        let mut bytes = vec![0; place.n as usize * RECORD];
        self.file.read_exact_at(&mut bytes, place.offset).map_err(|error| benzer_io::Error::Read {
            path: self.scratch.path().to_owned(),
            source: error,
        })?;
        let (mut points, mut descriptors) = (Vec::new(), Vec::new());
        for record in bytes.chunks_exact(RECORD) {
            let value =
                |i: usize| f32::from_le_bytes(record[4 * i..4 * i + 4].try_into().expect("four bytes"));
            points.push(Keypoint { x: value(0), y: value(1), scale: value(2), angle: value(3) });
            let descriptor: Descriptor = record[16..].try_into().expect("a whole descriptor");
            descriptors.push(descriptor);
        }
        Ok(Local::from_parts(place.size, points, descriptors).expect("as many points as descriptors"))
    }
}
