"""Bands, estimates and removal over a matrix of registers, for sketches that come without an index of their own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from dedup_protocol import BANDS, SEED, THRESHOLD

# Pairs compared at a time: two blocks of registers stay small.
BLOCK = 1 << 14


def removals(registers: npt.NDArray[np.uint32]) -> dict[int, int]:
    """The removed rows, each with the row that stays instead.

    A row is compared with the first row of each of its buckets, and goes if one of them stays and the share of equal registers reaches the
    threshold. Comparing it with every row of its buckets takes five times as long and finds two in a hundred more.
    """
    pairs = candidates(registers)
    later, earlier = (side[similar(registers, pairs)] for side in pairs)
    kept_instead: dict[int, int] = {}
    # By increasing later row, so that the fate of the earlier one is known.
    for row, first in zip(later.tolist(), earlier.tolist(), strict=True):
        if row not in kept_instead and first not in kept_instead:
            kept_instead[row] = first
    return kept_instead


def candidates(registers: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows with the first row of each bucket they are in, every pair once, by increasing row."""
    n = len(registers)
    found = []
    for keys in band_keys(registers).T:
        # Stable, so that the rows of a bucket are in file order.
        order = np.argsort(keys, kind="stable")
        joins = np.flatnonzero(keys[order[1:]] == keys[order[:-1]]) + 1
        # A bucket is a run of neighbours; its first row comes before the first of them that joins.
        begins = np.diff(joins, prepend=-1) > 1
        first = joins[begins][begins.cumsum() - 1] - 1
        found.append(order[joins] * n + order[first])
    return np.divmod(np.unique(np.concatenate(found)), n)


def band_keys(registers: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each band; an accidental collision is stopped by the estimate."""
    words = np.ascontiguousarray(registers).view(np.uint64).reshape(len(registers), BANDS, -1)
    factors = np.random.default_rng(SEED).integers(1 << 63, size=words.shape[2], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return np.asfortranarray((words * factors).sum(axis=2, dtype=np.uint64))


def similar(registers: npt.NDArray[np.uint32], pairs: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]) -> npt.NDArray[np.bool_]:
    """Whether the share of equal registers reaches the threshold."""
    a, b = pairs
    equal = np.empty(len(a), dtype=np.int64)
    for start in range(0, len(a), BLOCK):
        block = slice(start, start + BLOCK)
        equal[block] = np.count_nonzero(registers[a[block]] == registers[b[block]], axis=1)
    return equal >= THRESHOLD * registers.shape[1]
