"""Sketches and indexes of the Python packages, one call at a time and in bulk: prints one JSON line.

    python index_race.py PEER update                 # MinHash.update_batch, 100 tokens each
    python index_race.py PEER single --docs 100000   # insert and query, one at a time
    python index_race.py PEER bulk --docs 1000000    # insert and query in bulk, with the memory of the index
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

PERM, BANDS = 128, 16
TOKENS = 20


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=["benzer", "datasketch", "rensa"])
    parser.add_argument("task", choices=["update", "single", "bulk"])
    parser.add_argument("--docs", type=int, default=100_000)
    options = parser.parse_args()
    tasks = {"update": update, "single": single, "bulk": bulk_rensa if options.peer == "rensa" else bulk}
    result = tasks[options.task](import_module(options.peer), options.docs)
    print(json.dumps({"peer": options.peer, "task": options.task, "docs": options.docs} | result))


def update(module: Any, _: int) -> dict[str, float]:
    tokens = [b"token number %d" % i for i in range(100)]

    def run() -> None:
        for _ in range(500):
            module.MinHash(num_perm=PERM).update_batch(tokens)

    return {"updates_per_s": 500 / median(run)}


def sets(n: int) -> np.ndarray:
    """Sets of hashes, a fifth of which are copies of earlier ones."""
    rng = np.random.default_rng(1)
    made = rng.integers(0, 2**32, size=(n, TOKENS), dtype=np.uint64)
    copies = np.flatnonzero(rng.random(n) < 0.2)[1:]
    made[copies] = made[(copies * rng.random(len(copies))).astype(np.int64)]
    return made


def single(module: Any, n: int) -> dict[str, float]:
    if module.__name__ == "rensa":
        minhashes = []
        for row in sets(n):
            minhash = module.RMinHash(num_perm=PERM, seed=42)
            minhash.update([str(value) for value in row])
            minhashes.append(minhash)
        lsh = module.RMinHashLSH(0.8, PERM, BANDS)
    else:
        minhashes = module.MinHash.bulk(([b"%d" % value for value in row] for row in sets(n)), num_perm=PERM)
        lsh = module.MinHashLSH(num_perm=PERM, params=(BANDS, PERM // BANDS))
    before = resident()
    inserted = timed(lambda: [lsh.insert(i, minhash) for i, minhash in enumerate(minhashes)])
    memory = resident() - before
    found: list[Any] = []
    queried = timed(lambda: found.extend(len(lsh.query(minhash)) for minhash in minhashes))
    return {"inserts_per_s": n / inserted, "queries_per_s": n / queried, "bytes_per_doc": memory / n, "candidates": sum(found)}


def bulk(module: Any, n: int) -> dict[str, float]:
    elements = sets(n).ravel()
    matrix = module.sketch_csr(elements, np.arange(0, len(elements) + 1, TOKENS), PERM, sketch="b32")
    del elements

    def run() -> dict[str, float]:
        lsh = module.MinHashLSH(num_perm=PERM, params=(BANDS, PERM // BANDS))
        before = resident()
        inserted = timed(lambda: lsh.insert_many(range(n), matrix))
        memory = resident() - before
        flags: list[Any] = []
        queried = timed(lambda: flags.append(lsh.duplicated_many(matrix)))
        counted = timed(lambda: lsh.count_many(matrix))
        listed = timed(lambda: lsh.query_many(matrix))
        flagged = int(flags[0].sum())
        speeds = {"inserts_per_s": n / inserted, "queries_per_s": n / queried, "counts_per_s": n / counted, "lists_per_s": n / listed}
        return speeds | {"bytes_per_doc": memory / n, "flagged": flagged}

    return medians(run)


def bulk_rensa(module: Any, n: int) -> dict[str, float]:
    elements = sets(n).ravel()
    offsets = np.arange(0, len(elements) + 1, TOKENS, dtype=np.uint64)
    matrix = module.RMinHash.digest_matrix_from_flat_token_hashes(elements, offsets, PERM, 42)
    del elements

    def run() -> dict[str, float]:
        lsh = module.RMinHashLSH(0.8, PERM, BANDS)
        before = resident()
        inserted = timed(lambda: lsh.insert_matrix(matrix))
        memory = resident() - before
        flags: list[Any] = []
        queried = timed(lambda: flags.extend(lsh.query_duplicate_flags_matrix(matrix)))
        return {"inserts_per_s": n / inserted, "queries_per_s": n / queried, "bytes_per_doc": memory / n, "flagged": sum(flags)}

    return medians(run)


def medians(run: Callable[[], dict[str, float]]) -> dict[str, float]:
    """Of three indexes, one after the other: the first has memory that the host of a virtual machine may have to find. The memory is that of the first."""
    runs = [run() for _ in range(3)]
    speeds = {key: statistics.median(one[key] for one in runs) for key in runs[0] if key.endswith("_per_s")}
    return runs[0] | speeds | {"first_inserts_per_s": runs[0]["inserts_per_s"]}


def timed(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def median(run: Callable[[], Any]) -> float:
    run()
    return statistics.median(timed(run) for _ in range(5))


def resident() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


if __name__ == "__main__":
    main()
