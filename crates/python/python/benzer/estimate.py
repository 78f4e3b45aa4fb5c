"""Estimates with error bars, of sketches or of MinHashes.

>>> import benzer
>>> sketcher = benzer.Sketcher()
>>> a, b = sketcher.sketch(range(900)), sketcher.sketch(range(100, 1000))
>>> found = jaccard(a, b)
>>> found.low <= 0.8 <= found.high
True
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benzer import _benzer, arguments
from benzer.errors import ParameterError, UnsupportedError
from benzer.minhash import MinHash
from benzer.sketch import Sketch, Sketcher

__all__ = [
    "Cell",
    "Estimate",
    "containment",
    "hamming",
    "intersection",
    "jaccard",
    "jaccard_pairs",
    "n_way",
    "set_size",
    "three_way",
    "union",
    "venn",
]


class Estimate(NamedTuple):
    """A value with its standard error and its 95% interval."""

    value: float
    std_error: float
    low: float
    high: float


class Cell(NamedTuple):
    """A cell of a Venn diagram: the sets that it lies in, its share of the union, and its size where sizes are known."""

    members: tuple[int, ...]
    share: Estimate
    size: Estimate | None


Sketched = Sketch | MinHash


def jaccard(a: Sketched, b: Sketched) -> Estimate:
    """The Jaccard similarity: elements in both over elements in either."""
    return Estimate(*_benzer.jaccard(_sketch("a", a), _sketch("b", b)))


def containment(a: Sketched, b: Sketched) -> tuple[Estimate, Estimate]:
    """The share of `a` that lies in `b`, and of `b` in `a`; sizes must be known."""
    first, second = _benzer.containment(_sketch("a", a), _sketch("b", b))
    return Estimate(*first), Estimate(*second)


def intersection(a: Sketched, b: Sketched) -> Estimate:
    """The number of elements in both; sizes must be known."""
    return Estimate(*_benzer.intersection(_sketch("a", a), _sketch("b", b)))


def union(a: Sketched, b: Sketched) -> Estimate:
    """The number of elements in either; sizes must be known."""
    return Estimate(*_benzer.union(_sketch("a", a), _sketch("b", b)))


def hamming(a: Sketched, b: Sketched) -> Estimate:
    """The number of elements in one of them only."""
    return Estimate(*_benzer.hamming(_sketch("a", a), _sketch("b", b)))


def three_way(a: Sketched, b: Sketched, c: Sketched) -> Estimate:
    """Elements in all three over elements in any; needs two bits of each register."""
    return Estimate(*_benzer.three_way(_sketch("a", a), _sketch("b", b), _sketch("c", c)))


def n_way(*sketches: Sketched) -> Estimate:
    """Elements in all sets over elements in any."""
    return Estimate(*_benzer.n_way([_sketch(f"sketches[{i}]", sketch) for i, sketch in enumerate(sketches)]))


def venn(*sketches: Sketched) -> list[Cell]:
    """Every cell of the Venn diagram of 2 to 16 sets; needs full registers.

    >>> import benzer
    >>> sketcher = benzer.Sketcher("fast", num_perm=1024)
    >>> cells = venn(sketcher.sketch(range(20)), sketcher.sketch(range(10, 30)))
    >>> [cell.members for cell in cells]
    [(0,), (1,), (0, 1)]
    """
    cells = _benzer.venn([_sketch(f"sketches[{i}]", sketch) for i, sketch in enumerate(sketches)])
    return [
        Cell(
            tuple(i for i in range(len(sketches)) if members >> i & 1),
            Estimate(*share),
            None if size is None else Estimate(*size),
        )
        for members, share, size in cells
    ]


def set_size(sketch: Sketch) -> Estimate:
    """The number of elements, from an Odd Sketch of the set (``odd_set``)."""
    return Estimate(*_benzer.set_size(_sketch("sketch", sketch)))


def jaccard_pairs(matrix: npt.NDArray[Any], pairs: npt.ArrayLike, sketcher: Sketcher | None = None) -> npt.NDArray[np.float64]:
    """Estimates for many pairs of rows of a matrix of :func:`benzer.sketch_texts`: a row of value, standard error, low and high for each.

    >>> import benzer
    >>> matrix = benzer.sketch_texts(["one text", "one text", "another"])
    >>> jaccard_pairs(matrix, [(0, 1), (0, 2)])[:, 0].round(1).tolist()
    [1.0, 0.0]
    """
    sketcher = sketcher or Sketcher()
    if not isinstance(sketcher, Sketcher):
        raise arguments.wrong("sketcher", "a benzer.Sketcher", sketcher)
    index = arguments.array("pairs", pairs, np.int64, 2) if np.size(pairs) else np.empty((0, 2), dtype=np.int64)
    if index.shape[1] != 2:
        raise ParameterError(f"`pairs` must be two rows of the matrix each, got an array of shape {index.shape}")
    words = sketcher.words(matrix)
    bits = sketcher.bits
    if bits is None:
        raise UnsupportedError("rows of this kind of sketch cannot be compared in bulk; use `jaccard`")
    a, b = np.ascontiguousarray(index[:, 0]), np.ascontiguousarray(index[:, 1])
    differ = _benzer.mismatches(sketcher.inner, words, a, b)
    k = sketcher.num_perm
    table = np.array([_benzer.jaccard_of_counts(equal, k, bits) for equal in range(k + 1)])
    return np.asarray(table[k - differ.astype(np.int64)], dtype=np.float64)


def _sketch(name: str, sketched: Any) -> Sketch:
    if isinstance(sketched, MinHash):
        return Sketch.of_minhash(sketched.scheme, sketched.seed, sketched.hashvalues, sketched.is_empty())
    if not isinstance(sketched, Sketch):
        raise arguments.wrong(name, "a benzer.Sketch or a MinHash", sketched)
    return sketched
