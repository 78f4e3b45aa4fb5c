"""text-dedup's minhash module, as its command line is documented. It removes on a shared band, joins bands transitively, and checks no estimate."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from dedup_protocol import BANDS, REGISTERS, ROWS, THRESHOLD, Removal, main, row_ids

API = (
    "python -m text_dedup.minhash --ngram 5 --min_length 0 --num_perm 128 --b 16 --r 8 --hash_func xxh3 --num_proc 1; "
    "lower-cased pieces between characters that are no letter, digit or underscore; no estimate is checked"
)


def dedup(corpus: Path, out: Path) -> None:
    files = {"path": "json", "data_files": corpus, "split": "train", "cache_dir": out / "cache", "output": out / "kept", "column": "text"}
    sketch = {"ngram": 5, "min_length": 0, "num_perm": REGISTERS, "threshold": THRESHOLD, "b": BANDS, "r": ROWS, "hash_func": "xxh3"}
    arguments = files | sketch | {"num_proc": 1}
    flags = [str(word) for flag, value in arguments.items() for word in (f"--{flag}", value)]
    # Nothing may be left from an earlier run, and nothing is fetched.
    environment = os.environ | {"HF_HOME": str(out / "home"), "HF_HUB_OFFLINE": "1"}
    os.execve(sys.executable, [sys.executable, "-m", "text_dedup.minhash", *flags], environment)


def collect(corpus: Path, out: Path) -> Iterator[Removal]:
    """What is missing from the data set that it wrote."""
    import datasets

    kept = set(datasets.load_from_disk(str(out / "kept"))["id"])
    return ((one, None) for one in row_ids(corpus) if one not in kept)


if __name__ == "__main__":
    main("text-dedup", API, dedup, collect)
