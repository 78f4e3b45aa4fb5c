#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| benzer_fuzz_bodies::arrow(data));
