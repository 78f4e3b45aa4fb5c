"""FastSketchLSH: its sketches and its LSH. The documented one-shot call flags every member of a bucket, the first one too, and nothing
checks the estimate; so the flags only say who is looked at, and those are asked for one by one against an index of what stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dedup_protocol import BANDS, REGISTERS, SEED, THRESHOLD, Removal, documents, main

API = (
    "re.findall and str.join in Python, FastSimilaritySketch.batch(num_threads=1), LSH.insert_and_query_duplicates for all; for the flagged "
    "LSH.query against those that stay, share of equal registers in NumPy, LSH.insert"
)
BATCH = 10_000


def dedup(corpus: Path, _: Path) -> Iterator[Removal]:
    import numpy as np
    from FastSketchLSH import LSH, FastSimilaritySketch
    from words import uax29_shingles

    ids, texts = documents(corpus)
    sketcher = FastSimilaritySketch(size=REGISTERS, seed=SEED)
    # In batches: the shingles of all documents at once would take more than a gigabyte.
    batches = ([uax29_shingles(text) for text in texts[start : start + BATCH]] for start in range(0, len(texts), BATCH))
    sketches = np.concatenate([sketcher.batch(batch, num_threads=1) for batch in batches])
    flags = LSH(num_perm=REGISTERS, num_bands=BANDS, num_threads=1).insert_and_query_duplicates(sketches)
    index, kept = LSH(num_perm=REGISTERS, num_bands=BANDS, num_threads=1), []
    for row in np.flatnonzero(flags).tolist():
        found = [kept[number] for number in index.query(sketches[row])]
        equal = np.count_nonzero(sketches[found] == sketches[row], axis=1) if found else np.zeros(1)
        best = int(equal.argmax())
        if equal[best] >= THRESHOLD * REGISTERS:
            yield ids[row], ids[found[best]]
        else:
            index.insert(sketches[row : row + 1])
            kept.append(row)


if __name__ == "__main__":
    main("FastSketchLSH", API, dedup)
