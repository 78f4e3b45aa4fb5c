"""MinHashLSH in Redis: the same answers as in memory, from several clients, with sessions and pickling."""

from __future__ import annotations

import pickle
import shutil
from typing import Any

import pytest
from redis_server import redis_port

from benzer import MinHash, MinHashLSH, MinHashLSHEnsemble

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")


def config(name: bytes) -> dict[str, Any]:
    return {"type": "redis", "basename": name, "redis": {"host": {"env": "NO_SUCH_VARIABLE", "default": "127.0.0.1"}, "port": redis_port()}}


def sketches(n: int = 60) -> list[MinHash]:
    return MinHash.bulk([[b"%d" % (i // 3 * 40 + j + i % 3) for j in range(30)] for i in range(n)], num_perm=64)


def test_answers_are_those_of_memory() -> None:
    minhashes = sketches()
    memory = MinHashLSH(num_perm=64, threshold=0.5)
    redis = MinHashLSH(num_perm=64, threshold=0.5, storage_config=config(b"one"))
    assert redis.is_empty() and redis.prepickle
    with redis.insertion_session(buffer_size=50) as session:
        for i, m in enumerate(minhashes[:40]):
            session.insert(("key", i), m)
            with pytest.raises(ValueError, match="already exists"):
                session.insert(("key", i), m)
    redis.insert_many([("key", i) for i in range(40, 60)], minhashes[40:])
    for i, m in enumerate(minhashes):
        memory.insert(("key", i), m)
    other = MinHashLSH(num_perm=64, threshold=0.5, storage_config=config(b"one"))
    copy = pickle.loads(pickle.dumps(redis))
    for lsh in (redis, other, copy):
        assert [sorted(lsh.query(m)) for m in minhashes] == [sorted(memory.query(m)) for m in minhashes]
        assert [sorted(keys) for keys in lsh.query_many(minhashes)] == [sorted(memory.query(m)) for m in minhashes]
        assert lsh.count_many(minhashes).tolist() == [len(memory.query(m)) for m in minhashes]
        assert lsh.duplicated_many(minhashes).tolist() == memory.duplicated_many(minhashes).tolist()
        assert lsh.get_counts() == memory.get_counts() and len(lsh) == 60 and ("key", 3) in lsh
    with redis.deletion_session() as session:
        for i in range(30):
            session.remove(("key", i))
            with pytest.raises(ValueError, match="does not exist"):
                session.remove(("key", i))
    for i in range(30):
        memory.remove(("key", i))
    assert [sorted(other.query(m)) for m in minhashes] == [sorted(memory.query(m)) for m in minhashes]
    memory_again = MinHashLSH(num_perm=64, threshold=0.5, prepickle=True)
    memory_again.merge(redis)
    assert [sorted(memory_again.query(m)) for m in minhashes] == [sorted(memory.query(m)) for m in minhashes]


def test_keys_without_pickling_are_bytes() -> None:
    (m, *_) = sketches(3)
    lsh = MinHashLSH(num_perm=64, storage_config=config(b"two"), prepickle=False)
    lsh.insert(b"key", m)
    assert lsh.query(m) == [b"key"] and list(lsh.keys) == [b"key"]
    assert lsh.hashtables[0].itemcounts() == lsh.get_counts()[0]
    with pytest.raises(TypeError, match="requires bytes keys"):
        lsh.insert("key", m)


def test_an_ensemble_in_redis() -> None:
    ensemble = MinHashLSHEnsemble(num_perm=64, num_part=2, m=4, threshold=0.5, storage_config=config(b"three"))
    minhashes = sketches(9)
    ensemble.index([(i, m, 30 + i) for i, m in enumerate(minhashes)])
    assert all(i in set(ensemble.query(m, 30 + i)) for i, m in enumerate(minhashes))
