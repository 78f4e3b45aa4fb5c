"""What can go wrong. Every exception carries the message of the engine, and is also the built-in exception that callers expect."""

from __future__ import annotations


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
