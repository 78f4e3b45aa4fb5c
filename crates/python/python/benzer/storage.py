"""Where a MinHashLSH keeps its tables: in memory, or in Redis."""

from __future__ import annotations

import os
import random
import string
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from benzer import _benzer


class Tables(Protocol):
    """What an index needs of its tables."""

    def __len__(self) -> int: ...
    def __contains__(self, key: Any, /) -> bool: ...
    def insert(self, key: Any, hashvalues: Any, check: bool) -> None: ...
    def insert_bands(self, key: Any, bands: list[int]) -> None: ...
    def insert_many(self, keys: Any, matrix: Any, check: bool) -> None: ...
    def query(self, hashvalues: Any, bands: int | None = None) -> list[Any]: ...
    def query_many(self, matrix: Any) -> list[list[Any]]: ...
    def count_many(self, matrix: Any) -> npt.NDArray[np.uint32]: ...
    def duplicated_many(self, matrix: Any) -> npt.NDArray[np.bool_]: ...
    def remove(self, key: Any) -> None: ...
    def keys(self) -> list[Any]: ...
    def bands_of(self, key: Any) -> list[int] | None: ...
    def bucket(self, band: int, key: int) -> list[Any]: ...
    def counts(self, band: int) -> dict[bytes, int]: ...


