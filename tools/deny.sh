#!/usr/bin/env bash
# Licences, bans and sources of all dependencies (deny.toml). Installs the pinned cargo-deny below target/ where there is none: once, a few minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.20.2
if ! command -v cargo-deny >/dev/null; then
  export PATH="$PWD/target/tools/bin:$PATH"
  command -v cargo-deny >/dev/null ||
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_TARGET_DIR=target/tools/build \
      cargo install cargo-deny --version "$version" --locked --no-default-features --root target/tools
  rm -rf target/tools/build
fi
cargo deny --offline check licenses bans sources
