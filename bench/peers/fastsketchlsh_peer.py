"""FastSketchLSH: Fast Similarity Sketching with SIMD."""

from __future__ import annotations

from FastSketchLSH import FastSimilaritySketch
from protocol import Kernel, Sets, equal_registers, main
from words import shingles

SEED = 42


def sketch(sets: Sets, registers: int) -> Kernel:
    sketcher = FastSimilaritySketch(size=registers, seed=SEED)
    return Kernel(
        api="FastSimilaritySketch.batch_csr(prehashed=True, num_threads=1) on NumPy uint64 buffers",
        run=lambda: sketcher.batch_csr(sets.elements, sets.offsets, prehashed=True, num_threads=1),
        estimates=equal_registers,
    )


def text(texts: list[str], registers: int) -> Kernel:
    sketcher = FastSimilaritySketch(size=registers, seed=SEED)
    return Kernel(
        api="re.findall and str.join in Python, FastSimilaritySketch.batch(num_threads=1)",
        run=lambda: sketcher.batch([shingles(text) for text in texts], num_threads=1),
        estimates=equal_registers,
    )


if __name__ == "__main__":
    main("FastSketchLSH", "FastSketchLSH", sketch=sketch, text=text)
