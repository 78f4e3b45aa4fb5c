"""datasketch: MinHash.bulk, then a MinHashLSH that holds the kept documents; what it finds is checked with `MinHash.jaccard`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dedup_protocol import BANDS, REGISTERS, ROWS, THRESHOLD, Removal, documents, main

API = (
    "re.findall and str.join in Python, MinHash.bulk (scheme affine32) with xxhash, "
    "MinHashLSH(params=(16, 8)).query, MinHash.jaccard, MinHashLSH.insert of what stays"
)


def dedup(corpus: Path, _: Path) -> Iterator[Removal]:
    from datasketch import MinHash, MinHashLSH
    from words import uax29_shingles
    from xxhash import xxh32_intdigest

    ids, texts = documents(corpus)
    sketches = MinHash.bulk(map(uax29_shingles, texts), num_perm=REGISTERS, hashfunc=xxh32_intdigest)
    index = MinHashLSH(num_perm=REGISTERS, params=(BANDS, ROWS))
    for row, sketch in enumerate(sketches):
        similar = (kept for kept in index.query(sketch) if sketch.jaccard(sketches[kept]) >= THRESHOLD)
        kept = next(similar, None)
        if kept is None:
            index.insert(row, sketch, check_duplication=False)
        else:
            yield ids[row], ids[kept]


if __name__ == "__main__":
    main("datasketch", API, dedup)
