"""How good a result is: spark_quality.py EXACT FOLDER DOCS. Prints JSON.

EXACT is the `pairs.parquet` of an exact join of documents 0 to DOCS - 1; FOLDER has the `pairs` and the `kept` rows of an engine. Ids are numbers.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq


def main(exact: str, folder: str, docs: str) -> None:
    truth, found = pairs(Path(exact)), pairs(Path(folder, "pairs"))
    right = np.intersect1d(codes(truth), codes(found), assume_unique=True).size
    kept = np.zeros(int(docs), dtype=bool)
    kept[numbers(pq.read_table(Path(folder, "kept"), columns=["id"])["id"])] = True
    # Removed documents that have a kept one at least 0.8 similar to them, and kept ones that have an earlier one.
    justified, left = np.zeros_like(kept), np.zeros_like(kept)
    for one, other in (truth, truth[::-1]):
        justified[one[kept[other] & ~kept[one]]] = True
    left[truth[1][kept[truth[0]] & kept[truth[1]]]] = True
    removed = int((~kept).sum())
    result: dict[str, Any] = {
        "exact_pairs": truth.shape[1],
        "pairs": found.shape[1],
        "precision": right / max(found.shape[1], 1),
        "recall": right / max(truth.shape[1], 1),
        "removed": removed,
        "justified": int(justified.sum()) / max(removed, 1),
        "left": int(left.sum()),
    }
    print(json.dumps(result))


def pairs(path: Path) -> np.ndarray:
    """Two rows: the smaller and the larger document of each pair."""
    table = pq.read_table(path, columns=["id_a", "id_b"])
    both = np.stack([numbers(table["id_a"]), numbers(table["id_b"])])
    return np.sort(both, axis=0)


def numbers(column: Any) -> np.ndarray:
    return column.cast("int64").to_numpy()


def codes(of: np.ndarray) -> np.ndarray:
    """A number for each pair, each once."""
    return np.unique(of[0] << 32 | of[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
