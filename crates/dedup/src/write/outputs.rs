//! Outputs of lines: cut into parts of a fixed size in the order of the documents, which any thread fills and compresses.

use std::collections::VecDeque;
use std::mem;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use benzer_flow::relay::Relay;
use benzer_io::read::{Compression, Format, Input};
use benzer_io::rewrite::{Compressor, annotate_csv_header, part_bytes};
use benzer_storage::{Block, FileWriter, Files, Settler, StampedBlock};

use super::kept::{Keeper, KeptLines, Lines, Source};
use crate::error::{Error, Result};

/// Where outputs go.
#[derive(Clone, Copy)]
pub(super) struct Outputs<'a> {
    pub files: &'a Files,
    /// They lie below it, at the relative paths of the inputs.
    pub root: &'a PathBuf,
    pub inputs: &'a [Arc<Input>],
}

impl Outputs<'_> {
    pub fn create(&self, input: u32) -> Result<FileWriter> {
        let path = self.root.join(&self.inputs[input as usize].relative);
        self.files.create_dir_all(path.parent().unwrap_or(&path))?;
        Ok(self.files.create(&path)?)
    }

    pub fn compression(&self, input: u32) -> Compression {
        self.inputs[input as usize].compression().unwrap_or(Compression::None)
    }
}

/// A part of an output, or where it begins and ends.
pub(super) enum Task<'a> {
    Begin(FileWriter),
    Part(Part<'a>),
    End,
    /// An output of one document.
    File {
        input: u32,
        part: Part<'a>,
    },
}

/// What is behind each other in an output.
pub(super) struct Part<'a> {
    compression: Compression,
    pieces: Vec<(Lines<'a>, Range<usize>)>,
    n_bytes: usize,
}

/// What became of a task.
pub(super) enum Done {
    Begin(FileWriter),
    Block(StampedBlock),
    Compressed(Vec<u8>),
    End,
    File(FileWriter),
}

/// The work of any thread.
pub(super) struct LineRelay<'a> {
    pub keeper: Keeper<'a>,
    pub outputs: Outputs<'a>,
    pub spare: &'a Spare,
}

/// Buffers that come back: memory costs time when it is touched first.
#[derive(Default)]
pub(super) struct Spare {
    blocks: Mutex<Vec<Block>>,
    buffers: Mutex<Vec<Vec<u8>>>,
}

fn pop<T: Default>(spare: &Mutex<Vec<T>>) -> T {
    spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
}

fn push<T>(spare: &Mutex<Vec<T>>, value: T) {
    spare.lock().unwrap_or_else(PoisonError::into_inner).push(value);
}

/// What a thread compresses with, and a part in one piece.
#[derive(Default)]
pub(super) struct Scratch {
    compressor: Compressor,
    part: Vec<u8>,
}

impl<'a> Relay for LineRelay<'a> {
    type Batch = Source;
    type Made = KeptLines<'a>;
    type Task = Task<'a>;
    type Done = Done;
    type Scratch = Scratch;
    type Error = Error;

    fn make(&self, source: Source) -> Result<KeptLines<'a>> {
        self.keeper.kept(source)
    }

    fn work(&self, task: Task<'a>, scratch: &mut Scratch) -> Result<Done> {
        Ok(match task {
            Task::Begin(file) => Done::Begin(file),
            Task::End => Done::End,
            Task::Part(part) if part.compression == Compression::None => {
                Done::Block(part.block(pop(&self.spare.blocks)).stamped())
            }
            Task::Part(part) => {
                let mut compressed = pop(&self.spare.buffers);
                compressed.clear();
                part.compress(scratch, &mut compressed)?;
                Done::Compressed(compressed)
            }
            Task::File { input, part } => {
                let mut out = self.outputs.create(input)?;
                for part in part.split() {
                    let mut bytes = Vec::new();
                    part.compress(scratch, &mut bytes)?;
                    out.append(&bytes)?;
                }
                Done::File(out)
            }
        })
    }
}

impl<'a> Part<'a> {
    fn new(compression: Compression) -> Self {
        Self { compression, pieces: Vec::new(), n_bytes: 0 }
    }

    /// Bytes of a whole one.
    fn size(&self) -> usize {
        part_bytes(self.compression).unwrap_or(Block::BYTES)
    }

    /// Takes as many bytes of the range as there is room for, and leaves the others.
    fn take(&mut self, lines: &Lines<'a>, range: &mut Range<usize>) {
        let end = range.end.min(range.start + self.size() - self.n_bytes);
        self.n_bytes += end - range.start;
        self.pieces.push((lines.clone(), range.start..end));
        range.start = end;
    }

    fn is_whole(&self) -> bool {
        self.n_bytes == self.size()
    }

    /// Its bytes in a block, which is empty.
    fn block(&self, mut block: Block) -> Block {
        for (lines, range) in &self.pieces {
            block.take(lines.bytes(range));
        }
        block
    }

    fn compress(&self, scratch: &mut Scratch, into: &mut Vec<u8>) -> Result<()> {
        scratch.part.clear();
        // In one piece, and out of files that others may write to.
        self.pieces.iter().for_each(|(lines, range)| scratch.part.extend_from_slice(lines.bytes(range)));
        let compressed = scratch.compressor.compress(&scratch.part, self.compression, into);
        Ok(compressed.map_err(benzer_io::Error::Write)?)
    }

