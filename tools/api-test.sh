#!/usr/bin/env bash
# The REST API against its own description: /openapi.json is valid by two validators, the clients that three generators make of it work against the running server, and schemathesis makes requests from it, right
# ones and wrong ones, and finds no server error and no answer that it does not allow.
# Installs pinned packages below target/. EXAMPLES is the number of requests for each operation.
set -euo pipefail
cd "$(dirname "$0")/.."

benzer=${BENZER:-$PWD/target/release/benzer}
folder=${CARGO_TARGET_DIR:-$PWD/target}/api
tests=$PWD/crates/server/tests
clients=$tests/clients
fail() { echo "api test: $*" >&2; exit 1; }
[ -x "$benzer" ] || fail "$benzer is missing: run make build"
command -v npm >/dev/null || fail "npm is missing: install Node.js"

mkdir -p "$folder"
exec 9>"$folder/.lock"
flock 9
# Schemathesis and the generator of Python want other versions of what both use.
for name in schemathesis clients; do
  if ! cmp -s "$tests/$name/requirements.txt" "$folder/.installed-$name"; then
    python3 -m venv --clear "$folder/$name" || fail "no virtual environment: install python3 with its venv module (apt-get install python3-venv)"
    "$folder/$name/bin/python" -m pip install --quiet --disable-pip-version-check -r "$tests/$name/requirements.txt"
    cp "$tests/$name/requirements.txt" "$folder/.installed-$name"
  fi
done
if ! cmp -s "$clients/package-lock.json" "$folder/.installed-node"; then
  cp "$clients/package.json" "$clients/package-lock.json" "$folder/"
  npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --silent || fail "npm could not install the packages"
  cp "$clients/package-lock.json" "$folder/.installed-node"
fi

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true; rm -rf "$work"' EXIT
# The collection that most requests go to, on the disk.
"$benzer" index demo examples/articles.jsonl --text title,text -n 3 --threshold 0.7 --db "$work/data" >/dev/null
"$benzer" serve --db "$work/data" --listen 127.0.0.1:0 --format json --log-level error --keys "$work/none.json" >"$work/said" 2>"$work/log" &
server=$!
for _ in $(seq 100); do [ -s "$work/said" ] && break; sleep 0.1; done
url=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' "$work/said")
[ -n "$url" ] || { cat "$work/log" >&2; fail "the server did not start"; }

# Below the packages, where Node finds them.
made=$folder/made
rm -rf "$made"
cp -r "$clients" "$made"
cd "$made"
export PATH=$folder/clients/bin:$folder/node_modules/.bin:$PATH
python - "$url" <<'PYTHON'
import sys, urllib.request
urllib.request.urlretrieve(sys.argv[1] + "/openapi.json", "openapi.json")
PYTHON
quietly() { "$@" >"$work/made" 2>&1 || { cat "$work/made" >&2; fail "$1 failed on /openapi.json"; }; }
quietly openapi-spec-validator openapi.json
quietly node validate.mjs openapi.json
quietly openapi-python-client generate --path openapi.json --output-path made --meta none --config python-client.yml
quietly openapi-typescript openapi.json -o made.ts --default-non-nullable=false
quietly openapi-ts
quietly tsc
python client.py "$url" || fail "the client of openapi-python-client does not work"
node out/fetch.js "$url" || fail "the types of openapi-typescript do not work"
node out/sdk.js "$url" || fail "the client of @hey-api/openapi-ts does not work"

cd "$work"
"$folder/schemathesis/bin/schemathesis" --config-file "$tests/schemathesis/schemathesis.toml" run "$url/openapi.json" --max-examples "${EXAMPLES:-100}" --seed 1 || { cat "$work/log" >&2; fail "the API does not keep its description"; }
kill -0 "$server" || { cat "$work/log" >&2; fail "the server is gone"; }
[ ! -s "$work/log" ] || { cat "$work/log" >&2; fail "the server has logged errors"; }
kill "$server"
wait "$server" || fail "the server did not stop cleanly"
server=
echo "api test: ok"
