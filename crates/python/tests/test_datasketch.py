"""The same calls to datasketch and to Benzer give the same answers and the same errors."""

from __future__ import annotations

import pickle
from typing import Any

import datasketch
import numpy as np
import pytest

import benzer

SCHEMES = ["affine32", "affine64", "legacy"]


def tokens(n: int, start: int = 0) -> list[bytes]:
    return [b"token %d" % i for i in range(start, start + n)]


def both(name: str, *arguments: Any, **keywords: Any) -> tuple[Any, Any]:
    return getattr(datasketch, name)(*arguments, **keywords), getattr(benzer, name)(*arguments, **keywords)


def sketches(n: int, start: int, **keywords: Any) -> tuple[Any, Any]:
    theirs, ours = both("MinHash", **keywords)
    theirs.update_batch(tokens(n, start))
    ours.update_batch(tokens(n, start))
    return theirs, ours


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", [0, 1, 42, 2**32 - 1])
def test_hash_values_parameters_and_estimates_agree(scheme: str, seed: int) -> None:
    a = sketches(200, 0, seed=seed, num_perm=96, scheme=scheme)
    b = sketches(150, 100, seed=seed, num_perm=96, scheme=scheme)
    for theirs, ours in (a, b):
        assert np.array_equal(theirs.hashvalues, ours.hashvalues)
        assert theirs.hashvalues.dtype == ours.hashvalues.dtype
        assert np.array_equal(theirs.permutations, ours.permutations)
        assert theirs.count() == ours.count()
        assert theirs.is_empty() == ours.is_empty() is False
    assert a[0].jaccard(b[0]) == a[1].jaccard(b[1])
    unions = datasketch.MinHash.union(a[0], b[0]), benzer.MinHash.union(a[1], b[1])
    assert np.array_equal(*[union.hashvalues for union in unions])
    a[0].merge(b[0])
    a[1].merge(b[1])
    assert np.array_equal(a[0].hashvalues, a[1].hashvalues)
    assert benzer.MinHash.union(a[1], b[1]) == a[1]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_hash_function_of_the_caller_and_given_permutations(scheme: str) -> None:
    theirs, ours = both("MinHash", hashfunc=lambda x: x * 7919 % 2**32, scheme=scheme)
    theirs.update_batch(range(50))
    ours.update_batch(range(50))
    ours.update(99)
    theirs.update(99)
    assert np.array_equal(theirs.hashvalues, ours.hashvalues)
    again = benzer.MinHash(permutations=theirs.permutations, scheme=scheme)
    other = benzer.MinHash(scheme=scheme)
    for m in (again, other):
        m.update_batch(tokens(9))
    assert again == other
    assert pickle.loads(pickle.dumps(again)) == again
    too_wide = {"affine32": 2**32, "affine64": 2**64, "legacy": 2**64}[scheme]
    for module in (datasketch, benzer):
        with pytest.raises((ValueError, OverflowError)):
            module.MinHash(hashfunc=lambda _: too_wide, scheme=scheme).update_batch([b"x"])


def test_what_is_hashed_may_be_anything_with_a_buffer() -> None:
    values = [b"bytes", bytearray(b"array"), memoryview(b"view"), np.int64(7), np.arange(3)]
    theirs, ours = both("MinHash")
    theirs.update_batch(values)
    ours.update_batch(iter(values))
    assert np.array_equal(theirs.hashvalues, ours.hashvalues)
    for module in (datasketch, benzer):
        for wrong in ("text", 5, None):
            with pytest.raises(TypeError):
                module.MinHash().update(wrong)
    empty = benzer.MinHash()
    empty.update_batch([])
    assert empty.is_empty()


def test_bulk_and_generator_agree_with_one_by_one() -> None:
    data = [tokens(i % 7, i) for i in range(5000)]
    ours = benzer.MinHash.bulk(data, num_perm=32, seed=9)
    assert [m.hashvalues.tolist() for m in ours[:300]] == [
        m.hashvalues.tolist() for m in datasketch.MinHash.bulk(data[:300], num_perm=32, seed=9)
    ]
    assert ours[4500:4510] == list(benzer.MinHash.generator(data[4500:4510], num_perm=32, seed=9))
    first = ours[0].copy()
    first.update(b"more")
    assert first != ours[0]


