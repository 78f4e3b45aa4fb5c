"""Why an engine stopped, in one sentence: what went wrong is said by Benzer, by a worker, by a JVM or by a server, each in its own way and at length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from benzer import errors

#: What is told by Benzer itself, on a worker or in a query.
OURS = re.compile(r"benzer\.errors\.(\w+): (.+)")
#: The last line of a traceback of Python.
_PYTHON = re.compile(r"^((?:\w+\.)*\w*(?:Error|Exception|Exit|Interrupt|Warning)(?:: .*)?)$", re.MULTILINE)
_CAUSE = re.compile(r"^Caused by: (.+)$", re.MULTILINE)
_DETAILS = re.compile(r'details = "(.+?)"$', re.MULTILINE)
_ENGINES = {"pyspark", "py4j", "grpc"}


@contextmanager
def told() -> Iterator[None]:
    """An error of the engine becomes one of `benzer.errors`, with the original as its cause."""
    try:
        yield
    except Exception as error:
        if not _ENGINES & {kind.__module__.partition(".")[0] for kind in type(error).__mro__}:
            raise
        raise _ours(str(error)) from error


def _ours(text: str) -> errors.BenzerError:
    if found := OURS.findall(text):
        name, message = found[-1]
        kind = getattr(errors, name, errors.DedupError)
        return kind(_bare(message))
    reason = _reason(text)
    remedy = "; executors need the wheel and PyArrow (docs/guide/spark.md)" if "ModuleNotFoundError" in reason else ""
    return errors.DedupError(f"the engine stopped: {reason}{remedy}")


def _reason(text: str) -> str:
    if "Traceback (most recent call last)" in text and (lines := _PYTHON.findall(text)):
        return _bare(lines[-1])
    for pattern in (_CAUSE, _DETAILS):
        if found := pattern.findall(text):
            return _bare(found[-1])
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return _bare(lines[0]) if lines else "it did not say why"


def _bare(line: str) -> str:
    """Without the codes that Spark puts before and behind a sentence, and what Sail puts before it for each stage on the way."""
    line = re.sub(r"^(?:\w+: External error: )+", "", line)
    return re.sub(r"\.?\s*SQLSTATE: \w+.*$", "", re.sub(r"^\[[A-Z0-9_.]+\] ", "", line)).strip()
