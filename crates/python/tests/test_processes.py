"""Threads and forked workers: nothing crashes, nothing waits for ever, and the answers are the same."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import benzer

TEXTS = [f"text number {i} of a few, in which {i % 13} words differ" for i in range(3000)]


def digest(_: int) -> int:
    return hash(benzer.sketch_texts(TEXTS, ngram=2).tobytes())


def one_sketch(i: int) -> list[int]:
    m = benzer.MinHash(num_perm=16)
    m.update_batch([b"%d" % i])
    return list(m.hashvalues.tolist())


def test_threads_give_the_same_rows() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(digest, range(16)))) == 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_that_were_forked_or_spawned(method: str) -> None:
    expected = [one_sketch(i) for i in range(8)]
    benzer.sketch_texts(TEXTS)  # All cores were at work before the fork.
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        assert list(pool.map(one_sketch, range(8), timeout=120)) == expected


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_fork_while_another_thread_works() -> None:
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            benzer.sketch_texts(TEXTS)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                ok = benzer.sketch_texts(TEXTS[:300], threads=2).shape == (300, 128)
                os._exit(0 if ok else 1)
            deadline = time.monotonic() + 60
            while (waited := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
                time.sleep(0.005)
            assert waited[0] == child and os.waitstatus_to_exitcode(waited[1]) == 0
    finally:
        stop.set()
        thread.join()


def test_an_index_is_shared_by_threads() -> None:
    lsh = benzer.MinHashLSH(num_perm=64, params=(16, 4))
    matrix = np.random.default_rng(0).integers(0, 2**32, size=(4000, 64), dtype=np.uint32)
    sketches: list[Any] = [benzer.MinHash(hashvalues=row, scheme="affine32") for row in matrix[:400]]
    failures: list[BaseException] = []

    def insert(part: int) -> None:
        try:
            if part == 0:
                lsh.insert_many(range(1000, 4000), matrix[1000:])
            for i in range(part * 100, part * 100 + 100):
                lsh.insert(Slow(i), sketches[i])
                assert lsh.query(sketches[i]) == [Slow(i)]
                lsh.count_many(matrix[:50])
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=insert, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=600)
        assert not thread.is_alive()
    assert not failures and len(lsh) == 3400


class Slow:
    """A key that gives the interpreter away while it is compared."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __hash__(self) -> int:
        return self.value % 5

    def __eq__(self, other: object) -> bool:
        time.sleep(0)
        return isinstance(other, Slow) and self.value == other.value


def test_the_interpreter_goes_on_while_the_engine_works() -> None:
    ticks = 0
    done = threading.Event()

    def work() -> None:
        benzer.sketch_texts(TEXTS * 40, threads=1)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0)
    thread.join()
    assert ticks > 1
