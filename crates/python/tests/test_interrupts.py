"""Ctrl-C ends every long call soon, and what it worked on can be used on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process")

# Every call takes well above ten seconds on two fast cores, or leaves something else when it is not interrupted; it is after less than one.
CALLS = {
    "sketch_texts": (
        "texts = [text] * 1000",
        "benzer.sketch_texts(texts, 9, 65536, sketch='permutations')",
        "benzer.sketch_texts(['a']).shape == (1, 128)",
    ),
    "sketch_texts of an Arrow column": (
        "import pyarrow; texts = pyarrow.array([text] * 1000)",
        "benzer.sketch_texts(texts, 9, 65536, sketch='permutations')",
        "benzer.sketch_texts(texts[:1]).shape == (1, 128)",
    ),
    "sketch_sets": (
        "sets = [list(range(2000))] * 1000",
        "benzer.sketch_sets(sets, 65536, sketch='permutations')",
        "benzer.sketch_sets([[1]]).shape == (1, 128)",
    ),
    "sketch_csr": (
        "hashes = np.arange(2_000_000, dtype=np.uint64); ends = np.arange(0, 2_000_001, 2000)",
        "benzer.sketch_csr(hashes, ends, 65536, sketch='permutations')",
        "benzer.sketch_csr(hashes, [0, 5]).shape == (1, 128)",
    ),
    "MinHash.bulk": (
        "sets = [[b'%d' % i for i in range(2000)]] * 1000",
        "benzer.MinHash.bulk(sets, num_perm=65536)",
        "len(benzer.MinHash.bulk(sets[:1])) == 1",
    ),
    "update_batch": (
        "m = benzer.MinHash(num_perm=65536); tokens = [b'%d' % i for i in range(1_000_000)]",
        "m.update_batch(tokens)",
        "m.is_empty() and (m.update(b'a'), not m.is_empty())[1]",
    ),
    "count_many": (
        "lsh = benzer.MinHashLSH(num_perm=64, params=(64, 1)); same = np.zeros((100_000, 64), np.uint32); lsh.insert_many(range(30000), same[:30000])",
        "lsh.count_many(same)",
        "len(lsh) == 30000 and (lsh.insert_many([-1], same[:1]), -1 in lsh)[1]",
    ),
    "insert_many": (
        "lsh = benzer.MinHashLSH(num_perm=64, params=(64, 1)); same = np.zeros((1, 64), np.uint8); many = np.zeros((1_500_000, 64), np.uint8)",
        "lsh.insert_many(range(1_500_000), many)",
        "len(lsh) == len(list(lsh.keys)) < 1_500_000 and (lsh.insert_many([-1], same), -1 in lsh)[1]",
    ),
    "Index.insert": (
        "index = benzer.Index('memory:', 'a', {'text': {'kind': 'text', 'bag': True}}); rows = [{'id': i, 'text': text * 5} for i in range(4000)]",
        "index.insert(rows)",
        "len(index) == 0 and index.insert(rows[:1]) == 1",
    ),
    "Index.search_many": (
        "index = benzer.Index('memory:', 'a', {'text': 'text'}); index.insert([{'id': i, 'text': text[:99]} for i in range(30000)]); texts = [text[:99]] * 30000",
        "index.search_many(texts)",
        "len(index) == 30000 and len(index.search(text[:99])) == 10",
    ),
    "jaccard_pairs": (
        "from benzer import estimate; s = benzer.Sketcher('b8', 65536); m = s.sketch_sets([[1], [2]]); pairs = np.zeros((6_000_000, 2), np.int64)",
        "estimate.jaccard_pairs(m, pairs, s)",
        "estimate.jaccard_pairs(m, [(0, 1)], s).shape == (1, 4)",
    ),
    "features": (
        "from benzer.sklearn import BBitMinHashVectorizer; v = BBitMinHashVectorizer(num_perm=4096, b=8, ngram=9); v.fit(['a']); texts = [text * 20] * 12000",
        "v.transform(texts)",
        "v.transform(['a']).shape == (1, 4096 << 8)",
    ),
}

CHILD = """
import os, random
import numpy as np
import benzer
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
draw = random.Random(1)
text = " ".join("w%d" % draw.randrange(1 << 20) for _ in range(2000))
{setup}
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    assert {usable}
    print("interrupted", flush=True)
else:
    print("done before the signal", flush=True)
"""


@pytest.mark.parametrize("call", CALLS)
def test_a_long_call_ends_when_it_is_interrupted(call: str) -> None:
    setup, line, usable = CALLS[call]
    code = textwrap.dedent(CHILD).format(setup=setup, call=line, usable=usable)
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None and child.stdout.readline() == "ready\n", child.stderr and child.stderr.read()
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.7)
        os.kill(child.pid, signal.SIGINT)
        shown, errors = child.communicate(timeout=10)
        assert (shown, errors) == ("interrupted\n", ""), errors
    finally:
        child.kill()
        child.wait()
