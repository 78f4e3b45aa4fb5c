"""b-bit MinHash features for linear models, as a scikit-learn transformer (Li and König, b-bit minwise hashing, section on learning)."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import validation

from benzer import _benzer, arguments
from benzer.errors import ArgumentTypeError, ParameterError
from benzer.sketch import Sketcher

__all__ = ["BBitMinHashVectorizer"]

# Rows that say what the columns of a frame hold.
_HEAD = 100


class BBitMinHashVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Turns texts or sets into sparse vectors whose inner product is the number of equal registers.

    Every register becomes ``2 ** b`` columns, one of which is set; so a linear model on the vectors learns what it would on all n-grams, in a space
    that does not grow with the vocabulary. Nothing is learned by fitting.

    Args:
        num_perm: Registers.
        b: Bits of each register, 1 to 16.
        analyzer: ``"text"`` for texts, ``"set"`` for sets of strings, bytes or integers, ``"auto"`` to tell by the first one. A matrix, dense or
            sparse, is always taken for sets: of the columns that are not zero in each row.
        ngram, unit: How a text becomes shingles.
        seed: Decides the hash functions.
        normalize: Whether rows have the length 1.
        dtype: Of the vectors.
        sparse_output: Whether the vectors are a sparse matrix of SciPy, or a dense array, which ``set_output(transform="pandas")`` needs.

    Texts and sets are a list, an iterator, an array, a column or a frame with one column, of NumPy, pandas, Polars or Arrow. In a `ColumnTransformer` the column may be named
    as ``"text"`` or ``["text"]``.

    >>> features = BBitMinHashVectorizer(num_perm=16, b=2, ngram=1).fit_transform(["red green", "red blue"])
    >>> features.shape
    (2, 64)
    >>> int(features[0].sum())
    16
    """

    def __init__(
        self,
        num_perm: int = 200,
        b: int = 8,
        *,
        analyzer: Literal["auto", "text", "set"] = "auto",
        ngram: int = 1,
        unit: str = "words",
        seed: int = 42,
        normalize: bool = False,
        dtype: Any = np.float64,
        sparse_output: bool = True,
    ) -> None:
        self.num_perm = num_perm
        self.b = b
        self.analyzer = analyzer
        self.ngram = ngram
        self.unit = unit
        self.seed = seed
        self.normalize = normalize
        self.dtype = dtype
        self.sparse_output = sparse_output

    def fit(self, X: Any, y: Any = None) -> BBitMinHashVectorizer:  # noqa: N803
        """Checks the parameters and the input."""
        self._fitted(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:  # noqa: N803
        """:meth:`fit` and :meth:`transform` in one go, which an iterator needs: it can be gone through once."""
        return self._vectors(self._fitted(X))

    def transform(self, X: Any) -> Any:  # noqa: N803
        """A sparse matrix with a row for each text or set, and `num_perm` ones in each. A set without elements has none."""
        validation.check_is_fitted(self, "n_features_out_")
        return self._vectors(self._checked(X, reset=False))

    def _fitted(self, X: Any) -> Any:  # noqa: N803
        """The rows of the input, after the parameters are checked."""
        b, num_perm = arguments.whole("b", self.b, minimum=1, maximum=16), arguments.whole("num_perm", self.num_perm, minimum=1)
        arguments.one_of("analyzer", self.analyzer, ("auto", "text", "set"))
        arguments.flag("normalize", self.normalize)
        arguments.flag("sparse_output", self.sparse_output)
        try:
            np.dtype(self.dtype)
        except TypeError:
            raise arguments.wrong("dtype", "a type of numbers, such as numpy.float32", self.dtype) from None
        unit: Any = self.unit
        rows = self._checked(X, reset=True)
        self._sketcher = Sketcher(f"b{b}", num_perm, self.seed, ngram=self.ngram, unit=unit)
        self.n_features_out_ = num_perm << b
        return rows

    def _vectors(self, rows: Any) -> Any:
        words, empty = self._sketched(rows)
        n = len(words)
        columns = _benzer.one_hot(self._sketcher.inner, words).reshape(n, self.num_perm)
        present = ~empty
        value = 1.0 / np.sqrt(self.num_perm) if self.normalize else 1.0
        ends = np.concatenate([[0], np.cumsum(np.where(present, self.num_perm, 0))])
        chosen = columns[present].ravel()
        data = np.full(len(chosen), value, dtype=self.dtype)
        vectors = sparse.csr_matrix((data, chosen, ends), shape=(n, self.n_features_out_))
        return vectors if self.sparse_output else vectors.toarray()

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The names of the columns: ``r3=5`` is the value 5 of register 3."""
        validation.check_is_fitted(self, "n_features_out_")
        values = 1 << self.b
        return np.array([f"r{i}={v}" for i in range(self.num_perm) for v in range(values)], dtype=object)

    def _checked(self, X: Any, reset: bool) -> Any:  # noqa: N803
        """A matrix as scikit-learn checks it, or a list of texts or sets."""
        if isinstance(X, str | bytes):
            raise ValueError("Iterable over raw text documents expected, string object received.")
        if _is_sparse(X):
            return _validated(self, X, reset=reset, accept_sparse="csr")
        column = self._column(X)
        if column is None:
            return _validated(self, X, reset=reset, accept_sparse="csr")
        return self._texts_or_sets(column)

    def _column(self, X: Any) -> list[Any] | None:  # noqa: N803
        """The rows of one column of texts or sets, whatever holds it; None for numbers."""
        if isinstance(X, Mapping | Set):
            raise arguments.wrong("X", "a list or a column, whose order the rows have", X)
        if hasattr(X, "collect"):
            X = X.collect()  # noqa: N806
        names = _names(X)
        if names is not None and len(names) != 1:
            if names and all(self._is_matrix(_rows(_column_of(X, i)[:_HEAD])) for i in range(len(names))):
                return None
            raise ParameterError(f"`X` must be one column of texts, got {len(names)}: {names}; choose one, or name it in a ColumnTransformer")
        if names is not None:
            X = _column_of(X, 0)  # noqa: N806
        elif getattr(X, "ndim", 0) == 2:
            if X.shape[1] != 1 or X.dtype.kind not in "OUT":
                return None
            # One column that was chosen from an array by a list.
            X = X.ravel()  # noqa: N806
            if self._is_matrix(list(X)):
                return None
        if getattr(X, "ndim", 1) != 1 or not isinstance(X, Iterable):
            return None
        rows = _rows(X)
        if isinstance(X, Iterator) and not rows:
            raise ParameterError("`X` has no rows: an iterator can be gone through once; give a list")
        numeric = getattr(getattr(X, "dtype", None), "kind", "") in ("f", "i", "u", "b", "c")
        return None if numeric or self._is_matrix(rows) else rows

    def _texts_or_sets(self, rows: list[Any]) -> list[Any]:
        """The rows, each of which is what the first one is."""
        expected, kinds = ("a string", str) if self._kind(rows) == "text" else ("a list or a set of values", Iterable)
        for i, row in enumerate(rows):
            if not isinstance(row, kinds) or (kinds is Iterable and isinstance(row, str | bytes)):
                remedy = "; fill what is missing, such as with ''" if arguments.is_missing(row) else ""
                raise ArgumentTypeError(f"`X[{i}]` must be {expected}, got {arguments.shown(row)}{remedy}")
        return rows

    def _is_matrix(self, rows: list[Any]) -> bool:
        return self._kind(rows) == "matrix"

    def _kind(self, rows: list[Any]) -> str:
        """``text``, ``set`` or ``matrix``, by the first row that is not missing."""
        first: Any = next((row for row in rows if not arguments.is_missing(row)), None if rows else "")
        is_number = isinstance(first, numbers.Number | np.generic) and not isinstance(first, str)
        if is_number or (first is None and self.analyzer == "auto"):
            return "matrix"
        if self.analyzer != "auto":
            return self.analyzer
        if isinstance(first, str | bytes):
            return "text"
        if isinstance(first, list | tuple | np.ndarray) and len(first) > 0 and all(isinstance(one, float | np.floating) for one in first):
            return "matrix"
        return "set"

    def _sketched(self, rows: Any) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
        """The words of all sketches, and which sets are empty."""
        sketcher = self._sketcher
        if isinstance(rows, np.ndarray) or _is_sparse(rows):
            matrix = sparse.csr_matrix(rows)
            matrix.eliminate_zeros()
            hashes = _scattered(matrix.indices)
            made = sketcher.sketch_csr(hashes, matrix.indptr)
            return sketcher.words(made), np.diff(matrix.indptr) == 0
        if self._kind(rows) == "text":
            made = sketcher.sketch_texts(rows)
            nothing = sketcher.sketch_texts([""])[0]
            return sketcher.words(made), np.all(made == nothing, axis=1)
        sets = [list(one) for one in rows]
        return sketcher.words(sketcher.sketch_sets(sets)), np.array([len(one) == 0 for one in sets], dtype=bool)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        tags.requires_fit = True
        return tags


def _scattered(columns: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Numbers of columns as 64-bit elements; the registers mix them."""
    return columns.astype(np.uint64)


def _names(table: Any) -> list[str] | None:
    """The names of the columns, if it has some."""
    names = getattr(table, "column_names", None)
    names = getattr(table, "columns", None) if names is None else names
    return None if names is None or callable(names) or hasattr(table, "source") else [str(name) for name in names]


def _column_of(table: Any, i: int) -> Any:
    """A column of pandas, Polars, Arrow or a `Dataset`."""
    if hasattr(table, "iloc"):
        return table.iloc[:, i]
    if hasattr(table, "to_series"):
        return table.to_series(i)
    return table.column(i) if hasattr(table, "schema") and hasattr(table, "column") else table[_names(table)[i]]  # type: ignore[index]


def _rows(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


def _is_sparse(data: Any) -> bool:
    return bool(sparse.issparse(data))


def _validated(estimator: Any, data: Any, **options: Any) -> Any:
    return validation.validate_data(estimator, data, **options)
