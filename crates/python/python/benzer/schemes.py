"""The permutation schemes of datasketch: their names, and what their hash values are."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from benzer.arguments import wrong

Scheme = Literal["affine32", "affine64", "legacy"]
HashValues = npt.NDArray[Any]

SCHEMES: tuple[Scheme, ...] = ("affine32", "affine64", "legacy")
DTYPES: dict[str, type[np.unsignedinteger[Any]]] = {"affine32": np.uint32, "affine64": np.uint64, "legacy": np.uint64}
LARGEST: dict[str, int] = {"affine32": (1 << 32) - 1, "affine64": (1 << 64) - 1, "legacy": (1 << 32) - 1}


def check_scheme(scheme: str) -> None:
    """Refuses a name that is not a scheme."""
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        raise ValueError("scheme must be one of %s, got %r" % (", ".join(SCHEMES), scheme))


def consistent(known: str | None, minhash: Any) -> str | None:
    """The scheme that an index has after this sketch; a sketch of another scheme than before is refused."""
    scheme: str | None = getattr(minhash, "scheme", None)
    if scheme is None or known == scheme:
        return known
    if known is not None:
        raise ValueError(
            "MinHash scheme %r does not match scheme %r of the MinHash previously given to this index" % (scheme, known)
        )
    return scheme


def exact_array(values: Any, scheme: str, what: str) -> HashValues:
    """Values as an array of the scheme's type; one that does not fit is refused."""
    dtype = DTYPES[scheme]
    name = "hashvalues" if what == "hash values" else "permutations"
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise wrong(name, "a list or an array of whole numbers", values)
    if isinstance(values, np.ndarray):
        whole = values.dtype.kind in "iu" and values.size > 0
        if whole and scheme != "legacy" and (int(values.max()) > LARGEST[scheme] or int(values.min()) < 0):
            raise ValueError("%s out of range for scheme %r" % (what, scheme))
        return values.astype(dtype)
    try:
        return np.array(values, dtype=dtype)
    except (TypeError, ValueError):
        raise wrong(name, "a list or an array of whole numbers", values) from None
    except OverflowError as error:
        raise ValueError("%s out of range for scheme %r: %s" % (what, scheme, error)) from error
