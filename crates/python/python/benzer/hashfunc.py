"""The hash functions of tokens, as datasketch has them."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

from benzer.arguments import wrong


def sha1_hash32(data: Any) -> int:
    """The first 32 bits of SHA-1, the lowest byte first.

    >>> sha1_hash32(b"benzer")
    986158211
    """
    (value,) = struct.unpack("<I", _sha1(data)[:4])
    return int(value)


def sha1_hash64(data: Any) -> int:
    """The first 64 bits of SHA-1, the lowest byte first."""
    (value,) = struct.unpack("<Q", _sha1(data)[:8])
    return int(value)


def _sha1(data: Any) -> bytes:
    try:
        return hashlib.sha1(data).digest()
    except TypeError:
        raise wrong("data", "bytes; a string must be encoded first, such as with .encode()", data) from None
