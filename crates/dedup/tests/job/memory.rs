//! Too little memory is refused with the least that works, and that works.

use benzer_dedup::Error;
use benzer_dedup::job::Options;

use crate::corpus::{self, Random};
use crate::lab::{self, Lab};

const MIB: u64 = 1 << 20;

#[test]
fn too_little_memory_is_refused_with_the_least_that_works() {
    let lab = Lab::new();
    lab.write("a.jsonl", corpus::lines(&corpus::documents(&mut Random::new(2), 500, 60, false)));
    let expected = {
        let options = lab.options("plenty");
        lab::run(&options).unwrap();
        lab::outputs(&options.output)
    };
    for threads in 1..4 {
        let with = |memory| {
            let options = Options { threads, memory, overwrite: true, ..lab.on_disk("out") };
            lab::run(&options).map(|_| lab::outputs(&options.output))
        };
        let refused = with(MIB).unwrap_err();
        assert!(matches!(refused, Error::Parameter { name: "memory", .. }), "{refused}");
        let message = refused.to_string();
        let (_, rest) = message.split_once("at least ").unwrap();
        let least: u64 = rest.split_once("MiB").unwrap().0.parse().unwrap();
        assert!(message.ends_with("got 1MiB") && least > 16 * threads as u64, "{message}");
        assert_eq!(
            with((least - 1) * MIB).unwrap_err().to_string(),
            message.replace("got 1MiB", &format!("got {}MiB", least - 1))
        );
        lab::assert_same(&with(least * MIB).unwrap(), &expected, "the least memory");
    }
}
