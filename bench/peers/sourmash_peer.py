"""sourmash: a bottom-k sketch of `registers` hashes. Its own text is DNA and protein, so it takes part with pre-hashed sets only."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from protocol import Kernel, Pairs, Sets, main
from sourmash import MinHash


def sketch(sets: Sets, registers: int) -> Kernel:
    hashes = [one.tolist() for one in sets.split()]

    def run() -> list[MinHash]:
        sketches = []
        for one in hashes:
            minhash = MinHash(n=registers, ksize=21)
            minhash.add_many(one)
            sketches.append(minhash)
        return sketches

    return Kernel(api="MinHash(n=registers).add_many on lists of integers", run=run, estimates=estimates)


def estimates(sketches: list[MinHash], pairs: Pairs) -> npt.NDArray[np.float64]:
    return np.array([sketches[a].jaccard(sketches[b]) for a, b in zip(pairs.a, pairs.b, strict=True)])


if __name__ == "__main__":
    main("sourmash", "sourmash", sketch=sketch)
