"""imagehash's and imagededup's pHash, dHash and wHash: of every photo and every transform, as scores in the form of `benzer-bench images`.

    image_hashes.py PHOTOS < lines of (transform, tab, folder)

The score of two pictures is 64 less the differing bits of their hashes. imagededup is installed without torch: its hashes need none, but its packages import the
networks beside them, so the module of the hashes is loaded past that.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
import types
from pathlib import Path

import imagehash
import numpy
from PIL import Image

NEGATIVES = 5_000


def imagededup_hashes():
    root = Path(importlib.util.find_spec("imagededup").origin).parent
    for name in ("methods", "utils"):
        package = types.ModuleType(f"imagededup.{name}")
        package.__path__ = [str(root / name)]
        sys.modules[f"imagededup.{name}"] = package
    from imagededup.methods import hashing

    def of(kind):
        encoder = kind(verbose=False)
        return lambda path: int(encoder.encode_image(str(path)), 16)

    return {f"imagededup {name}": of(getattr(hashing, name)) for name in ("PHash", "DHash", "WHash")}


def imagehash_hashes():
    def of(function):
        return lambda path: int(str(function(Image.open(path))), 16)

    return {f"imagehash {name}": of(getattr(imagehash, name)) for name in ("phash", "dhash", "whash")}


def hashes(folder, kinds, seconds):
    """Hashes by kind, and the names of the photos."""
    paths = sorted(Path(folder).iterdir())
    found = {}
    for name, of in kinds.items():
        started = time.perf_counter()
        found[name] = numpy.array([of(path) for path in paths], numpy.uint64)
        seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - started
    return found, [path.stem for path in paths]


def main():
    kinds = {**imagehash_hashes(), **imagededup_hashes()}
    seconds: dict[str, float] = {}
    originals, names = hashes(sys.argv[1], kinds, seconds)
    scores, negatives, photos = {}, {name: [] for name in kinds}, len(names)
    for line in sys.stdin:
        transform, folder = line.rstrip("\n").split("\t")
        changed, changed_names = hashes(folder, kinds, seconds)
        photos += len(changed_names)
        same = numpy.array([[one == other for other in names] for one in changed_names])
        scores[transform] = {}
        for name in kinds:
            score = 64 - numpy.bitwise_count(changed[name][:, None] ^ originals[name][None, :]).astype(int)
            scores[transform][name] = score[same].tolist()
            negatives[name].append(score[~same])
    highest = {name: numpy.sort(numpy.concatenate(parts))[::-1][:NEGATIVES].tolist() for name, parts in negatives.items()}
    milliseconds = {name: 1e3 * took / photos for name, took in seconds.items()}
    json.dump({"scores": scores, "negatives": highest, "milliseconds": milliseconds}, sys.stdout)


if __name__ == "__main__":
    main()
