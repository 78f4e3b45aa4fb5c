#!/usr/bin/env bash
# `make test`: runs every part, prints the time of each and the totals. Stops at the first part that fails.
set -uo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
times=()

part() {
  local name=$1 started=$SECONDS
  shift
  printf '\n== %s: %s\n' "$name" "$*"
  "$@" 2>&1 | tee -a "$log"
  local status=${PIPESTATUS[0]}
  times+=("$(printf '%6d s  %s' $((SECONDS - started)) "$name")")
  if [ "$status" -ne 0 ]; then
    summary
    echo "FAILED: $name" >&2
    exit "$status"
  fi
}

summary() {
  printf '\n== time of each part\n'
  printf '%s\n' "${times[@]}"
  printf '%6d s  in all\n\n' "$SECONDS"
  awk '/^test result:/ { passed += $4; failed += $6; skipped += $8 }
       /^[0-9]+ passed/ { passed += $1 }
       END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }' "$log"
}

command -v cargo >/dev/null || { echo "cargo is missing: install Rust 1.95 or newer from https://rustup.rs" >&2; exit 1; }

part "format" cargo fmt --all --check
part "lints" cargo clippy --release --workspace --all-targets -- -D warnings
command -v cargo-deny >/dev/null && part "dependencies" bash tools/deny.sh
part "architecture" bash -c "python3 tools/architecture_test.py && python3 tools/architecture.py"
part "without object stores and redis" cargo clippy --release --package benzer-cli --no-default-features -- -D warnings
part "build" cargo test --release --workspace --no-run
part "redis" bash tools/redis.sh
part "python" bash tools/python.sh
part "tests" cargo test --release --workspace
part "torture" python3 tools/torture quick --seed 15
part "papers" target/release/benzer eval all --quick -o target/eval
part "python package" bash tools/python-test.sh
part "spark" bash tools/spark-test.sh
part "browser" bash tools/browser-test.sh
part "page" bash tools/page-test.sh
part "api" bash tools/api-test.sh
part "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps
summary
