"""What wrong arguments are told: every message names the argument and the value, in Python's words."""

from __future__ import annotations

import inspect
import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone

import benzer
from benzer import MinHash, errors, estimate
from benzer.errors import in_python
from benzer.sklearn import BBitMinHashVectorizer
from benzer.sketch import text_options

TEXT = "the quick brown fox jumps over the lazy dog"
# Words of Rust, of its libraries and of the command line, and what Python says when a value was used before it was looked at.
FOREIGN = re.compile(
    r"\b(?:usize|u8|u16|u32|u64|i32|i64|i128|f32|f64|isize|Vec|Option|serde|struct \w+|enum|panicked|PyErr)\b|at line \d|column \d+$|(?<![\w`])--[a-z]"
    r"|object has no attribute|not supported between|is not iterable|is not subscriptable|not JSON serializable|has no len|unhashable type: |not callable"
    r"|Unknown format code|cannot be (?:interpreted|converted|cast)|is not an instance of|out of range integral|unpack|could not (?:be )?convert"
    r"|argument '\w+'|must be str, not|required argument|expected str|a bytes-like object|ufunc|dtype\('"
)


class Odd:
    """A value of no kind."""

    def __repr__(self) -> str:
        return "<odd>"


ODD = Odd()
NAN = float("nan")
NO_NUMBER = ["0.8", ODD, [1], None, b"8", {}, True, 1j, NAN]
NO_WHOLE = ["8", ODD, [1], None, 1.5, NAN, True, -1]
NO_STRING = [5, ODD, [1], None, b"text", NAN, 1.5, {}]
NO_FLAG = ["yes", 1, 0, None, ODD, []]
NO_SKETCH = ["text", 5, ODD, None, [1], NAN, {}]
NO_LIST = [5, ODD, None, "text", NAN, b"text"]
NO_MATRIX = ["text", 5, ODD, None, NAN, [[1, "x"]], {}, np.zeros((2, 2), dtype=complex)]


def sketch() -> benzer.Sketch:
    return benzer.Sketcher().sketch([1, 2, 3])


def minhash(**options: Any) -> MinHash:
    m = MinHash(**options)
    m.update_batch([b"a", b"b"])
    return m


def index(**options: Any) -> benzer.Index:
    made = benzer.Index("memory:", "a", {"text": "text", "tags": "values"}, **options)
    made.insert([{"id": 1, "text": TEXT}, {"id": 2, "text": TEXT + " again"}])
    return made


def lsh(module: Any = benzer) -> Any:
    made = module.MinHashLSH(num_perm=128)
    made.insert("m", minhash())
    return made


def forest() -> benzer.MinHashLSHForest:
    made = benzer.MinHashLSHForest()
    made.add("m", minhash())
    made.index()
    return made


def ensemble() -> benzer.MinHashLSHEnsemble:
    made = benzer.MinHashLSHEnsemble(num_part=2)
    made.index([("m", minhash(), 2)])
    return made


def rows() -> list[dict[str, Any]]:
    return [{"text": TEXT, "n": 1}, {"text": TEXT + "!", "n": 2}]


def vectorizer(**options: Any) -> Any:
    return BBitMinHashVectorizer(**{"num_perm": 16, "b": 2, **options}).fit_transform([TEXT])


def less(values: list[Any], *fine: Any) -> list[Any]:
    return [value for value in values if not any(value is one for one in fine)]


SHINGLES = {
    "ngram": [*NO_WHOLE, 0],
    "unit": [*NO_STRING, "lines"],
    "lower": NO_FLAG,
    "nfkc": NO_FLAG,
    "strip_diacritics": NO_FLAG,
    "punctuation": [*NO_STRING, "x"],
    "stop_words": [5, ODD, None, [5], ["xx"]],
    "bag": NO_FLAG,
}
SKETCHER = {"sketch": [*NO_STRING, "nothing", "b17"], "num_perm": [*NO_WHOLE, 0, 2**40, 70000], "seed": [*less(NO_WHOLE, -1), -1, 2**64]}
THREADS = [*less(NO_WHOLE, None), 0]
SHARE = [*less(NO_NUMBER, None), 0, 2, -1, np.float32(3)]

