"""Sketches in bulk and one by one, estimates with error bars, plans, and the known answers that Rust reads too."""

from __future__ import annotations

import array
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from conftest import read

import benzer
from benzer import Sketch, Sketcher, errors, estimate

ANSWERS = read("sketches/v1.json")


def test_known_answers_of_rust() -> None:
    assert len(ANSWERS) > 60
    for answer in ANSWERS:
        options = answer.get("text_options", {"n": 5, "unit": "words"})
        sketcher = Sketcher(
            answer["sketch"], answer["registers"], answer["seed"], ngram=options["n"], unit=options["unit"]
        )
        made = sketcher.sketch_text(answer["text"]) if "text" in answer else sketcher.sketch(answer["values"])
        assert made.encode().hex() == answer["encoded"], answer
        assert Sketch.decode(bytes.fromhex(answer["encoded"])) == made
        if "text" in answer:
            (row,) = sketcher.sketch_texts([answer["text"]])
            kept = len(made.words)
            assert np.array_equal(sketcher.words(row.reshape(1, -1))[0][:kept], made.words)


def test_the_command_line_gives_the_same_bytes(tmp_path: Path) -> None:
    answers = [a for a in ANSWERS if a["sketch"] == "b8" and a.get("text_options") == {"n": 5, "unit": "words"}]
    corpus, file = tmp_path / "corpus.jsonl", tmp_path / "corpus.bsk"
    corpus.write_text("".join(json.dumps({"text": a["text"]}) + "\n" for a in answers))
    command = [sys.executable, "-m", "benzer", "sketch", str(corpus), "-o", str(file), "--registers", "64"]
    subprocess.run(command, check=True, capture_output=True)
    stored = file.read_bytes()
    for answer in answers:
        words = Sketch.decode(bytes.fromhex(answer["encoded"])).words.astype("<u8").tobytes()
        assert words in stored


def test_all_kinds_of_columns_give_the_same_rows() -> None:
    import datasets
    import pandas as pd
    import polars as pl

    texts = [f"text number {i} of many, ä {i % 7}" for i in range(1000)] + [""]
    expected = benzer.sketch_texts(texts, ngram=2, num_perm=64)
    assert expected.shape == (1001, 64) and expected.dtype == np.uint8
    sliced = pa.array(["x", *texts, "y"])[1:-1]
    columns: list[Any] = [
        tuple(texts),
        pa.array(texts),
        sliced,
        pa.array(texts, pa.large_string()),
        pa.array(texts, pa.string_view()),
        pa.array(texts).dictionary_encode(),
        pa.chunked_array([texts[:10], texts[10:10], texts[10:]]),
        pl.Series(texts),
        pd.Series(texts),
        pd.Series(texts, dtype="string[pyarrow]"),
        np.array(texts, dtype=object),
        datasets.Dataset.from_dict({"text": texts})["text"],
        datasets.Dataset.from_dict({"text": ["x", *texts]}).select(range(1, 1002))["text"],
    ]
    for column in columns:
        assert np.array_equal(benzer.sketch_texts(column, ngram=2, num_perm=64), expected), type(column)
    assert np.array_equal(benzer.sketch_texts(texts, ngram=2, num_perm=64, threads=1), expected)
    assert benzer.sketch_texts([]).shape == (0, 128)


def test_wrong_texts_are_refused() -> None:
    with pytest.raises(TypeError, match="one string"):
        benzer.sketch_texts("text")
    with pytest.raises(ValueError, match="null"):
        benzer.sketch_texts(pa.array(["a", None]))
    with pytest.raises(TypeError, match="int64"):
        benzer.sketch_texts(pa.array([1, 2]))
    with pytest.raises(TypeError):
        benzer.sketch_texts(["a", None])
    with pytest.raises(TypeError):
        benzer.sketch_texts([b"a"])
    with pytest.raises(ValueError, match="at least 1"):
        benzer.sketch_texts(["a"], ngram=0)
    with pytest.raises(ValueError, match=r"texts\[1\].*lone surrogate"):
        benzer.sketch_texts(["a", "\ud800"])


