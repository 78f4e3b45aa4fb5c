"""What a deduplication is told, checked before anything is done."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, get_args

from benzer import arguments
from benzer.arguments import maybe
from benzer.errors import ParameterError
from benzer.sketch import TEXT_SETTINGS, Unit

_MAX = 2**31 - 1
_POLICIES = ("first", "last", "longest", "shortest")


def check(given: Mapping[str, Any]) -> None:
    """Refuses settings of a wrong type or outside their limits, by the names of the arguments of `benzer.dedup`."""
    for name, value in given.items():
        if name in _CHECKS:
            _CHECKS[name](name, value)


def _path(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, str | os.PathLike):
        raise arguments.wrong(name, "a path", value)


def _keep(name: str, value: Any) -> None:
    policy, _, column = arguments.string(name, value).partition(":")
    if value not in _POLICIES and not (policy in ("max", "min") and column):
        raise ParameterError(f"`{name}` must be {', '.join(map(repr, _POLICIES))}, 'max:COLUMN' or 'min:COLUMN', got {value!r}")


def _texts(name: str, value: Any) -> None:
    if not arguments.strings(name, value):
        raise ParameterError(f"`{name}` must be the name of a column, or several, got {value!r}")


def _amount(name: str, value: Any) -> None:
    if not isinstance(value, str):
        maybe(arguments.whole, name, value, minimum=1)


def _audit(name: str, value: Any) -> None:
    if not isinstance(value, str):
        arguments.whole(name, value, minimum=1)


def _progress(name: str, value: Any) -> None:
    if not (value is None or isinstance(value, bool) or callable(value)):
        raise arguments.wrong(name, "True, False or a function of stage, done and total", value)


def _text_settings(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, Mapping):
        raise arguments.wrong(name, "a dictionary of settings, such as {'lower': False}", value)
    arguments.known(name, value or {}, TEXT_SETTINGS)


def _string(name: str, value: Any) -> None:
    maybe(arguments.string, name, value)


_CHECKS: dict[str, Callable[[str, Any], object]] = {
    "threshold": lambda name, value: maybe(arguments.number, name, value, above=0, maximum=1),
    "recall": lambda name, value: maybe(arguments.number, name, value, above=0, maximum=1),
    "text": _texts,
    "id": _string,
    "keep": _keep,
    "preset": _string,
    "input_format": _string,
    "ngram": lambda name, value: maybe(arguments.whole, name, value, minimum=1, maximum=_MAX),
    "unit": lambda name, value: arguments.one_of(name, value, get_args(Unit)),
    "text_settings": _text_settings,
    "save": _path,
    "output": _path,
    "work_dir": _path,
    "overwrite": arguments.flag,
    "strict": arguments.flag,
    "allow_rejects": arguments.flag,
    "resume": arguments.flag,
    "per_file": arguments.flag,
    "threads": lambda name, value: maybe(arguments.whole, name, value, minimum=1, maximum=_MAX),
    "memory": _amount,
    "audit": _audit,
    "progress": _progress,
    "verify": lambda name, value: arguments.one_of(name, value, ("exact", "estimate")),
    "cluster": lambda name, value: arguments.one_of(name, value, ("leaders", "components")),
    "measure": lambda name, value: arguments.one_of(name, value, ("jaccard", "containment")),
    "write": lambda name, value: maybe(arguments.one_of, name, value, known=("remove", "annotate", "dry-run")),
}
