"""Benzer through its Python package: the bulk calls, on one thread."""

from __future__ import annotations

import benzer
from benzer.estimate import jaccard_pairs
from protocol import Kernel, Sets, main


def sketch(sets: Sets, registers: int) -> Kernel:
    return Kernel(
        api="benzer.sketch_csr on NumPy uint64 buffers, 8 bits of each register",
        run=lambda: benzer.sketch_csr(sets.elements, sets.offsets, registers, threads=1),
        estimates=estimates(registers),
    )


def text(texts: list[str], registers: int) -> Kernel:
    return Kernel(
        api="benzer.sketch_texts on a list of strings, 8 bits of each register",
        run=lambda: benzer.sketch_texts(texts, ngram=5, num_perm=registers, threads=1),
        estimates=estimates(registers),
    )


def estimates(registers: int):
    sketcher = benzer.Sketcher(num_perm=registers)
    return lambda matrix, pairs: jaccard_pairs(matrix, [*zip(pairs.a, pairs.b, strict=True)], sketcher)[:, 0]


if __name__ == "__main__":
    main("benzer", "benzer", sketch=sketch, text=text)