# For each public callable how it is called, and for each argument values that are wrong.
TABLE: dict[str, tuple[Callable[..., Any], dict[str, list[Any]]]] = {
    "Sketcher": (lambda **given: benzer.Sketcher(**given), {**SKETCHER, **SHINGLES}),
    "text_options": (lambda **given: text_options(**given), {**SHINGLES, "stop_words": [5, ODD, None, [5]]}),
    "Sketcher.sketch": (
        lambda values=(1,), weights=None: benzer.Sketcher("weighted").sketch(values, weights),
        {"values": [*NO_LIST, [1.5], [None], [ODD], [[1]], {"a": 1}], "weights": [5, "x", ["x"], [NAN], [1, 2], [-1.0]]},
    ),
    "Sketcher.sketch_hashes": (lambda hashes: benzer.Sketcher().sketch_hashes(hashes), {"hashes": [*less(NO_MATRIX), [1.5], ["x"], [2**64], [[1]]]}),
    "Sketcher.sketch_text": (lambda text: benzer.Sketcher().sketch_text(text), {"text": [*NO_STRING, "\ud800"]}),
    "Sketcher.sketch_texts": (
        lambda texts=(TEXT,), threads=None: benzer.Sketcher().sketch_texts(texts, threads),
        {"texts": [*NO_LIST, ["a", 5], ["a", None], ["a", NAN], [b"a"], {"a"}, {"a": 1}, pd.DataFrame({"a": ["x"]}), ["\ud800"], pa.array([1]), pa.array(["a", None]), pd.Series(["a", None])], "threads": THREADS},
    ),
    "Sketcher.sketch_sets": (
        lambda sets=((1,),), threads=None: benzer.Sketcher().sketch_sets(sets, threads),
        {"sets": [*NO_LIST, [5], [["a"], [1.5]], [None], ["text"], [[None]]], "threads": THREADS},
    ),
    "Sketcher.restore": (lambda row=np.zeros(128, np.uint8), size=1.0: benzer.Sketcher().restore(row, size), {"row": [*NO_MATRIX, np.zeros(3)], "size": NO_NUMBER}),
    "Sketcher.words": (lambda matrix: benzer.Sketcher().words(matrix), {"matrix": [*NO_MATRIX, np.zeros((2, 3), np.uint8)]}),
    "sketch_texts": (lambda texts=(TEXT,), **given: benzer.sketch_texts(texts, **given), {"texts": [*NO_LIST, ["a", 5]], **SKETCHER, **SHINGLES, "threads": THREADS}),
    "sketch_sets": (lambda sets=((1,),), **given: benzer.sketch_sets(sets, **given), {"sets": [*NO_LIST, [5]], **SKETCHER, "threads": THREADS}),
    "sketch_csr": (
        lambda hashes=(1, 2), offsets=(0, 2), **given: benzer.sketch_csr(hashes, offsets, **given),
        {"hashes": [*NO_MATRIX, [1.5]], "offsets": [*NO_MATRIX, [0.5], [0, 9], [-1, 2], [2, 0], [2**70]], **SKETCHER, "threads": THREADS},
    ),
    "Sketch.decode": (lambda bytes: benzer.Sketch.decode(bytes), {"bytes": ["text", 5, None, ODD, b"nonsense"]}),
    "Sketch.with_size": (lambda size: sketch().with_size(size), {"size": ["x", None, ODD, -1.0, NAN]}),
    "Sketch.pack": (lambda kept: sketch().pack(kept), {"kept": [5, None, ODD, "b99", "nothing"]}),
    "Sketch.merge": (lambda other: sketch().merge(other), {"other": NO_SKETCH}),
    "Sketch.symmetric_difference": (lambda other: sketch().symmetric_difference(other), {"other": NO_SKETCH}),
    **{
        name: (lambda a=None, b=None, name=name: getattr(estimate, name)(sketch() if a is None else a, sketch() if b is None else b), {"a": less(NO_SKETCH, None), "b": less(NO_SKETCH, None)})
        for name in ("jaccard", "containment", "intersection", "union", "hamming")
    },
    "three_way": (lambda a, b=None, c=None: estimate.three_way(a, b or sketch(), c or sketch()), {"a": NO_SKETCH}),
    "n_way": (lambda sketches: estimate.n_way(sketch(), sketches), {"sketches": NO_SKETCH}),
    "venn": (lambda sketches: estimate.venn(sketch(), sketches), {"sketches": NO_SKETCH}),
    "set_size": (lambda sketch: estimate.set_size(sketch), {"sketch": NO_SKETCH}),
    "jaccard_pairs": (
        lambda matrix=None, pairs=((0, 0),), sketcher=None: estimate.jaccard_pairs(benzer.sketch_texts([TEXT]) if matrix is None else matrix, pairs, sketcher),
        {"matrix": [*less(NO_MATRIX, None), np.zeros((2, 3), np.uint8)], "pairs": [5, "x", [(0, "x")], [(0, 9)], [(0.5, 1)], [(0, 0, 0)], None], "sketcher": ["x", 5, ODD]},
    ),
    "plan": (
        lambda **given: benzer.plan(**given),
        {
            "threshold": [*NO_NUMBER, 0, 2, -1],
            "recall": [*NO_NUMBER, 0, 1, 2],
            "documents": [*NO_WHOLE, 0, 2**70],
            "set_size": [*NO_NUMBER, 0, -1, float("inf")],
            "memory": [*less(NO_WHOLE, None), 0],
            "error": [*less(NO_NUMBER, None), 0, -1, 2],
        },
    ),
    "Index": (
        lambda url="memory:", collection="a", schema=None, **given: benzer.Index(url, collection, {"text": "text"} if schema is None else schema, **given),
        {
            "url": [5, None, ODD, b"x", "ftp://x"],
            "collection": [*NO_STRING, "a/b"],
            "schema": [5, "text", ["text"], ODD, {}, {"a": 5}, {5: "text"}, {"a": "blob"}, {"a": {"kind": "text", "n": -1}}, {"a": {"kind": "text", "n": "x"}},
                       {"a": {"kind": "text", "n": ODD}}, {"a": {"kind": "text", "ngram": 5}}, {"a": {"kind": "text", "lower": "x"}}, {"a": {"n": 5}},
                       {"a": {"kind": "text", "n": NAN}}, {"a": {"kind": "text", "n": [1]}}, {"fields": {"a": "text"}, "more": 5}, {"a": {"kind": "text", "weight": 0}}],
            "threshold": SHARE,
            "recall": [*SHARE, 1],
            "keep_documents": NO_FLAG,
            "containment": ["x", ODD, [1], NAN, 2, None, {"threshold": "x"}, {5: 1}, {"ratio": -1}],
            "read_only": NO_FLAG,
        },
    ),
    "Index.insert": (
        lambda documents=None, id="id", strict=True: index().insert([{"id": 3, "text": TEXT}] if documents is None else documents, id=id, strict=strict),
        {"documents": [5, "text", ODD, NAN, [5], ["text"], [None], [{"text": TEXT}], [{"id": None, "text": TEXT}], [{"id": 1, "text": 5}], [{"id": 1, "text": None}], [{"id": 1, "tags": [1.5]}]],
         "id": [*NO_STRING, "nothing"], "strict": NO_FLAG},
    ),
    "Index.search": (
        lambda document=TEXT, **given: benzer_search(document, given),
        {
            "document": [5, ODD, NAN, ["x"], {}, {"text": 5}, {"other": "x"}, {"text": "\ud800"}],
            "id": [True, NAN, ODD, [1], b"\xff", 99],
            "threshold": SHARE,
            "limit": NO_WHOLE,
            "offset": NO_WHOLE,
            "fields": [5, ODD, [5], None, "nothing"],
            "explain": NO_FLAG,
            "weights": [5, "x", {"text": "x"}, {5: 1}, {"nothing": 1}, {"text": -1}],
            "thresholds": [5, "x", {"text": "x"}, {5: 1}, {"nothing": 0.5}, {"text": 2}],
            "rule": [*NO_STRING, "most"],
            "measure": [*NO_STRING, "cosine"],
            "ratio": [*less(NO_NUMBER, None), 0],
            "top": [*less(NO_WHOLE, None), 0],
            "with_id": [NAN, ODD, [1], 99],
        },
    ),
    "Index.search_many": (
        lambda documents=({"text": TEXT},), **given: index().search_many(documents, **given),
        {"documents": [5, "text", ODD, None, [5], [None], [{"text": 5}]], "threshold": SHARE, "limit": NO_WHOLE, "fields": [5, ODD, [5]]},
    ),
    "Index.remove": (lambda ids: index().remove(ids), {"ids": [None, ODD, NAN, [None], [NAN], [[1]], 1.5]}),
    "Index.get": (lambda id: index().get(id), {"id": [None, ODD, NAN, [1], True]}),
    "Index.duplicates": (lambda threshold: index().duplicates(threshold), {"threshold": SHARE}),
    "Index.triples": (lambda threshold: index().triples(threshold), {"threshold": SHARE}),
    "collections": (lambda url: benzer.collections(url), {"url": [5, None, ODD, b"x"]}),
    "drop_collection": (lambda url="memory:", name="a": benzer.drop_collection(url, name), {"url": [5, None, ODD], "name": [*NO_STRING, "nothing"]}),
    "compare_pictures": (
        lambda a=None, b=None: benzer.compare_pictures(np.zeros((9, 9)) if a is None else a, np.zeros((9, 9)) if b is None else b),
        {"a": [5, ODD, NAN, "no such file", np.array(["x"]), np.zeros(3), np.full((2, 2), 300), {}], "b": [5, ODD, Path("no such file")]},
    ),
    "sha1_hash32": (lambda data: benzer.sha1_hash32(data), {"data": ["text", 5, None, ODD]}),
    "sha1_hash64": (lambda data: benzer.sha1_hash64(data), {"data": ["text", 5, None, ODD]}),
    "MinHash": (
        lambda **given: MinHash(**{"scheme": "affine32" if {"permutations", "hashvalues"} & set(given) else None, **given}),
        {"num_perm": [*NO_WHOLE, 0], "seed": [*NO_WHOLE, 2**40], "hashfunc": [5, "x"], "scheme": [5, "x", ODD, [1]], "permutations": [5, "x", [1]], "hashvalues": [5, "x", ["x"], ODD]},
    ),
    "MinHash.update": (lambda b: MinHash().update(b), {"b": ["text", 5, None, ODD]}),
    "MinHash.update_batch": (lambda b: MinHash().update_batch(b), {"b": [5, None, ODD, "text", [5], ["text"], [None]]}),
    "MinHash.jaccard": (lambda other: minhash().jaccard(other), {"other": NO_SKETCH}),
    "MinHash.merge": (lambda other: minhash().merge(other), {"other": NO_SKETCH}),
    "MinHash.union": (lambda mhs: MinHash.union(minhash(), mhs), {"mhs": NO_SKETCH}),
    "MinHash.bulk": (lambda b: MinHash.bulk(b), {"b": [5, None, ODD, "text", [5], ["text"], [[5]]]}),
    "MinHash.generator": (lambda b: list(MinHash.generator(b)), {"b": [5, None, ODD, "text", [5], [[5]]]}),
    "LeanMinHash": (
        lambda minhash=None, **given: benzer.LeanMinHash(minhash, **given) if minhash is not None else benzer.LeanMinHash(**{"seed": 1, "hashvalues": [1], "scheme": "affine32", **given}),
        {"minhash": less(NO_SKETCH, None), "seed": less(NO_WHOLE, None, -1), "hashvalues": ["x", 5, ["x"]], "scheme": [5, "x"]},
    ),
    "LeanMinHash.serialize": (lambda buf=None, byteorder="@": benzer.LeanMinHash(minhash()).serialize(bytearray(4096) if buf is None else buf, byteorder), {"buf": [5, "x", ODD], "byteorder": ["x", 5]}),
    "LeanMinHash.deserialize": (lambda buf: benzer.LeanMinHash.deserialize(buf), {"buf": [5, "x", ODD, b"", None]}),
    "LeanMinHash.union": (lambda lmhs: benzer.LeanMinHash.union(minhash(), lmhs), {"lmhs": NO_SKETCH}),
    "bBitMinHash": (
        lambda minhash_=None, b=1, r=0.0, minhash=minhash, **given: benzer.bBitMinHash(given.get("m", minhash()), b, r),
        {"m": NO_SKETCH, "b": [*NO_WHOLE, 33], "r": [*NO_NUMBER, 2]},
    ),
    "bBitMinHash.jaccard": (lambda other: benzer.bBitMinHash(minhash()).jaccard(other), {"other": NO_SKETCH}),
    "MinHashLSH": (
        lambda **given: benzer.MinHashLSH(**given),
        {
            "threshold": [*NO_NUMBER, 2, -1],
            "num_perm": [*NO_WHOLE, 1],
            "weights": [5, "x", (1,), ("x", "y"), (0.5, 0.6), None],
            "params": [5, "x", (1,), ("x", 4), (2, 0), (1, 4), (99, 99)],
            "storage_config": [5, "x", {"kind": "dict"}, {"type": "other"}],
            "hashfunc": [5, "x"],
        },
    ),
    "MinHashLSH.insert": (lambda key="k", minhash=None: lsh().insert(key, minhash), {"key": [], "minhash": NO_SKETCH}),
    "MinHashLSH.insert of a key": (lambda key: lsh().insert(key, minhash()), {"key": [[1], {}, "m"]}),
    "MinHashLSH.insert_many": (
        lambda keys=(1,), minhashes=None: lsh().insert_many(keys, [minhash()] if minhashes is None else minhashes),
        {"keys": [5, ODD, None, [1, 2], [[1]], "ab"], "minhashes": [5, "x", ODD, [5], ["x"], np.zeros((1, 3), np.uint32), np.zeros((1, 128)), np.zeros(3)]},
    ),
    **{
        f"MinHashLSH.{name}": (lambda minhashes, name=name: getattr(lsh(), name)(minhashes), {"minhashes": [5, "x", ODD, None, [5], ["x"], np.zeros((1, 3), np.uint32), np.zeros((1, 128))]})
        for name in ("query_many", "count_many", "duplicated_many")
    },
    "MinHashLSH.query": (lambda minhash: lsh().query(minhash), {"minhash": NO_SKETCH}),
    "MinHashLSH.remove": (lambda key: lsh().remove(key), {"key": ["nothing", [1]]}),
    "MinHashLSH.merge": (lambda other: lsh().merge(other), {"other": [5, "x", ODD, None]}),
    "MinHashLSHForest": (lambda **given: benzer.MinHashLSHForest(**given), {"num_perm": NO_WHOLE, "l": [*NO_WHOLE, 0, 999]}),
    "MinHashLSHForest.add": (lambda key="k", minhash=None: forest().add(key, minhash), {"minhash": NO_SKETCH}),
    "MinHashLSHForest.add of a key": (lambda key: forest().add(key, minhash()), {"key": [[1], "m"]}),
    "MinHashLSHForest.query": (lambda minhash_=None, k=1, **given: forest().query(given.get("minhash", minhash()), k), {"minhash": NO_SKETCH, "k": [*NO_WHOLE, 0]}),
    "MinHashLSHForest.get_minhash_hashvalues": (lambda key: forest().get_minhash_hashvalues(key), {"key": ["nothing", [1]]}),
    "MinHashLSHEnsemble": (
        lambda **given: benzer.MinHashLSHEnsemble(**given),
        {"threshold": [*NO_NUMBER, 2], "num_perm": [*NO_WHOLE, 1], "num_part": [*NO_WHOLE, 0], "m": [*NO_WHOLE, 1], "weights": [5, "x", (1,), (0.5, 0.6)]},
    ),
    "MinHashLSHEnsemble.index": (lambda entries: benzer.MinHashLSHEnsemble(num_part=2).index(entries), {"entries": [5, ODD, None, "x", [5], [("m", 5, 2)], [("m", minhash(), "x")], [("m", minhash(), 0)], []]}),
    "MinHashLSHEnsemble.query": (lambda size=1, **given: list(ensemble().query(given.get("minhash", minhash()), size)), {"minhash": NO_SKETCH, "size": [*NO_NUMBER, 0]}),
    "WeightedMinHashGenerator": (lambda dim=3, **given: benzer.WeightedMinHashGenerator(dim, **given), {"dim": [*NO_WHOLE, 0], "sample_size": [*NO_WHOLE, 0], "seed": [*NO_WHOLE]}),
    "WeightedMinHashGenerator.minhash": (lambda v: benzer.WeightedMinHashGenerator(3).minhash(v), {"v": [5, None, ODD, "abc", [1, 2], [0, 0, 0], ["x", 1, 2], [-1, 2, 3], [NAN, 1, 2]]}),
    "WeightedMinHashGenerator.minhash_many": (lambda X: benzer.WeightedMinHashGenerator(3).minhash_many(X), {"X": [5, None, ODD, [[1]], np.zeros(3), np.zeros((2, 2)), np.array([["x", "y", "z"]])]}),
    "WeightedMinHash.jaccard": (lambda other: benzer.WeightedMinHashGenerator(3).minhash([1, 2, 3]).jaccard(other), {"other": NO_SKETCH}),
    "dedup": (
        lambda **given: benzer.dedup(rows(), **given),
        {
            "threshold": SHARE,
            "text": [5, ODD, None, [5], [], "nothing"],
            "id": [5, ODD, [1], "nothing"],
            "keep": [*NO_STRING, "best", "max:", "max:nothing"],
            "recall": SHARE,
            "preset": [*less(NO_STRING, None), "nothing"],
            "ngram": [*less(NO_WHOLE, None), 0],
            "unit": [*NO_STRING, "lines"],
            "text_settings": [5, "x", ODD, {"nothing": 1}, {"lower": "x"}],
            "verify": [*NO_STRING, "x"],
            "cluster": [*NO_STRING, "x"],
            "measure": [*NO_STRING, "x"],
            "save": [5, ODD, [1]],
            "output": [5, ODD, [1]],
            "write": [*less(NO_STRING, None), "x"],
            "overwrite": NO_FLAG,
            "audit": [ODD, [1], 1.5, 0, None, "x"],
            "strict": NO_FLAG,
            "allow_rejects": NO_FLAG,
            "threads": THREADS,
            "memory": [ODD, [1], 1.5, 0, "x"],
            "work_dir": [5, ODD, [1]],
            "resume": NO_FLAG,
            "per_file": NO_FLAG,
            "input_format": [5, ODD, [1]],
            "progress": ["x", 5, ODD],
        },
    ),
    "DedupResult.rethreshold": (lambda threshold: benzer.dedup(rows()).rethreshold(threshold), {"threshold": [*SHARE, None, 0.1]}),
    "BBitMinHashVectorizer": (
        lambda **given: vectorizer(**given),
        {"num_perm": [*NO_WHOLE, 0], "b": [*NO_WHOLE, 0, 17], "analyzer": [*NO_STRING, "x"], "ngram": [*NO_WHOLE, 0], "unit": [*NO_STRING, "x"], "seed": NO_WHOLE, "normalize": NO_FLAG, "sparse_output": NO_FLAG, "dtype": ["x", ODD]},
    ),
}