REFUSED = [
    lambda d: d.MinHash(num_perm=0),
    lambda d: d.MinHash(scheme="other"),
    lambda d: d.MinHash(hashvalues=[1, 2]),
    lambda d: d.MinHash(permutations=([1], [1])),
    lambda d: d.MinHash(hashfunc=5),
    lambda d: d.MinHash(num_perm=4, permutations=([2, 3, 5, 7], [1, 1, 1, 1]), scheme="affine32"),
    lambda d: d.MinHash(num_perm=4, permutations=([1], [1]), scheme="affine32"),
    lambda d: d.MinHash(hashvalues=[2**32], scheme="affine32"),
    lambda d: d.MinHash(seed=1).jaccard(d.MinHash(seed=2)),
    lambda d: d.MinHash(16).jaccard(d.MinHash(32)),
    lambda d: d.MinHash().jaccard(d.MinHash(scheme="legacy")),
    lambda d: d.MinHash(seed=1).merge(d.MinHash(seed=2)),
    lambda d: d.MinHash.union(d.MinHash()),
    lambda d: d.MinHash.union(d.MinHash(), d.MinHash(16)),
    lambda d: d.LeanMinHash(),
    lambda d: d.LeanMinHash(seed=1, hashvalues=[1]),
    lambda d: d.LeanMinHash(d.MinHash(), scheme="legacy"),
    lambda d: d.LeanMinHash(seed=1, hashvalues=[], scheme="affine32"),
    lambda d: d.LeanMinHash(d.MinHash()).update(b"x"),
    lambda d: d.LeanMinHash(d.MinHash()).serialize(bytearray(3)),
    lambda d: d.bBitMinHash(d.MinHash(), b=33),
    lambda d: d.bBitMinHash(d.MinHash(), r=1.5),
    lambda d: d.bBitMinHash(d.MinHash(), b=1).jaccard(d.bBitMinHash(d.MinHash(), b=2)),
    lambda d: d.MinHashLSH(threshold=1.5),
    lambda d: d.MinHashLSH(num_perm=1),
    lambda d: d.MinHashLSH(weights=(0.5, 0.6)),
    lambda d: d.MinHashLSH(weights=(-0.5, 1.5)),
    lambda d: d.MinHashLSH(params=(20, 20)),
    lambda d: d.MinHashLSH(params=(1, 4)),
    lambda d: d.MinHashLSH(threshold=1.0),
    lambda d: d.MinHashLSH(storage_config={"type": "other"}),
    lambda d: d.MinHashLSH().insert("a", d.MinHash(16)),
    lambda d: d.MinHashLSH().query(d.MinHash(16)),
    lambda d: d.MinHashLSH().remove("a"),
    lambda d: d.MinHashLSH().merge(d.MinHashLSH(params=(8, 4))),
    lambda d: d.MinHashLSH().merge(5),
    lambda d: [lsh := d.MinHashLSH(), lsh.insert(1, d.MinHash()), lsh.insert(1, d.MinHash())],
    lambda d: [lsh := d.MinHashLSH(), lsh.insert(1, d.MinHash()), lsh.insert(2, d.MinHash(scheme="legacy"))],
    lambda d: d.MinHashLSHForest(num_perm=4, l=8),
    lambda d: d.MinHashLSHForest(l=0),
    lambda d: d.MinHashLSHForest().add("a", d.MinHash(16)),
    lambda d: d.MinHashLSHForest().query(d.MinHash(), 0),
    lambda d: d.MinHashLSHForest().get_minhash_hashvalues("a"),
    lambda d: d.MinHashLSHEnsemble(m=1),
    lambda d: d.MinHashLSHEnsemble(num_part=0),
    lambda d: d.MinHashLSHEnsemble(num_perm=16, num_part=2, m=4).index([]),
    lambda d: d.WeightedMinHashGenerator(3).minhash(5),
    lambda d: d.WeightedMinHashGenerator(3).minhash([1, 2]),
    lambda d: d.WeightedMinHashGenerator(3).minhash([0, 0, 0]),
    lambda d: d.WeightedMinHashGenerator(3).minhash_many([[1]]),
]


