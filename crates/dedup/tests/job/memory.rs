//! Too little memory is refused with the least that works, and that works.

use benzer_core::Parameter;
use benzer_dedup::Error;

use crate::corpus::{self, Random};
use crate::lab::{self, Lab};

const MIB: u64 = 1 << 20;

#[test]
fn too_little_memory_is_refused_with_the_least_that_works() {
    let lab = Lab::new();
    lab.write("a.jsonl", corpus::lines(&corpus::documents(&mut Random::new(2), 500, 60, false)));
    let expected = {
        let request = lab.request("plenty");
        lab::run(&request).unwrap();
        lab::outputs(&request.results.folder)
    };
    for threads in 1..4 {
        let with = |memory| {
            let request = lab.on_disk("out").with(|request| {
                request.resources.threads = threads;
                request.resources.memory = memory;
                request.results.overwrite = true;
            });
            lab::run(&request).map(|_| lab::outputs(&request.results.folder))
        };
        let refused = with(MIB).unwrap_err();
        assert!(matches!(refused, Error::Parameter(Parameter { name: "memory", .. })), "{refused}");
        let message = refused.to_string();
        let least = least(&message);
        assert!(message.ends_with("got 1MiB") && least > 16 * threads as u64, "{message}");
        assert_eq!(
            with((least - 1) * MIB).unwrap_err().to_string(),
            message.replace("got 1MiB", &format!("got {}MiB", least - 1))
        );
        lab::assert_same(&with(least * MIB).unwrap(), &expected, "the least memory");
    }
}

/// Nobody knows before how many documents are duplicates: there is room for the removal of each.
#[test]
fn many_documents_are_refused_unless_all_of_them_could_be_removed() {
    let lab = Lab::new();
    lab.write("a.jsonl", "{\"text\":\"a b c d e f\"}\n".repeat(20_000));
    // The rest of it is a hole, which is not read before the refusal.
    std::fs::OpenOptions::new().write(true).open(lab.path("in/a.jsonl")).unwrap().set_len(500 * MIB).unwrap();
    let request = lab.request("out").with(|request| {
        request.resources.memory = 700 * MIB;
        request.resources.threads = 1;
    });
    let message = lab::run(&request).unwrap_err().to_string();
    let documents: u64 = message.split_once("about ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
    assert!((19_000_000..24_000_000).contains(&documents), "{message}");
    assert!(least(&message) * MIB > 72 * documents, "{message}");
}

/// What a refusal says.
fn least(message: &str) -> u64 {
    let (_, rest) = message.split_once("at least ").unwrap();
    rest.split_once("MiB").unwrap().0.parse().unwrap()
}
