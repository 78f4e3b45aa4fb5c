//! Slots that move between nodes, collections that move to other buckets, and collections that go.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redis::{Value, cmd};

use super::lab::{Cluster, Server, documents, is_whole, made};
use super::proxy::Proxy;
use crate::index::Index;
use crate::query::Query;
use crate::settings::Keeps;
use crate::store::redis::OnRedis;
use crate::store::redis::net::Requests;
use crate::store::{Collections, Store};

fn keys_in_slot(node: &Server, slot: u16) -> Vec<String> {
    node.ask(&["CLUSTER", "GETKEYSINSLOT", &slot.to_string(), "100000"])
}

#[test]
fn slots_may_move_to_other_nodes_while_the_collection_is_used() {
    let cluster = Cluster::with_replicas(0);
    let (collections, index) = made(&cluster.url(), "moving", Keeps::Documents);
    let all = documents(0..900);
    index.insert(&all[..600]).unwrap();
    let slot = collections.store("moving").unwrap().home().slices[0].slot;
    let (from, to) = (&cluster.nodes[0], &cluster.nodes[2]);
    let (slot_word, port) = (slot.to_string(), to.port.to_string());
    let ids = [from, to].map(|node| node.ask::<String>(&["CLUSTER", "MYID"]));
    let () = to.ask(&["CLUSTER", "SETSLOT", &slot_word, "IMPORTING", &ids[0]]);
    let () = from.ask(&["CLUSTER", "SETSLOT", &slot_word, "MIGRATING", &ids[1]]);
    let keys = keys_in_slot(from, slot);
    assert!(keys.len() > 10, "{}", keys.len());
    let found = |index: &Index| {
        let answers = index.search_many(&all[..600], &Query::default()).unwrap();
        answers.iter().filter(|answer| answer.matches.len() == 1).count()
    };
    for (i, key) in keys.iter().enumerate() {
        let migrated: Value = from.ask(&["MIGRATE", "127.0.0.1", &port, key, "0", "5000"]);
        assert!(matches!(migrated, Value::Okay), "{migrated:?}");
        // Half of the keys are here and half there: ASK, and keys one by one.
        if i == 1 || i == keys.len() / 2 || i + 1 == keys.len() {
            assert_eq!(found(&index), 600);
        }
    }
    // What would need keys of both sides waits until the slot has arrived.
    std::thread::scope(|scope| {
        let load = scope.spawn(|| index.insert(&all[600..]).unwrap());
        std::thread::sleep(Duration::from_millis(300));
        for node in [to, from, &cluster.nodes[1]] {
            let () = node.ask(&["CLUSTER", "SETSLOT", &slot_word, "NODE", &ids[1]]);
        }
        load.join().unwrap();
    });
    // MOVED: a client that knows the old place, and one that asks anew.
    assert_eq!(found(&index), 600);
    index.compact().unwrap();
    is_whole(&collections, "moving", 900);
    is_whole(&OnRedis::new(&cluster.url()).unwrap(), "moving", 900);
}

#[test]
fn a_collection_moves_to_other_buckets_and_everybody_follows() {
    let server = Server::start(&[]);
    let (collections, index) = made(&server.url(), "news", Keeps::Documents);
    let all = documents(0..1000);
    index.insert_until(&all[..900], |i| (i % 2 == 0).then_some(u64::MAX)).unwrap();
    let reader = Index::new(OnRedis::new(&server.url()).unwrap().read("news").unwrap()).unwrap();
    let before = reader.search_many(&all[..900], &Query::default()).unwrap();
    let old = collections.store("news").unwrap().home().entry.clone();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // A reader and a writer that do not know of it.
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                match reader.search_many(&all[..50], &Query::default()) {
                    Ok(answers) => assert!(answers.iter().all(|answer| answer.matches.len() == 1)),
                    // Between the two round trips of a search.
                    Err(error) => assert!(error.to_string().contains("at this moment"), "{error}"),
                }
            }
        });
        scope.spawn(|| {
            for batch in all[900..].chunks(10) {
                index.insert(batch).unwrap();
            }
        });
        collections.reshard("news", 3_000_000).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        done.store(true, Ordering::SeqCst);
    });
    let new = collections.store("news").unwrap().home().entry.clone();
    assert!(new.uid != old.uid && new.slices > old.slices && new.bits > old.bits, "{new:?}");
    is_whole(&collections, "news", 1000);
    assert_eq!(reader.search_many(&all[..900], &Query::default()).unwrap(), before);
    assert_eq!(index.get("d17").unwrap().as_ref(), Some(&all[17]));
    // Nothing is left of the old place, and another time there is nothing to do.
    let keys: Vec<String> = server.ask(&["KEYS", "*"]);
    assert!(keys.iter().all(|key| !key.contains(&old.uid)), "{keys:?}");
    collections.reshard("news", 3_000_000).unwrap();
    assert_eq!(collections.store("news").unwrap().home().entry.uid, new.uid);
    assert!(collections.reshard("nothing", 10).is_err());
}

