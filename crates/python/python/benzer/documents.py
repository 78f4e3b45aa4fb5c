"""Rows as the documents of a collection: their ids and contents, and what is wrong with those that cannot be taken."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from benzer import arguments
from benzer.arguments import is_missing, shown
from benzer.errors import ParameterError
from benzer.pictures import encode

_IDS = "a string or a whole number; UUIDs, dates and bytes of UTF-8 are taken as strings"


class Rejected(NamedTuple):
    """A document that was left out."""

    position: int
    """Its place among the documents of the call, from 0 on."""
    id: Any
    """Its id as it was given."""
    reason: str
    """What is wrong with it, and what to do."""


class Inserted(int):
    """How many documents were inserted; which were not is in :attr:`rejected`."""

    rejected: list[Rejected]

    def __new__(cls, n: int, rejected: Iterable[Rejected] = ()) -> Inserted:
        made = super().__new__(cls, n)
        made.rejected = list(rejected)
        return made


def identity(name: str, value: Any) -> str:
    """An id as collections keep it: 7, 7.0 (a column of integers with gaps), NumPy's 7 and "7" are one."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return arguments.unicode(name, str(value))
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise arguments.wrong(name, _IDS, value) from None
    if is_missing(value) or isinstance(value, bool):
        raise arguments.wrong(name, _IDS, value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float | uuid.UUID | datetime.date | datetime.datetime):
        return str(value)
    raise arguments.wrong(name, _IDS, value)


def contents(fields: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that a document has; a missing one (None, NaN) is left out, pictures become text.

    Raises what is wrong with it.
    """
    found = {}
    for name, spec in fields.items():
        content = row.get(name)
        if is_missing(content):
            continue
        found[name] = _content(name, spec["kind"], content)
    if not found:
        missing = ", ".join(f"`{name}` is {shown(row[name]) if name in row else 'not there'}" for name in fields)
        raise ParameterError(f"there is nothing to compare: {missing}")
    return found


def _content(name: str, kind: str, content: Any) -> Any:
    if kind == "image":
        try:
            return encode(content)
        except (TypeError, ValueError, OSError) as error:
            raise ParameterError(f"field `{name}`: {error}") from error
    if kind == "text" and not isinstance(content, str):
        remedy = ", or join its words" if isinstance(content, list | tuple) else "; decode it" if isinstance(content, bytes) else ""
        raise ParameterError(f"field `{name}` must be a string, got {shown(content)}{remedy}")
    if kind == "values" and isinstance(content, str):
        raise ParameterError(f"field `{name}` must be a list of values or a dictionary of counts, got {shown(content)}")
    if isinstance(content, Mapping) and not isinstance(content, dict):
        return dict(content)
    return content