@pytest.mark.parametrize("call", REFUSED)
def test_what_datasketch_refuses_is_refused_with_the_same_words(call: Any) -> None:
    caught = []
    for module in (datasketch, benzer):
        with pytest.raises(Exception) as error:  # noqa: PT011
            call(module)
        caught.append(error.value)
    theirs, ours = caught
    assert isinstance(ours, type(theirs))
    if "out of bounds" not in str(theirs):
        assert " ".join(str(ours).split()) == " ".join(str(theirs).split())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_lean_bytes_agree_in_every_order(scheme: str) -> None:
    theirs, ours = sketches(20, 0, seed=7, num_perm=13, scheme=scheme)
    lean = datasketch.LeanMinHash(theirs), benzer.LeanMinHash(ours)
    for order in "@=<>!":
        buffers = [bytearray(one.bytesize(order)) for one in lean]
        for one, buffer in zip(lean, buffers, strict=True):
            one.serialize(buffer, order)
        assert buffers[0] == buffers[1]
        assert benzer.LeanMinHash.deserialize(memoryview(buffers[0]), order) == lean[1]
    assert lean[1].jaccard(ours) == 1.0
    assert hash(lean[1]) == hash(lean[1].copy())
    assert pickle.loads(pickle.dumps(lean[1])) == lean[1]
    assert lean[0].__getstate__() == lean[1].__getstate__()
    assert benzer.LeanMinHash.union(lean[1], ours) == lean[1]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("b", [0, 1, 2, 3, 4, 7, 8, 16, 31, 32])
def test_b_bit_values_estimates_and_bytes_agree(scheme: str, b: int) -> None:
    a = sketches(200, 0, num_perm=100, scheme=scheme)
    c = sketches(200, 50, num_perm=100, scheme=scheme)
    for r in (0.0, 0.25):
        theirs = [datasketch.bBitMinHash(m, b=b, r=r) for m in (a[0], c[0])]
        ours = [benzer.bBitMinHash(m, b=b, r=r) for m in (a[1], c[1])]
        assert np.array_equal(theirs[0].hashvalues, ours[0].hashvalues)
        assert theirs[0].bytesize() == ours[0].bytesize()
        assert theirs[0].__getstate__() == ours[0].__getstate__()
        assert pickle.loads(pickle.dumps(ours[0])) == ours[0]
        assert (ours[0] == ours[1]) == (b == 0)
        if b > 0:
            assert theirs[0].jaccard(theirs[1]) == pytest.approx(ours[0].jaccard(ours[1]), rel=1e-12)


def test_weighted_samples_agree() -> None:
    rng = np.random.default_rng(5)
    vectors = rng.integers(0, 4, size=(20, 30)).astype(float)
    vectors[:, 0] += 1
    theirs, ours = both("WeightedMinHashGenerator", 30, 64, seed=11)
    made = [(theirs.minhash(v), ours.minhash(v)) for v in vectors]
    for a, b in made:
        assert np.array_equal(a.hashvalues, b.hashvalues)
    assert made[0][0].jaccard(made[1][0]) == made[0][1].jaccard(made[1][1])
    assert made[0][1].copy() == made[0][1] != made[1][1]
    many = ours.minhash_many(np.vstack([vectors[:3], np.zeros((1, 30))]))
    assert many[3] is None
    assert many[0].jaccard(many[0]) == 1.0
    lsh = benzer.WeightedMinHashLSH(threshold=0.5, num_perm=64)
    lsh.insert("a", made[0][1])
    assert lsh.query(made[0][1]) == ["a"]


def test_the_parameters_of_an_ensemble_agree() -> None:
    for threshold in (0.3, 0.5, 0.8):
        theirs, ours = both("MinHashLSHEnsemble", threshold=threshold, num_perm=64, num_part=4, m=4)
        assert np.array_equal(theirs.params, ours.params)
    entries = [(f"s{i}", tokens(5 + 3 * i), 5 + 3 * i) for i in range(40)]
    found = []
    for module, ensemble in ((datasketch, theirs), (benzer, ours)):
        made = []
        for key, values, size in entries:
            m = module.MinHash(num_perm=64)
            m.update_batch(values)
            made.append((key, m, size))
        ensemble.index(list(made))
        assert "s3" in ensemble and "nobody" not in ensemble and not ensemble.is_empty()
        found.append([sorted(ensemble.query(m, size)) for _, m, size in made])
    # datasketch goes back through its table by the wrong column, so its partitions are not the best ones; ours are never worse.
    sizes = [size for _, _, size in entries]
    assert wasted(ours.uppers, sizes) <= wasted(theirs.uppers, sizes)
    for i, (mine, others) in enumerate(zip(found[1], found[0], strict=True)):
        assert f"s{i}" in mine
        assert len(set(mine) ^ set(others)) <= len(entries) // 2


def wasted(uppers: list[int], sizes: list[int]) -> float:
    """Expected false positives of partitions with these upper ends."""
    upper = [min(u for u in uppers if u >= size) for size in sizes]
    return sum((u - size) / u for u, size in zip(upper, sizes, strict=True))
