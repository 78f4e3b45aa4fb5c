"""b-bit MinHash features for linear models, as a scikit-learn transformer (Li and König, b-bit minwise hashing, section on learning)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import validation

from benzer import _benzer
from benzer.sketch import Sketcher

__all__ = ["BBitMinHashVectorizer"]


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
    ) -> None:
        self.num_perm = num_perm
        self.b = b
        self.analyzer = analyzer
        self.ngram = ngram
        self.unit = unit
        self.seed = seed
        self.normalize = normalize
        self.dtype = dtype

    def fit(self, X: Any, y: Any = None) -> BBitMinHashVectorizer:  # noqa: N803
        """Checks the parameters and the input."""
        if not 1 <= self.b <= 16:
            raise ValueError(f"b must be between 1 and 16, got {self.b}")
        self._checked(X, reset=True)
        unit: Any = self.unit
        self._sketcher = Sketcher(f"b{self.b}", self.num_perm, self.seed, ngram=self.ngram, unit=unit)
        self.n_features_out_ = self.num_perm << self.b
        return self

    def transform(self, X: Any) -> sparse.csr_matrix:  # noqa: N803
        """A sparse matrix with a row for each text or set, and `num_perm` ones in each. A set without elements has none."""
        validation.check_is_fitted(self, "n_features_out_")
        words, empty = self._sketched(self._checked(X, reset=False))
        n = len(words)
        columns = _benzer.one_hot(self._sketcher.inner, words).reshape(n, self.num_perm)
        present = ~empty
        value = 1.0 / np.sqrt(self.num_perm) if self.normalize else 1.0
        ends = np.concatenate([[0], np.cumsum(np.where(present, self.num_perm, 0))])
        chosen = columns[present].ravel()
        data = np.full(len(chosen), value, dtype=self.dtype)
        return sparse.csr_matrix((data, chosen, ends), shape=(n, self.n_features_out_))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The names of the columns: ``r3=5`` is the value 5 of register 3."""
        validation.check_is_fitted(self, "n_features_out_")
        values = 1 << self.b
        return np.array([f"r{i}={v}" for i in range(self.num_perm) for v in range(values)], dtype=object)

    def _checked(self, X: Any, reset: bool) -> Any:  # noqa: N803
        """A matrix as scikit-learn checks it, or a list of texts or sets."""
        if isinstance(X, str | bytes):
            raise ValueError("Iterable over raw text documents expected, string object received.")
        if _is_sparse(X) or hasattr(X, "dtypes") or getattr(X, "ndim", 0) == 2:
            return _validated(self, X, reset=reset, accept_sparse="csr")
        numeric = getattr(X, "dtype", None) is not None and X.dtype.kind in "fiubc"
        if numeric or (hasattr(X, "__array__") and not hasattr(X, "__iter__")):
            return _validated(self, X, reset=reset)
        rows = X if hasattr(X, "__arrow_c_stream__") else list(X)
        if isinstance(rows, list) and rows and self._kind(rows[0]) == "matrix":
            return _validated(self, X, reset=reset)
        return rows

    def _kind(self, first: Any) -> str:
        if self.analyzer != "auto":
            return self.analyzer
        if isinstance(first, str):
            return "text"
        numbers = isinstance(first, list | tuple | np.ndarray) and all(isinstance(one, float | np.floating) for one in first)
        return "matrix" if numbers and len(first) > 0 else "set"

    def _sketched(self, rows: Any) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
        """The words of all sketches, and which sets are empty."""
        sketcher = self._sketcher
        if isinstance(rows, np.ndarray) or _is_sparse(rows):
            matrix = sparse.csr_matrix(rows)
            matrix.eliminate_zeros()
            hashes = _scattered(matrix.indices)
            made = sketcher.sketch_csr(hashes, matrix.indptr)
            return sketcher.words(made), np.diff(matrix.indptr) == 0
        first = rows[0] if isinstance(rows, list) and rows else ""
        if self._kind(first) == "text":
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


def _is_sparse(data: Any) -> bool:
    return bool(sparse.issparse(data))


def _validated(estimator: Any, data: Any, **options: Any) -> Any:
    return validation.validate_data(estimator, data, **options)
