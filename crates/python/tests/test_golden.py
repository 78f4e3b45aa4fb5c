"""datasketch's hash values and bytes, bit for bit, as recorded with its versions 1.6.5 and 2.0.0."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from conftest import read

import benzer
from benzer import LeanMinHash, MinHash, MinHashLSH

FILES = {
    "datasketch-1.6.5-legacy": "legacy",
    "datasketch-2.0.0-legacy": "legacy",
    "datasketch-2.0.0-affine32": "affine32",
    "datasketch-2.0.0-affine64": "affine64",
}


@pytest.mark.parametrize(("file", "scheme"), FILES.items())
def test_hash_values_are_the_recorded_ones(file: str, scheme: str) -> None:
    golden = read(f"golden/{file}.json")
    compared = 0
    for settings, recorded in golden["signatures"].items():
        seed, num_perm = (int(part) for part in settings.removeprefix("seed").split("_perm"))
        for name, tokens in golden["sets"].items():
            m = MinHash(num_perm=num_perm, seed=seed, scheme=scheme)
            m.update_batch([token.encode() for token in tokens])
            assert m.hashvalues.tolist() == recorded["hashvalues"][name], (settings, name)
            one = MinHash(num_perm=num_perm, seed=seed, scheme=scheme)
            for token in tokens:
                one.update(token.encode())
            assert one == m
            compared += 1
    assert compared == 27


@pytest.mark.parametrize(("file", "scheme"), FILES.items())
def test_parameters_bands_and_bytes_are_the_recorded_ones(file: str, scheme: str) -> None:
    golden = read(f"golden/{file}.json")
    for settings, recorded in golden["signatures"].items():
        seed, num_perm = (int(part) for part in settings.removeprefix("seed").split("_perm"))
        a, b = MinHash(num_perm=num_perm, seed=seed, scheme=scheme).permutations
        assert (a.tolist(), b.tolist()) == (recorded["a"], recorded["b"])
    for name, encoded in golden["lean_serialized_b64_seed1_perm16"].items():
        m = MinHash(num_perm=16, scheme=scheme)
        m.update_batch([token.encode() for token in golden["sets"][name]])
        lean = LeanMinHash(m)
        buffer = bytearray(lean.bytesize())
        lean.serialize(buffer)
        assert base64.b64encode(buffer).decode() == encoded
        assert LeanMinHash.deserialize(base64.b64decode(encoded)) == lean
    for settings, shape in golden["lsh_params"].items():
        threshold, num_perm = settings.removeprefix("t").split("_k")
        lsh = MinHashLSH(threshold=float(threshold), num_perm=int(num_perm))
        assert (lsh.b, lsh.r) == (shape["b"], shape["r"])


def test_the_version_is_that_of_the_crate() -> None:
    assert benzer.__version__.count(".") == 2
    assert MinHashLSH().b == 5 and LeanMinHash(MinHash()).bytesize("<") == 8 + 4 + 1 + 4 * 128
    assert np.dtype(MinHash().hashvalues.dtype) == np.uint32
