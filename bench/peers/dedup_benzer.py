"""Turns what `benzer dedup` wrote into `removed.tsv` and `pairs.tsv`, after the timed run.

    python dedup_benzer.py DIR
    python dedup_benzer.py --about BINARY [--recall 1]
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from dedup_protocol import write

API = "benzer dedup --id-field id --threads 1 --audit off; 18 x 7 bands, exact verification; it writes the kept corpus, all pairs, the evidence and a report as well"

EXACT = "benzer dedup --recall 1 --id-field id --threads 1 --audit off: the exact join instead of sketches; it writes the same files"


def main(arguments: list[str]) -> None:
    if arguments[0] == "--about":
        version = subprocess.run([arguments[1], "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
        print(json.dumps({"version": version, "api": EXACT if "--recall 1" in arguments else API}))
        return
    out = Path(arguments[0])
    write(out, rows(out / "evidence.parquet", "removed_id", "kept_id"))
    with (out / "pairs.tsv").open("w") as file:
        pairs = rows(out / "pairs.parquet", "id_a", "id_b", "intersection", "union")
        file.writelines("\t".join(map(str, pair)) + "\n" for pair in pairs)


def rows(path: Path, *columns: str) -> zip[tuple]:
    """The rows of some columns of a Parquet file."""
    import pyarrow.parquet as pq

    return zip(*(column.to_pylist() for column in pq.read_table(path, columns=list(columns)).columns), strict=True)


if __name__ == "__main__":
    main(sys.argv[1:])
