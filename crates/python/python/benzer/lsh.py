"""MinHashLSH with datasketch's names, arguments and errors, and bulk calls."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer import _benzer, arguments
from benzer.minhash import MinHash
from benzer.schemes import consistent
from benzer.sessions import MinHashLSHDeletionSession, MinHashLSHInsertionSession
from benzer.storage import Buckets, Keys, RedisTables, Tables

Sketches = npt.NDArray[Any] | Sequence[MinHash]
_BULK = (np.uint8, np.uint16, np.uint32, np.uint64)


class MinHashLSH:
    """An index of sketches: finds the keys of sets that are likely to have at least a Jaccard similarity.

    Args:
        threshold: The similarity for which bands and rows are chosen.
        num_perm: Hash values of each sketch.
        weights: How much false positives and false negatives weigh in that choice; they add up to 1.
        params: Bands and rows, instead of a choice.
        storage_config: ``{"type": "dict"}`` (the default), or ``{"type": "redis", "basename": b"name", "redis": {...}}``.
        prepickle: Whether keys are pickled to bytes; by default for Redis only.
        hashfunc: Shortens the bytes of a band. It is called for every band, and bulk calls are refused with it.

    >>> lsh = MinHashLSH(threshold=0.5, num_perm=128)
    >>> m = MinHash()
    >>> m.update_batch([b"a", b"b", b"c"])
    >>> lsh.insert("m", m)
    >>> lsh.query(m)
    ['m']
    """

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        weights: tuple[float, float] = (0.5, 0.5),
        params: tuple[int, int] | None = None,
        storage_config: dict[str, Any] | None = None,
        prepickle: bool | None = None,
        hashfunc: Callable[[bytes], bytes] | None = None,
    ) -> None:
        storage_config = storage_config or {"type": "dict"}
        if not isinstance(storage_config, dict) or "type" not in storage_config:
            raise arguments.wrong("storage_config", "a dictionary with a 'type' of 'dict' or 'redis'", storage_config)
        if hashfunc is not None and not callable(hashfunc):
            raise arguments.wrong("hashfunc", "a function from bytes to bytes", hashfunc)
        self._buffer_size = 50000
        threshold, num_perm = arguments.number("threshold", threshold), arguments.whole("num_perm", num_perm)
        weights = arguments.weights(weights)
        if threshold > 1.0 or threshold < 0.0:
            raise ValueError("threshold must be in [0.0, 1.0]")
        if num_perm < 2:
            raise ValueError("Too few permutation functions")
        if any(w < 0.0 or w > 1.0 for w in weights):
            raise ValueError("Weight must be in [0.0, 1.0]")
        if sum(weights) != 1.0:
            raise ValueError("Weights must sum to 1.0")
        self.h = num_perm
        if params is not None:
            self.b, self.r = _shape(params)
            if self.b * self.r > num_perm:
                raise ValueError(
                    "The product of b and r in params is "
                    f"{self.b} * {self.r} = {self.b * self.r} -- it must be less than num_perm {num_perm}. "
                    "Did you forget to specify num_perm?"
                )
        else:
            self.b, self.r = _benzer.optimal_bands(threshold, num_perm, weights)
        if self.b < 2:
            raise ValueError("The number of bands are too small (b < 2)")
        kind = storage_config["type"]
        self.prepickle = kind == "redis" if prepickle is None else prepickle
        self._require_bytes_keys = not (kind == "dict" or self.prepickle)
        self.hashfunc = hashfunc
        self._tables: Tables
        if kind == "dict":
            self._tables = _benzer.BandTables(self.b, self.r, hashfunc)
        elif kind == "redis":
            self._tables = RedisTables(storage_config, self.b, self.r, hashfunc)
        else:
            raise ValueError(f"Unknown storage type: {kind}")
        self._minhash_scheme: str | None = None
        self._buffered_queries: list[set[Any]] = []

    @property
    def buffer_size(self) -> int:
        """Operations that a session with Redis sends together."""
        return self._buffer_size

    @buffer_size.setter
    def buffer_size(self, value: int) -> None:
        self._buffer_size = value
        if isinstance(self._tables, RedisTables):
            self._tables.buffer_size = value

    @property
    def hashranges(self) -> list[tuple[int, int]]:
        """Where each band begins and ends."""
        return [(i * self.r, (i + 1) * self.r) for i in range(self.b)]

    @property
    def keys(self) -> Keys:
        """All keys, as they are stored: pickled if :attr:`prepickle` says so."""
        return Keys(self._tables)

    @property
    def hashtables(self) -> list[Buckets]:
        """The buckets of each band. A bucket's name is a hash of 8 bytes, not the hash values themselves."""
        return [Buckets(self._tables, band) for band in range(self.b)]

    def _check(self, minhash: Any) -> str | None:
        try:
            n = len(minhash.hashvalues)
        except (AttributeError, TypeError):
            raise arguments.wrong("minhash", "a MinHash", minhash) from None
        if n != self.h:
            raise ValueError("Expecting minhash with length %d, got %d" % (self.h, n))
        known = self._minhash_scheme
        if known is not None and getattr(minhash, "scheme", None) == known:
            return known
        return consistent(known, minhash)

    def _stored(self, key: Any) -> Any:
        return pickle.dumps(key) if self.prepickle else key

    def _given(self, stored: Iterable[Any]) -> list[Any]:
        return [pickle.loads(key) for key in stored] if self.prepickle else list(stored)

    def insert(self, key: Hashable, minhash: Any, check_duplication: bool = True) -> None:
        """Adds a key with its sketch; a key that is there already is refused, unless `check_duplication` is off: then it is replaced."""
        self._minhash_scheme = self._check(minhash)
        arguments.hashable("key", key)
        if self.prepickle:
            key = pickle.dumps(key)
        elif self._require_bytes_keys and not isinstance(key, bytes):
            raise TypeError(
                f"prepickle=False requires bytes keys for non-dict storage, got {type(key).__name__}. "
                "Either pass bytes keys or use prepickle=True for automatic serialization."
            )
        self._tables.insert(key, minhash.hashvalues, check_duplication)

    def insert_many(self, keys: Iterable[Hashable], minhashes: Sketches, check_duplication: bool = True) -> None:
        """Adds many keys at once, on all cores: a matrix with a row of hash values for each key, or a list of sketches.

        Integer keys are kept without an object each; give them as a range or a NumPy array.

        >>> lsh = MinHashLSH(num_perm=16, params=(4, 4))
        >>> lsh.insert_many(range(2), np.zeros((2, 16), dtype=np.uint32))
        >>> sorted(lsh.query_many(np.zeros((1, 16), dtype=np.uint32))[0])
        [0, 1]
        """
        matrix = self._matrix(minhashes, learn=True)
        if self.prepickle:
            keys = [pickle.dumps(key) for key in arguments.items("keys", keys, "keys")]
        elif isinstance(keys, range) or (isinstance(keys, np.ndarray) and keys.dtype.kind in "iu"):
            keys = np.asarray(keys, dtype=np.int64)
        elif not isinstance(keys, list | tuple | np.ndarray):
            keys = list(arguments.items("keys", keys, "keys"))
        try:
            self._tables.insert_many(keys, matrix, check_duplication)
        except TypeError:
            for i, key in enumerate(keys):
                arguments.hashable(f"keys[{i}]", key)
            raise

    def query_many(self, minhashes: Sketches) -> list[list[Any]]:
        """What :meth:`query` gives, for each row of a matrix or each sketch of a list, on all cores."""
        found = self._tables.query_many(self._matrix(minhashes))
        return [self._given(keys) for keys in found] if self.prepickle else found

    def count_many(self, minhashes: Sketches) -> npt.NDArray[np.uint32]:
        """How many keys :meth:`query` would give for each."""
        return self._tables.count_many(self._matrix(minhashes))

    def duplicated_many(self, minhashes: Sketches) -> npt.NDArray[np.bool_]:
        """Whether each has a bucket with several keys: for sketches that are in the index, whether there is another one like it. The fastest way to see which sets have a near-duplicate.

        >>> lsh = MinHashLSH(num_perm=16, params=(4, 4))
        >>> matrix = np.array([[0] * 16, [0] * 16, [1] * 16], dtype=np.uint32)
        >>> lsh.insert_many(range(3), matrix)
        >>> lsh.duplicated_many(matrix).tolist()
        [True, True, False]
        """
        return self._tables.duplicated_many(self._matrix(minhashes))

    def _matrix(self, minhashes: Sketches, learn: bool = False) -> npt.NDArray[Any]:
        if isinstance(minhashes, np.ndarray):
            if minhashes.ndim == 2 and minhashes.dtype not in _BULK:
                raise arguments.wrong("minhashes", "a matrix of uint8, uint16, uint32 or uint64, or a list of sketches", minhashes.dtype.type)
            if minhashes.ndim != 2 or minhashes.shape[1] != self.h:
                raise ValueError("Expecting a matrix with %d columns, got shape %s" % (self.h, minhashes.shape))
            return minhashes
        known = self._minhash_scheme
        minhashes = list(arguments.items("minhashes", minhashes, "sketches"))
        for i, minhash in enumerate(minhashes):
            known = consistent(known, arguments.minhash(f"minhashes[{i}]", minhash))
            if len(minhash) != self.h:
                raise ValueError("Expecting minhash with length %d, got %d" % (self.h, len(minhash)))
        if learn:
            self._minhash_scheme = known
        if len(minhashes) == 0:
            return np.empty((0, self.h), dtype=np.uint32)
        return np.stack([minhash.hashvalues for minhash in minhashes])

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Adds everything that another index of the same bands and rows has."""
        if type(self) is not type(other):
            raise ValueError(f"Cannot merge type MinHashLSH and type {type(other).__name__}.")
        if (self.h, self.b, self.r) != (other.h, other.b, other.r):
            raise ValueError("Cannot merge MinHashLSH with different initialization parameters.")
        known, theirs = self._minhash_scheme, other._minhash_scheme
        if known is not None and theirs is not None and known != theirs:
            raise ValueError(
                "Cannot merge MinHashLSH indexed with MinHash scheme %r into one indexed with scheme %r" % (theirs, known)
            )
        keys = other._tables.keys()
        if check_overlap and any(key in self._tables for key in keys):
            raise ValueError("The keys are overlapping, duplicate key exists.")
        self._minhash_scheme = known or theirs
        if isinstance(other._tables, _benzer.BandTables):
            keys, matrix = other._tables.state()
            rows: Iterable[list[int] | None] = matrix.tolist()
        else:
            rows = map(other._tables.bands_of, keys)
        for key, bands in zip(keys, rows, strict=True):
            if bands is not None:
                self._tables.insert_bands(key, bands)

    def insertion_session(self, buffer_size: int = 50000) -> MinHashLSHInsertionSession:
        """A context in which insertions are sent together, where the storage has a buffer."""
        return MinHashLSHInsertionSession(self, buffer_size=buffer_size)

    def deletion_session(self, buffer_size: int = 50000) -> MinHashLSHDeletionSession:
        """A context in which deletions are sent together, where the storage has a buffer."""
        return MinHashLSHDeletionSession(self, buffer_size=buffer_size)

    def query(self, minhash: Any) -> list[Any]:
        """The keys that share a band with a sketch, each once: likely, not surely, as similar as the threshold."""
        self._check(minhash)
        found = self._tables.query(minhash.hashvalues)
        return self._given(found) if self.prepickle else found

    def _query_b(self, minhash: Any, b: int) -> set[Any]:
        self._check(minhash)
        if b > self.b:
            raise ValueError("b must be less or equal to the number of hash tables")
        return set(self._given(self._tables.query(minhash.hashvalues, b)))

    def add_to_query_buffer(self, minhash: Any) -> None:
        """Remembers a query for :meth:`collect_query_buffer`."""
        self._buffered_queries.append(set(self.query(minhash)))

    def collect_query_buffer(self) -> list[Any]:
        """The keys that all remembered queries found."""
        queries, self._buffered_queries = self._buffered_queries, []
        return list(set.intersection(*queries)) if queries else []

    def __contains__(self, key: Hashable) -> bool:
        return self._stored(key) in self._tables

    def __len__(self) -> int:
        return len(self._tables)

    def __bool__(self) -> bool:
        return True

    def remove(self, key: Hashable) -> None:
        """Removes a key; one that is not there is an error."""
        self._tables.remove(self._stored(arguments.hashable("key", key)))

    def is_empty(self) -> bool:
        """Whether there is no key."""
        return len(self._tables) == 0

    def get_counts(self) -> list[dict[Hashable, int]]:
        """For each band, from the names of its buckets to the number of keys in each."""
        return [{name: n for name, n in self._tables.counts(band).items()} for band in range(self.b)]

    def get_subset_counts(self, *keys: Hashable) -> list[dict[Hashable, int]]:
        """The same, of some keys only."""
        counts: list[dict[Hashable, int]] = [{} for _ in range(self.b)]
        for key in {self._stored(key) for key in keys}:
            for band, bucket in enumerate(self._tables.bands_of(key) or ()):
                name = bucket.to_bytes(8, "big")
                counts[band][name] = counts[band].get(name, 0) + 1
        return counts

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if isinstance(self._tables, _benzer.BandTables):
            state["_tables"] = self._tables.state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(self._tables, tuple):
            keys, bands = self._tables
            tables = _benzer.BandTables(self.b, self.r, self.hashfunc)
            tables.restore(keys, bands)
            self._tables = tables


def _shape(params: Any) -> tuple[int, int]:
    if not isinstance(params, tuple | list | np.ndarray) or len(params) != 2:
        raise arguments.wrong("params", "the number of bands and that of rows, such as (32, 4)", params)
    return arguments.whole("params[0]", params[0]), arguments.whole("params[1]", params[1], minimum=1)
