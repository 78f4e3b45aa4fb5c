"""Contexts for many changes of an index."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from benzer.storage import RedisTables

if TYPE_CHECKING:
    from benzer.lsh import MinHashLSH


class _Session:
    """A context at whose end the buffer of the storage is emptied."""

    def __init__(self, lsh: MinHashLSH, buffer_size: int) -> None:
        self.lsh = lsh
        self.lsh.buffer_size = buffer_size
        if isinstance(lsh._tables, RedisTables):
            lsh._tables.begin()

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Sends what is left."""
        if isinstance(self.lsh._tables, RedisTables):
            self.lsh._tables.flush()


class MinHashLSHInsertionSession(_Session):
    """A context for many insertions."""

    def __enter__(self) -> MinHashLSHInsertionSession:
        return self

    def insert(self, key: Hashable, minhash: Any, check_duplication: bool = True) -> None:
        """As :meth:`MinHashLSH.insert`."""
        self.lsh.insert(key, minhash, check_duplication=check_duplication)


class MinHashLSHDeletionSession(_Session):
    """A context for many deletions."""

    def __enter__(self) -> MinHashLSHDeletionSession:
        return self

    def remove(self, key: Hashable) -> None:
        """As :meth:`MinHashLSH.remove`."""
        self.lsh.remove(key)
