//! What was changed by others, or lost in a failover, is found and, as far as can be, made right.

use redis::cmd;

use super::lab::{Server, documents, made};
use crate::query::Query;
use crate::settings::Keeps;
use crate::store::Collections;

#[test]
fn lost_postings_are_found_and_made_again_from_the_records() {
    let server = Server::start(&[]);
    let (collections, index) = made(&server.url(), "lost", Keeps::Sketches);
    index.insert(&documents(0..300)).unwrap();
    index.insert(&documents(0..20)).unwrap();
    let whole = collections.verify("lost").unwrap();
    assert!(whole.is_whole() && whole.documents == 300, "{whole:?}");
    // As if a node had lost the last second: some blocks are gone, others shorter, one has something foreign.
    let blocks: Vec<String> = server.ask(&["KEYS", "benzer:{lost/*}:p*"]);
    let () = server.ask(&["DEL", &blocks[0], &blocks[1]]);
    let block: Vec<u8> = cmd("GET").arg(&blocks[2]).query(&mut server.connection()).unwrap();
    let () =
        cmd("SET").arg(&blocks[2]).arg(&block[..block.len() - 6]).query(&mut server.connection()).unwrap();
    let () = cmd("APPEND").arg(&blocks[3]).arg(&block[..6]).query(&mut server.connection()).unwrap();
    let report = collections.verify("lost").unwrap();
    assert!(!report.is_whole() && report.records.is_empty() && report.documents == 300, "{report:?}");
    assert!(report.derived.iter().any(|line| line.contains("not found by all of its bands")), "{report:?}");
    let report = collections.repair("lost").unwrap();
    assert!(report.repaired.iter().any(|line| line.contains("made again from the records")), "{report:?}");
    let report = collections.verify("lost").unwrap();
    assert!(report.is_whole(), "{report:?}");
    for i in 0..300 {
        assert_eq!(index.search_id(&format!("d{i}"), &Query::default()).unwrap().matches.len(), 1, "d{i}");
    }
}

#[test]
fn damaged_records_are_named_and_taken_out_by_the_repair() {
    let server = Server::start(&[]);
    let (collections, index) = made(&server.url(), "hurt", Keeps::Documents);
    index.insert(&documents(0..100)).unwrap();
    let mut connection = server.connection();
    let records: Vec<String> = server.ask(&["KEYS", "benzer:{hurt/*}:r"]);
    let fields: Vec<Vec<u8>> = cmd("HKEYS").arg(&records[0]).query(&mut connection).unwrap();
    let mut record: Vec<u8> = cmd("HGET").arg(&records[0]).arg(&fields[0]).query(&mut connection).unwrap();
    let middle = record.len() / 2;
    record[middle] ^= 1;
    let () = cmd("HSET").arg(&records[0]).arg(&fields[0]).arg(&record).query(&mut connection).unwrap();
    let lost: Vec<Vec<u8>> = cmd("HKEYS").arg(&records[1]).query(&mut connection).unwrap();
    let () = cmd("HDEL").arg(&records[1]).arg(&lost[0]).query(&mut connection).unwrap();
    let report = collections.verify("hurt").unwrap();
    assert_eq!((report.records.len(), report.documents), (2, 98), "{report:?}");
    // A search that meets it says so instead of leaving it out.
    let met = index.search_many(&documents(0..100), &Query::default()).unwrap_err().to_string();
    assert!(met.contains("benzer verify"), "{met}");
    let report = collections.repair("hurt").unwrap();
    assert!(report.repaired.iter().any(|line| line.contains("2 damaged records")), "{report:?}");
    let report = collections.verify("hurt").unwrap();
    assert!(report.is_whole() && report.documents == 98, "{report:?}");
    index.insert(&documents(0..100)).unwrap();
    assert_eq!(collections.verify("hurt").unwrap().documents, 100);
    // Counts that were tampered with.
    let metas: Vec<String> = server.ask(&["KEYS", "benzer:{hurt/*}:m"]);
    let () = server.ask(&["HINCRBY", &metas[0], "documents", "7"]);
    assert!(collections.verify("hurt").unwrap().derived[0].contains("wrong by 7"));
    collections.repair("hurt").unwrap();
    assert_eq!(index.stats().unwrap().documents, 100);
    // The entry of the collection itself.
    let () = server.ask(&["HSET", "benzer:{collections}:names", "hurt", "BENZRED1 something else"]);
    let told = collections.open("hurt").unwrap_err().to_string();
    assert!(told.contains("hurt"), "{told}");
}
