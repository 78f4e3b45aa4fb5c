#!/usr/bin/env bash
# The page of `benzer serve` in a real browser: every flow, desktop and phone, accessibility. Installs Node, Chromium and two pinned packages if they are missing.
# Pictures go to the folder that is given, if one is.
set -euo pipefail
cd "$(dirname "$0")/.."

tests=$PWD/crates/server/tests/page
modules=${CARGO_TARGET_DIR:-$PWD/target}/page
export BENZER=${BENZER:-$PWD/target/release/benzer} PAGE_MODULES=$modules PICTURES=${1:-}
fail() { echo "page test: $*" >&2; exit 1; }
[ -x "$BENZER" ] || fail "$BENZER is missing: run make build"
[ -z "$PICTURES" ] || mkdir -p "$PICTURES"

find_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome || true; }
missing=()
[ -n "$(find_browser)" ] || missing+=(chromium)
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get >/dev/null || fail "${missing[*]} missing, and no apt-get to install it"
  sudo=$([ "$(id -u)" -eq 0 ] || echo sudo)
  log=$(mktemp)
  { $sudo apt-get update && $sudo apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 || { tail -20 "$log" >&2; fail "${missing[*]} could not be installed"; }
fi
CHROMIUM=$(find_browser)
export CHROMIUM

mkdir -p "$modules"
exec 9>"$modules/.lock"
flock 9
if ! cmp -s "$tests/package-lock.json" "$modules/.installed"; then
  cp "$tests/package.json" "$tests/package-lock.json" "$modules/"
  npm ci --prefix "$modules" --ignore-scripts --no-audit --no-fund --silent || fail "npm could not install the packages"
  cp "$tests/package-lock.json" "$modules/.installed"
fi
timeout 900 node --test --test-concurrency=1 "$tests/page.test.mjs"
echo "page test: ok"
