#!/usr/bin/env bash
# `make fuzz`: every fuzz target for so many seconds of processor time each (600 unless $1 says otherwise), all names or those that follow.
# Needs a nightly toolchain; installs cargo-fuzz where there is none. What breaks a target is kept in fuzz/artifacts: put it into fuzz/corpus/NAME, fix it, commit both.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
seconds=${1:-600}
shift || true
rustup toolchain list | grep -q nightly || { echo "install a nightly toolchain: rustup toolchain install nightly" >&2; exit 1; }
command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --version 0.13.2 --locked
cargo +nightly fuzz build
python3 ../tools/fuzz.py "$seconds" "$@"
