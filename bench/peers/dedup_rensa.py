"""rensa's deduplicator: R-MinHash over every shingle, its LSH index, and its check of the estimate. It does not say what was kept instead."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dedup_protocol import BANDS, REGISTERS, SEED, THRESHOLD, Removal, documents, main

API = "re.findall and str.join in Python, RMinHashDeduplicator(use_lsh=True, num_bands=16).add_pairs"


def dedup(corpus: Path, _: Path) -> Iterator[Removal]:
    from rensa import RMinHashDeduplicator
    from words import uax29_shingles

    ids, texts = documents(corpus)
    deduplicator = RMinHashDeduplicator(THRESHOLD, REGISTERS, use_lsh=True, num_bands=BANDS, seed=SEED)
    kept = deduplicator.add_pairs((one, uax29_shingles(text)) for one, text in zip(ids, texts, strict=True))
    return ((one, None) for one, stays in zip(ids, kept, strict=True) if not stays)


if __name__ == "__main__":
    main("rensa", API, dedup)