def benzer_search(document: Any, given: dict[str, Any]) -> Any:
    made = index()
    if "id" in given:
        return made.search(**given)
    return made.search({"text": TEXT} if document is TEXT and given else document, **given)


CASES = [
    pytest.param(call, name, value, id=f"{called}-{name}-{i}")
    for called, (call, arguments) in TABLE.items()
    for name, values in arguments.items()
    for i, value in enumerate(values)
]
# What Python itself says of an argument that everybody knows, or what datasketch says with the same words.
AS_DATASKETCH = re.compile(
    "cannot decode|must be positive|Too few permutation|must be in|must sum to|too small|must be less than num_perm|Expecting|out of range|No such|does not exist|already|different"
    "|must be at least|Cannot |entries is empty|Set size|Input |must be encoded|hashfunc|scheme must|Seed must|Unknown storage|cannot be greater|must be an integer|must be a float|must not be empty"
)


@pytest.mark.parametrize(("call", "name", "value"), CASES)
def test_a_wrong_argument_is_told_in_words_of_python(call: Callable[..., Any], name: str, value: Any) -> None:
    with pytest.raises((errors.BenzerError, ValueError, TypeError, LookupError)) as caught:
        call(**{name: value})
    told = str(caught.value)
    assert not FOREIGN.search(told), told
    assert isinstance(caught.value, errors.BenzerError) or AS_DATASKETCH.search(told), repr(caught.value)
    assert name.partition("_")[0] in told or AS_DATASKETCH.search(told) or names_it(name, value, told), told
    if value is ODD and not AS_DATASKETCH.search(told):
        assert "<odd>" in told, told


