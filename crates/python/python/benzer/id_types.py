"""Ids of collections, which are texts there, as the values that they were before."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from benzer.documents import identity

# What makes a value of the text that `str` made of it.
_MAKERS: dict[type, Callable[[str], Any]] = {
    int: int,
    float: float,
    uuid.UUID: uuid.UUID,
    datetime.date: datetime.date.fromisoformat,
    datetime.datetime: datetime.datetime.fromisoformat,
}


class IdTypes:
    """Of which type the ids are: the one that was declared, or that of all that were inserted through one object.

    >>> types = IdTypes(None)
    >>> types.note(7)
    >>> types.value("7"), types.value("007")
    (7, '007')
    """

    def __init__(self, declared: Callable[[str], Any] | None) -> None:
        self._make, self._noted = declared, set[type]()
        self._is_declared = declared is not None

    def note(self, value: Any) -> None:
        """An id that is inserted."""
        kind = type(value.item()) if isinstance(value, np.generic) else type(value)
        if self._is_declared or kind in self._noted:
            return
        self._noted.add(kind)
        # Of several types, a text does not say of which it is.
        self._make = _MAKERS.get(kind, self._subclass(kind)) if len(self._noted) == 1 else None

    @staticmethod
    def _subclass(kind: type) -> Callable[[str], Any] | None:
        """`pandas.Timestamp` reads what it writes."""
        make: Any = kind
        return make if issubclass(kind, datetime.datetime) else None

    def value(self, text: str) -> Any:
        """An id as it was; a text that no such value is written as is a text."""
        if self._make is None:
            return text
        try:
            value = self._make(text)
        except (ValueError, ArithmeticError, KeyError):
            return text
        return value if identity("id", value) == text else text
