"""MinHashLSHForest: the approximate top k, with datasketch's names and errors."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer import _benzer, arguments
from benzer.schemes import consistent


class MinHashLSHForest:
    """An index of sketches for the k sets that are most similar, approximately.

    Args:
        num_perm: Hash values of each sketch.
        l: Number of prefix trees.

    >>> from benzer import MinHash
    >>> m = MinHash()
    >>> m.update(b"a")
    >>> forest = MinHashLSHForest()
    >>> forest.add("m", m)
    >>> forest.index()
    >>> forest.query(m, 1)
    ['m']
    """

    def __init__(self, num_perm: int = 128, l: int = 8) -> None:  # noqa: E741
        num_perm, l = arguments.whole("num_perm", num_perm), arguments.whole("l", l)  # noqa: E741
        if l <= 0 or num_perm <= 0:
            raise ValueError("num_perm and l must be positive")
        if l > num_perm:
            raise ValueError("l cannot be greater than num_perm")
        self.l = l
        self.k = num_perm // l
        self.keys: dict[Hashable, int] = {}
        self._names: list[Hashable] = []
        self._dtype: np.dtype[Any] = np.dtype(np.uint64)
        self._trees = _benzer.Forest(l, self.k)
        self._minhash_scheme: str | None = None

    def _check(self, minhash: Any) -> str | None:
        arguments.minhash("minhash", minhash)
        if len(minhash) < self.k * self.l:
            raise ValueError("The num_perm of MinHash out of range")
        return consistent(self._minhash_scheme, minhash)

    def add(self, key: Hashable, minhash: Any) -> None:
        """Adds a key with its sketch; it can be found after :meth:`index`."""
        self._minhash_scheme = self._check(minhash)
        if arguments.hashable("key", key) in self.keys:
            raise ValueError("The given key has already been added")
        self.keys[key] = self._trees.add(minhash.hashvalues)
        self._names.append(key)
        self._dtype = minhash.hashvalues.dtype

    def index(self) -> None:
        """Makes all keys searchable."""
        self._trees.index()

    def query(self, minhash: Any, k: int) -> list[Any]:
        """At most `k` keys whose sets are likely the most similar ones."""
        k = arguments.whole("k", k)
        if k <= 0:
            raise ValueError("k must be positive")
        self._check(minhash)
        return [self._names[entry] for entry in self._trees.nearest(minhash.hashvalues, k)]

    def get_minhash_hashvalues(self, key: Hashable) -> npt.NDArray[Any]:
        """The hash values of a key, as many as the trees use."""
        if arguments.hashable("key", key) not in self.keys:
            raise KeyError(f"The provided key does not exist in the LSHForest: {key}")
        return self._trees.hashvalues(self.keys[key]).astype(self._dtype)

    def is_empty(self) -> bool:
        """Whether there is no searchable key."""
        return not self._trees.is_searchable()

    def __contains__(self, key: Hashable) -> bool:
        return key in self.keys

    def __getstate__(self) -> dict[str, Any]:
        values = [self._trees.hashvalues(entry) for entry in range(len(self._names))]
        return {**self.__dict__, "_trees": (values, self._trees.is_searchable())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        values, searchable = state["_trees"]
        self.__dict__.update(state)
        self._trees = _benzer.Forest(self.l, self.k)
        for hashvalues in values:
            self._trees.add(hashvalues)
        if searchable:
            self._trees.index()
