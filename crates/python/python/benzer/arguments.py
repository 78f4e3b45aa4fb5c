"""What callers give, checked where it comes in: a message names the argument, what it must be and what it is."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from benzer.errors import ArgumentTypeError, ParameterError

T = TypeVar("T")

_LONGEST = 60
_FAR = 1 << 20


def shown(value: Any) -> str:
    """A value as messages show it: what it is in Python, cut short, and its type where that is not plain."""
    kind = type(value).__name__
    try:
        text = repr(value)
    except Exception:
        return f"a {kind}"
    if len(text) > _LONGEST or "\n" in text:
        text = " ".join(text.split())[:_LONGEST] + "..."
    return text if value is None or isinstance(value, type) else f"{text} ({kind})"


def wrong(name: str, expected: str, value: Any) -> ArgumentTypeError:
    """The error of an argument of another type."""
    return ArgumentTypeError(f"`{name}` must be {expected}, got {shown(value)}")


def is_missing(value: Any) -> bool:
    """Whether a cell of a table is empty, as its library says it: None, NaN, NaT, NA."""
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(math.isnan(value))
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return type(value).__name__ in ("NAType", "NaTType")


def number(
    name: str, value: Any, *, above: float | None = None, minimum: float | None = None, maximum: float | None = None, below: float | None = None
) -> float:
    """A number, of NumPy or not, within limits."""
    try:
        if isinstance(value, str | bytes | bool | np.bool_ | complex):
            raise TypeError
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise wrong(name, _number(above, minimum, maximum, below), value) from None
    outside = (above is not None and found <= above) or (minimum is not None and found < minimum)
    outside = outside or (maximum is not None and found > maximum) or (below is not None and found >= below)
    if outside or math.isnan(found):
        raise ParameterError(f"`{name}` must be {_number(above, minimum, maximum, below)}, got {value}")
    return found


def _number(above: float | None, minimum: float | None, maximum: float | None, below: float | None) -> str:
    """Its limits in words."""
    ends = [("above", above), ("of at least", minimum), ("at most", maximum), ("below", below)]
    words = " and ".join(f"{word} {end:g}" for word, end in ends if end is not None and math.isfinite(end))
    return "a number " + words if words else "a number"


def whole(name: str, value: Any, *, minimum: int | None = None, maximum: int | None = None) -> int:
    """A whole number, of NumPy or not, within limits; 128.0 is one too."""
    given: Any = value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        given = int(value)
    if isinstance(value, bool | np.bool_):
        raise wrong(name, _whole(minimum, maximum), value)
    try:
        found = operator.index(given)
    except TypeError:
        raise wrong(name, _whole(minimum, maximum), value) from None
    if (minimum is not None and found < minimum) or (maximum is not None and found > maximum):
        raise ParameterError(f"`{name}` must be {_whole(minimum, maximum, found)}, got {found}")
    return found


def _whole(minimum: int | None, maximum: int | None, found: int = 0) -> str:
    """Its limits in words; one that nobody reaches is told to who did."""
    if minimum is None or maximum is None or found <= maximum > _FAR:
        return "a whole number" + ("" if minimum is None else f" of at least {minimum:,}")
    return f"a whole number of at least {minimum:,} and at most {maximum:,}"


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise wrong(name, "True or False", value)
    return bool(value)


def string(name: str, value: Any) -> str:
    """A string that is valid Unicode."""
    if not isinstance(value, str):
        raise wrong(name, "a string", value)
    return unicode(name, str(value))


def unicode(name: str, text: str) -> str:
    """A string without halves of surrogate pairs, which no encoding knows."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ParameterError(f"`{name}` must be valid Unicode, got a lone surrogate at {error.start}: {shown(text)}") from None
    return text


def one_of(name: str, value: Any, known: Sequence[str]) -> str:
    """One of some words."""
    expected = " or ".join(", ".join(map(repr, known)).rsplit(", ", 1))
    if not isinstance(value, str):
        raise wrong(name, expected, value)
    if value not in known:
        raise ParameterError(f"`{name}` must be {expected}, got {value!r}")
    return str(value)


def strings(name: str, value: Any) -> list[str]:
    """Strings; one alone is one of them."""
    if isinstance(value, str):
        return [value]
    return [string(f"{name}[{i}]", one) for i, one in enumerate(items(name, value, "strings"))]


def items(name: str, value: Any, what: str) -> Iterable[Any]:
    """Something to go through that is not one string."""
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, Iterable):
        raise wrong(name, f"a list or another iterable of {what}", value)
    return value


def numbers(name: str, value: Any) -> dict[str, float]:
    """Numbers by name."""
    if not isinstance(value, Mapping):
        raise wrong(name, "a dictionary from names to numbers", value)
    return {string(f"a key of {name}", key): number(f"{name}[{key!r}]", one) for key, one in value.items()}


def maybe(check: Callable[..., T], name: str, value: Any, **limits: Any) -> T | None:
    """What a check gives, or None for None."""
    return None if value is None else check(name, value, **limits)


def known(name: str, given: Mapping[Any, Any], names: Sequence[str]) -> None:
    """Refuses names that are none of those that are known."""
    for one in given:
        if one not in names:
            raise ArgumentTypeError(f"`{name}` takes no {one!r}; it takes {', '.join(names)}")


def minhash(name: str, value: Any) -> Any:
    """A MinHash, of Benzer or of datasketch: whatever has hash values."""
    if not hasattr(value, "hashvalues"):
        raise wrong(name, "a MinHash", value)
    return value


def hashable(name: str, value: T) -> T:
    """A key of a dictionary."""
    try:
        hash(value)
    except TypeError:
        raise ArgumentTypeError(f"`{name}` is unhashable: give a string, a number or a tuple, got {shown(value)}") from None
    return value


def weights(value: Any) -> tuple[float, float]:
    """The weights of false positives and false negatives."""
    if not isinstance(value, tuple | list | np.ndarray) or len(value) != 2:
        raise wrong("weights", "two numbers, for false positives and for false negatives", value)
    return number("weights[0]", value[0]), number("weights[1]", value[1])


def array(name: str, value: Any, dtype: type[np.integer[Any]], dimensions: int = 1) -> Any:
    """Whole numbers as an array of a type, each of which fits it."""
    expected = f"an array of whole numbers{'' if dimensions == 1 else ' with rows and columns'}"
    try:
        given = np.asarray(value)
    except (TypeError, ValueError):
        raise wrong(name, expected, value) from None
    if given.size == 0 and given.ndim == dimensions:
        return np.ascontiguousarray(given, dtype=dtype)
    if given.dtype == object and all(isinstance(one, int) for one in given.flat):
        # Python's integers that fit no type of NumPy all together.
        ends = np.iinfo(dtype)
        outside = next((one for one in given.flat if not ends.min <= one <= ends.max), None)
        if outside is not None:
            raise ParameterError(f"`{name}` must be {expected} from {ends.min:,} to {ends.max:,}, got {outside}")
    elif given.dtype.kind not in "iu" or given.ndim != dimensions:
        raise wrong(name, expected, value)
    return np.ascontiguousarray(given, dtype=dtype)


def plain(value: Any) -> Any:
    """A number of NumPy as one of Python, for what is written as JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise wrong("a setting", "a string, a number, True or False", value)