#[test]
fn a_move_that_was_ended_is_made_good_by_another() {
    let server = Server::start(&[]);
    let (collections, index) = made(&server.url(), "news", Keeps::Sketches);
    index.insert(&documents(0..100)).unwrap();
    // As a run leaves it that was killed: closed, and half of a copy.
    let home = collections.store("news").unwrap().home();
    let copy = collections
        .home(super::super::home::Entry::new("news", home.entry.settings.clone(), &home.layout, 5_000_000))
        .unwrap();
    collections.prepare(&copy).unwrap();
    for at in &home.slices {
        let () = server.ask(&["SET", &at.open(), "closed"]);
    }
    let url = server.url().replace("retry=20", "retry=0.3");
    let late = Index::new(OnRedis::new(&url).unwrap().open("news").unwrap()).unwrap();
    let told = late.insert(&documents(100..110)).unwrap_err().to_string();
    assert!(told.contains("being moved to other buckets"), "{told}");
    assert_eq!(late.search_id("d3", &Query::default()).unwrap().matches.len(), 1);
    collections.reshard("news", 2000).unwrap();
    late.insert(&documents(100..110)).unwrap();
    is_whole(&collections, "news", 110);
    let keys: Vec<String> = server.ask(&["KEYS", "*"]);
    assert!(keys.iter().all(|key| !key.contains(&copy.entry.uid)), "{keys:?}");
}

/// The connection breaks at some answer of a move and stays away, also where it is not known any more whether the name points to the new place.
#[test]
fn a_move_that_loses_its_connection_anywhere_loses_nothing() {
    let server = Server::start(&[]);
    let proxy = Proxy::start(server.port);
    let (collections, index) = made(&server.url(), "news", Keeps::Documents);
    index.insert(&documents(0..300)).unwrap();
    let url = server.url().replace(&server.port.to_string(), &proxy.port.to_string());
    let far = OnRedis::new(&url.replace("retry=20", "retry=0.2")).unwrap();
    let uid = || collections.store("news").unwrap().home().entry.uid.clone();
    let [there, back] = [3_000_000, 2000].map(|size| {
        let before = proxy.n_passed();
        far.reshard("news", size).unwrap();
        (size, proxy.n_passed() - before)
    });
    // A few places, and every other one at the end: of the name, and of what is removed then.
    let spread = (0..6).map(|i| there.1 * i / 6 + i);
    let (mut n_failed, mut n_late) = (0, 0);
    for bytes in spread.chain((1..14).map(|i| there.1 - 3 * i)) {
        let before = uid();
        // Connections are made before.
        far.list().unwrap();
        proxy.fall_after(bytes);
        let moved = far.reshard("news", there.0);
        proxy.set_down(false);
        n_failed += usize::from(moved.is_err());
        n_late += usize::from(moved.is_err() && uid() != before);
        // Whatever it was: everything is there, and once more makes it good.
        let answers = index.search_many(&documents(0..300), &Query::default()).unwrap();
        assert!(answers.iter().all(|answer| answer.matches.len() == 1));
        collections.reshard("news", there.0).unwrap();
        is_whole(&collections, "news", 300);
        index.insert(&documents(5..6)).unwrap();
        collections.reshard("news", back.0).unwrap();
    }
    assert!(n_failed > 10 && n_late > 0, "{n_failed} {n_late}");
    let (keys, uid) = (server.ask::<Vec<String>>(&["KEYS", "benzer:{news/*"]), uid());
    assert!(keys.iter().all(|key| key.contains(&uid)), "{keys:?}");
}

