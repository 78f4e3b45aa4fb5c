"""Pictures from paths, bytes, PIL images and arrays."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benzer import Index, compare_pictures
from benzer.errors import BenzerError
from benzer.pictures import file_bytes

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def drawing(seed: int) -> np.ndarray[Any, Any]:
    """Patches of random grey."""
    small = np.random.default_rng(seed).integers(0, 256, (15, 20)).astype(np.uint8)
    return small.repeat(16, 0).repeat(16, 1)


class Picture:
    """Saves itself as PIL's images do."""

    mode = "L"

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def save(self, out: io.BytesIO, kind: str) -> None:
        assert kind == "PNG"
        out.write(file_bytes(self.array))


def test_a_picture_is_found_however_it_comes() -> None:
    array = drawing(1)
    path = EXAMPLES / "bay.png"
    index = Index("memory:", "photos", {"photo": "image"})
    assert index.settings["threshold"] == 0.01
    index.insert([{"id": "drawn", "photo": array}, {"id": "bay", "photo": path}, {"id": "hills", "photo": str(EXAMPLES / "hills.png")}])
    probes = [(array[30:200, 40:300], "drawn"), (Picture(array[::-1]), "drawn"), (array / 255.0, "drawn")]
    probes += [((EXAMPLES / "bay-part.jpg").read_bytes(), "bay"), (EXAMPLES / "bay-small.jpg", "bay")]
    for probe, expected in probes:
        assert [match.id for match in index.search({"photo": probe})] == [expected]
    explained = index.search({"photo": EXAMPLES / "bay-part.jpg"}, explain=True)[0].fields["photo"]["explanation"]
    assert "lie upon each other" in explained["shared"][0]["text"]


def test_two_pictures_are_compared() -> None:
    part = compare_pictures(EXAMPLES / "bay.png", EXAMPLES / "bay-part.jpg")
    assert part.same and part.inliers >= 8 and part.degrees is not None and abs(abs(part.degrees) - 12) < 1
    other = compare_pictures(EXAMPLES / "bay.png", EXAMPLES / "hills.png")
    assert not other.same and other.inliers == 0
    colour = np.stack([drawing(2)] * 3, axis=2)
    mirrored = compare_pictures(colour, colour[:, ::-1])
    assert mirrored.same and mirrored.mirrored


def test_what_is_no_picture_is_said() -> None:
    with pytest.raises(TypeError, match="expected a path, bytes"):
        compare_pictures(5, drawing(1))
    with pytest.raises(ValueError, match="1 to 4 channels"):
        compare_pictures(np.zeros((4, 4, 7)), drawing(1))
    with pytest.raises(BenzerError, match="expected JPEG, PNG"):
        compare_pictures(b"hello there", drawing(1))
    index = Index("memory:", "photos", {"photo": "image"})
    with pytest.raises(BenzerError, match="not a picture in base64"):
        index.insert([{"id": "1", "photo": "nowhere.png"}])