@pytest.mark.parametrize(("sketch", "dtype", "width"), [
    ("b8", np.uint8, 100), ("b16", np.uint16, 100), ("b32", np.uint32, 100), ("fast", np.uint64, 100), ("b1", np.uint64, 2),
])
def test_rows_are_registers(sketch: str, dtype: Any, width: int) -> None:
    matrix = benzer.sketch_sets([["a", "b"], [1, 2, 3]], 100, sketch=sketch)
    assert matrix.dtype == dtype and matrix.shape == (2, width)
    hashes = np.arange(10, dtype=np.uint64) * np.uint64(2**40 + 1)
    rows = benzer.sketch_csr(hashes, [0, 4, 10], 100, sketch=sketch)
    sketcher = Sketcher(sketch, 100)
    assert np.array_equal(sketcher.words(rows)[1], sketcher.sketch_hashes(hashes[4:]).words)
    assert np.array_equal(benzer.sketch_csr(hashes.astype(np.int64), np.array([0, 4, 10], np.int32), 100, sketch=sketch), rows)


def test_anything_with_a_buffer_is_an_array() -> None:
    expected = benzer.sketch_csr(np.arange(6, dtype=np.uint64), [0, 2, 6])
    hashes, offsets = array.array("Q", range(6)), memoryview(array.array("q", [0, 2, 6]))
    assert np.array_equal(benzer.sketch_csr(hashes, offsets), expected)
    assert np.array_equal(benzer.sketch_csr(memoryview(hashes), pa.array([0, 2, 6])), expected)


def test_wrong_offsets_are_refused() -> None:
    for offsets in ([0, 5, 3], [0, 99], [-1, 2]):
        with pytest.raises(errors.ParameterError, match="offsets"):
            benzer.sketch_csr([1, 2, 3], offsets)
    with pytest.raises(TypeError, match="str, bytes or int"):
        benzer.sketch_sets([[1.5]])


def test_estimates_have_error_bars() -> None:
    for name in ("b8", "fast", "b1", "b2", "permutations", "one_permutation", "bottom_k", "xor2", "odd1024"):
        sketcher = Sketcher(name, 512)
        a, b = sketcher.sketch(range(900)), sketcher.sketch(range(100, 1000))
        found = estimate.jaccard(a, b)
        assert found.low <= found.value <= found.high and found.std_error > 0
        assert abs(found.value - 0.8) < 6 * found.std_error + 0.02, name
        both = estimate.containment(a, b)
        assert abs(both[0].value - 8 / 9) < 0.1
        assert abs(estimate.intersection(a, b).value - 800) < 100
        assert abs(estimate.union(a, b).value - 1000) < 100
        assert estimate.hamming(a, b).low <= 200 * 1.5


def test_three_sets_and_more() -> None:
    for name in ("b2", "b8", "fast", "bottom_k"):
        sketcher = Sketcher(name, 1024)
        a, b, c = (sketcher.sketch(range(s, s + 900)) for s in (0, 50, 100))
        three, many = estimate.three_way(a, b, c), estimate.n_way(a, b, c)
        assert three.low <= 0.8 <= three.high or abs(three.value - 0.8) < 0.05
        assert abs(three.value - many.value) < 0.1
    with pytest.raises(errors.BenzerError):
        estimate.three_way(*[Sketcher("b1").sketch([1])] * 3)
    cells = estimate.venn(*[Sketcher("fast", 1024).sketch(r) for r in (range(100), range(50, 150))])
    assert {cell.members for cell in cells} == {(0,), (1,), (0, 1)}
    assert sum(cell.share.value for cell in cells) == pytest.approx(1.0)
    odd = Sketcher("odd_set", 4096)
    size = estimate.set_size(odd.sketch(range(500)))
    assert abs(size.value - 500) < 6 * size.std_error
    difference = odd.sketch(range(500)).symmetric_difference(odd.sketch(range(100, 600)))
    assert abs(estimate.set_size(difference).value - 200) < 80


