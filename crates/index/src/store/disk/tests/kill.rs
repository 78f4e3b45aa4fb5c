//! A writer that is killed, again and again: every acknowledged batch is there, and no half batch.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::*;

const FOLDER: &str = "BENZER_TEST_KILL_FOLDER";
/// How often, unless [`OFTEN`] says it.
const KILLS: u64 = 120;
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

/// Writes until it is killed, and says which rounds are done.
fn write(folder: &Path) -> ! {
    let disk = Disk::open_with(folder, Access::Write, small()).unwrap();
    let rounds = content(&disk).keys().map(|id| id[..8].parse::<u64>().unwrap()).max();
    let mut out = std::io::stdout();
    writeln!(out, "\nready").unwrap();
    for round in rounds.unwrap_or_default().. {
        disk.put(batch(&put_of(round))).unwrap();
        if let Some(id) = remove_of(round) {
            disk.remove(&[id.as_bytes()]).unwrap();
        }
        writeln!(out, "\ndone {round}").unwrap();
        out.flush().unwrap();
        if round % 5 == 4 {
            disk.compact().unwrap();
        }
    }
    unreachable!("rounds do not end")
}

#[test]
fn a_killed_writer_has_lost_nothing_and_left_nothing_half() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        write(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    drop(made(folder.path(), &small()));
    let name = "store::disk::tests::kill::a_killed_writer_has_lost_nothing_and_left_nothing_half";
    let often = std::env::var(OFTEN).ok().and_then(|often| often.parse().ok()).unwrap_or(KILLS);
    let start = Instant::now();
    let mut kills = 0;
    let mut seen = 0;
    // Slow machines kill less often.
    while kills < often && start.elapsed() < Duration::from_millis(250 * often) {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let child = child.args(["--exact", "--nocapture", name]).env(FOLDER, folder.path());
        let mut child = child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (is_ready, wait) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            let lines = out.lines().map_while(std::result::Result::ok);
            let lines = lines.inspect(|line| {
                if line == "ready" {
                    is_ready.send(()).ok();
                }
            });
            lines.filter_map(|line| line.strip_prefix("done ")?.parse::<u64>().ok()).last()
        });
        // Now and then it is killed while it opens.
        if kills % 8 != 0 {
            wait.recv_timeout(Duration::from_secs(60)).unwrap();
        }
        std::thread::sleep(Duration::from_millis(mix(kills) % 40));
        child.kill().unwrap();
        child.wait().unwrap();
        let done = reader.join().unwrap().map_or(seen, |round| seen.max(round + 1));
        let found = whole_content(folder.path());
        let mut half = model(done);
        half.extend(put_of(done));
        let may_be = [model(done), half, model(done + 1)];
        assert!(may_be.contains(&found), "after {kills} kills and {done} rounds");
        (kills, seen) = (kills + 1, done);
    }
    println!("{kills} kills, {seen} rounds");
    assert!(kills >= 20 && seen > 5, "{kills} kills, {seen} rounds");
}
