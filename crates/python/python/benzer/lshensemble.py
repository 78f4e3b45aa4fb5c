"""MinHashLSHEnsemble: containment search, with datasketch's names and errors."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np

from benzer import _benzer, arguments
from benzer.lsh import MinHashLSH


class MinHashLSHEnsemble:
    """An index of sketches: finds the keys of sets that are likely to contain at least a share of the query.

    Args:
        threshold: The containment for which bands are chosen.
        num_perm: Hash values of each sketch.
        num_part: Partitions by set size.
        m: Most rows of a band; more take more memory and are more accurate.
        weights: How much false positives and false negatives weigh; they add up to 1.
        storage_config, prepickle: As in :class:`MinHashLSH`.

    >>> from benzer import MinHash
    >>> m = MinHash()
    >>> m.update_batch([b"a", b"b"])
    >>> ensemble = MinHashLSHEnsemble(threshold=0.8, num_part=4)
    >>> ensemble.index([("m", m, 2)])
    >>> list(ensemble.query(m, 2))
    ['m']
    """

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        num_part: int = 16,
        m: int = 8,
        weights: tuple[float, float] = (0.5, 0.5),
        storage_config: dict[str, Any] | None = None,
        prepickle: bool | None = None,
    ) -> None:
        threshold, num_perm = arguments.number("threshold", threshold), arguments.whole("num_perm", num_perm)
        num_part, m, weights = arguments.whole("num_part", num_part), arguments.whole("m", m), arguments.weights(weights)
        if threshold > 1.0 or threshold < 0.0:
            raise ValueError("threshold must be in [0.0, 1.0]")
        if num_perm < 2:
            raise ValueError("Too few permutation functions")
        if num_part < 1:
            raise ValueError("num_part must be at least 1")
        if m < 2 or m > num_perm:
            raise ValueError("m must be in the range of [2, num_perm]")
        if any(w < 0.0 or w > 1.0 for w in weights):
            raise ValueError("Weight must be in [0.0, 1.0]")
        if sum(weights) != 1.0:
            raise ValueError("Weights must sum to 1.0")
        self.threshold = threshold
        self.h = num_perm
        self.m = m
        self.xqs = np.exp(np.linspace(-5, 5, 10))
        shapes = [_benzer.optimal_bands_of_containment(threshold, num_perm, m, float(xq), weights) for xq in self.xqs]
        self.params = np.array(shapes, dtype=int)
        config = storage_config or {"type": "dict"}
        rows = sorted({r for _, r in shapes})
        self.indexes = [
            {
                r: MinHashLSH(
                    num_perm=num_perm,
                    params=(num_perm // r, r),
                    storage_config=_of_part(config, part, r),
                    prepickle=prepickle,
                )
                for r in rows
            }
            for part in range(num_part)
        ]
        self.lowers: list[int | None] = [None] * num_part
        self.uppers: list[int | None] = [None] * num_part

    def index(self, entries: Iterable[tuple[Hashable, Any, int]]) -> None:
        """Adds all sets, each as key, sketch and size. It can be called once."""
        if not self.is_empty():
            raise ValueError("Cannot call index again on a non-empty index")
        entries = [_entry(f"entries[{i}]", one) for i, one in enumerate(arguments.items("entries", entries, "tuples of key, sketch and size"))]
        if any(size <= 0 for _, _, size in entries):
            raise ValueError("Set size must be positive")
        if not entries:
            raise ValueError("entries is empty")
        counts = sorted(Counter(size for _, _, size in entries).items())
        sizes = [size for size, _ in counts]
        parts = _benzer.optimal_partitions(sizes, [count for _, count in counts], len(self.indexes))
        for i, (lower, upper) in enumerate(parts):
            self.lowers[i], self.uppers[i] = lower, upper
        entries.sort(key=lambda entry: entry[2])
        part = 0
        for key, minhash, size in entries:
            while size > parts[part][1]:
                part += 1
            for lsh in self.indexes[part].values():
                lsh.insert(key, minhash)

    def query(self, minhash: Any, size: int) -> Iterator[Any]:
        """The keys of sets that are likely to contain the share of the query, whose size is given."""
        arguments.minhash("minhash", minhash)
        arguments.number("size", size, above=0)
        for upper, index in zip(self.uppers, self.indexes, strict=True):
            if upper is not None:
                place = min(int(np.searchsorted(self.xqs, upper / size, side="left")), len(self.params) - 1)
                b, r = (int(value) for value in self.params[place])
                yield from index[r]._query_b(minhash, b)

    def __contains__(self, key: Hashable) -> bool:
        return any(key in lsh for index in self.indexes for lsh in index.values())

    def is_empty(self) -> bool:
        """Whether nothing was indexed."""
        return all(lsh.is_empty() for index in self.indexes for lsh in index.values())


def _entry(name: str, entry: Any) -> tuple[Hashable, Any, int]:
    if not isinstance(entry, tuple | list) or len(entry) != 3:
        raise arguments.wrong(name, "a tuple of key, sketch and size", entry)
    key, minhash, size = entry
    return key, arguments.minhash(f"{name}[1]", minhash), arguments.whole(f"{name}[2]", size)


def _of_part(config: dict[str, Any], part: int, rows: int) -> dict[str, Any]:
    """The storage of one partition."""
    if "basename" not in config:
        return config
    return {**config, "basename": b"-".join([config["basename"], struct.pack(">H", part), struct.pack(">H", rows)])}
