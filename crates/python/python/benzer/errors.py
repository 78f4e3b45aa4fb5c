"""What can go wrong. Every exception carries the message of the engine in Python's words, and is also the built-in exception that callers expect."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable


def in_python(message: str) -> str:
    """A message of the engine in Python's words: what it says with a flag of the command line is an argument here.

    >>> in_python("name another folder, or give --overwrite")
    'name another folder, or give overwrite=True'
    """
    for engine, python in _WORDS.items():
        message = re.sub(engine, python, message)
    return _FLAG.sub(_argument, message)


# A command in backticks is for the command line, and stays. A value after a flag is taken along.
_VALUES = r"[0-9]+(?:\.[0-9]+)?|[A-Z]+\b|(?:leaders|components|exact|estimate|jaccard|containment|off|auto)\b"
_FLAG = re.compile(rf"`benzer [a-z]+ [^`]*`|(?<![\w-])--([a-z]+(?:-[a-z]+)*)(?:[ =]({_VALUES}))?")
_SWITCHES = {"overwrite", "resume", "strict", "per-file", "containment"}
_ARGUMENTS = {"text-field": "text", "id-field": "id", "archive": "save", "registers": "num_perm"}
_WHOLE = {"annotate": 'write="annotate"', "dry-run": 'write="dry-run"', "remove": 'write="remove"'}
_WORDS: dict[str, str | Callable[[re.Match[str]], str]] = {
    "`benzer dedup`": "`benzer.dedup`",
    "`(?:against_)?text_field`": "`text`",
    "`(?:against_)?id_field`": "`id`",
    "--redis-ca FILE, or ": "",
    r" at line \d+ column \d+": "",
    r"\b(expected|be) (?:u8|u16|u32|u64|u128|usize)\b": r"\1 a whole number from 0 on",
    r"\b(expected|be) (?:i8|i16|i32|i64|i128|isize)\b": r"\1 a whole number",
    r"\b(expected|be) (?:f32|f64)\b": r"\1 a number",
    r"\bexpected a boolean\b": "expected True or False",
    r"\bboolean `(t|f)(rue|alse)`": lambda found: f"{found[1].upper()}{found[2]}",
    r"\binvalid type: null\b": "invalid type: None",
    r"\binvalid (type|value): map\b": r"invalid \1: a dictionary",
    r"\binvalid (type|value): sequence\b": r"invalid \1: a list",
    r"\bexpected (?:a map|struct \w+)\b": "expected a dictionary",
    r"\bexpected a sequence\b": "expected a list",
    r"\bunknown variant\b": "unknown value",
    r"\bunknown field\b": "unknown option",
    r"^`db` must\b": "`url` must",
    r"^`name` must be 1 to 100\b": "the name of a collection must be 1 to 100",
}


def _argument(found: re.Match[str]) -> str:
    flag, value = found[1], found[2]
    if flag is None:
        return found[0]
    quoted = found.string[found.start() - 1 : found.start()] == "`"
    name = _ARGUMENTS.get(flag, flag.replace("-", "_"))
    if value is None and found.string[found.end() :].startswith("` must"):
        return name
    if value is None and flag in _WHOLE:
        return _WHOLE[flag]
    if value is None and flag in _SWITCHES:
        return f"{name}=True"
    if value is None:
        return name if quoted else f"`{name}`"
    return f"{name}={value}" if value[0].isdigit() or value.isupper() else f'{name}="{value}"'


class BenzerError(Exception):
    """Anything that Benzer raises by itself."""


class ParameterError(BenzerError, ValueError):
    """A parameter is outside its range."""


class ArgumentTypeError(ParameterError, TypeError):
    """A parameter is of another type than it must be."""


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
    """Documents that cannot be read: they are left out; `rejected` of the result lists them."""


def warn(message: str, category: type[BenzerWarning] = BenzerWarning) -> None:
    """Warns at the line of the caller's own code that called Benzer."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "benzer":
        level, frame = level + 1, frame.f_back
    warnings.warn(in_python(message), category, stacklevel=level)
