"""MinHashLSH and MinHashLSHForest beside datasketch's, sessions, bulk calls, keys of any type, pickling."""

from __future__ import annotations

import pickle
from typing import Any

import datasketch
import numpy as np
import pytest

import benzer
from benzer import MinHash, MinHashLSH, MinHashLSHForest


def data(n: int = 300) -> list[list[bytes]]:
    """Sets of which neighbours are similar."""
    return [[b"%d" % (i // 3 * 40 + j + i % 3) for j in range(30)] for i in range(n)]


def sketches(module: Any, scheme: str = "affine32", n: int = 300) -> list[Any]:
    made = module.MinHash.bulk(data(n), num_perm=64, scheme=scheme)
    return list(made)


@pytest.mark.parametrize("scheme", ["affine32", "affine64", "legacy"])
@pytest.mark.parametrize("options", [{"threshold": 0.5}, {"params": (8, 8)}, {"weights": (0.2, 0.8)}, {"prepickle": True}])
def test_queries_find_the_same_keys(scheme: str, options: dict[str, Any]) -> None:
    found = []
    for module in (datasketch, benzer):
        lsh = module.MinHashLSH(num_perm=64, **options)
        minhashes = sketches(module, scheme)
        for i, m in enumerate(minhashes[:200]):
            lsh.insert(f"k{i}", m)
        with lsh.insertion_session(buffer_size=10) as session:
            for i, m in enumerate(minhashes[200:], 200):
                session.insert(f"k{i}", m)
        for i in range(0, 300, 7):
            lsh.remove(f"k{i}")
        with lsh.deletion_session() as session:
            session.remove("k1")
        assert "k2" in lsh and "k0" not in lsh and "k1" not in lsh and not lsh.is_empty()
        counts = [sorted(band.values()) for band in lsh.get_counts()]
        some = [sorted(band.values()) for band in lsh.get_subset_counts("k2", "k3", "k4", "nobody")]
        lsh.add_to_query_buffer(minhashes[3])
        lsh.add_to_query_buffer(minhashes[4])
        buffered = sorted(lsh.collect_query_buffer())
        found.append(((lsh.b, lsh.r), [sorted(lsh.query(m)) for m in minhashes], counts, some, buffered))
    assert found[0] == found[1]
    assert any(len(keys) > 1 for keys in found[1][1])


def test_keys_follow_the_rules_of_python() -> None:
    lsh = MinHashLSH(num_perm=64)
    m = sketches(benzer, n=3)[0]
    keys: list[Any] = [1, "1", b"1", (1, "x"), frozenset([2]), 2**70, -1, -(2**63), None, 3.5]
    for key in keys:
        lsh.insert(key, m)
    assert all(key in lsh for key in keys) and len(lsh) == len(keys)
    assert sorted(map(repr, lsh.query(m))) == sorted(map(repr, keys))
    for same in (1, 1.0, True, np.int64(1), -1.0, float(-(2**63)), 2.0**70):
        assert same in lsh
        with pytest.raises(ValueError, match="already exists"):
            lsh.insert(same, m)
    with pytest.raises(TypeError, match="unhashable"):
        lsh.insert([1], m)
    with pytest.raises(TypeError, match="unhashable"):
        _ = {} in lsh
    lsh.insert(1, m, check_duplication=False)
    assert len(lsh) == len(keys)
    for key in keys:
        lsh.remove(key)
    assert lsh.is_empty() and lsh.query(m) == [] and bool(lsh)


class Awkward:
    """Equal to others of the same name; one of them cannot be compared."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        if self.name == "bad":
            raise RuntimeError("cannot compare")
        return isinstance(other, Awkward) and self.name == other.name


def test_an_error_of_a_key_is_the_callers() -> None:
    lsh = MinHashLSH(num_perm=64)
    m = sketches(benzer, n=3)[0]
    lsh.insert(Awkward("a"), m)
    lsh.insert(Awkward("b"), m)
    assert Awkward("a") in lsh and Awkward("c") not in lsh
    lsh.insert(Awkward("bad"), m)
    with pytest.raises(RuntimeError, match="cannot compare"):
        lsh.insert(Awkward("c"), m)
    assert len(lsh) == 3


def test_merging_and_pickling() -> None:
    minhashes = sketches(benzer)
    a, b = MinHashLSH(num_perm=64, threshold=0.5), MinHashLSH(num_perm=64, threshold=0.5)
    whole = MinHashLSH(num_perm=64, threshold=0.5)
    for i, m in enumerate(minhashes):
        (a if i < 150 else b).insert(i, m)
        whole.insert(i, m)
    a.merge(b, check_overlap=True)
    copy = pickle.loads(pickle.dumps(a))
    for lsh in (a, copy):
        assert [sorted(lsh.query(m)) for m in minhashes] == [sorted(whole.query(m)) for m in minhashes]
        assert lsh.get_counts() == whole.get_counts()
    with pytest.raises(ValueError, match="overlapping"):
        a.merge(b, check_overlap=True)
    a.merge(b)
    assert len(a) == 300
    with pytest.raises(ValueError, match="scheme"):
        copy.insert("x", MinHash(64, scheme="legacy"))
    assert len(list(a.keys)) == a.keys.size() == 300 and len(a.keys[0]) == a.b
    table = a.hashtables[0]
    assert sum(len(table[bucket]) for bucket in table) == 300


def test_a_hash_function_of_buckets_changes_no_answer() -> None:
    minhashes = sketches(benzer)
    plain, hashed = MinHashLSH(num_perm=64), MinHashLSH(num_perm=64, hashfunc=lambda band: band[:16])
    for i, m in enumerate(minhashes):
        plain.insert(i, m)
        hashed.insert(i, m)
    assert [set(plain.query(m)) <= set(hashed.query(m)) for m in minhashes] == [True] * 300
    with pytest.raises(ValueError, match="hashfunc"):
        hashed.query_many(minhashes)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_bulk_calls_do_what_single_ones_do(dtype: Any) -> None:
    rng = np.random.default_rng(1)
    matrix = rng.integers(0, 3, size=(3000, 16)).astype(dtype)
    lsh = MinHashLSH(num_perm=16, params=(4, 4))
    lsh.insert_many(range(3000), matrix)
    assert len(lsh) == 3000 and 17 in lsh
    keys = [[row[4 * band : 4 * band + 4].tobytes() for band in range(4)] for row in matrix]
    expected = [{j for j in range(3000) if any(map(bytes.__eq__, keys[i], keys[j]))} for i in range(0, 3000, 500)]
    found = lsh.query_many(matrix[::500])
    assert [set(one) for one in found] == expected and all(len(one) == len(set(one)) for one in found)
    assert lsh.count_many(matrix[::500]).tolist() == [len(one) for one in expected]
    assert lsh.duplicated_many(matrix).tolist() == (lsh.count_many(matrix) > 1).tolist()
    lonely = np.full((1, 16), 9, dtype=dtype)
    assert lsh.duplicated_many(lonely).tolist() == [False]
    lsh.insert_many([3001], lonely)
    assert lsh.duplicated_many(lonely).tolist() == [False]
    lsh.remove(3001)
    with pytest.raises(ValueError, match="already exists"):
        lsh.insert_many([5000, 5000], matrix[:2])
    with pytest.raises(ValueError, match="already exists"):
        lsh.insert_many(np.array([1, 2]), matrix[:2])
    assert 5000 not in lsh
    lsh.insert_many([1, 2, 2, "new"], matrix[[0, 1, 5, 6]], check_duplication=False)
    assert len(lsh) == 3001
    moved = lsh.keys[2]
    lsh.remove(2)
    lsh.insert_many([2], matrix[5:6])
    assert lsh.keys[2] == moved
    with pytest.raises(ValueError, match="columns"):
        lsh.insert_many([1], matrix[:1, :8])
    with pytest.raises(ValueError, match="`keys` must be 2"):
        lsh.insert_many([9000], matrix[:2])


def test_bulk_calls_take_sketches_too() -> None:
    minhashes = sketches(benzer)
    one, many = MinHashLSH(num_perm=64, threshold=0.5), MinHashLSH(num_perm=64, threshold=0.5)
    for i, m in enumerate(minhashes):
        one.insert(f"k{i}", m)
    many.insert_many([f"k{i}" for i in range(300)], minhashes)
    assert [sorted(keys) for keys in many.query_many(minhashes)] == [sorted(one.query(m)) for m in minhashes]
    with pytest.raises(ValueError, match="scheme"):
        many.query_many([MinHash(64, scheme="legacy")])
    assert many.query_many([]) == []


@pytest.mark.parametrize("scheme", ["affine32", "affine64", "legacy"])
def test_a_forest_finds_the_same_keys(scheme: str) -> None:
    found = []
    for module in (datasketch, benzer):
        forest = module.MinHashLSHForest(num_perm=64, l=6)
        minhashes = sketches(module, scheme)
        for i, m in enumerate(minhashes):
            forest.add(i, m)
        assert forest.is_empty() and 5 in forest and "x" not in forest
        forest.index()
        assert not forest.is_empty()
        answers = [[sorted(forest.query(m, k)) for k in (1, 3, 10)] for m in minhashes]
        found.append((answers, forest.get_minhash_hashvalues(7).tolist(), str(forest.get_minhash_hashvalues(7).dtype)))
        if module is benzer:
            copy = pickle.loads(pickle.dumps(forest))
            assert [[sorted(copy.query(m, k)) for k in (1, 3, 10)] for m in minhashes] == answers
    assert found[0] == found[1]
    with pytest.raises(ValueError, match="already"):
        MinHashLSHForest.add(forest, 0, minhashes[0])
