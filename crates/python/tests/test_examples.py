"""The examples of datasketch's own documentation strings, run with Benzer instead: only the import is changed."""

from __future__ import annotations

import inspect
import itertools
import shutil
import textwrap
from collections.abc import Iterator
from typing import Any

import datasketch
import numpy as np
import pytest
from redis_server import redis_port

CLASSES = [
    datasketch.MinHash,
    datasketch.LeanMinHash,
    datasketch.bBitMinHash,
    datasketch.MinHashLSH,
    datasketch.MinHashLSHForest,
    datasketch.MinHashLSHEnsemble,
    datasketch.WeightedMinHash,
    datasketch.WeightedMinHashGenerator,
]


def blocks(text: str) -> Iterator[str]:
    """The blocks of Python in a documentation string."""
    lines = text.splitlines()
    for start, line in enumerate(lines):
        if line.strip() != ".. code-block:: python":
            continue
        outer = len(line) - len(line.lstrip())
        inside = itertools.takewhile(lambda one: not one.strip() or len(one) - len(one.lstrip()) > outer, lines[start + 1 :])
        yield textwrap.dedent("\n".join(inside))


def examples() -> Iterator[tuple[str, str]]:
    """Every example of the classes and their methods."""
    for owner in CLASSES:
        members = [(owner.__name__, owner), *((f"{owner.__name__}.{name}", member) for name, member in vars(owner).items())]
        for name, member in members:
            text = inspect.getdoc(getattr(member, "__func__", member)) or ""
            for i, block in enumerate(blocks(text)):
                yield f"{name}-{i}", block


def farmhash() -> Any:
    """A stand-in for a package that an example imports."""
    import types
    import zlib

    return types.SimpleNamespace(hash32=lambda value: zlib.crc32(value.encode()))


FOUND = dict(examples())


def test_there_are_examples() -> None:
    assert len(FOUND) >= 12


@pytest.mark.parametrize("name", FOUND)
def test_an_example_runs_after_changing_the_import(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = FOUND[name].replace("datasketch", "benzer").replace("Minhash()", "MinHash()")
    if "redis" in code:
        if shutil.which("redis-server") is None:
            pytest.skip("redis-server is not installed")
        code = code.replace("6379", str(redis_port()))
    monkeypatch.setitem(__import__("sys").modules, "farmhash", farmhash())
    import benzer

    minhash, minhash2 = benzer.MinHash.bulk([[b"a", b"b"], [b"b", b"c"]])
    lean = benzer.LeanMinHash(minhash)
    lean2 = benzer.LeanMinHash(minhash2)
    buf = bytearray(lean.bytesize())
    lean.serialize(buf)
    # What the examples take for granted.
    known = {
        **{name: getattr(benzer, name) for name in benzer.__all__},
        "np": np,
        "minhash": minhash,
        "minhash2": minhash2,
        "lean_minhash": lean,
        "lean_minhash2": lean2,
        "lean_minhashs": [lean, lean2],
        "buf": buf,
    }
    if "keys_to_delete" in code:
        setup, _, rest = code.partition("# ... insert some data ...")
        filled = "for key in ('key1', 'key2', 'key3'):\n    lsh.insert(key, minhash)\n"
        code = f"{setup}\n{filled}\n{rest}"
    exec(compile(code, name, "exec"), known)  # noqa: S102
