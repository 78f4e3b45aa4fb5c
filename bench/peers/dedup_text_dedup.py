"""text-dedup's minhash module, as its command line is documented. It removes on a shared band, joins bands transitively, and checks no estimate.

Which document of a cluster it keeps is an accident of its union-find; here the first in file order counts as the one, as for everybody.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

from dedup_protocol import BANDS, REGISTERS, ROWS, THRESHOLD, Removal, later_members, main, row_ids

API = (
    "python -m text_dedup.minhash --ngram 5 --min_length 0 --num_perm 128 --b 16 --r 8 --hash_func xxh3 --num_proc 1 --debug; "
    "lower-cased pieces between characters that are no letter, digit or underscore; no estimate is checked"
)


def dedup(corpus: Path, out: Path) -> None:
    files = {"path": "json", "data_files": corpus, "split": "train", "cache_dir": out / "cache", "output": out / "kept", "column": "text"}
    sketch = {"ngram": 5, "min_length": 0, "num_perm": REGISTERS, "threshold": THRESHOLD, "b": BANDS, "r": ROWS, "hash_func": "xxh3"}
    arguments = files | sketch | {"num_proc": 1}
    # --debug: it leaves its clusters behind.
    flags = ["--debug", *(str(word) for flag, value in arguments.items() for word in (f"--{flag}", value))]
    # Nothing may be left from an earlier run, and nothing is fetched.
    environment = os.environ | {"HF_HOME": str(out / "home"), "HF_HUB_OFFLINE": "1"}
    os.execve(sys.executable, [sys.executable, "-m", "text_dedup.minhash", *flags], environment)


def collect(corpus: Path, out: Path) -> Iterator[Removal]:
    """The clusters it left, without their first members."""
    with (out / "kept/uf.pkl").open("rb") as file:
        clusters = pickle.load(file)
    return later_members(((row, clusters.find(row)) for row in sorted(clusters.parent)), row_ids(corpus))


if __name__ == "__main__":
    main("text-dedup", API, dedup, collect)
