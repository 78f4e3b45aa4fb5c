#!/usr/bin/env bash
# Makes the Python environment of the tests in the folder that is named (default: target/python), unless it is there, and prints its interpreter.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
folder="${1:-${CARGO_TARGET_DIR:-$root/target}/python}"
wanted="$root/crates/cli/tests/stores/python/requirements.txt"

mkdir -p "$folder"
exec 9>"$folder/.lock"
flock 9
if ! cmp -s "$wanted" "$folder/.installed"; then
  {
    python3 -m venv --clear "$folder/venv" || {
      echo "no virtual environment: install python3 with its venv module (apt-get install python3-venv)"
      exit 1
    }
    "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted"
    cp "$wanted" "$folder/.installed"
  } >&2
fi
echo "$folder/venv/bin/python"
