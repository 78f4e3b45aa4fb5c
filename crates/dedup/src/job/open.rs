//! Opening the inputs: what is known before the first document is read.

use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use benzer_io::places;
use benzer_io::read::{self, Input, Inputs, Reader};
use benzer_io::store::Address;

use super::budget::Budget;
use super::folders::STDIN;
use super::old::OldSources;
use super::setup::{Checkpoints, Setup};
use crate::error::{Error, Result};
use crate::request::{Output, Request};
use crate::summary::Summary;

pub(super) struct Opened {
    pub reader: Reader,
    /// Old documents that the input is compared with.
    pub old: OldSources,
    pub budget: Budget,
    pub checkpoints: Checkpoints,
}

impl Setup<'_> {
    /// Opens inputs and old documents, refuses what cannot work, and makes room for the results.
    pub fn open(&self, summary: &mut Summary) -> Result<Opened> {
        self.save_stdin()?;
        let reader = open_inputs(self.request, &self.folders.work, self.target)?;
        let budget = Budget::new(self.request, &reader)?;
        let old = self.open_old(&reader)?;
        check_names(reader.inputs())?;
        self.check_target(reader.inputs())?;
        self.describe_inputs(&reader, summary)?;
        if self.request.results.write == Output::Annotate {
            crate::write::check_annotation(reader.inputs())?;
        }
        self.folders.clear(self.files, reader.inputs())?;
        let resume = self.request.resources.resume;
        let checkpoints = Checkpoints::new(&self.folders.work, old.fingerprint.clone(), resume);
        Ok(Opened { reader, old, budget, checkpoints })
    }

    /// Standard input can be read once, and is needed twice.
    fn save_stdin(&self) -> Result<()> {
        let saved = self.folders.work.join(STDIN);
        let is_saved = self.request.resources.resume && saved.exists();
        if is_saved || !self.request.input.paths.iter().any(|path| path == Path::new("-")) {
            return Ok(());
        }
        let mut file = self.files.create(&saved)?;
        let mut buffer = vec![0; 1 << 18];
        let mut stdin = std::io::stdin().lock();
        loop {
            match stdin.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => file.append(&buffer[..n])?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(benzer_io::Error::Read { path: "stdin".into(), source }.into()),
            }
        }
        file.commit()?;
        Ok(())
    }

    /// Refuses results in a store that would lie around the inputs. Folders of this machine are checked when they are cleared.
    fn check_target(&self, inputs: &[Arc<Input>]) -> Result<()> {
        let Some(target) = Address::parse(self.target)? else { return Ok(()) };
        let inside = inputs.iter().find(|input| input.path.to_str().is_some_and(|url| target.holds(url)));
        inside.map_or(Ok(()), |input| {
            Err(benzer_io::Error::overlap(self.target, places::HOLDS, &input.path).into())
        })
    }
}

/// Opens the inputs of a request. What lies in `target` is of an earlier run, and is left out.
pub(super) fn open_inputs(request: &Request, work: &Path, target: &Path) -> Result<Reader> {
    let saved = work.join(STDIN);
    let path = |path: &PathBuf| if path == Path::new("-") { saved.clone() } else { path.clone() };
    let inputs: Inputs = request.input.paths.iter().map(path).collect();
    let order_field = request.keep.field().cloned();
    let options = read::ReadOptions { order_field, ..request.input.read.clone() };
    Ok(read::open(inputs.except(target).lenient(), options)?)
}

/// Every input has an output of its own.
fn check_names(inputs: &[Arc<Input>]) -> Result<()> {
    let mut seen = HashMap::new();
    for input in inputs {
        if let Some(other) = seen.insert(&input.relative, input) {
            let (a, b) = (other.path.to_path_buf(), input.path.to_path_buf());
            return Err(Error::SameName { a, b, name: input.relative.clone() });
        }
    }
    Ok(())
}
