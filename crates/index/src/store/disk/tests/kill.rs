//! A writer that is killed again and again, while it inserts, merges, compacts or opens: every acknowledged batch is there, no half batch, and postings agree with records.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::*;

const FOLDER: &str = "BENZER_TEST_KILL_FOLDER";
/// How often, unless [`OFTEN`] says it.
const KILLS: u64 = 300;
/// After so many it goes on with an empty collection.
const IN_A_ROW: u64 = 50;
const OFTEN: &str = "BENZER_TEST_KILLS";
/// Records of a batch; the first of them are replaced by the next batch, the last one is removed by the one after it.
const N: u64 = 24;
const REPLACED: u64 = 6;

fn id(round: u64, i: u64) -> String {
    format!("{round:08}-{i:04}")
}

fn put_of(round: u64) -> Model {
    let new = (0..N).map(|i| (id(round, i), round * 1000 + i));
    let before = round.checked_sub(1).into_iter().flat_map(|before| (0..REPLACED).map(move |i| (before, i)));
    new.chain(before.map(|(before, i)| (id(before, i), round * 1000 + 500 + i))).collect()
}

fn remove_of(round: u64) -> Option<String> {
    round.checked_sub(2).map(|before| id(before, N - 1))
}

/// What is there after some rounds.
fn model(rounds: u64) -> Model {
    let mut model = Model::new();
    for round in 0..rounds {
        model.extend(put_of(round));
        remove_of(round).map(|id| model.remove(&id));
    }
    model
}

/// The disk of this machine, which says what is begun.
#[derive(Debug)]
struct Telling;

impl Files for Telling {
    fn create(&self, path: &Path) -> io::Result<File> {
        match path.extension().and_then(|kind| kind.to_str()) {
            Some("seg") => say("merging"),
            Some("tmp") if path.to_string_lossy().contains("records") => say("compacting"),
            _ => {}
        }
        Real.create(path)
    }
}

fn say(what: &str) {
    let mut out = std::io::stdout();
    out.write_all(format!("\n{what}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

/// Writes until it is killed, and says which rounds are done.
fn write(folder: &Path) -> ! {
    say("opening");
    let options = DiskOptions { files: Arc::new(Telling), sizes: SMALL };
    let disk = Arc::new(Disk::open_with(folder, Access::Write, options).unwrap());
    // Another thread compacts while it writes.
    let (compact, asked) = channel();
    let other = Arc::clone(&disk);
    std::thread::spawn(move || asked.iter().for_each(|()| other.compact().unwrap()));
    let rounds = content(&disk).keys().map(|id| id[..8].parse::<u64>().unwrap()).max();
    for round in rounds.unwrap_or_default().. {
        say("inserting");
        disk.put(batch(&put_of(round))).unwrap();
        if let Some(id) = remove_of(round) {
            disk.remove(&[id.as_bytes()]).unwrap();
        }
        say(&format!("done {round}"));
        if round % 5 == 4 {
            compact.send(()).unwrap();
        }
    }
    unreachable!("rounds do not end")
}

/// A writer, and what it says.
fn start(folder: &Path) -> (Child, Receiver<String>) {
    let name = "store::disk::tests::kill::a_killed_writer_has_lost_nothing_and_left_nothing_half";
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child.args(["--exact", "--nocapture", name]).env(FOLDER, folder);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let (lines, said) = channel();
    std::thread::spawn(move || {
        out.lines().map_while(std::result::Result::ok).try_for_each(|line| lines.send(line)).ok();
    });
    (child, said)
}

/// Kills a writer at a random moment after it has said something; the rounds that are done for sure.
fn kill(folder: &Path, moment: &str, seed: u64, seen: u64) -> u64 {
    let (mut child, said) = start(folder);
    let mut done = seen;
    let mut hear = |line: &str| {
        let round = line.strip_prefix("done ").and_then(|round| round.parse::<u64>().ok());
        done = done.max(round.map_or(0, |round| round + 1));
    };
    loop {
        let line = said.recv_timeout(Duration::from_secs(60)).unwrap();
        hear(&line);
        if line == moment {
            break;
        }
    }
    std::thread::sleep(Duration::from_micros(mix(seed) % 4000));
    child.kill().unwrap();
    child.wait().unwrap();
    said.iter().for_each(|line| hear(&line));
    done
}

#[test]
fn a_killed_writer_has_lost_nothing_and_left_nothing_half() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        write(Path::new(&folder));
    }
    let often = std::env::var(OFTEN).ok().and_then(|often| often.parse().ok()).unwrap_or(KILLS);
    let start = Instant::now();
    let (mut kills, mut rounds) = (0, 0);
    // Slow machines kill less often.
    while kills < often && start.elapsed() < Duration::from_millis(250 * often) {
        let folder = tempfile::tempdir().unwrap();
        drop(made(folder.path(), &small()));
        let mut seen = 0;
        for _ in 0..IN_A_ROW {
            let moments = ["merging", "compacting", "inserting", "merging", "compacting", "opening"];
            let moment = moments[kills as usize % moments.len()];
            let done = kill(folder.path(), moment, kills, seen);
            let found = whole_content(folder.path());
            let mut half = model(done);
            half.extend(put_of(done));
            let may_be = [model(done), half, model(done + 1)];
            assert!(may_be.contains(&found), "after {kills} kills and {done} rounds, {moment}");
            (kills, seen) = (kills + 1, done);
        }
        rounds += seen;
    }
    println!("{kills} kills, {rounds} rounds");
    assert!(kills >= IN_A_ROW && rounds > 0, "{kills} kills, {rounds} rounds");
}