    /// The same in parts that are not longer than they should be.
    fn split(self) -> Vec<Self> {
        let mut parts = vec![Self::new(self.compression)];
        for (lines, mut range) in self.pieces {
            while !range.is_empty() {
                if parts.last().is_none_or(Self::is_whole) {
                    parts.push(Self::new(self.compression));
                }
                parts.iter_mut().last().into_iter().for_each(|part| part.take(&lines, &mut range));
            }
        }
        parts
    }
}

/// Cuts outputs into parts.
pub(super) struct Cutter<'a> {
    outputs: Outputs<'a>,
    annotates: bool,
    /// The next output, and the part of the one before it that is not whole; nothing if that has no lines.
    next: u32,
    part: Option<Part<'a>>,
    /// Whether the output has a part already.
    has_parts: bool,
    /// The row behind those that were cut, and how many of them are in lines.
    pub end: u32,
    pub n_rows: u64,
}

impl<'a> Cutter<'a> {
    pub fn new(outputs: Outputs<'a>, annotates: bool) -> Self {
        Self { outputs, annotates, next: 0, part: None, has_parts: false, end: 0, n_rows: 0 }
    }

    /// Takes what is kept of the next batch.
    pub fn cut(&mut self, kept: KeptLines<'a>, tasks: &mut VecDeque<Task<'a>>) -> Result<()> {
        if kept.rows.is_empty() {
            return Ok(());
        }
        if kept.rows.start < self.end {
            return Err(benzer_io::Error::Changed.into());
        }
        self.end = kept.rows.end;
        self.n_rows += kept.rows.len() as u64;
        for run in kept.runs {
            self.go_to(run.input, tasks)?;
            let mut range = run.bytes;
            let Some(part) = &mut self.part else {
                let mut part = Part::new(self.outputs.compression(run.input));
                part.n_bytes = range.len();
                part.pieces.push((kept.lines.clone(), range));
                tasks.push_back(Task::File { input: run.input, part });
                continue;
            };
            while !range.is_empty() {
                part.take(&kept.lines, &mut range);
                if part.is_whole() {
                    let next = Part::new(part.compression);
                    tasks.push_back(Task::Part(mem::replace(part, next)));
                    self.has_parts = true;
                }
            }
        }
        Ok(())
    }

    /// Ends the last output. Inputs without documents have one too.
    pub fn finish(&mut self, tasks: &mut VecDeque<Task<'a>>) -> Result<()> {
        if let Some(last) = self.outputs.inputs.len().checked_sub(1) {
            self.go_to(last as u32, tasks)?;
        }
        self.end(tasks);
        Ok(())
    }

    fn go_to(&mut self, input: u32, tasks: &mut VecDeque<Task<'a>>) -> Result<()> {
        while self.next <= input {
            self.end(tasks);
            self.begin(tasks)?;
        }
        Ok(())
    }

    fn end(&mut self, tasks: &mut VecDeque<Task<'a>>) {
        let Some(part) = self.part.take() else { return };
        // Nothing at all is a member and a frame, too.
        if part.n_bytes > 0 || (part.compression != Compression::None && !self.has_parts) {
            tasks.push_back(Task::Part(part));
        }
        tasks.push_back(Task::End);
    }

    fn begin(&mut self, tasks: &mut VecDeque<Task<'a>>) -> Result<()> {
        let number = self.next;
        self.next += 1;
        let input = &self.outputs.inputs[number as usize];
        if input.format().is_some_and(|format| format.is_table() || format == Format::File) {
            return Ok(());
        }
        tasks.push_back(Task::Begin(self.outputs.create(number)?));
        let mut part = Part::new(self.outputs.compression(number));
        if let (Some(Format::Csv { .. }), Some(header)) = (input.format(), input.header()) {
            let mut line = Vec::new();
            match self.annotates {
                true => annotate_csv_header(input, &mut line)?,
                false => line.extend_from_slice(header),
            }
            line.push(b'\n');
            let n = line.len();
            part.take(&Lines::Made(Arc::new(line)), &mut (0..n));
        }
        (self.part, self.has_parts) = (Some(part), false);
        Ok(())
    }
}

/// Puts parts behind each other.
pub(super) struct Placer<'a> {
    pub spare: &'a Spare,
    pub settler: &'a mut Settler,
    pub file: Option<FileWriter>,
}

impl Placer<'_> {
    pub fn place(&mut self, done: Done) -> Result<()> {
        match (done, &mut self.file) {
            (Done::Begin(file), current) => *current = Some(file),
            (Done::Block(block), Some(file)) => push(&self.spare.blocks, file.append_block(block)?),
            (Done::Compressed(bytes), Some(file)) => {
                file.append(&bytes)?;
                push(&self.spare.buffers, bytes);
            }
            (Done::File(file), _) => self.settler.take(file)?,
            (Done::End, file) => file.take().map_or(Ok(()), |file| self.settler.take(file))?,
            (Done::Block(_) | Done::Compressed(_), None) => unreachable!("an output begins before its parts"),
        }
        Ok(())
    }
}
