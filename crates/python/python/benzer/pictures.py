"""Pictures, however they come: paths, bytes of files, PIL images, arrays."""

from __future__ import annotations

import base64
import io
import json
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benzer import _benzer
from benzer.arguments import shown
from benzer.errors import ArgumentTypeError, ParameterError


@dataclass(frozen=True)
class PictureComparison:
    """What two pictures have in common."""

    same: bool
    """Whether one lies in the other, by the geometric check."""
    inliers: int
    """Keypoints that lie upon each other."""
    degrees: float | None
    """By how much the first is turned in the second."""
    mirrored: bool | None
    """Whether it is mirrored."""
    words: float | None
    """The share of visual words in both; the same picture from about 0.01 on."""
    thumbnail: float | None
    """The similarity of the thumbnails; the same picture from about 0.5 on."""


def compare_pictures(a: Any, b: Any) -> PictureComparison:
    """Whether two pictures are one: cropped, turned, mirrored, resized or saved again.

    >>> import numpy
    >>> noise = numpy.random.default_rng(1).integers(0, 256, (12, 16)).astype("uint8").repeat(16, 0).repeat(16, 1)
    >>> found = compare_pictures(noise, noise[:, ::-1])
    >>> found.same, found.mirrored
    (True, True)
    """
    return PictureComparison(**json.loads(_benzer.compare_pictures(_named("a", a), _named("b", b))))


def _named(name: str, picture: Any) -> bytes:
    try:
        return file_bytes(picture)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(f"`{name}`: {error}") from None
    except OSError as error:
        raise ParameterError(f"`{name}`: cannot read {shown(picture)}: {error.strerror or error}; give the path of a picture") from error


def encode(picture: Any) -> str:
    """A picture as the content of a field: the file in base64. Text that is no path of a file is taken to be that already."""
    if isinstance(picture, str) and (len(picture) > 4096 or not Path(picture).is_file()):
        return picture
    return base64.b64encode(file_bytes(picture)).decode("ascii")


def file_bytes(picture: Any) -> bytes:
    """The bytes of a file of the picture; arrays and PIL images become PNG."""
    if isinstance(picture, str | Path):
        return Path(picture).read_bytes()
    if isinstance(picture, bytes | bytearray | memoryview):
        return bytes(picture)
    if hasattr(picture, "save") and hasattr(picture, "mode"):
        out = io.BytesIO()
        picture.save(out, "PNG")
        return out.getvalue()
    if hasattr(picture, "__array__") or hasattr(picture, "__array_interface__"):
        return _png(np.asarray(picture))
    raise TypeError(f"expected a path, bytes, a PIL image or an array, got {shown(picture)}")


def _png(array: np.ndarray[Any, Any]) -> bytes:
    """An array of rows, columns and up to four channels; floats from 0 to 1."""
    if array.dtype.kind not in "iufb":
        raise ValueError(f"expected an array of numbers, got one of {array.dtype}")
    if array.dtype.kind == "f":
        array = np.clip(np.rint(array * 255), 0, 255)
    elif array.dtype == bool:
        array = array * 255
    colours = {1: 0, 2: 4, 3: 2, 4: 6}
    channels = array.shape[2] if array.ndim == 3 else 1
    if array.ndim not in (2, 3) or channels not in colours or array.size == 0:
        raise ValueError(f"expected an array of rows, columns and 1 to 4 channels, got the shape {array.shape}")
    if array.dtype.kind in "iu" and array.size and (array.min() < 0 or array.max() > 255):
        raise ValueError("expected values from 0 to 255, or floats from 0 to 1")
    rows = np.ascontiguousarray(array.astype(np.uint8)).reshape(array.shape[0], -1)
    raw = np.concatenate([np.zeros((rows.shape[0], 1), np.uint8), rows], axis=1).tobytes()
    head = struct.pack(">IIBBBBB", array.shape[1], array.shape[0], 8, colours[channels], 0, 0, 0)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")
