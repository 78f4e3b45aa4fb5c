#!/usr/bin/env bash
# The REST API against its own description: schemathesis makes requests from /openapi.json, right ones and wrong ones, and finds no server error and no answer that the description does not allow.
# Installs a pinned schemathesis below target/. EXAMPLES is the number of requests for each operation.
set -euo pipefail
cd "$(dirname "$0")/.."

benzer=${BENZER:-$PWD/target/release/benzer}
folder=${CARGO_TARGET_DIR:-$PWD/target}/api
wanted=$PWD/crates/server/tests/schemathesis/requirements.txt
fail() { echo "api test: $*" >&2; exit 1; }
[ -x "$benzer" ] || fail "$benzer is missing: run make build"

mkdir -p "$folder"
exec 9>"$folder/.lock"
flock 9
if ! cmp -s "$wanted" "$folder/.installed"; then
  python3 -m venv --clear "$folder/venv" || fail "no virtual environment: install python3 with its venv module (apt-get install python3-venv)"
  "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted"
  cp "$wanted" "$folder/.installed"
fi

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
"$benzer" serve --db "$work/data" --demo --listen 127.0.0.1:0 --format json --log-level error --keys "$work/none.json" >"$work/said" 2>"$work/log" &
server=$!
for _ in $(seq 100); do [ -s "$work/said" ] && break; sleep 0.1; done
url=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' "$work/said")
[ -n "$url" ] || { cat "$work/log" >&2; fail "the server did not start"; }

(cd "$work" && "$folder/venv/bin/schemathesis" --config-file "$OLDPWD/crates/server/tests/schemathesis/schemathesis.toml" run "$url/openapi.json" --max-examples "${EXAMPLES:-100}" --seed 1) || { cat "$work/log" >&2; fail "the API does not keep its description"; }
kill -0 "$server" || { cat "$work/log" >&2; fail "the server is gone"; }
[ ! -s "$work/log" ] || { cat "$work/log" >&2; fail "the server has logged errors"; }
kill "$server"
wait "$server" || fail "the server did not stop cleanly"
server=
echo "api test: ok"
