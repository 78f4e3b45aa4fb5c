"""datasketch: its default scheme, affine32."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from datasketch import MinHash
from protocol import Kernel, Pairs, Sets, equal_registers, main
from words import shingles


def sketch(sets: Sets, registers: int) -> Kernel:
    # affine32 takes 32-bit hashes. Lists of Python integers, because the call walks its input in Python: arrays would be slower.
    hashes = [(one >> np.uint64(32)).tolist() for one in sets.split()]
    return Kernel(
        api="MinHash.bulk, scheme affine32, hashfunc the identity on lists of 32-bit integers",
        run=lambda: MinHash.bulk(hashes, num_perm=registers, hashfunc=identity),
        estimates=estimates,
    )


def text(texts: list[str], registers: int) -> Kernel:
    def run() -> list[MinHash]:
        return MinHash.bulk(([s.encode() for s in shingles(text)] for text in texts), num_perm=registers)

    return Kernel(api="re.findall and str.join in Python, MinHash.bulk with its default SHA-1", run=run, estimates=estimates)


def identity(value: int) -> int:
    return value


def estimates(sketches: list[Any], pairs: Pairs) -> npt.NDArray[np.float64]:
    return equal_registers(np.array([sketch.hashvalues for sketch in sketches]), pairs)


if __name__ == "__main__":
    main("datasketch", "datasketch", sketch=sketch, text=text)
