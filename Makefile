# The local commands are the CI commands.
.PHONY: test check torture fuzz asan bench bench-dedup bench-python doc build wheel clean

# Everything: format, lints, all tests of all kinds, with the time of each part and the totals.
test:
	@bash tools/test.sh

# The quick half of `make test`: format, lints and what ARCHITECTURE.md says of the crates (python3 tools/architecture.py --measure prints figures).
check:
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings
	@bash tools/deny.sh
	@python3 tools/architecture.py

# Hours of what `make test` does for two minutes: kills, damage, full disks, many threads, attacks, load, a million documents replaced and removed at random
# (docs/reference/reliability.md). One part: python3 tools/torture long kills --kills 1000
torture: build
	@python3 tools/torture long
	@bash tools/valgrind.sh

# Every decoder, parser and request handler with coverage feedback, ten minutes each, on a nightly toolchain. One: bash tools/fuzz.sh 60 jsonl
fuzz:
	@bash tools/fuzz.sh

# The unit tests of the crates that have `unsafe`, under AddressSanitizer, on a nightly toolchain.
asan:
	@RUSTFLAGS=-Zsanitizer=address cargo +nightly test --release --target x86_64-unknown-linux-gnu --target-dir target/asan -p benzer-core -p benzer-storage -p benzer-flow -p benzer-io -p benzer-join -p benzer-sets -p benzer-dedup -p benzer-image -p benzer-spark -p benzer-index -p benzer-cli --lib

# The binary: target/release/benzer
build:
	cargo build --release

# The Python package: target/wheels/benzer-*.whl (abi3, from 3.10 on) and its sources
wheel:
	@bash tools/wheel.sh --sdist

# The field in one table: all races with the peers, one pinned core, printed as Markdown; results go to bench/results/. One race: bench/run,
# bench/dedup, ... Micro-benchmarks: cargo bench --package benzer-bench
bench:
	@python3 bench/field

# Whole deduplications beside the peers, one pinned core, with quality beside speed; the peers take a gigabyte to install.
bench-dedup:
	@python3 bench/dedup

# The Python package beside datasketch and rensa, one pinned core; results go to bench/results/.
bench-python:
	@python3 bench/python

# API documentation: target/doc/benzer_core/index.html
doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps

clean:
	cargo clean
