#!/usr/bin/env bash
# `make fuzz`: every fuzz target for so many seconds of one processor each (600 unless $1 says otherwise), all names or those that follow.
# Needs a nightly toolchain; installs cargo-fuzz where there is none. What breaks a target is kept in fuzz/artifacts: put it into fuzz/corpus/NAME, fix it, commit both.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
seconds=${1:-600}
shift || true
rustup toolchain list | grep -q nightly || { echo "install a nightly toolchain: rustup toolchain install nightly" >&2; exit 1; }
command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --version 0.13.2 --locked
names=("$@")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(cd fuzz_targets && ls | sed 's/\.rs$//')
failed=()
for name in "${names[@]}"; do
  mkdir -p "target/found/$name"
  # What is new goes below target/; the committed corpus is only read.
  cargo +nightly fuzz run "$name" "target/found/$name" "corpus/$name" -- \
    -max_total_time="$seconds" -timeout=30 -rss_limit_mb=3000 -max_len=65536 -print_final_stats=1 || failed+=("$name")
done
[ ${#failed[@]} -eq 0 ] || { echo "broken: ${failed[*]}" >&2; exit 1; }
echo "${#names[@]} targets, $seconds s each, nothing broke"
