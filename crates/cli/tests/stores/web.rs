//! Web servers, with and without ranges, through a proxy that cuts connections and without one.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;

use crate::lab::{Lab, assert_same, lasting};
use crate::proxy::{Proxy, Trouble};

/// A server of the files of a folder. Its thread ends with the process.
fn serve(root: PathBuf, has_ranges: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (client, root) = (client.unwrap(), root.clone());
            // Clients may leave early.
            std::thread::spawn(move || drop(answer(client, &root, has_ranges)));
        }
    });
    port
}

fn answer(client: TcpStream, root: &std::path::Path, has_ranges: bool) -> std::io::Result<()> {
    let mut lines = BufReader::new(client.try_clone()?).lines();
    let first = lines.next().unwrap()?;
    let heads: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let path = first.split(' ').nth(1).unwrap().trim_start_matches('/');
    let path = path.split('?').next().unwrap().replace("%20", " ");
    let mut client = client;
    let Ok(bytes) = std::fs::read(root.join(path)) else {
        return client.write_all(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    };
    let range =
        heads.iter().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
    let same = "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\nConnection: close\r\n";
    match range.filter(|_| has_ranges) {
        Some(range) => {
            let (start, end) = range.split_once('-').unwrap();
            let (start, end): (usize, usize) = (start.parse().unwrap(), end.parse().unwrap());
            let part = &bytes[start..(end + 1).min(bytes.len())];
            let n = bytes.len();
            write!(
                client,
                "HTTP/1.1 206 Partial Content\r\n{same}Content-Range: bytes {start}-{}/{n}\r\n",
                start + part.len() - 1
            )?;
            write!(client, "Content-Length: {}\r\n\r\n", part.len())?;
            client.write_all(part)
        }
        None => {
            write!(client, "HTTP/1.1 200 OK\r\n{same}Content-Length: {}\r\n\r\n", bytes.len())?;
            client.write_all(&bytes)
        }
    }
}

const FILES: [&str; 4] = ["large.jsonl", "lines.jsonl.gz", "year=2024/lines.jsonl.zst", "table.arrow"];
const PARQUET: &str = "year=2024/month=01/part%200.parquet";

fn addresses(port: u16, files: &[&str]) -> String {
    files.iter().map(|name| format!("http://127.0.0.1:{port}/{name}?token=secret ")).collect()
}

#[test]
fn files_of_a_server_are_read_also_if_it_only_gives_whole_ones() {
    let lab = Lab::with_corpus();
    let local: String = FILES.iter().map(|name| format!("data/{name} ")).collect();
    let with_parquet = "data/year=2024/month=01";
    lab.run(&format!("dedup {local} {with_parquet} -o here"), &[]).ok();
    lab.run(&format!("dedup {local} -o less"), &[]).ok();
    let (with, without) = (serve(lab.path("data"), true), serve(lab.path("data"), false));
    let all = [&FILES[..], &[PARQUET]].concat();
    lab.run(&format!("dedup {} -o with", addresses(with, &all)), &[]).ok();
    assert_same(&lasting(lab.contents("here")), &lasting(lab.contents("with")));
    lab.run(&format!("dedup {} -o without", addresses(without, &FILES)), &[]).ok();
    assert_same(&lasting(lab.contents("less")), &lasting(lab.contents("without")));
    let got = "expected a parquet file, got a server that only gives whole files";
    let ran = lab
        .run(&format!("dedup {} -o x", addresses(without, &[PARQUET])), &[])
        .fails(1, &[got, "download it first"]);
    assert!(!ran.err.contains("secret"), "{}", ran.err);
}

#[test]
fn a_broken_answer_goes_on_also_without_ranges() {
    let lab = Lab::with_corpus();
    lab.run("dedup data/large.jsonl -o here", &[]).ok();
    for has_ranges in [true, false] {
        let trouble =
            Trouble { cut_after: Some(3_000_000 >> (4 * u32::from(has_ranges))), ..Trouble::default() };
        let proxy = Proxy::start(serve(lab.path("data"), has_ranges), trouble);
        let line = format!("dedup {} -o there --overwrite", addresses(proxy.port, &["large.jsonl"]));
        lab.run(&line, &[]).ok();
        assert!(proxy.n_cut() > 0);
        assert_same(&lasting(lab.contents("here")), &lasting(lab.contents("there")));
    }
}

#[test]
fn what_a_server_does_not_have_is_told() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("data")).unwrap();
    std::fs::write(lab.path("data/empty.jsonl"), "").unwrap();
    let port = serve(lab.path("data"), true);
    let run =
        |name: &str, output: &str| lab.run(&format!("dedup http://127.0.0.1:{port}/{name} -o {output}"), &[]);
    run("none.jsonl", "x").fails(1, &["none.jsonl`: there is nothing of that name; check the address"]);
    run("", "x").fails(2, &["over http there are no folders"]);
    run("empty.jsonl", &format!("http://127.0.0.1:{port}/x"))
        .fails(2, &["--output must be a folder here or in s3://"]);
    let ran = run("empty.jsonl", "x").ok();
    assert!(ran.err.contains("there are no documents in the input"), "{}", ran.err);
}
