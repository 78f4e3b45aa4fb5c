#!/usr/bin/env bash
# tools/spark-test.sh [local|cluster|connect|sail|environments]...: benzer.spark on Apache Spark (in one process, on a cluster with two workers, over Spark Connect) and on Sail, from the wheel; all of them by default; `environments` only makes what they need. Java and ss are installed with apt if
# they are missing; the environments are below target/. BENZER_SIZES=full tests the long chain by components and a template of 100,000 documents on every engine, which takes minutes more; on Sail that is always so.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
folder="${CARGO_TARGET_DIR:-$root/target}/spark-test"
tests="$root/crates/python/tests-spark"

missing=()
command -v java >/dev/null || missing+=(openjdk-17-jre-headless)
command -v ss >/dev/null || missing+=(iproute2)
if [ "${#missing[@]}" -gt 0 ] && command -v apt-get >/dev/null; then
  sudo=$([ "$(id -u)" -eq 0 ] || echo sudo)
  { $sudo apt-get update && $sudo apt-get install -y --no-install-recommends "${missing[@]}"; } >/dev/null 2>&1 ||
    { echo "${missing[*]} could not be installed with apt-get; install it, tests of Spark need it" >&2; exit 1; }
fi

export BENZER_WHEEL
BENZER_WHEEL=$(ls "${CARGO_TARGET_DIR:-$root/target}"/wheels/benzer-*.whl 2>/dev/null || bash "$root/tools/wheel.sh")
environment() { # name, requirements
  mkdir -p "$folder/$1"
  if ! cmp -s "$2" "$folder/$1/.installed"; then
    python3 -m venv --clear "$folder/$1/venv"
    "$folder/$1/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2"
    cp "$2" "$folder/$1/.installed"
  fi
  # One that was installed by hand would be found first.
  if [ -n "$(find "$folder/$1/venv/lib" -maxdepth 3 -name 'benzer-*.dist-info')" ]; then
    "$folder/$1/venv/bin/python" -m pip uninstall --quiet --disable-pip-version-check --yes benzer
  fi
}
environment spark "$tests/requirements.txt"
environment sail "$tests/requirements-sail.txt"
# The package is beside the environments, not in them: executors of the cluster must have it from the archive that is sent to them.
rm -rf "$folder/package"
python3 -m zipfile -e "$BENZER_WHEEL" "$folder/package"

cd "$tests"
export PYTHONDONTWRITEBYTECODE=1
# A dozen JVMs that live for seconds: compiling their code well would take longer than running it.
export JAVA_TOOL_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
run() { # engine, environment, tests...
  local engine=$1 python="$folder/$2/venv/bin/python"
  shift 2
  BENZER_ENGINE=$engine PYTHONPATH="$folder/package" timeout 1800 "$python" -m pytest -q -p no:cacheprovider -W ignore "$@"
}
[ "$#" -gt 0 ] || set -- local cluster connect sail
for engine in "$@"; do
  case $engine in
    local) run local spark test_answers.py test_changes.py test_outputs.py ;;
    cluster) run cluster spark test_cluster.py ;;
    connect) run connect spark test_answers.py test_changes.py test_outputs.py -k "not chain" ;;
    sail) run sail sail test_answers.py test_changes.py test_outputs.py ;;
    environments) ;;
    *) echo "there is no engine $engine: local, cluster, connect or sail" >&2; exit 2 ;;
  esac
done
