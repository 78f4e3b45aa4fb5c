//! Builds without object stores: every address is refused, and nothing else is different.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use super::Stored;
use super::address::Address;
use crate::error::{Error, Result};

/// An open object holds no bytes: there is none.
pub const MAX_HELD: u64 = 0;

/// An object, of which there is none.
#[derive(Debug, PartialEq, Eq)]
pub struct Object {
    pub address: Address,
    pub url: String,
    pub bytes: u64,
    none: Infallible,
}

impl Object {
    pub fn version(&self) -> (u64, &str) {
        match self.none {}
    }

    pub fn name(&self) -> String {
        match self.none {}
    }

    pub fn open(self: &Arc<Self>) -> Option<ObjectFile> {
        match self.none {}
    }

    pub fn stream(self: &Arc<Self>) -> Box<dyn Read + Send> {
        match self.none {}
    }
}

/// An open object, which nobody makes.
#[derive(Debug, Clone)]
pub struct ObjectFile;

impl ObjectFile {
    pub fn n_bytes(&self) -> u64 {
        0
    }
}

impl Read for ObjectFile {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }
}

impl Seek for ObjectFile {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

/// A folder, of which there is none.
#[derive(Debug)]
pub enum Folder {}

impl Folder {
    /// Refuses every address.
    pub fn open(address: Address) -> Result<Self> {
        Err(refused(&address))
    }

    /// Its address.
    pub fn url(&self) -> String {
        match *self {}
    }

    /// What is in it, by name.
    pub fn list(&self) -> Result<BTreeMap<String, Stored>> {
        match *self {}
    }

    /// Puts a file into it.
    pub fn put(&self, _: &str, _: &Path, _: &mut dyn FnMut(u64) -> bool) -> Result<String> {
        match *self {}
    }

    /// Removes an object.
    pub fn remove(&self, _: &str) -> Result<()> {
        match *self {}
    }
}

pub fn stat(address: &Address) -> Result<Option<Object>> {
    Err(refused(address))
}

pub fn list(address: &Address) -> Result<Vec<Object>> {
    Err(refused(address))
}

fn refused(address: &Address) -> Error {
    let (url, what) = (address.url(), "this build is without object stores".to_owned());
    Error::Store { action: "open", url, what, remedy: "build with the feature `object-store`" }
}