#[test]
fn foreign_keys_are_never_touched_and_nothing_is_left_of_a_dropped_collection() {
    let server = Server::start(&[]);
    let mut foreign: BTreeMap<String, String> = BTreeMap::new();
    for key in [
        "a",
        "benzer",
        "benzer:x",
        "benzer:{collections}",
        "benzer:{news/0/0.0}:r",
        "other:{collections}:names",
    ] {
        let () = server.ask(&["SET", key, "mine"]);
        foreign.insert(key.to_owned(), "mine".to_owned());
    }
    let mine = || -> BTreeMap<String, String> {
        foreign.keys().map(|key| (key.clone(), server.ask(&["GET", key]))).collect()
    };
    let (collections, index) = made(&server.url(), "news", Keeps::Documents);
    index.insert_until(&documents(0..500), |_| Some(u64::MAX)).unwrap();
    let (other, others) = made(&format!("{}&namespace=team", server.url()), "news", Keeps::Sketches);
    others.insert(&documents(0..20)).unwrap();
    index.insert(&documents(0..100)).unwrap();
    index.remove(&["d1", "d400"]).unwrap();
    index.compact().unwrap();
    collections.reshard("news", 500_000).unwrap();
    assert_eq!(mine(), foreign);
    let stray = Index::new(OnRedis::new(&server.url()).unwrap().open("news").unwrap()).unwrap();
    let () = server.ask(&["CONFIG", "RESETSTAT"]);
    collections.remove("news").unwrap();
    let commands: String = server.ask(&["INFO", "commandstats"]);
    assert!(
        !commands.contains("cmdstat_keys:")
            && !commands.contains("cmdstat_scan:")
            && !commands.contains("cmdstat_flush"),
        "{commands}"
    );
    assert!(collections.list().unwrap().is_empty());
    assert!(collections.remove("news").is_err());
    // A writer that does not know yet is told, and leaves nothing behind.
    let told = stray.insert(&documents(0..10)).unwrap_err().to_string();
    assert!(told.contains("no collection `news`"), "{told}");
    assert!(stray.search_id("d3", &Query::default()).is_err());
    assert_eq!(mine(), foreign);
    assert_eq!(other.list().unwrap(), ["news"]);
    assert_eq!(others.stats().unwrap().documents, 20);
    other.remove("news").unwrap();
    let left: u64 = server.ask(&["DBSIZE"]);
    assert_eq!(left, foreign.len() as u64);
}

#[test]
fn a_drop_that_was_ended_goes_on() {
    let server = Server::start(&[]);
    let (collections, index) = made(&server.url(), "news", Keeps::Sketches);
    index.insert(&documents(0..100)).unwrap();
    // Its name is gone, its keys are still there.
    let listed = collections.listed("news").unwrap();
    assert!(collections.publish("news", Some(&listed), None).unwrap());
    assert!(collections.list().unwrap().is_empty());
    // Another one of that name is none of its business.
    let (_, second) = made(&server.url(), "news", Keeps::Sketches);
    second.insert(&documents(0..30)).unwrap();
    assert!(collections.create("news", super::lab::settings(Keeps::Sketches)).is_err());
    let report = collections.repair("news").unwrap();
    assert!(report.is_whole() && report.documents == 30 && report.repaired.len() == 1, "{report:?}");
    is_whole(&collections, "news", 30);
    let listed = collections.listed("news").unwrap();
    assert!(collections.publish("news", Some(&listed), None).unwrap());
    collections.remove("news").unwrap();
    assert_eq!(server.ask::<u64>(&["DBSIZE"]), 0);
}

#[test]
fn the_functions_are_loaded_where_they_are_missing() {
    let server = Server::start(&[]);
    let (collections, index) = made(&server.url(), "news", Keeps::Sketches);
    let () = server.ask(&["FUNCTION", "FLUSH"]);
    index.insert(&documents(0..40)).unwrap();
    let () = cmd("FUNCTION").arg("FLUSH").query(&mut server.connection()).unwrap();
    is_whole(&collections, "news", 40);
    let store = collections.store("news").unwrap();
    assert!(store.client.call(&Requests::default(), Default::default()).unwrap().is_empty());
    assert_eq!(store.remove(&[b"d1"]).unwrap(), 1);
}