class Keys:
    """The keys of an index, as a collection."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def __len__(self) -> int:
        return len(self._tables)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._tables.keys())

    def __contains__(self, key: Any) -> bool:
        return key in self._tables

    def __getitem__(self, key: Any) -> list[bytes]:
        return self.get(key)

    def get(self, key: Any) -> list[bytes]:
        """The names of the buckets of a key; none if it is not there."""
        return [band.to_bytes(8, "big") for band in self._tables.bands_of(key) or ()]

    def keys(self) -> list[Any]:
        """All of them."""
        return self._tables.keys()

    def size(self) -> int:
        """How many there are."""
        return len(self._tables)

    def has_key(self, key: Any) -> bool:
        """Whether a key is there."""
        return key in self._tables


class Buckets:
    """The buckets of a band, by their names."""

    def __init__(self, tables: Tables, band: int) -> None:
        self._tables, self._band = tables, band

    def __len__(self) -> int:
        return len(self.itemcounts())

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.itemcounts())

    def __contains__(self, name: bytes) -> bool:
        return len(self.get(name)) > 0

    def __getitem__(self, name: bytes) -> set[Any]:
        return self.get(name)

    def get(self, name: bytes) -> set[Any]:
        """The keys of a bucket."""
        return set(self._tables.bucket(self._band, int.from_bytes(name, "big")))

    def keys(self) -> list[bytes]:
        """The names of all buckets."""
        return list(self.itemcounts())

    def size(self) -> int:
        """How many buckets there are."""
        return len(self)

    def itemcounts(self) -> dict[bytes, int]:
        """The number of keys of each bucket."""
        return self._tables.counts(self._band)


class RedisTables:
    """Tables in Redis: a hash of all keys with their bands, and a set for each bucket. Needs the package ``redis``.

    The data are Benzer's own: an index that datasketch wrote cannot be read.
    """

    def __init__(self, config: dict[str, Any], bands: int, rows: int, hashfunc: Callable[[bytes], bytes] | None) -> None:
        self._config, self._bands, self._rows, self._hashfunc = config, bands, rows, hashfunc
        name = config.get("basename") or "".join(random.choices(string.ascii_lowercase, k=11)).encode()
        self._name: bytes = name.encode() if isinstance(name, str) else name
        self.buffer_size = 50000
        self._connect()

    def _connect(self) -> None:
        try:
            import redis
        except ImportError as error:
            raise ImportError("a storage of type redis needs the package redis: pip install redis") from error
        self._redis: Any = redis.Redis(**_settled(self._config["redis"]))
        self._transaction = _settled(self._config.get("redis_buffer", {})).get("transaction", True)
        self._pipe: Any = None
        self._pending: dict[bytes, bytes | None] = {}
        # Makes the keys of bands as the tables in memory do.
        self._hasher = _benzer.BandTables(self._bands, self._rows, self._hashfunc)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name in _PLAIN}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._connect()

    @property
    def _all(self) -> bytes:
        return self._name + b":keys"

    def _bucket_name(self, band: int, key: int) -> bytes:
        return self._name + b":" + struct.pack(">HQ", band, key)

    def begin(self) -> None:
        """From now on, changes are sent when there are enough of them."""
        self._pipe = self._redis.pipeline(transaction=self._transaction)

    def flush(self) -> None:
        """Sends all changes and ends the session."""
        if self._pipe is not None:
            self._pipe.execute()
        self._pipe, self._pending = None, {}

    def _band_keys(self, hashvalues: Any) -> list[int]:
        return self._hasher.band_keys(hashvalues)

    def _stored_bands(self, key: bytes) -> bytes | None:
        if key in self._pending:
            return self._pending[key]
        found: bytes | None = self._redis.hget(self._all, key)
        return found

    def _change(self, key: bytes, old: bytes | None, new: bytes | None) -> None:
        """Replaces the bands of a key in one transaction."""
        buffered = self._pipe is not None
        pipe = self._pipe if buffered else self._redis.pipeline(transaction=self._transaction)
        for band, bucket in enumerate(_unpacked(old)):
            pipe.srem(self._bucket_name(band, bucket), key)
        for band, bucket in enumerate(_unpacked(new)):
            pipe.sadd(self._bucket_name(band, bucket), key)
        if new is None:
            pipe.hdel(self._all, key)
        else:
            pipe.hset(self._all, key, new)
        if not buffered:
            pipe.execute()
            return
        self._pending[key] = new
        if len(pipe) >= self.buffer_size:
            pipe.execute()
            self._pending.clear()

    def __len__(self) -> int:
        return int(self._redis.hlen(self._all))

    def __contains__(self, key: Any, /) -> bool:
        return self._stored_bands(key) is not None

    def insert(self, key: Any, hashvalues: Any, check: bool) -> None:
        """Adds a key."""
        old = self._stored_bands(key)
        if check and old is not None:
            raise ValueError("The given key already exists")
        self._change(key, old, _packed(self._band_keys(hashvalues)))

    def insert_bands(self, key: Any, bands: list[int]) -> None:
        """Adds a key by the keys of its bands."""
        self._change(key, self._stored_bands(key), _packed(bands))

    def insert_many(self, keys: Any, matrix: Any, check: bool) -> None:
        """Adds many keys, sent together."""
        session = self._pipe is None
        if session:
            self.begin()
        try:
            for key, row in zip(keys, matrix, strict=True):
                self.insert(key, row, check)
        finally:
            if session:
                self.flush()

    def query(self, hashvalues: Any, bands: int | None = None) -> list[Any]:
        """The keys that share a band: one round trip."""
        buckets = self._band_keys(hashvalues)[: self._bands if bands is None else bands]
        found: list[Any] = list(self._redis.sunion([self._bucket_name(i, key) for i, key in enumerate(buckets)]))
        return found

    def query_many(self, matrix: Any) -> list[list[Any]]:
        """The same for many: one round trip."""
        pipe = self._redis.pipeline(transaction=False)
        for row in matrix:
            pipe.sunion([self._bucket_name(i, key) for i, key in enumerate(self._band_keys(row))])
        return [list(found) for found in pipe.execute()]

    def count_many(self, matrix: Any) -> npt.NDArray[np.uint32]:
        """How many keys each row finds."""
        return np.array([len(found) for found in self.query_many(matrix)], dtype=np.uint32)

    def duplicated_many(self, matrix: Any) -> npt.NDArray[np.bool_]:
        """Whether a band of each row has several keys: one round trip."""
        pipe = self._redis.pipeline(transaction=False)
        for row in matrix:
            for i, key in enumerate(self._band_keys(row)):
                pipe.scard(self._bucket_name(i, key))
        sizes = np.array(pipe.execute(), dtype=np.int64).reshape(len(matrix), self._bands)
        return np.asarray((sizes > 1).any(axis=1))

    def remove(self, key: Any) -> None:
        """Removes a key."""
        old = self._stored_bands(key)
        if old is None:
            raise ValueError("The given key does not exist")
        self._change(key, old, None)

    def keys(self) -> list[Any]:
        """All keys."""
        return list(self._redis.hkeys(self._all))

    def bands_of(self, key: Any) -> list[int] | None:
        """The keys of the bands of a key."""
        stored = self._stored_bands(key)
        return None if stored is None else list(_unpacked(stored))

    def bucket(self, band: int, key: int) -> list[Any]:
        """The members of a bucket."""
        return list(self._redis.smembers(self._bucket_name(band, key)))

    def counts(self, band: int) -> dict[bytes, int]:
        """The number of members of each bucket of a band."""
        counts: dict[bytes, int] = {}
        for stored in self._redis.hvals(self._all):
            name = stored[8 * band : 8 * band + 8]
            counts[name] = counts.get(name, 0) + 1
        return counts


_PLAIN = ("_config", "_bands", "_rows", "_hashfunc", "_name", "buffer_size")


def _packed(bands: Iterable[int]) -> bytes:
    return b"".join(band.to_bytes(8, "big") for band in bands)


def _unpacked(stored: bytes | None) -> tuple[int, ...]:
    return struct.unpack(">%dQ" % (len(stored) // 8), stored) if stored else ()


def _settled(config: dict[str, Any]) -> dict[str, Any]:
    """Settings with ``{"env": NAME, "default": VALUE}`` replaced by the variable."""
    return {
        name: os.getenv(value["env"], value.get("default")) if isinstance(value, dict) and "env" in value else value
        for name, value in config.items()
    }
