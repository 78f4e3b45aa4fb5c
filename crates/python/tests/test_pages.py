"""What the pages of datasketch's documentation show, as programs that get the module as an argument: with either one they do the same.

The pages are not part of the package, so their programs are retold here: MinHash, b-bit and lean ones, LSH in memory and on Redis, the forest, the ensemble, weighted sets.
"""

from __future__ import annotations

import pickle
import shutil
import zlib
from types import ModuleType
from typing import Any

import datasketch
import numpy as np
import pytest
from redis_server import redis_port

import benzer

RIVER = "the river runs through the old town and past the mill where the children swim in the summer".split()
MILL = "the river runs through the old town and past the mill where nobody swims in the winter".split()
TRAIN = "a train leaves the station at noon and reaches the coast before the evening".split()
BASENAME = b"pages"


def sketch(d: ModuleType, words: list[str], **keywords: Any) -> Any:
    minhash = d.MinHash(**keywords)
    for word in words:
        minhash.update(word.encode("utf8"))
    return minhash


def page_of_minhash(d: ModuleType) -> Any:
    a, b = sketch(d, RIVER), sketch(d, MILL)
    estimates = [a.jaccard(b)]
    finer = [sketch(d, words, num_perm=256) for words in (RIVER, MILL)]
    estimates.append(finer[0].jaccard(finer[1]))
    a.merge(b)
    estimates += [a.count(), finer[0].count()]
    other = [sketch(d, words, hashfunc=zlib.crc32) for words in (RIVER, MILL)]
    estimates.append(other[0].jaccard(other[1]))
    on_processor = d.MinHash(num_perm=256, gpu_mode="disable")
    on_processor.update_batch([word.encode() for word in RIVER])
    assert np.array_equal(on_processor.hashvalues, finer[0].hashvalues)
    lean = d.LeanMinHash(a)
    return estimates, lean.jaccard(d.LeanMinHash(b)), d.bBitMinHash(finer[0], 2).jaccard(d.bBitMinHash(finer[1], 2))


def page_of_lsh(d: ModuleType) -> Any:
    a, b, c = (sketch(d, words, num_perm=128) for words in (RIVER, MILL, TRAIN))
    lsh = d.MinHashLSH(threshold=0.5, num_perm=128)
    lsh.insert("mill", b)
    lsh.insert("train", c)
    found = [sorted(lsh.query(a))]
    with lsh.insertion_session() as session:
        for key, minhash in [("river", a), ("mill again", b)]:
            session.insert(key, minhash)
    found.append(sorted(lsh.query(a)))
    lsh = pickle.loads(pickle.dumps(lsh))
    found.append(sorted(lsh.query(a)))
    with lsh.deletion_session() as session:
        session.remove("mill")
    lsh.remove("mill again")
    return found, sorted(lsh.query(a)), "mill" in lsh, "train" in lsh, lsh.is_empty()


def page_of_redis(d: ModuleType) -> Any:
    def connect() -> Any:
        config = {"type": "redis", "basename": BASENAME + d.__name__.encode(), "redis": {"host": "localhost", "port": redis_port()}}
        return d.MinHashLSH(threshold=0.5, num_perm=128, storage_config=config)

    lsh = connect()
    with lsh.insertion_session() as session:
        for key, words in [("river", RIVER), ("mill", MILL), ("train", TRAIN)]:
            session.insert(key, sketch(d, words, num_perm=128))
    query = sketch(d, RIVER, num_perm=128)
    # Another process has the name, or the pickled index.
    again = [lsh, connect(), pickle.loads(pickle.dumps(lsh))]
    return [sorted(one.query(query)) for one in again]


def page_of_the_forest(d: ModuleType) -> Any:
    k = 1
    a, b, c = (sketch(d, words, num_perm=128) for words in (RIVER, MILL, TRAIN))
    forest = d.MinHashLSHForest(num_perm=128)
    forest.add("mill", b)
    forest.add("train", c)
    before = forest.query(a, 2)
    forest.index()
    # More than are wanted, and the best of them.
    sets = {"mill": set(MILL), "train": set(TRAIN)}
    jaccard = {key: len(sets[key] & set(RIVER)) / len(sets[key] | set(RIVER)) for key in forest.query(a, 2 * k)}
    best = sorted(jaccard, key=lambda key: jaccard[key], reverse=True)[:k]
    wide = d.MinHashLSHForest(num_perm=250, l=10)
    return before, "mill" in forest, "river" in forest, best, wide.k, wide.l


def page_of_the_ensemble(d: ModuleType) -> Any:
    animals = {"cat", "dog", "cow", "hen"}
    farm = animals | {"barn", "field", "fence", "tractor", "mill", "pond"}
    street = {"cat", "dog", "bus", "tram", "shop", "lamp", "kerb", "sign", "bench", "tree", "bin", "clock"}
    ensemble = d.MinHashLSHEnsemble(threshold=0.8, num_perm=128, num_part=32)
    ensemble.index((key, sketch(d, sorted(words), num_perm=128), len(words)) for key, words in [("farm", farm), ("street", street)])
    found = sorted(ensemble.query(sketch(d, sorted(animals), num_perm=128), len(animals)))
    return "farm" in ensemble, "street" in ensemble, found


def page_of_weighted_sets(d: ModuleType) -> Any:
    a, b = [1, 3, 4, 5, 6, 7, 8, 9, 10, 4], [2, 4, 3, 8, 4, 7, 10, 9, 0, 0]
    generator = d.WeightedMinHashGenerator(len(a), sample_size=256, seed=12)
    first, second = generator.minhash(a), generator.minhash(b)
    many = generator.minhash_many(np.array([a, b]))
    assert [one == other for one, other in zip(many, [first, second], strict=True)] == [True, True]
    lsh = d.MinHashLSH(threshold=0.1, num_perm=256)
    lsh.insert("second", second)
    forest = d.MinHashLSHForest(num_perm=256)
    forest.add("second", second)
    forest.index()
    return first.jaccard(second), lsh.query(first), forest.query(first, 1)


@pytest.mark.parametrize("page", [page_of_minhash, page_of_lsh, page_of_redis, page_of_the_forest, page_of_the_ensemble, page_of_weighted_sets])
def test_a_page_does_the_same_after_changing_the_import(page: Any) -> None:
    if page is page_of_redis and shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
    assert page(benzer) == page(datasketch)


def test_programs_find_something() -> None:
    assert page_of_lsh(benzer) == ([["mill"], ["mill", "mill again", "river"], ["mill", "mill again", "river"]], ["river"], False, True, False)
    assert page_of_the_forest(benzer)[3] == ["mill"]
    assert page_of_the_ensemble(benzer) == (True, True, ["farm"])


def test_without_a_graphics_card_one_cannot_be_required() -> None:
    for d in (datasketch, benzer):
        with pytest.raises(RuntimeError):
            d.MinHash(num_perm=256, gpu_mode="always").update_batch([b"a"])
