"""rensa: R-MinHash over every element (not its `rho` mode, which samples positions)."""

from __future__ import annotations

import numpy as np
from protocol import Kernel, Sets, equal_registers, main
from rensa import RMinHash
from words import shingles

SEED = 42


def sketch(sets: Sets, registers: int) -> Kernel:
    return Kernel(
        api="RMinHash.digest_matrix_from_flat_token_hashes on NumPy uint64 buffers",
        run=lambda: RMinHash.digest_matrix_from_flat_token_hashes(sets.elements, sets.offsets, registers, SEED),
        estimates=lambda matrix, pairs: equal_registers(np.array(matrix.to_rows(), dtype=np.uint32), pairs),
    )


def text(texts: list[str], registers: int) -> Kernel:
    return Kernel(
        api="re.findall and str.join in Python, RMinHash.digest_matrix_from_token_sets",
        run=lambda: RMinHash.digest_matrix_from_token_sets([shingles(text) for text in texts], registers, SEED),
        estimates=lambda matrix, pairs: equal_registers(np.array(matrix.to_rows(), dtype=np.uint32), pairs),
    )


if __name__ == "__main__":
    main("rensa", "rensa", sketch=sketch, text=text)