def test_estimates_of_datasketch_sketches() -> None:
    a, b = benzer.MinHash.bulk([[b"%d" % i for i in range(100)], [b"%d" % i for i in range(20, 120)]])
    found = estimate.jaccard(a, b)
    assert found.value == pytest.approx(a.jaccard(b)) and found.low < found.value < found.high
    with pytest.raises(errors.UndefinedError, match="empty"):
        estimate.jaccard(benzer.MinHash(), benzer.MinHash())
    with pytest.raises(errors.UndefinedError, match="sizes"):
        estimate.intersection(a, b)


def test_bulk_estimates_are_those_of_pairs() -> None:
    texts = ["the quick brown fox jumps over the lazy dog " * 3, "the quick brown fox jumps over the lazy cat " * 3, "else"]
    for name in ("b8", "b2", "fast"):
        sketcher = Sketcher(name, 128, ngram=2)
        matrix = sketcher.sketch_texts(texts)
        bars = estimate.jaccard_pairs(matrix, [(0, 1), (0, 2), (2, 2)], sketcher)
        assert bars.shape == (3, 4) and bars[2, 0] == 1.0
        assert bars[0, 1] > 0 and bars[0, 2] <= bars[0, 0] <= bars[0, 3]
    with pytest.raises(errors.ParameterError, match="below 3"):
        estimate.jaccard_pairs(matrix, [(0, 7)], sketcher)


def test_sketches_are_merged_packed_pickled_and_refused() -> None:
    sketcher = Sketcher("fast", 64)
    a, b = sketcher.sketch([1, 2, 3]), sketcher.sketch([3, 4])
    merged = a.merge(b)
    assert np.array_equal(merged.words, sketcher.sketch([1, 2, 3, 4]).words) and merged.size is None
    assert np.array_equal(a.pack("b8").words, Sketcher("b8", 64).sketch([1, 2, 3]).words)
    assert pickle.loads(pickle.dumps(a)) == a and pickle.loads(pickle.dumps(sketcher)).sketch([1, 2, 3]) == a
    assert a.with_size(7).size == 7.0 and "fast" in repr(a) and a != b
    with pytest.raises(errors.SpecMismatchError, match="expected"):
        estimate.jaccard(a, Sketcher("fast", 128).sketch([1]))
    with pytest.raises(errors.UnsupportedError, match="merging"):
        a.pack("b8").merge(b.pack("b8"))
    with pytest.raises(errors.DecodeError, match="cannot decode"):
        Sketch.decode(b"nonsense")
    with pytest.raises(errors.ParameterError, match="FAMILY"):
        Sketcher("nothing")
    assert issubclass(errors.ParameterError, ValueError) and issubclass(errors.NotFoundError, LookupError)
    weighted = Sketcher("weighted", 128)
    one, two = weighted.sketch(["a", "b"], [3.0, 1.0]), weighted.sketch(["a", "b"], [3.0, 1.0])
    assert one == two and one.size == 4.0
    with pytest.raises(errors.ParameterError, match="weights"):
        weighted.sketch(["a"], [1.0, 2.0])


def test_plans() -> None:
    plan = benzer.plan(threshold=0.7, recall=0.9, documents=10_000_000, set_size=200)
    assert plan.chosen.recall is not None and plan.chosen.recall >= 0.9
    assert {choice.sketch for choice in plan.alternatives} >= {"fast", "b8", "b1"}
    assert plan.curve.shape == (101, 2) and plan.curve[-1].tolist() == [1.0, 1.0]
    with pytest.raises(errors.PlanError, match="memory"):
        benzer.plan(memory=10)
    with pytest.raises(errors.ParameterError, match="threshold"):
        benzer.plan(threshold=2)
