#!/usr/bin/env bash
# Builds the wheel of the Python package (abi3, from 3.10 on), and with --sdist its sources too, into target/wheels; prints the wheel.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
target="${CARGO_TARGET_DIR:-$root/target}"
tool="$target/python-tools"

if [ ! -x "$tool/bin/maturin" ]; then
  python3 -m venv "$tool" >&2 || { echo "no virtual environment: install python3 with its venv module (apt-get install python3-venv)" >&2; exit 1; }
  "$tool/bin/python" -m pip install --quiet --disable-pip-version-check "$(grep '^maturin==' "$root/crates/python/requirements-test.txt")" >&2
fi
rm -f "$target"/wheels/benzer-*
cd "$root/crates/python"
# The sources are packed apart: the wheel is made from this folder, whose lock file fits.
[ "${1:-}" != --sdist ] || "$tool/bin/maturin" sdist --out "$target/wheels" >&2
CARGO_TARGET_DIR="$target" "$tool/bin/maturin" build --release --locked --out "$target/wheels" >&2
ls "$target"/wheels/benzer-*.whl
