#!/usr/bin/env python3
"""datasketch's MinHashLSH on Redis, on the signatures that `benzer-bench redis --dump` has written. Prints one line of JSON.

    redis_datasketch.py PORT FILE DOCUMENTS QUERIES

The bands are Benzer's (18 of 7 registers), so both solve the same problem; the objects that datasketch wants are made before the clock starts.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable

import numpy as np
from datasketch import LeanMinHash, MinHashLSH

REGISTERS = 128
# Documents that are put in one by one, which is slow.
SINGLE = 2000


def sketches(registers: np.ndarray, numbers: Iterable[int]) -> list[tuple[str, LeanMinHash]]:
    """Ids and signatures of some documents."""
    return [(f"{i:016x}", LeanMinHash(seed=1, scheme="affine32", hashvalues=registers[i].astype(np.uint64))) for i in numbers]


def main() -> None:
    port, path, documents, n_queries = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    registers = raw[: documents * REGISTERS].reshape(documents, REGISTERS)
    queries = raw[documents * REGISTERS :].view(np.uint64)[:n_queries]
    storage = {"type": "redis", "basename": b"peer", "redis": {"host": "127.0.0.1", "port": port}}
    lsh = MinHashLSH(num_perm=REGISTERS, params=(18, 7), storage_config=storage)
    seconds = 0.0
    for first in range(SINGLE, documents, 5000):
        made = sketches(registers, range(first, min(first + 5000, documents)))
        start = time.perf_counter()
        with lsh.insertion_session() as session:
            for key, sketch in made:
                session.insert(key, sketch, check_duplication=False)
        seconds += time.perf_counter() - start
    made = sketches(registers, range(SINGLE))
    start = time.perf_counter()
    for key, sketch in made:
        lsh.insert(key, sketch, check_duplication=False)
    single = time.perf_counter() - start
    asked = [sketch for _, sketch in sketches(registers, [int(i) for i in queries])]
    start = time.perf_counter()
    matches = sum(len(lsh.query(sketch)) for sketch in asked)
    searching = time.perf_counter() - start
    print(
        json.dumps(
            {
                "documents": documents,
                "inserts_per_second": (documents - SINGLE) / seconds,
                "inserts_per_second_one_at_a_time": SINGLE / single,
                "searches_per_second_one_at_a_time": len(asked) / searching,
                "matches_per_search": matches / len(asked),
            }
        )
    )


if __name__ == "__main__":
    main()
