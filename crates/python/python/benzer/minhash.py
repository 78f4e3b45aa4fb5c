"""MinHash with datasketch's names, arguments, errors and hash values."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from benzer import _benzer, arguments
from benzer.hashfunc import sha1_hash32, sha1_hash64
from benzer.schemes import DTYPES, LARGEST, HashValues, Scheme, check_scheme, exact_array

Self = TypeVar("Self", bound="MinHash")

_MAX = 1 << 32
# Sets that `bulk` hands over at a time.
_TOGETHER = 4096


@lru_cache(maxsize=256)
def _drawn(scheme: str, num_perm: int, seed: int) -> _benzer.Functions:
    """The functions of a seed: drawn once for all sketches of it."""
    if not 0 <= seed < _MAX:
        raise ValueError("Seed must be between 0 and 2**32 - 1")
    return _benzer.Functions(scheme, num_perm, seed)


def united(name: str, sketches: Sequence[MinHash], end: str = "") -> HashValues:
    """The hash values of the union of at least two sketches of one kind; `end` is that of the message about others."""
    if len(sketches) < 2:
        raise ValueError("Cannot union less than 2 MinHash")
    for i, one in enumerate(sketches):
        arguments.minhash(f"{name}[{i}]", one)
    first = sketches[0]
    if any(first.seed != m.seed or len(first) != len(m) or first.scheme != m.scheme for m in sketches):
        raise ValueError("The unioning MinHash must have the same seed, number of permutation functions and scheme" + end)
    hashvalues = first.hashvalues
    for other in sketches[1:]:
        hashvalues = _benzer.smaller(first.scheme, hashvalues, other.hashvalues)
    return hashvalues


class MinHash:
    """A sketch of a set, from which Jaccard similarities are estimated; hash values are those of datasketch, bit for bit.

    Args:
        num_perm: Number of hash functions; ignored if `hashvalues` are given.
        seed: Decides the hash functions.
        gpu_mode: ``"disable"`` and ``"detect"`` use the processor; ``"always"`` is refused by the first `update_batch`.
        hashfunc: Turns a value into an integer of 32 bits (64 for ``"affine64"``). A Python function is called for every
            value, which is slower than the built-in SHA-1.
        hashobj: Deprecated and ignored, as in datasketch.
        hashvalues: The state of another MinHash, whose `scheme` must then be named.
        permutations: The parameters of other hash functions, whose `scheme` must then be named.
        scheme: ``"affine32"`` (the default), ``"affine64"`` for very large sets, or ``"legacy"``, the one before datasketch 2.0.

    >>> a, b = MinHash(), MinHash()
    >>> a.update_batch([b"the", b"quick", b"brown", b"fox"])
    >>> b.update_batch([b"the", b"quick", b"brown", b"dog"])
    >>> a.jaccard(b)
    0.625
    """

    scheme: str
    seed: int
    num_perm: int
    hashvalues: HashValues
    hashfunc: Callable[[Any], int]

    def __init__(
        self,
        num_perm: int = 128,
        seed: int = 1,
        gpu_mode: Literal["disable", "detect", "always"] = "disable",
        hashfunc: Callable[[Any], int] | None = None,
        hashobj: object | None = None,
        hashvalues: npt.ArrayLike | None = None,
        permutations: Any = None,
        scheme: Scheme | None = None,
    ) -> None:
        if scheme is None:
            if hashvalues is not None or permutations is not None:
                raise ValueError(
                    "scheme must be specified explicitly when initializing from existing "
                    "hash values or permutations: pass the scheme of the MinHash they came "
                    "from, or scheme='legacy' for values created by datasketch before 2.0.0."
                )
            scheme = "affine32"
        else:
            check_scheme(scheme)
        self.scheme = scheme
        if hashvalues is not None:
            num_perm = len(arguments.items("hashvalues", hashvalues, "whole numbers"))  # type: ignore[arg-type]
        num_perm, seed = arguments.whole("num_perm", num_perm), arguments.whole("seed", seed)
        if num_perm < 1:
            raise ValueError("num_perm must be positive")
        if num_perm > _MAX:
            raise ValueError("Cannot have more than %d number of permutation functions" % _MAX)
        self.seed = seed
        self.num_perm = num_perm
        if hashfunc is not None and not callable(hashfunc):
            raise ValueError("The hashfunc must be a callable.")
        self.hashfunc = hashfunc or (sha1_hash64 if scheme == "affine64" else sha1_hash32)
        if hashobj is not None:
            warnings.warn("hashobj is deprecated, use hashfunc instead.", DeprecationWarning, stacklevel=2)
        self._gpu_mode = gpu_mode
        self._given: HashValues | None = None
        self._given_functions: _benzer.Functions | None = None
        self.hashvalues = self._empty(num_perm) if hashvalues is None else self._parse(hashvalues)
        if permutations is not None:
            self._set_permutations(permutations)
        elif hashvalues is None:
            self._functions()

    def _empty(self, num_perm: int) -> HashValues:
        return np.full(num_perm, LARGEST[self.scheme], dtype=DTYPES[self.scheme])

    def _parse(self, hashvalues: Any) -> HashValues:
        return exact_array(hashvalues, self.scheme, "hash values")

    def _set_permutations(self, permutations: Any) -> None:
        if not isinstance(permutations, list | tuple | np.ndarray) or len(permutations) != 2:
            raise arguments.wrong("permutations", "two rows of parameters, a and b", permutations)
        a = exact_array(permutations[0], self.scheme, "permutation parameters")
        b = exact_array(permutations[1], self.scheme, "permutation parameters")
        if self.scheme != "legacy" and bool(np.any(a & 1 == 0)):
            raise ValueError("all `a` permutation parameters must be odd for scheme %r" % self.scheme)
        if len(self) != len(a):
            raise ValueError("Numbers of hash values and permutations mismatch")
        self._given = np.array([a, b])
        parameters = (a.astype(np.uint64), b.astype(np.uint64))
        self._given_functions = _benzer.Functions(self.scheme, len(a), None, parameters)

    def _functions(self) -> _benzer.Functions:
        return self._given_functions or _drawn(self.scheme, self.num_perm, self.seed)

    @property
    def permutations(self) -> HashValues:
        """The parameters of the hash functions: an array of two rows, ``a`` and ``b``."""
        if self._given is None:
            return np.array(self._functions().parameters())
        return self._given

    @permutations.setter
    def permutations(self, permutations: Any) -> None:
        self._set_permutations(permutations)

    def _hashes_natively(self) -> bool:
        return self.hashfunc is (sha1_hash64 if self.scheme == "affine64" else sha1_hash32)

    def _hashed(self, values: list[int]) -> npt.NDArray[np.uint64]:
        try:
            return np.array(values, dtype=DTYPES[self.scheme]).astype(np.uint64, copy=False)
        except OverflowError as error:
            raise ValueError(
                "hashfunc returned a value out of range for scheme %r: %s. "
                "Use a hash function matching the scheme width, or scheme='affine64' "
                "for 64-bit hash values." % (self.scheme, error)
            ) from error

    def update(self, b: Any) -> None:
        """Adds a value, which the hash function must take: bytes, unless another one was given.

        >>> m = MinHash(num_perm=4)
        >>> m.update("new value".encode("utf-8"))
        >>> m.is_empty()
        False
        """
        if self._hashes_natively():
            self.hashvalues = self._functions().update(self.hashvalues, b)
        else:
            self.hashvalues = self._functions().update_hashed(self.hashvalues, self._hashed([self.hashfunc(b)]))

    def update_batch(self, b: Iterable[Any]) -> None:
        """Adds many values at once.

        >>> m = MinHash()
        >>> m.update_batch([s.encode("utf-8") for s in ["token1", "token2"]])
        """
        if self._hashes_natively():
            lowered = self._functions().update_batch(self.hashvalues, b)
            if lowered is not self.hashvalues:
                self._check_gpu()
            self.hashvalues = lowered
            return
        hashes = [self.hashfunc(value) for value in b]
        if hashes:
            self._check_gpu()
            self.hashvalues = self._functions().update_hashed(self.hashvalues, self._hashed(hashes))

    def _check_gpu(self) -> None:
        if self._gpu_mode == "always":
            raise RuntimeError("GPU mode 'always' requested but CuPy/CUDA device is unavailable.")

    def _check(self, other: MinHash, action: str) -> None:
        if getattr(other, "scheme", None) != self.scheme:
            arguments.minhash("other", other)
            raise ValueError("Cannot %s MinHash with different permutation schemes" % action)
        if other.seed != self.seed:
            raise ValueError("Cannot %s MinHash with different seeds" % action)
        if len(self) != len(other):
            raise ValueError("Cannot %s MinHash with different numbers of permutation functions" % action)

    def jaccard(self, other: MinHash) -> float:
        """The estimated Jaccard similarity. :func:`benzer.estimate.jaccard` gives it with its error bar."""
        self._check(other, "compute Jaccard given")
        return _benzer.equal(self.hashvalues, other.hashvalues) / len(self)

    def count(self) -> float:
        """The estimated number of distinct values."""
        total = np.sum(self.hashvalues / float(LARGEST[self.scheme]))
        return float(float(len(self)) / total - 1.0)

    def merge(self, other: MinHash) -> None:
        """Makes this the sketch of the union with the other."""
        self._check(other, "merge")
        self.hashvalues = _benzer.smaller(self.scheme, other.hashvalues, self.hashvalues)

    def digest(self) -> HashValues:
        """A copy of the hash values."""
        return copy.copy(self.hashvalues)

    def is_empty(self) -> bool:
        """Whether nothing was added yet."""
        return not bool(np.any(self.hashvalues != DTYPES[self.scheme](LARGEST[self.scheme])))

    def clear(self) -> None:
        """Forgets all values."""
        self.hashvalues = self._empty(len(self))

    def copy(self) -> MinHash:
        """A copy that can be updated on its own."""
        other = MinHash.__new__(MinHash)
        other.__dict__.update(self.__dict__, hashvalues=self.digest())
        return other

    def __len__(self) -> int:
        return len(self.hashvalues)

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and isinstance(other, MinHash)
            and self.scheme == other.scheme
            and self.seed == other.seed
            and np.array_equal(self.hashvalues, other.hashvalues)
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def union(cls, *mhs: MinHash) -> MinHash:
        """The sketch of the union of at least two."""
        hashvalues = united("mhs", mhs)
        union = mhs[0].copy()
        union.hashvalues = hashvalues
        return union

    @classmethod
    def bulk(cls: type[Self], b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> list[Self]:
        """A MinHash for each list of values, made on all cores.

        >>> [len(m) for m in MinHash.bulk([[b"token1", b"token2"], [b"token3"]], num_perm=64)]
        [64, 64]
        """
        model = cls(**minhash_kwargs)
        if not model._hashes_natively():
            return list(cls.generator(b, **minhash_kwargs))
        made: list[Self] = []
        together: list[Iterable[Any]] = []

        def flush() -> None:
            for hashvalues in model._functions().bulk(together):
                one = cls.__new__(cls)
                one.__dict__.update(model.__dict__, hashvalues=hashvalues)
                made.append(one)
            together.clear()

        for values in arguments.items("b", b, "lists of bytes"):
            together.append(values)
            if len(together) == _TOGETHER:
                flush()
        flush()
        if made:
            model._check_gpu()
        return made

    @classmethod
    def generator(cls: type[Self], b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> Iterator[Self]:
        """The same one by one."""
        model = cls(**minhash_kwargs)
        for values in arguments.items("b", b, "lists of bytes"):
            one = cls.__new__(cls)
            one.__dict__.update(model.__dict__, hashvalues=model.digest())
            one.update_batch(values)
            yield one

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_given_functions": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._given is not None:
            self._set_permutations(self._given)
