"""Where tables are: addresses of folders, files and objects, compared as far as the driver can see them. What is written must not touch what is read."""

from __future__ import annotations

import fnmatch
import glob
import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benzer.errors import ParameterError
from benzer.spark.plan import is_spark

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):(.*)$", re.DOTALL)
#: Schemes under which the same store is known.
_SAME = {"s3a": "s3", "s3n": "s3", "abfss": "abfs", "wasbs": "abfs", "wasb": "abfs", "gcs": "gs"}
_PATTERN = re.compile(r"[*?\[{]")


@dataclass(frozen=True)
class Address:
    """A place in a store: the store, and the names of the folders down to it. Names of an input may be patterns."""

    store: str
    names: tuple[str, ...]

    def meets(self, other: Address) -> bool:
        """Whether one is the other, inside of it or around it."""
        return self.holds(other) or other.holds(self)

    def holds(self, other: Address) -> bool:
        """Whether the other one is the same or inside."""
        return _same_store(self.store, other.store) and len(self.names) <= len(other.names) and all(map(_matches, self.names, other.names))


def _same_store(a: str, b: str) -> bool:
    # A path without a scheme is one of these, if that is where the engine looks first.
    hadoop = ("hdfs:", "viewfs:", "dbfs:")
    return a == b or (a == "file:" and b.startswith(hadoop)) or (b == "file:" and a.startswith(hadoop))


def _matches(a: str, b: str) -> bool:
    return a == b or fnmatch.fnmatchcase(a, b) or fnmatch.fnmatchcase(b, a)


def address(path: str) -> Address:
    """The address that a path means, links and relative paths resolved."""
    found = _SCHEME.match(path)
    scheme, rest = (found[1].lower(), found[2]) if found else ("file", path)
    scheme = _SAME.get(scheme, scheme)
    authority = ""
    if rest.startswith("//") and found:
        authority, _, below = rest[2:].partition("/")
        rest = "/" + below
    if scheme == "file":
        names = _names(os.path.realpath(rest))
        # Databricks shows its own store there.
        return Address("dbfs:", names[1:]) if names[:1] == ("dbfs",) else Address("file:", names)
    return Address(f"{scheme}:{authority.lower()}", _names(posixpath.normpath("/" + rest)))


def _names(path: str) -> tuple[str, ...]:
    return tuple(name for name in posixpath.normpath(path).split("/") if name)


def read(path: str) -> list[Address]:
    """All that is read under a path: the path, what its patterns match, and what links in its folders lead to."""
    found = []
    for one in _alternatives(path):
        means = address(one)
        found.append(means)
        if means.store != "file:":
            continue
        local = "/" + "/".join(means.names)
        for match in glob.glob(local) if _PATTERN.search(local) else [local]:
            found.append(address(match))
            found += [address(link) for link in _links(match)]
    return list(dict.fromkeys(found))


def _alternatives(pattern: str) -> Iterator[str]:
    """The patterns that one with {a,b} stands for."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if found is None:
        yield pattern
        return
    for choice in found[1].split(","):
        yield from _alternatives(pattern[: found.start()] + choice + pattern[found.end() :])


def _links(folder: str) -> Iterator[str]:
    """The links below a folder, of which engines read what they lead to."""
    for above, folders, files in os.walk(folder):
        yield from (path for name in folders + files if os.path.islink(path := os.path.join(above, name)))


def refuse_overlaps(inputs: dict[str, list[Address]], outputs: dict[str, str], work: str | None = None) -> None:
    """Stops before anything is done if an output is, holds or lies in an input or another output, or the folder for intermediate results is or lies in one of them.

    Args:
        inputs, outputs: What they are called, and where they are.
        work: A folder in which files are added; it may be around the others.
    """
    places = {name: address(path) for name, path in outputs.items()}
    taken = [(name, each) for name, all_ in inputs.items() for each in all_]
    for name, place in places.items():
        if other := next((other for other, each in taken if each.meets(place)), None):
            raise ParameterError(f"{name} `{outputs[name]}` overlaps {other}: nothing was done; name a folder outside of what is read and of the other outputs")
        taken.append((f"{name} `{outputs[name]}`", place))
    if work is not None and (other := next((other for other, each in taken if each.holds(address(work))), None)):
        raise ParameterError(f"the folder for intermediate results `{work}` overlaps {other}: nothing was done; give a folder of its own")


def refuse_existing(spark: Any, outputs: dict[str, str], remedy: str) -> None:
    """Stops before anything is done if there is something where a table is to be written."""
    for name, path in outputs.items():
        if exists(spark, path):
            raise ParameterError(f"{name} `{path}` is there already: nothing was done; {remedy}")


def exists(spark: Any, path: str) -> bool:
    """Whether there is something at an address, as the driver sees it, or else the engine."""
    place = address(path)
    if place.store == "file:" and os.path.lexists("/" + "/".join(place.names)):
        return True
    escaped = re.sub(r"([*?\[\]{}\\])", r"\\\1", path)
    try:
        n = spark.read.format("binaryFile").load(escaped).select("path").limit(1).count()
    except Exception:  # noqa: BLE001
        # It is not there, or cannot be read; then writing to it says why.
        return False
    # Spark refuses what is not there, and reads an empty folder; others read both.
    return n > 0 or is_spark(spark)


def refuse_work_among_inputs(df: Any, work: str | None) -> None:
    """Stops if the folder for intermediate results is one whose files are read."""
    if work is None:
        return
    folders = {address(posixpath.dirname(file)) for file in df.inputFiles()}
    if address(work) in folders:
        raise ParameterError(f"`work` is `{work}`, whose files are read: nothing was done; give a folder of its own")
