//! Where could records and the map from ids to numbers be kept? `store-race lmdb|redb|log FOLDER DOCUMENTS BYTES`
//!
//! Writes durable batches of 1,000 records of some bytes with random 16-byte ids, opens the store again and looks ids up with their records. Prints a row of a table.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Instant;

use xxhash_rust::xxh3::xxh3_64;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
type Id = [u8; 16];

const BATCH: u32 = 1000;
const LOOKUPS: u32 = 200_000;

fn id(number: u32) -> Id {
    let half = |salt: u64| xxh3_64(&(u64::from(number) << 8 | salt).to_le_bytes()).to_le_bytes();
    let mut id = [0; 16];
    id[..8].copy_from_slice(&half(1));
    id[8..].copy_from_slice(&half(2));
    id
}

trait Store {
    fn put(&mut self, first: u32, record: &[u8]) -> Result<()>;
    /// The length of the record of an id.
    fn get(&self, id: &Id) -> Result<usize>;
}

struct Lmdb {
    env: heed::Env,
    records: heed::Database<heed::types::U32<heed::byteorder::BE>, heed::types::Bytes>,
    ids: heed::Database<heed::types::Bytes, heed::types::U32<heed::byteorder::BE>>,
}

impl Lmdb {
    fn open(folder: &Path) -> Result<Self> {
        // SAFETY: nobody else changes the files of this folder.
        let env = unsafe { heed::EnvOpenOptions::new().map_size(64 << 30).max_dbs(2).open(folder)? };
        let mut txn = env.write_txn()?;
        let records = env.create_database(&mut txn, Some("records"))?;
        let ids = env.create_database(&mut txn, Some("ids"))?;
        txn.commit()?;
        Ok(Self { env, records, ids })
    }
}

impl Store for Lmdb {
    fn put(&mut self, first: u32, record: &[u8]) -> Result<()> {
        let mut txn = self.env.write_txn()?;
        for number in first..first + BATCH {
            self.records.put_with_flags(&mut txn, heed::PutFlags::APPEND, &number, record)?;
            self.ids.put(&mut txn, &id(number), &number)?;
        }
        Ok(txn.commit()?)
    }

    fn get(&self, id: &Id) -> Result<usize> {
        let txn = self.env.read_txn()?;
        let number = self.ids.get(&txn, id)?.ok_or("no id")?;
        Ok(self.records.get(&txn, &number)?.ok_or("no record")?.len())
    }
}

const RECORDS: redb::TableDefinition<u32, &[u8]> = redb::TableDefinition::new("records");
const IDS: redb::TableDefinition<&[u8], u32> = redb::TableDefinition::new("ids");

struct Redb(redb::Database);

impl Store for Redb {
    fn put(&mut self, first: u32, record: &[u8]) -> Result<()> {
        let txn = self.0.begin_write()?;
        {
            let (mut records, mut ids) = (txn.open_table(RECORDS)?, txn.open_table(IDS)?);
            for number in first..first + BATCH {
                records.insert(number, record)?;
                ids.insert(&id(number)[..], number)?;
            }
        }
        Ok(txn.commit()?)
    }

    fn get(&self, id: &Id) -> Result<usize> {
        use redb::ReadableDatabase;
        let txn = self.0.begin_read()?;
        let number = txn.open_table(IDS)?.get(&id[..])?.ok_or("no id")?.value();
        Ok(txn.open_table(RECORDS)?.get(number)?.ok_or("no record")?.value().len())
    }
}

/// Blocks of (bytes, checksum, ids, records), each synced. The ids are found by a map in memory, made again from the log: the least that such a store could do.
struct Log {
    file: File,
    ids: HashMap<Id, u32>,
    bytes: usize,
    buffer: Vec<u8>,
}

impl Log {
    fn open(folder: &Path) -> Result<Self> {
        let mut file = File::options().read(true).append(true).create(true).open(folder.join("log"))?;
        let (mut all, mut ids) = (Vec::new(), HashMap::new());
        file.read_to_end(&mut all)?;
        let mut rest = &all[..];
        while let Some((head, after)) = rest.split_at_checked(16) {
            let length = u64::from_le_bytes(head[..8].try_into()?) as usize;
            let Some((block, next)) = after.split_at_checked(length) else { break };
            if xxh3_64(block).to_le_bytes() != head[8..] {
                break;
            }
            for id in block[..16 * BATCH as usize].chunks_exact(16) {
                ids.insert(id.try_into()?, ids.len() as u32);
            }
            rest = next;
        }
        Ok(Self { file, ids, bytes: 0, buffer: Vec::new() })
    }
}

