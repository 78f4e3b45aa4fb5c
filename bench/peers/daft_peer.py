"""Daft's native `minhash` of a text column, with the fastest of its hash functions (xxhash).

It splits at spaces and neither lower-cases nor drops punctuation, which is less work than the race asks for; its error is therefore
partly that of other shingles. `daft_normalized_peer.py` adds Daft's own `normalize`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from daft import Series
from protocol import Kernel, Pairs, equal_registers, main


def text(texts: list[str], registers: int) -> Kernel:
    column = Series.from_arrow(pa.array(texts, type=pa.large_string()))
    return Kernel(
        api="Series.minhash(ngram_size=5, hash_function='xxhash'); splits at spaces, no lower-casing, punctuation kept",
        run=lambda: column.minhash(num_hashes=registers, ngram_size=5, seed=1, hash_function="xxhash"),
        estimates=estimates,
    )


def estimates(sketches: Series, pairs: Pairs) -> npt.NDArray[np.float64]:
    flat = sketches.to_arrow().flatten().to_numpy()
    return equal_registers(flat.reshape(len(sketches), -1), pairs)


if __name__ == "__main__":
    main("daft", "daft", text=text)
