//! The suite that all stores pass, and what is promised beyond it.

use std::sync::Arc;

use super::lab::{Cluster, Server, documents, made};
use crate::query::Query;
use crate::settings::Keeps;
use crate::store::redis::OnRedis;
use crate::store::redis::home::Home;
use crate::store::{Collections, Store};
use crate::tests::conformance::{Atomic, run_atomic};

fn conforms(url: &str) {
    let collections = OnRedis::new(url).unwrap();
    let mut n = 0;
    run_atomic(Atomic::Document, &mut |settings| {
        n += 1;
        collections.create(&format!("c{n}"), settings)
    });
    for name in collections.list().unwrap() {
        let report = collections.verify(&name).unwrap();
        assert!(report.is_whole(), "{name}: {report:?}");
    }
}

#[test]
fn a_single_server_conforms() {
    conforms(&Server::start(&[]).url());
}

#[test]
fn a_cluster_of_three_masters_with_replicas_conforms() {
    conforms(&Cluster::start().url());
}

/// One round trip to each node for a batch of inserts, two for a batch of searches, whatever their size.
fn trips(url: &str, nodes: u64) {
    let (collections, index) = made(url, "trips", Keeps::Documents);
    let client = Arc::clone(&collections.client);
    index.insert(&documents(0..600)).unwrap();
    let all = documents(600..1800);
    for batch in [&all[..500], &all[500..1000], &all[1000..1001], &all[1001..1200]] {
        let before = client.trips();
        index.insert(batch).unwrap();
        let trips = client.trips() - before;
        assert!(trips <= nodes, "{trips} for {} documents", batch.len());
    }
    for batch in [&all[..1], &all[..300], &all[..]] {
        let before = client.trips();
        let answers = index.search_many(batch, &Query::default()).unwrap();
        assert!(answers.iter().all(|answer| answer.matches.len() == 1));
        let trips = client.trips() - before;
        assert!(trips <= 2 * nodes, "{trips} for {} searches", batch.len());
    }
}

#[test]
fn a_batch_is_one_round_trip_and_a_search_two() {
    trips(&Server::start(&[]).url(), 1);
}

#[test]
fn a_batch_is_one_round_trip_to_each_node_of_a_cluster() {
    let cluster = Cluster::with_replicas(0);
    trips(&cluster.url(), 3);
    // All masters have about a third of the slices.
    let store = OnRedis::new(&cluster.url()).unwrap().store("trips").unwrap();
    let home: Arc<Home> = store.home();
    let of =
        |slots: std::ops::Range<u16>| home.slices.iter().filter(|slice| slots.contains(&slice.slot)).count();
    assert!([0..5461, 5461..10923, 10923..16384].map(of).iter().all(|n| (20..=23).contains(n)));
    assert_eq!(store.view().unwrap().stats().unwrap().documents, 1800);
}
