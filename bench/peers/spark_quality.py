"""How good a result is: spark_quality.py EXACT FOLDER DOCS. Prints JSON.

EXACT is the `pairs.parquet` of an exact join of documents 0 to DOCS - 1; FOLDER has the `pairs` and the `kept` rows of an engine. Ids are numbers,
and keep order is that of the ids.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq


def main(exact: str, folder: str, docs: str) -> None:
    truth, found, n = pairs(Path(exact)), once(pairs(Path(folder, "pairs"))), int(docs)
    # The exact join lists a copy beside its first copy only; what is similar to one is similar to all.
    is_copy = pq.read_table(exact, columns=["exact_copy"])["exact_copy"].to_numpy()
    text = np.arange(n)
    text[truth[1, is_copy]] = truth[0, is_copy]
    sizes, similar = np.bincount(text, minlength=n), truth[:, ~is_copy]
    n_exact = int((sizes * (sizes - 1) // 2).sum() + sizes[similar].prod(axis=0).sum())
    texts = np.sort(text[found], axis=0)
    right = int((np.isin(codes(texts), codes(similar)) | (texts[0] == texts[1])).sum())
    kept = np.zeros(n, dtype=bool)
    kept[numbers(pq.read_table(Path(folder, "kept"), columns=["id"])["id"])] = True
    # The first kept document that is at least 0.8 similar to a text, or has it.
    own = np.full(n, n)
    np.minimum.at(own, text[kept], np.flatnonzero(kept))
    first = own.copy()
    for one, other in (similar, similar[::-1]):
        np.minimum.at(first, one, own[other])
    removed, justified = int((~kept).sum()), int((first[text][~kept] < n).sum())
    left = int((first[text] < np.arange(n))[kept].sum())
    result: dict[str, Any] = {
        "exact_pairs": n_exact,
        "pairs": found.shape[1],
        "precision": right / max(found.shape[1], 1),
        "recall": right / max(n_exact, 1),
        "removed": removed,
        "justified": justified / max(removed, 1),
        "left": left,
    }
    print(json.dumps(result))


def pairs(path: Path) -> np.ndarray:
    """Two rows: the smaller and the larger document of each pair."""
    table = pq.read_table(path, columns=["id_a", "id_b"])
    both = np.stack([numbers(table["id_a"]), numbers(table["id_b"])])
    return np.sort(both, axis=0)


def once(of: np.ndarray) -> np.ndarray:
    """Each pair once."""
    each = np.unique(codes(of))
    return np.stack([each >> 32, each & 0xFFFFFFFF])


def numbers(column: Any) -> np.ndarray:
    return column.cast("int64").to_numpy()


def codes(of: np.ndarray) -> np.ndarray:
    """A number for each pair."""
    return of[0] << 32 | of[1]


if __name__ == "__main__":
    main(*sys.argv[1:])
