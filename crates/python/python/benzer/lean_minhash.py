"""LeanMinHash: hash values and seed only, with datasketch's serialized bytes."""

from __future__ import annotations

import struct
from typing import Any

from benzer import arguments
from benzer.errors import DecodeError
from benzer.minhash import MinHash, united
from benzer.schemes import check_scheme, exact_array

_FORMATS = {"legacy": "I", "affine32": "I", "affine64": "Q"}
_BYTEORDERS = ("@", "=", "<", ">", "!")
_CODES = {"affine32": 1, "affine64": 2}
_SCHEMES = {code: scheme for scheme, code in _CODES.items()}


class LeanMinHash(MinHash):
    """A MinHash that cannot be updated, is smaller, and has a byte format that other languages can read.

    Args:
        minhash: The sketch to take; or else
        seed, hashvalues, scheme: its state.

    >>> m = MinHash(num_perm=4)
    >>> m.update(b"token")
    >>> lean = LeanMinHash(m)
    >>> buffer = bytearray(lean.bytesize())
    >>> lean.serialize(buffer)
    >>> LeanMinHash.deserialize(buffer) == lean
    True
    """

    def __init__(
        self,
        minhash: MinHash | None = None,
        seed: int | None = None,
        hashvalues: Any = None,
        scheme: str | None = None,
    ) -> None:
        if minhash is not None:
            arguments.minhash("minhash", minhash)
            if scheme is not None and scheme != minhash.scheme:
                raise ValueError(
                    "scheme %r conflicts with the scheme %r of the given MinHash" % (scheme, minhash.scheme)
                )
            self._fill(minhash.seed, minhash.hashvalues, minhash.scheme)
        elif hashvalues is not None and seed is not None:
            if scheme is None:
                raise ValueError(
                    "scheme must be specified explicitly when initializing from existing "
                    "hash values: pass the scheme of the MinHash they came from, or "
                    "scheme='legacy' for hash values created by datasketch before 2.0.0."
                )
            self._fill(seed, hashvalues, scheme)
        else:
            raise ValueError(
                "Init parameters cannot be None: make sure to set either minhash or both of hash values and seed"
            )

    def _fill(self, seed: int, hashvalues: Any, scheme: str) -> None:
        check_scheme(scheme)
        self.seed = arguments.whole("seed", seed)
        self.scheme = scheme
        self.hashvalues = exact_array(hashvalues, scheme, "hash values")
        if scheme != "legacy" and len(self.hashvalues) == 0:
            raise ValueError("hashvalues must not be empty")

    @classmethod
    def _made(cls, seed: int, hashvalues: Any, scheme: str) -> LeanMinHash:
        lean = LeanMinHash.__new__(LeanMinHash)
        lean._fill(seed, hashvalues, scheme)
        return lean

    def update(self, b: Any) -> None:
        """Not available: raises a TypeError."""
        raise TypeError("Cannot update a LeanMinHash")

    def update_batch(self, b: Any) -> None:
        """Not available: raises a TypeError."""
        raise TypeError("Cannot update a LeanMinHash")

    def copy(self) -> LeanMinHash:
        """A copy."""
        return self._made(self.seed, self.hashvalues, self.scheme)

    def _format(self, byteorder: str) -> str:
        arguments.one_of("byteorder", byteorder, _BYTEORDERS)
        code = "" if self.scheme == "legacy" else "B"
        return "%sqi%s%d%s" % (byteorder, code, len(self), _FORMATS[self.scheme])

    def bytesize(self, byteorder: str = "@") -> int:
        """Bytes after serialization."""
        return struct.calcsize(self._format(byteorder))

    def serialize(self, buf: Any, byteorder: str = "@") -> None:
        """Writes seed, number of hash values, scheme and hash values to a buffer, as datasketch does.

        `byteorder` is one of the characters of :mod:`struct`: ``@``, ``=``, ``<``, ``>``, ``!``.
        """
        needed = self.bytesize(byteorder)
        try:
            room = memoryview(buf).nbytes
        except TypeError:
            raise arguments.wrong("buf", "a bytearray or another buffer that can be written to", buf) from None
        if room < needed:
            raise ValueError("The buffer does not have enough space for holding this MinHash.")
        n, values = len(self), self.hashvalues.tolist()
        head = (self.seed, n) if self.scheme == "legacy" else (self.seed, -n, _CODES[self.scheme])
        struct.pack_into(self._format(byteorder), buf, 0, *head, *values)

    @classmethod
    def deserialize(cls, buf: Any, byteorder: str = "@") -> LeanMinHash:
        """Reads what :meth:`serialize` wrote, here or in datasketch."""
        try:
            return cls._made(*cls._read(buf, byteorder))
        except (TypeError, struct.error):
            raise DecodeError(f"`buf` must be all the bytes that `serialize` wrote with `byteorder` {byteorder!r}, got {arguments.shown(buf)}") from None

    @staticmethod
    def _read(buf: Any, byteorder: str) -> tuple[int, tuple[int, ...], str]:
        head = arguments.one_of("byteorder", byteorder, _BYTEORDERS) + "qi"
        seed, n = struct.unpack_from(head, buf, 0)
        scheme, offset = "legacy", struct.calcsize(head)
        if n < 0:
            n = -n
            (code,) = struct.unpack_from(byteorder + "B", buf, offset)
            if code not in _SCHEMES:
                raise ValueError("Unknown permutation scheme code: %d" % code)
            scheme = _SCHEMES[code]
            # The format with no value ends where the first value begins.
            offset = struct.calcsize("%sqiB0%s" % (byteorder, _FORMATS[scheme]))
        return seed, struct.unpack_from("%s%d%s" % (byteorder, n, _FORMATS[scheme]), buf, offset), scheme

    def __getstate__(self) -> Any:
        buf = bytearray(self.bytesize())
        self.serialize(buf)
        return buf

    def __setstate__(self, state: Any) -> None:
        self._fill(*self._read(state, "@"))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self.scheme, self.seed, tuple(self.hashvalues.tolist())))

    @classmethod
    def union(cls, *lmhs: MinHash) -> LeanMinHash:
        """The sketch of the union of at least two."""
        hashvalues = united("lmhs", lmhs, ".")
        return cls._made(lmhs[0].seed, hashvalues, lmhs[0].scheme)
