"""Daft reads, sketches and hands over one matrix; NumPy makes the bands.

`--normalize` adds Daft's own normalisation (lower case, punctuation deleted, spaces collapsed). Without it Daft splits at spaces and keeps case
and punctuation, which is less work than the others do.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from dedup_protocol import REGISTERS, SEED, Removal, main

NORMALIZE = "--normalize" in sys.argv
API = (
    "read_json, "
    + ("normalize(lowercase, remove_punct, white_space), " if NORMALIZE else "")
    + "minhash(ngram_size=5, hash_function='xxhash'); bands, first row of each bucket and share of equal registers in NumPy"
)


def dedup(corpus: Path, _: Path) -> Iterator[Removal]:
    import daft
    from daft.functions import minhash, normalize
    from dedup_numpy import removals

    text = daft.col("text")
    if NORMALIZE:
        text = normalize(text, remove_punct=True, lowercase=True, white_space=True)
    sketch = minhash(text, num_hashes=REGISTERS, ngram_size=5, seed=SEED, hash_function="xxhash")
    table = daft.read_json(str(corpus)).select(daft.col("id"), sketch.alias("registers")).to_arrow().combine_chunks()
    registers = table["registers"].chunk(0).flatten().to_numpy().reshape(-1, REGISTERS)
    ids = table["id"].chunk(0)
    return ((ids[row].as_py(), ids[kept].as_py()) for row, kept in removals(registers).items())


if __name__ == "__main__":
    if NORMALIZE:
        sys.argv.remove("--normalize")
    main("daft", API, dedup)
