"""WeightedMinHash and its generator, with datasketch's names, errors and samples."""

from __future__ import annotations

import collections.abc
import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer import _benzer, arguments
from benzer.errors import ParameterError


class WeightedMinHash:
    """A sketch of a weighted set, made by a :class:`WeightedMinHashGenerator`.

    Args:
        seed: The seed of the generator.
        hashvalues: A matrix with the sampled dimension and its step for each sample.
    """

    def __init__(self, seed: int, hashvalues: npt.NDArray[Any]) -> None:
        self.seed = seed
        self.hashvalues = hashvalues

    def jaccard(self, other: WeightedMinHash) -> float:
        """The estimated weighted Jaccard similarity."""
        if not isinstance(other, WeightedMinHash) and not hasattr(other, "hashvalues"):
            raise arguments.wrong("other", "a WeightedMinHash", other)
        if other.seed != self.seed:
            raise ValueError("Cannot compute Jaccard given WeightedMinHash objects with different seeds")
        if len(self) != len(other):
            raise ValueError(
                "Cannot compute Jaccard given WeightedMinHash objects with different numbers of hash values"
            )
        equal = np.all(np.asarray(self.hashvalues) == np.asarray(other.hashvalues), axis=1)
        return float(np.count_nonzero(equal)) / len(self)

    def digest(self) -> npt.NDArray[Any]:
        """A copy of the hash values."""
        return copy.copy(self.hashvalues)

    def copy(self) -> WeightedMinHash:
        """A copy."""
        return WeightedMinHash(self.seed, self.digest())

    def __len__(self) -> int:
        return len(self.hashvalues)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, WeightedMinHash)
            and type(self) is type(other)
            and self.seed == other.seed
            and np.array_equal(self.hashvalues, other.hashvalues)
        )

    __hash__ = None  # type: ignore[assignment]


class WeightedMinHashGenerator:
    """Makes sketches of weighted sets, given as vectors with a weight for each dimension.

    Args:
        dim: Dimensions of the vectors.
        sample_size: Samples of a sketch.
        seed: Decides the samples, which NumPy draws as for datasketch.

    >>> generator = WeightedMinHashGenerator(3)
    >>> generator.minhash([1, 2, 3]).jaccard(generator.minhash([1, 2, 3]))
    1.0
    """

    def __init__(self, dim: int, sample_size: int = 128, seed: int = 1) -> None:
        self.dim = arguments.whole("dim", dim, minimum=1)
        self.sample_size = arguments.whole("sample_size", sample_size, minimum=1)
        self.seed = arguments.whole("seed", seed, minimum=0, maximum=2**32 - 1)
        generator = np.random.RandomState(seed=seed)
        shape = (sample_size, dim)
        self.rs = generator.gamma(2, 1, shape).astype(np.float32)
        self.ln_cs = np.log(generator.gamma(2, 1, shape)).astype(np.float32)
        self.betas = generator.uniform(0, 1, shape).astype(np.float32)

    def minhash(self, v: Any) -> WeightedMinHash:
        """The sketch of a vector."""
        if not isinstance(v, collections.abc.Sized):
            raise TypeError("Input vector must be sized")
        if len(v) != self.dim:
            raise ValueError("Input dimension mismatch, expecting %d" % self.dim)
        try:
            vector = np.asarray(v, dtype=np.float32).reshape(self.dim)
        except (TypeError, ValueError):
            raise arguments.wrong("v", "a vector of numbers", v) from None
        if not bool(np.all(vector >= 0)):
            raise ParameterError(f"`v` must be weights from 0 on, got {arguments.shown(v)}")
        (dimensions,) = np.nonzero(vector)
        if len(dimensions) == 0:
            raise ValueError("Input is all zeros")
        return self._sampled(dimensions, np.log(vector[dimensions]), shifted=False)

    def minhash_many(self, X: Any) -> list[WeightedMinHash | None]:  # noqa: N803
        """A sketch for each row of a matrix, dense or of SciPy; none for a row of zeros.

        As in datasketch, the samples are not those of :meth:`minhash`.
        """
        import scipy.sparse as sparse

        is_matrix: bool = isinstance(X, np.ndarray) or bool(sparse.issparse(X))
        if not is_matrix:
            raise TypeError("Input X must be a sparse matrix or numpy matrix")
        if X.dtype.kind not in "iufb":
            raise arguments.wrong("X", "a matrix of numbers", X)
        if X.ndim != 2:
            raise ValueError("Input must have two dimensions")
        if X.shape[1] != self.dim:
            raise ValueError("Input dimension mismatch, expecting %d" % self.dim)
        rows = sparse.csr_matrix(X, dtype=np.float32, copy=True)
        rows.eliminate_zeros()
        rows.sort_indices()
        made: list[WeightedMinHash | None] = []
        for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
            if start == end:
                made.append(None)
            else:
                logarithms = np.log(rows.data[start:end])
                made.append(self._sampled(rows.indices[start:end], logarithms, shifted=True))
        return made

    def _sampled(self, dimensions: Any, logarithms: Any, shifted: bool) -> WeightedMinHash:
        parameters = (self.rs, self.ln_cs, self.betas)
        values = _benzer.weighted_minhash(dimensions.astype(np.int64), logarithms, parameters, shifted)
        return WeightedMinHash(self.seed, values)
