#!/usr/bin/env bash
# The whole binary under valgrind's memcheck, on the examples: the vector kernels (AVX2, which is what valgrind knows), the allocator of huge pages and the memory maps
# run there, where Miri cannot follow. Exits with 1 if memory is used that is not ours or was never written.
set -euo pipefail
cd "$(dirname "$0")/.."
benzer=${BENZER:-$PWD/target/release/benzer}
command -v valgrind >/dev/null || { echo "install valgrind" >&2; exit 1; }
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
watched() { valgrind --quiet --error-exitcode=9 --fair-sched=yes "$benzer" "$@" >/dev/null; }
watched dedup examples/articles.jsonl --id-field id --checkpoint 1 -o "$home/out"
watched sketch examples/articles.jsonl -o "$home/a.bsk"
watched index --db "$home/db" articles examples/articles.jsonl --text text
watched search --db "$home/db" articles --id trains-16
watched verify --db "$home/db"
watched compare examples/bay.png examples/bay-small.jpg
echo "valgrind: six commands, no error"