def names_it(name: str, value: Any, told: str) -> bool:
    """Whether it is a part of the value that is named: a field, a key, a document."""
    parts = [part for part in (value if isinstance(value, dict | list) else [value]) if isinstance(part, str)]
    return any(f"`{part}`" in told or repr(part.rpartition(":")[2]) in told for part in parts) or "document" in told


def test_every_public_callable_is_in_the_table() -> None:
    known = {name.partition(".")[0].partition(" ")[0] for name in TABLE}
    public = {name for module in (benzer, estimate) for name in module.__all__ if callable(getattr(module, name))}
    results = {"BenzerError", "Choice", "DedupResult", "Estimate", "Match", "Matches", "PictureComparison", "Plan", "Cell", "WeightedMinHash"}
    assert public - known - results - {"WeightedMinHashLSH", "WeightedMinHashLSHForest", "Sketch", "dedup_files"} == set()
    for name, (_, wrong) in TABLE.items():
        owner = getattr(benzer, name.partition(".")[0], None)
        if inspect.isfunction(owner) or inspect.isclass(owner) and "." not in name and " " not in name:
            described = set(inspect.signature(owner).parameters) if owner is not benzer.Sketcher else set()
            left_out = {"self", "data", "against", "gpu_mode", "hashobj", "prepickle", "text", "storage_config", "minhash", "id_type"}
            assert described - set(wrong) - left_out == set(), name


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    whole, share = np.int32(64), np.float32(0.75)
    assert benzer.sketch_texts([TEXT], np.int8(2), whole, seed=np.uint64(3), threads=np.int64(1)).shape == (1, 64)
    assert benzer.plan(threshold=share, documents=np.int64(10**6), set_size=np.float64(100), recall=np.float32(0.9)).chosen.recall
    assert benzer.plan(documents=1e9).chosen.bands
    made = index(threshold=share, recall=np.float32(0.9), keep_documents=np.True_)
    found = made.search({"text": TEXT}, limit=np.int64(1), offset=np.uint8(0), threshold=np.float16(0.5), weights={"text": np.float32(2)}, top=None)
    assert len(found) == 1
    assert benzer.dedup(rows(), threads=np.int64(1), recall=np.float32(0.9), ngram=np.int64(2), threshold=share, audit=np.int64(5), strict=np.False_).counts["kept"] == 1
    assert len(MinHash(num_perm=np.int64(16), seed=np.uint32(5))) == 16
    assert clone(BBitMinHashVectorizer(num_perm=whole, b=np.int8(2))).fit_transform([TEXT]).nnz == 64


