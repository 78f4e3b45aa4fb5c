"""Sketches of sets and texts, one at a time and in bulk."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from benzer import _benzer, arguments
from benzer._benzer import Sketch
from benzer.arguments import maybe
from benzer.errors import ParameterError
from benzer.texts import as_texts

__all__ = ["Sketch", "Sketcher", "Unit", "sketch_csr", "sketch_sets", "sketch_texts", "text_options"]

Unit = Literal["words", "characters", "bytes"]
_MAX = 2**32 - 1
_WHOLE = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


def text_options(
    ngram: int = 5,
    unit: Unit = "words",
    *,
    lower: bool = True,
    nfkc: bool = True,
    strip_diacritics: bool = False,
    punctuation: Literal["drop", "keep"] = "drop",
    stop_words: Sequence[str] = (),
    bag: bool = False,
) -> dict[str, Any]:
    """How a text becomes shingles, as in a schema."""
    return {
        "n": arguments.whole("ngram", ngram, minimum=1, maximum=_MAX),
        "unit": arguments.one_of("unit", unit, get_args(Unit)),
        "lower": arguments.flag("lower", lower),
        "nfkc": arguments.flag("nfkc", nfkc),
        "strip_diacritics": arguments.flag("strip_diacritics", strip_diacritics),
        "punctuation": arguments.one_of("punctuation", punctuation, ("drop", "keep")),
        "stop_words": arguments.strings("stop_words", stop_words),
        "bag": arguments.flag("bag", bag),
    }


TEXT_SETTINGS = ("lower", "nfkc", "strip_diacritics", "punctuation", "stop_words", "bag")


class Sketcher:
    """Makes sketches of one kind.

    Args:
        sketch: What is kept, by the names of the command line: ``b8`` (8 bits of each register, the default), ``fast`` (whole
            registers), ``permutations``, ``one_permutation``, ``bottom_k``, ``weighted``, ``odd_set``, ``b1`` to ``b16``,
            ``xor2``, ``odd256``, or both as in ``permutations:b2``.
        num_perm: Registers.
        seed: Decides all hash functions; only sketches of one seed can be compared.
        ngram, unit, and the others of :func:`text_options`: How a text becomes shingles.

    >>> sketcher = Sketcher(ngram=2)
    >>> a, b = sketcher.sketch_text("to be or not to be"), sketcher.sketch_text("To be, or not to be!")
    >>> a == b
    True
    >>> sketcher.sketch(["red", "green", 7]).size
    3.0
    """

    def __init__(
        self, sketch: str = "b8", num_perm: int = 128, seed: int = 42, *, ngram: int = 5, unit: Unit = "words", **text: Any
    ) -> None:
        arguments.known("Sketcher", text, TEXT_SETTINGS)
        options = json.dumps(text_options(ngram, unit, **text))
        num_perm = arguments.whole("num_perm", num_perm, minimum=1, maximum=2**16)
        seed = arguments.whole("seed", seed, minimum=0, maximum=2**64 - 1)
        self._arguments = (arguments.string("sketch", sketch), num_perm, seed, options)
        self.inner = _benzer.Sketcher(*self._arguments)
        self.num_perm = num_perm
        self.bits = self.inner.bits

    @property
    def _row(self) -> tuple[int, np.dtype[Any]]:
        """How wide a row of a matrix is, and of which numbers."""
        if self.bits in _WHOLE:
            return self.num_perm, np.dtype(_WHOLE[self.bits])
        return self.inner.words, np.dtype(np.uint64)

    @property
    def spec(self) -> str:
        """What decides the sketch of a text, in words."""
        return self.inner.spec

    def sketch(self, values: Iterable[Any], weights: Sequence[float] | None = None) -> Sketch:
        """The sketch of a set of strings, bytes or integers; of a bag, if each has a weight and the sketch is ``weighted``."""
        if isinstance(values, Mapping):
            raise arguments.wrong("values", "a list or a set: the counts of a dictionary are given as `weights`, its keys as list(values)", values)
        if weights is not None:
            weights = [arguments.number(f"weights[{i}]", one, minimum=0) for i, one in enumerate(arguments.items("weights", weights, "numbers"))]
        return self.inner.set(values, weights)

    def sketch_hashes(self, hashes: npt.ArrayLike) -> Sketch:
        """The sketch of a set of 64-bit hashes."""
        return self.inner.elements(arguments.array("hashes", hashes, np.uint64))

    def sketch_text(self, text: str) -> Sketch:
        """The sketch of a text."""
        return self.inner.text(arguments.string("text", text))

    def sketch_texts(self, texts: Any, threads: int | None = None) -> npt.NDArray[Any]:
        """A row for each text: see :func:`sketch_texts`."""
        parts, threads = as_texts(texts), _threads(threads)
        made = [
            _benzer.sketch_strings(self.inner, part, threads)
            if isinstance(part, list)
            else _benzer.sketch_buffers(self.inner, part.data, part.offsets, threads)
            for part in parts
        ]
        return self._columns(made[0] if len(made) == 1 else np.concatenate(made))

    def sketch_sets(self, sets: Iterable[Iterable[Any]], threads: int | None = None) -> npt.NDArray[Any]:
        """A row for each set of strings, bytes or integers."""
        return self._columns(_benzer.sketch_sets(self.inner, arguments.items("sets", sets, "sets"), _threads(threads)))

    def sketch_csr(self, hashes: npt.ArrayLike, offsets: npt.ArrayLike, threads: int | None = None) -> npt.NDArray[Any]:
        """A row for each set of 64-bit hashes: see :func:`sketch_csr`."""
        elements = arguments.array("hashes", hashes, np.uint64)
        ends = arguments.array("offsets", offsets, np.int64)
        return self._columns(_benzer.sketch_csr(self.inner, elements, ends, _threads(threads)))

    def restore(self, row: npt.NDArray[Any], size: float = 1.0) -> Sketch:
        """The sketch of a row of :meth:`sketch_texts`, and the size of its set where that is known."""
        size = arguments.number("size", size, minimum=0)
        return self.inner.restore(self._words("row", row.reshape(1, -1) if isinstance(row, np.ndarray) else row)[0], size)

    def words(self, matrix: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
        """Rows as the 64-bit words that the engine keeps."""
        return self._words("matrix", matrix)

    def _words(self, name: str, matrix: Any) -> npt.NDArray[np.uint64]:
        width, dtype = self._row
        expected = f"rows of {width} numbers of {dtype}, as `sketch_texts` of this sketcher makes them"
        if not isinstance(matrix, np.ndarray):
            raise arguments.wrong(name, expected, matrix)
        if matrix.dtype != dtype or matrix.ndim != 2 or matrix.shape[1] != width:
            raise ParameterError(f"`{name}` must be {expected}, got an array of {matrix.dtype} and shape {matrix.shape}")
        if matrix.dtype == np.uint64:
            return np.ascontiguousarray(matrix)
        missing = -matrix.shape[1] % (8 // matrix.dtype.itemsize)
        padded = np.pad(matrix, ((0, 0), (0, missing))) if missing else np.ascontiguousarray(matrix)
        return padded.view(np.uint64)

    def _columns(self, words: npt.NDArray[np.uint64]) -> npt.NDArray[Any]:
        if self.bits not in _WHOLE or self.bits == 64:
            return words
        registers = words.view(_WHOLE[self.bits])
        return registers if registers.shape[1] == self.num_perm else np.ascontiguousarray(registers[:, : self.num_perm])

    def __reduce__(self) -> tuple[Any, ...]:
        sketch, num_perm, seed, options = self._arguments
        return _made, (sketch, num_perm, seed, json.loads(options))


def _threads(threads: Any) -> int | None:
    return maybe(arguments.whole, "threads", threads, minimum=1, maximum=_MAX)


def _made(sketch: str, num_perm: int, seed: int, options: dict[str, Any]) -> Sketcher:
    return Sketcher(sketch, num_perm, seed, ngram=options.pop("n"), **options)


def sketch_texts(
    texts: Any,
    ngram: int = 5,
    num_perm: int = 128,
    *,
    sketch: str = "b8",
    seed: int = 42,
    unit: Unit = "words",
    threads: int | None = None,
    **text: Any,
) -> npt.NDArray[Any]:
    """A matrix with a row of registers for each text, made on all cores without the interpreter's lock.

    Texts are a list of strings, or a column: an Arrow array, a pandas or Polars series, a column of a `datasets.Dataset`. Rows are bytes by
    default (``b8``); 16, 32 and 64 bits give wider numbers, other kinds the engine's 64-bit words. Arguments are those of :class:`Sketcher`.

    >>> sketch_texts(["a text", "another text"], ngram=5, num_perm=128).shape
    (2, 128)
    """
    return Sketcher(sketch, num_perm, seed, ngram=ngram, unit=unit, **text).sketch_texts(texts, threads)


def sketch_sets(
    sets: Iterable[Iterable[Any]], num_perm: int = 128, *, sketch: str = "b8", seed: int = 42, threads: int | None = None
) -> npt.NDArray[Any]:
    """A matrix with a row of registers for each set of strings, bytes or integers.

    >>> sketch_sets([["a", "b"], [1, 2, 3]], num_perm=64).shape
    (2, 64)
    """
    return Sketcher(sketch, num_perm, seed).sketch_sets(sets, threads)


def sketch_csr(
    hashes: npt.ArrayLike,
    offsets: npt.ArrayLike,
    num_perm: int = 128,
    *,
    sketch: str = "b8",
    seed: int = 42,
    threads: int | None = None,
) -> npt.NDArray[Any]:
    """A matrix with a row of registers for each set of 64-bit hashes; set i is ``hashes[offsets[i]:offsets[i + 1]]``.

    >>> sketch_csr([1, 2, 3, 4], [0, 2, 4]).shape
    (2, 128)
    """
    return Sketcher(sketch, num_perm, seed).sketch_csr(hashes, offsets, threads)