impl Store for Log {
    fn put(&mut self, first: u32, record: &[u8]) -> Result<()> {
        self.bytes = record.len();
        self.buffer.clear();
        self.buffer.resize(16, 0);
        (first..first + BATCH).for_each(|number| self.buffer.extend(id(number)));
        (0..BATCH).for_each(|_| self.buffer.extend(record));
        let length = (self.buffer.len() - 16) as u64;
        let checksum = xxh3_64(&self.buffer[16..]);
        self.buffer[..8].copy_from_slice(&length.to_le_bytes());
        self.buffer[8..16].copy_from_slice(&checksum.to_le_bytes());
        self.file.write_all(&self.buffer)?;
        self.file.sync_data()?;
        self.ids.extend((first..first + BATCH).map(|number| (id(number), number)));
        Ok(())
    }

    fn get(&self, id: &Id) -> Result<usize> {
        use std::os::unix::fs::FileExt;
        let number = *self.ids.get(id).ok_or("no id")?;
        let block = 16 + BATCH as usize * (16 + self.bytes);
        let at = (number / BATCH) as usize * block + 16 + 16 * BATCH as usize + (number % BATCH) as usize * self.bytes;
        let mut record = vec![0; self.bytes];
        self.file.read_exact_at(&mut record, at as u64)?;
        Ok(record.len())
    }
}

fn open(kind: &str, folder: &Path) -> Result<Box<dyn Store>> {
    Ok(match kind {
        "lmdb" => Box::new(Lmdb::open(folder)?),
        "redb" => Box::new(Redb(redb::Database::create(folder.join("redb"))?)),
        "log" => Box::new(Log::open(folder)?),
        _ => return Err("expected lmdb, redb or log".into()),
    })
}

/// Bytes this process has handed to the disk.
fn written() -> u64 {
    let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = io.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    line.and_then(|n| n.parse().ok()).unwrap_or_default()
}

fn size(folder: &Path) -> Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let sizes = fs::read_dir(folder)?.map(|entry| Ok(entry?.metadata()?.blocks() * 512));
    sizes.sum()
}

fn main() -> Result<()> {
    let usage = "usage: store-race lmdb|redb|log FOLDER DOCUMENTS BYTES";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, folder, documents, bytes] = &arguments[..] else { return Err(usage.into()) };
    let (folder, documents) = (Path::new(folder), documents.parse::<u32>()?);
    let record = vec![7; bytes.parse()?];
    fs::create_dir_all(folder)?;
    let mut store = open(kind, folder)?;
    let start = Instant::now();
    let mut slowest = 0.0f64;
    for first in (0..documents).step_by(BATCH as usize) {
        let start = Instant::now();
        store.put(first, &record)?;
        slowest = slowest.max(start.elapsed().as_secs_f64());
    }
    let put = f64::from(documents) / start.elapsed().as_secs_f64();
    let written = written() as f64 / f64::from(documents);
    // The process does not close it: opening again is what happens after a crash.
    std::mem::forget(store);
    let after = folder.with_extension("after");
    fs::create_dir_all(&after)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        fs::copy(entry.path(), after.join(entry.file_name()))?;
    }
    let start = Instant::now();
    let mut store = open(kind, &after)?;
    let reopen = start.elapsed().as_secs_f64();
    store.put(documents, &record)?;
    let start = Instant::now();
    let mut random = 1u32;
    for _ in 0..LOOKUPS {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        assert_eq!(store.get(&id(random % documents))?, record.len());
    }
    let get = f64::from(LOOKUPS) / start.elapsed().as_secs_f64();
    let size = size(folder)? as f64 / f64::from(documents);
    println!(
        "| {kind} | {documents} | {put:.0} | {:.0} | {written:.0} | {size:.0} | {:.1} | {get:.0} |",
        1e3 * slowest,
        1e3 * reopen
    );
    Ok(())
}
