"""Daft's `normalize` (lower case, punctuation deleted, spaces collapsed) and then its native `minhash`."""

from __future__ import annotations

import daft
import daft.functions
from daft_peer import estimates
from protocol import Kernel, main


def text(texts: list[str], registers: int) -> Kernel:
    frame = daft.from_pydict({"text": texts}).collect()
    words = daft.functions.normalize(daft.col("text"), remove_punct=True, lowercase=True, white_space=True)
    query = frame.select(daft.functions.minhash(words, num_hashes=registers, ngram_size=5, hash_function="xxhash").alias("m"))

    def run() -> daft.DataFrame:
        # `collect` keeps its result, so each run asks anew.
        return query.select("m").collect()

    return Kernel(
        api="normalize(lowercase, remove_punct, white_space) and minhash(ngram_size=5, hash_function='xxhash') on a DataFrame",
        run=run,
        estimates=lambda frame, pairs: estimates(daft.Series.from_arrow(frame.to_arrow()["m"].combine_chunks()), pairs),
    )


if __name__ == "__main__":
    main("daft-normalized", "daft", text=text)
