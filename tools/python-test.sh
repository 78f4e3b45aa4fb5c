#!/usr/bin/env bash
# The Python package as its users get it: the wheel is built, installed into a clean environment, and tested there; then types and examples.
# Redis is installed with apt if there is none.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
folder="${CARGO_TARGET_DIR:-$root/target}/python-test"
wanted="$root/crates/python/requirements-test.txt"
python="$folder/venv/bin/python"

if ! command -v redis-server >/dev/null && command -v apt-get >/dev/null; then
  sudo=$([ "$(id -u)" -eq 0 ] || echo sudo)
  { $sudo apt-get update && $sudo apt-get install -y --no-install-recommends redis-server; } >/dev/null 2>&1 ||
    { echo "redis-server could not be installed with apt-get; install it, its tests need it" >&2; exit 1; }
fi

wheel=$(bash "$root/tools/wheel.sh")
mkdir -p "$folder"
if ! cmp -s "$wanted" "$folder/.installed"; then
  python3 -m venv --clear "$folder/venv"
  "$python" -m pip install --quiet --disable-pip-version-check -r "$wanted"
  cp "$wanted" "$folder/.installed"
fi
"$python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"

cd "$root/crates/python"
installed=$(cd / && "$python" -c 'import benzer, os; print(os.path.dirname(benzer.__file__))')
case "$installed" in "$folder"/*) ;; *) echo "tested was $installed, not the wheel" >&2; exit 1 ;; esac
export PYTHONDONTWRITEBYTECODE=1
"$python" -m pytest -p no:cacheprovider tests
"$python" -m pytest -p no:cacheprovider --doctest-modules --pyargs benzer
"$python" -m mypy --cache-dir "$folder/mypy" python/benzer
(cd "$folder" && "$python" -m mypy.stubtest --ignore-disjoint-bases benzer._benzer)
"$python" -m pyright --pythonpath "$python"
