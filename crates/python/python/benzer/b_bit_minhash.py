"""bBitMinHash: the lowest bits of the hash values of a MinHash, with datasketch's bytes."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer import _benzer, arguments
from benzer.minhash import MinHash
from benzer.schemes import check_scheme

_CODES = {"affine32": 1, "affine64": 2}
_SCHEMES = {code: scheme for scheme, code in _CODES.items()}
_HEAD = "<qBdi"
_BLOCK_BITS = 64


class bBitMinHash:  # noqa: N801
    """The lowest `b` bits of each hash value of a MinHash, as datasketch keeps them.

    The bits are those of the hash values as they are. :class:`benzer.Sketcher` rehashes the values first, which makes estimates of
    few bits more reliable, and gives error bars.

    Args:
        minhash: The sketch to take.
        b: Bits to keep of each hash value, 0 to 32.
        r: The expected share of the universe that a set has; 0 if it is not known.

    >>> m = MinHash()
    >>> m.update_batch([b"a", b"b"])
    >>> bBitMinHash(m, b=2).jaccard(bBitMinHash(m, b=2))
    1.0
    """

    __slots__ = ("b", "hashvalues", "r", "scheme", "seed")

    b: int
    r: float
    seed: int
    scheme: str
    hashvalues: npt.NDArray[np.uint32]

    def __init__(self, minhash: MinHash, b: int = 1, r: float = 0.0) -> None:
        arguments.minhash("minhash", minhash)
        b, r = arguments.whole("b", b), arguments.number("r", r)
        if b > 32 or b < 0:
            raise ValueError("b must be an integer in [0, 32]")
        if r > 1.0:
            raise ValueError("r must be a float in [0.0, 1.0]")
        self.hashvalues = np.bitwise_and(minhash.hashvalues, (1 << b) - 1).astype(np.uint32)
        self.seed = minhash.seed
        self.scheme = minhash.scheme
        check_scheme(self.scheme)
        self.b = b
        self.r = r

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, bBitMinHash)
            and type(self) is type(other)
            and (self.scheme, self.seed, self.b, self.r) == (other.scheme, other.seed, other.b, other.r)
            and np.array_equal(self.hashvalues, other.hashvalues)
        )

    __hash__ = None  # type: ignore[assignment]

    def jaccard(self, other: bBitMinHash) -> float:
        """The estimated Jaccard similarity; it may be below zero."""
        if not hasattr(other, "b") or not hasattr(other, "hashvalues"):
            raise arguments.wrong("other", "a bBitMinHash", other)
        if self.b != other.b:
            raise ValueError("Cannot compare two b-bit MinHashes with different b values")
        if self.scheme != other.scheme:
            raise ValueError("Cannot compare two b-bit MinHashes with different permutation schemes")
        if self.seed != other.seed:
            raise ValueError("Cannot compare two b-bit MinHashes with different set of permutations")
        rate = _benzer.equal(self.hashvalues, other.hashvalues) / self.hashvalues.size
        a1, a2 = _chance(self.r, self.b), _chance(other.r, other.b)
        c1, c2 = a1, a2
        if self.r != 0.0 or other.r != 0.0:
            total = 1 / (self.r + other.r)
            c1 = (a1 * other.r + a2 * self.r) * total
            c2 = (a1 * self.r + a2 * other.r) * total
        return (rate - c1) / (1 - c2)

    def bytesize(self) -> int:
        """Bytes when pickled."""
        return struct.calcsize(self._format())

    def _slots(self) -> tuple[int, int]:
        """Bits of a slot, and slots of a block."""
        bits = self.b if self.b in (1, 2) else next(bits for bits in (4, 8, 16, 32) if self.b <= bits)
        return bits, _BLOCK_BITS // bits

    def _format(self) -> str:
        _, per_block = self._slots()
        code = "" if self.scheme == "legacy" else "B"
        return "%s%s%dQ" % (_HEAD, code, -(-self.hashvalues.size // per_block))

    def __getstate__(self) -> bytearray:
        bits, per_block = self._slots()
        n = int(self.hashvalues.size)
        values = self.hashvalues.tolist() + [0] * (-n % per_block)
        blocks = []
        for start in range(0, n, per_block):
            block = 0
            for value in values[start : start + per_block]:
                block = block << bits | value
            blocks.append(block)
        head: tuple[Any, ...] = (self.seed, self.b, self.r, n)
        if self.scheme != "legacy":
            head = (self.seed, self.b, self.r, -n, _CODES[self.scheme])
        buffer = bytearray(self.bytesize())
        struct.pack_into(self._format(), buffer, 0, *head, *blocks)
        return buffer

    def __setstate__(self, state: Any) -> None:
        self.seed, self.b, self.r, n = struct.unpack_from(_HEAD, state, 0)
        offset = struct.calcsize(_HEAD)
        self.scheme = "legacy"
        if n < 0:
            n = -n
            (code,) = struct.unpack_from("<B", state, offset)
            if code not in _SCHEMES:
                raise ValueError("Unknown permutation scheme code: %d" % code)
            self.scheme = _SCHEMES[code]
            offset += 1
        bits, per_block = self._slots()
        blocks = struct.unpack_from("<%dQ" % -(-n // per_block), state, offset)
        mask = (1 << bits) - 1
        shifts = [(per_block - 1 - i) * bits for i in range(per_block)]
        values = [block >> shift & mask for block in blocks for shift in shifts]
        self.hashvalues = np.array(values[:n], dtype=np.uint32)


def _chance(r: float, b: int) -> float:
    """The chance that the bits of two different values agree, as datasketch computes it."""
    if r == 0.0:
        return 1.0 / (1 << b)
    return float(r * (1 - r) ** (2**b - 1) / (1 - (1 - r) ** (2 * b)))
