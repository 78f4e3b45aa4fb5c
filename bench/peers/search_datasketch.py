"""datasketch's Forest and Ensemble on the sets, queries and truth of `benzer-bench search race`.

    search_datasketch.py STEM [--documents N]

Prints one JSON line for each point: the time of a search and its recall. A MinHash of every query is made before the clock starts. Candidates of the
Forest are ranked by their estimates, as Benzer's are; those of the Ensemble are not, since it has no sizes of sets to rank them by.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from datasketch import MinHash, MinHashLSHEnsemble, MinHashLSHForest, __version__

REGISTERS = 128
BEST = 10


def sets(stem: str) -> list[np.ndarray]:
    """Flat arrays as sets."""
    elements = np.fromfile(f"{stem}.elements.u64", dtype="<u8")
    offsets = np.fromfile(f"{stem}.offsets.u64", dtype="<u8").astype(np.int64)
    return [elements[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]


def minhashes(of: list[np.ndarray]) -> list[MinHash]:
    """Sketches of sets whose elements are hashes already."""
    made = []
    for elements in of:
        one = MinHash(num_perm=REGISTERS, hashfunc=lambda element: int(element) & 0xFFFFFFFF)
        one.update_batch(list(elements))
        made.append(one)
    return made


def heat(name: str, task: str, truth: list[tuple[int, list[int], list[int]]], search: Callable[[int], Any]) -> None:
    """Searches for every query and prints the point."""
    seconds, recall, recall_alike, candidates = [], 0.0, 0.0, 0
    for i, (wanted, right, alike) in enumerate(truth):
        start = time.perf_counter()
        found = search(i)
        seconds.append(time.perf_counter() - start)
        recall += min(wanted, len(set(right) & set(found))) / wanted
        recall_alike += min(wanted, len(set(alike) & set(found))) / wanted
        candidates += len(found)
    point = {
        "peer": f"datasketch {__version__}",
        "task": task,
        "name": name,
        "queries": len(truth),
        "recall": recall / len(truth),
        "recall_alike": recall_alike / len(truth),
        "candidates": candidates / len(truth),
        "mean_us": 1e6 * statistics.fmean(seconds),
        "median_us": 1e6 * statistics.median(seconds),
    }
    print(json.dumps(point), flush=True)


def forests(rows: list[MinHash], queries: list[MinHash], truth: list[tuple[int, list[int], list[int]]]) -> Iterator[None]:
    """Forests with more and more candidates, ranked by their estimates."""
    for trees in (8, 16):
        forest = MinHashLSHForest(num_perm=REGISTERS, l=trees)
        for row, one in enumerate(rows):
            forest.add(row, one)
        forest.index()
        for n in (BEST + 1, 50, 200, 1000):

            def search(i: int, n: int = n, forest: MinHashLSHForest = forest) -> list[int]:
                found = forest.query(queries[i], n)
                return sorted(found, key=lambda row: -queries[i].jaccard(rows[row]))[: BEST + 1]

            heat(f"Forest, {trees} trees, {n} candidates", "best", truth, search)
            yield


def ensembles(rows: list[MinHash], of: list[np.ndarray], queries: list[tuple[MinHash, int]], truth: list[tuple[int, list[int], list[int]]]) -> Iterator[None]:
    """Ensembles of lower and lower thresholds."""
    for threshold in (0.8, 0.6, 0.4):
        ensemble = MinHashLSHEnsemble(threshold=threshold, num_perm=REGISTERS, num_part=16)
        ensemble.index((row, one, len(of[row])) for row, one in enumerate(rows))
        heat(f"Ensemble, threshold {threshold}", "parts", truth, lambda i, e=ensemble: list(e.query(*queries[i])))
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stem", type=Path)
    stem = parser.parse_args().stem
    of = sets(str(stem))
    rows = minhashes(of)
    asked = {name: stem.with_suffix(f".{name}") for name in ("best", "parts")}
    truth = {name: json.loads(Path(f"{path}.truth.json").read_text()) for name, path in asked.items()}
    queries = {name: sets(str(path)) for name, path in asked.items()}
    list(forests(rows, minhashes(queries["best"]), truth["best"]))
    parts = [(one, len(elements)) for one, elements in zip(minhashes(queries["parts"]), queries["parts"], strict=True)]
    list(ensembles(rows, of, parts, truth["parts"]))


if __name__ == "__main__":
    main()
