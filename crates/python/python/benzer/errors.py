"""What can go wrong. Every exception carries the message of the engine, and is also the built-in exception that callers expect."""

from __future__ import annotations

import sys
import warnings


class BenzerError(Exception):
    """Anything that Benzer raises by itself."""


class ParameterError(BenzerError, ValueError):
    """A parameter is outside its range."""


class SpecMismatchError(BenzerError, ValueError):
    """Two sketches were made under different specs and cannot be compared or merged."""


class UnsupportedError(BenzerError, ValueError):
    """The operation does not exist for this kind of sketch."""


class DecodeError(BenzerError, ValueError):
    """Bytes that are not a sketch, or not one of a version that is read."""


class SchemaError(BenzerError, ValueError):
    """A schema, a document or a query that cannot be read, or a document that does not suit its schema."""


class ColumnError(ParameterError, KeyError):
    """A table has no such column."""

    # A KeyError shows its message in quotes.
    __str__ = Exception.__str__


class PlanError(BenzerError, ValueError):
    """A goal that no sketch meets; the message says what would have to give."""


class EstimateError(BenzerError, ArithmeticError):
    """There is no estimate."""


class UndefinedError(EstimateError):
    """There is nothing to estimate: the sets are empty, or their sizes are not known."""


class SaturatedError(EstimateError):
    """The sketch is full; the message says what can still be said."""


class DedupError(BenzerError, RuntimeError):
    """A deduplication could not be finished: an input that cannot be read, results that cannot be written."""


class CancelledError(DedupError):
    """A deduplication was asked to stop."""


class StoreError(BenzerError, OSError):
    """A collection could not be read or written."""


class NotFoundError(StoreError, LookupError):
    """There is no such collection or document."""


class ExistsError(StoreError):
    """There is such a collection already."""


class BenzerWarning(UserWarning):
    """Something that did not stop the work, and that people should look at."""


class RejectedWarning(BenzerWarning):
    """Documents that cannot be read: they are neither kept nor removed; `DedupResult.rejected` lists them."""


def warn(message: str, category: type[BenzerWarning] = BenzerWarning) -> None:
    """Warns at the line of the caller's own code that called Benzer."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "benzer":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