def test_engine_words_become_words_of_python(tmp_path: Path) -> None:
    said = {
        "name another folder, or give --overwrite": "name another folder, or give overwrite=True",
        "free some space and run again (`benzer dedup` with --resume)": "free some space and run again (`benzer.dedup` with resume=True)",
        "name the right one with --text-field or --id-field": "name the right one with `text` or `id`",
        "`--input-format` must be jsonl, got `xml`": "`input_format` must be jsonl, got `xml`",
        "try --cluster leaders": 'try cluster="leaders"',
        "a higher --recall misses fewer, --recall 1 none": "a higher `recall` misses fewer, recall=1 none",
        "the exact join (`benzer pairs --measure containment`)": "the exact join (`benzer pairs --measure containment`)",
        "make one with `--containment`": "make one with `containment=True`",
        "invalid value: integer `-1`, expected usize at line 1 column 426": "invalid value: integer `-1`, expected a whole number from 0 on",
        "a dash -- in a sentence, and a file a--b.txt": "a dash -- in a sentence, and a file a--b.txt",
    }
    for engine, python in said.items():
        assert in_python(engine) == python and in_python(python) == python
    short = benzer.dedup([{"text": text} for text in ("one", "two", "three")])
    assert any("a smaller `ngram` sees more" in warning for warning in short.warnings)
    out = tmp_path / "out"
    benzer.dedup(rows(), output=out)
    with pytest.raises(errors.DedupError, match="overwrite=True"):
        benzer.dedup(rows(), output=out)


def test_ids_of_any_kind_are_in_the_message() -> None:
    with pytest.raises(errors.NotFoundError, match=str(uuid.UUID(int=5))):
        index().search(id=uuid.UUID(int=5))
