"""What `dedup` takes and gives back: kinds of tables and texts, ids of all types, and rows that cannot be read."""

from __future__ import annotations

import datetime
import decimal
import json
import math
import sys
import types
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import benzer
from benzer import errors, progress
from benzer.documents import identity

A = "the quick brown fox jumps over the lazy dog and runs away into the dark forest"
B = "a completely different sentence about the weather in the north of the country today"
TEXTS = [A, B, A.upper(), "one more text that nobody has written before this very test was made"]
IDS: dict[str, list[Any]] = {
    "int": [30, 10, 20, 40],
    "str": ["c", "a", "b", "d"],
    "float": [30.0, 10.5, 20.0, 40.0],
    "uuid": [uuid.UUID(int=n) for n in (30, 10, 20, 40)],
    "timestamp": [datetime.datetime(2026, 1, n) for n in (3, 1, 2, 4)],
    "date": [datetime.date(2026, 1, n) for n in (3, 1, 2, 4)],
    "decimal": [decimal.Decimal(n) for n in ("3.5", "1.5", "2.5", "4.5")],
    "bytes": [b"c", b"a", b"b", b"\xff"],
    "bool": [True, False, False, True],
    "numpy": [np.int64(n) for n in (30, 10, 20, 40)],
}


def frames(rows: list[dict[str, Any]]) -> list[Any]:
    """The same rows as every kind of table that can hold them."""
    made: list[Any] = [rows, pd.DataFrame(rows)]
    for make in (lambda: pa.Table.from_pylist(rows), lambda: pl.DataFrame(rows), lambda: datasets.Dataset.from_list(rows)):
        try:
            made.append(make())
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError, pl.exceptions.PolarsError):
            assert isinstance(rows[0]["id"], uuid.UUID | np.generic)
    return made


def quiet(data: Any, **options: Any) -> benzer.DedupResult:
    """A run that must not warn of rows that cannot be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", errors.RejectedWarning)
        return benzer.dedup(data, **options)


def rejecting(data: Any, **options: Any) -> benzer.DedupResult:
    """A run that must warn, and whose counts must agree with its rows."""
    with pytest.warns(errors.RejectedWarning, match="cannot be read"):
        result = benzer.dedup(data, **options)
    counts = result.counts
    assert counts["kept"] + counts["removed"] + counts["rejected"] == counts["read"]
    assert counts["kept"] == len(result.kept_rows) and counts["rejected"] == len(result.rejected_rows)
    return result


def listed(table: Any) -> dict[str, list[Any]]:
    """The columns of a table of any kind."""
    if isinstance(table, list):
        return {name: [row[name] for row in table] for name in (table[0] if table else [])}
    names = table.column_names if isinstance(table, pa.Table | datasets.Dataset) else list(table.columns)
    return {name: table[name].to_pylist() if isinstance(table, pa.Table) else list(table[name]) for name in names}


@pytest.mark.parametrize("kind", IDS)
def test_ids_of_every_type_come_back_as_they_were(kind: str) -> None:
    ids = IDS[kind]
    kept_is_first = not sorted(map(str, ids[:3:2])) == [str(ids[2]), str(ids[0])]
    for frame in frames([{"id": one, "text": text} for one, text in zip(ids, TEXTS, strict=True)]):
        result = quiet(frame, id="id")
        assert result.counts["removed"] == 1 and result.counts["rejected"] == 0, type(frame)
        evidence, pairs = listed(result.evidence), listed(result.pairs)
        removed, kept = (2, 0) if kept_is_first else (0, 2)
        assert evidence["removed_row"] == [removed] and evidence["kept_row"] == [kept]
        assert evidence["removed_id"] == pairs["id_b"] == [ids[removed]]
        assert evidence["kept_id"] == pairs["id_a"] == [ids[kept]]
        assert isinstance(evidence["removed_id"][0], type(ids[removed]) if not isinstance(ids[0], np.generic) else int | np.integer)


def test_removed_ids_select_and_merge() -> None:
    frame = pd.DataFrame({"id": [30, 10, 20, 40], "text": TEXTS})
    result = quiet(frame, id="id")
    assert result.evidence["removed_id"].dtype == np.int64
    assert len(frame[~frame.id.isin(result.evidence.removed_id)]) == len(result.kept) == 3
    assert frame.merge(result.evidence, left_on="id", right_on="removed_id")["text"].tolist() == [frame.text[int(result.evidence.removed_row[0])]]
    small = pl.DataFrame({"id": pl.Series([30, 10, 20, 40], dtype=pl.Int32), "text": TEXTS})
    found = quiet(small, id="id").evidence
    assert found["removed_id"].dtype == pl.Int32 and small.join(found, left_on="id", right_on="removed_id").height == 1
    table = pa.table({"id": pa.array([30, 10, 20, 40], pa.int16()), "text": TEXTS})
    assert quiet(table, id="id").evidence["removed_id"].type == pa.int16()


def test_ids_of_old_documents_come_back_too(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [5, 6], "text": [A, B]})
    old = pd.DataFrame({"id": [7, 8], "text": ["something that is not in the new ones at all, as far as one can see", A]})
    result = quiet(frame, against=old, id="id")
    assert result.evidence[["removed_id", "kept_id", "kept_in", "kept_row"]].values.tolist() == [[5, 8, "against", 1]]
    assert result.pairs[["id_a", "id_b"]].values.tolist() == [[8, 5]] and result.evidence["kept_id"].dtype == np.int64
    without = quiet(frame, against=old)
    assert without.evidence[["removed_id", "kept_id", "kept_in"]].values.tolist() == [[0, 1, "against"]]
    file = tmp_path / "old.jsonl"
    file.write_text(json.dumps({"id": 9, "text": A}) + "\n")
    of_file = quiet(frame, against=file, id="id")
    assert of_file.evidence["kept_id"].tolist() == [9] and of_file.evidence["kept_id"].dtype == np.int64
    assert quiet(frame, against=file).evidence["kept_id"].tolist() == ["old.jsonl:1"]


def test_an_order_of_ids_is_that_of_the_same_rows_in_a_file(tmp_path: Path) -> None:
    rows = [{"id": one, "text": A} for one in (100, 9, 20, 3)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    expected = benzer.dedup(path, id="id").evidence["kept_id"].to_pylist()
    for frame in frames(rows):
        assert [str(one) for one in listed(quiet(frame, id="id").evidence)["kept_id"]] == expected


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, pd.NaT])
def test_a_row_without_a_text_or_an_id_is_rejected_and_listed(missing: Any) -> None:
    rows = [{"id": "a", "text": A}, {"id": missing, "text": B}, {"id": "c", "text": missing}, {"id": "d", "text": A}]
    for frame in [rows, pd.DataFrame(rows)]:
        result = rejecting(frame, id="id")
        assert result.counts["removed"] == 1 and result.rejected_rows.tolist() == [1, 2]
        found = listed(result.rejected)
        assert found["row"] == [1, 2] and "'id'" in found["reason"][0] and "'text'" in found["reason"][1]
        assert len(result.kept) == result.counts["kept"] == 1
    if missing is None:
        for frame in frames(rows):
            result = rejecting(frame, id="id")
            assert len(result.kept) == 1 and [None if pd.isna(one) else one for one in listed(result.rejected)["id"]] == [None, "c"]


def test_nothing_in_one_of_several_columns_of_texts() -> None:
    rows = [{"title": "t", "body": A}, {"title": None, "body": A}, {"title": "t", "body": A}]
    for frame in [rows, pd.DataFrame(rows), pl.DataFrame(rows), pa.Table.from_pylist(rows), datasets.Dataset.from_list(rows)]:
        result = rejecting(frame, text=["title", "body"])
        assert result.rejected_rows.tolist() == [1] and result.removed_rows.tolist() == [2]
        assert "'title'" in listed(result.rejected)["reason"][0]


@pytest.mark.parametrize("policy", ["max", "min"])
def test_nothing_to_compare_sorts_last(policy: str) -> None:
    for missing in (math.nan, None):
        rows = [{"s": missing, "text": A}, {"s": 1.5, "text": A}, {"s": 7.0, "text": B}]
        for frame in [rows, pd.DataFrame(rows), pl.DataFrame(rows), pa.Table.from_pylist(rows)]:
            assert quiet(frame, keep=f"{policy}:s").kept_rows.tolist() == [1, 2], type(frame)


def test_orders_of_all_types_that_can_be_compared() -> None:
    for low, high in [(1, 2), (False, True), (decimal.Decimal("1.5"), decimal.Decimal("1.6")), ("a", "b")]:
        for frame in [[{"s": low, "text": A}, {"s": high, "text": A}], pd.DataFrame({"s": [low, high], "text": [A, A]})]:
            assert quiet(frame, keep="max:s").kept_rows.tolist() == [1]
    days = [datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 2)]
    for frame in [[{"s": day, "text": A} for day in days], [{"s": day.date(), "text": A} for day in days], pd.DataFrame({"s": days, "text": [A, A]})]:
        assert quiet(frame, keep="max:s").kept_rows.tolist() == [1]
    with pytest.raises(TypeError, match="column 's' must hold numbers, times or texts, got list"):
        benzer.dedup([{"s": [1], "text": A}], keep="max:s")


def test_bytes_are_texts_and_tokens_are_an_error() -> None:
    for frame in [pd.DataFrame({"text": [A.encode(), B.encode(), A.encode()]}), pa.table({"text": pa.array([A.encode(), B.encode(), A.encode()])})]:
        assert quiet(frame).removed_rows.tolist() == [2]
    assert quiet([A.encode(), B.encode(), A.encode()]).removed_rows.tolist() == [2]
    broken = rejecting(pd.DataFrame({"text": [A.encode(), b"\xff\xfe", A.encode()]}))
    assert "UTF-8" in broken.rejected["reason"][0] and broken.rejected_rows.tolist() == [1]
    tokens = [text.split() for text in TEXTS]
    for frame in [{"text": t} for t in tokens], pd.DataFrame({"text": tokens}), pa.table({"text": tokens}), pl.DataFrame({"text": tokens}):
        with pytest.raises(TypeError, match="'text' must hold texts, got .*join the tokens"):
            benzer.dedup(list(frame) if isinstance(frame, tuple) else frame)
    with pytest.raises(TypeError, match="join the tokens"):
        benzer.dedup(tokens)
    with pytest.raises(TypeError, match="'text' must hold texts, got int64; name the column"):
        benzer.dedup(pd.DataFrame({"text": [1, 2]}))
    some = rejecting([{"text": A}, {"text": 5}, {"text": ["a"]}, {"text": A}])
    assert some.rejected_rows.tolist() == [1, 2] and some.removed_rows.tolist() == [3]
    surrogate = rejecting([A, "\ud800 is half of a character", A])
    assert surrogate.rejected_rows.tolist() == [1] and "surrogate" in listed(surrogate.rejected)["reason"][0]


def test_ids_that_are_no_ids_are_an_error_or_rejected() -> None:
    with pytest.raises(TypeError, match="column 'id' must hold ids .*got list"):
        benzer.dedup([{"id": [1], "text": A}], id="id")
    mixed = rejecting([{"id": [1], "text": A}, {"id": 2, "text": A}], id="id")
    assert mixed.rejected_rows.tolist() == [0]
    assert isinstance(mixed.rejected, list) or mixed.rejected["row"].to_pylist() == [0]


def test_strict_stops_at_a_row_that_cannot_be_read() -> None:
    for options in ({"data": [A, None, A]}, {"data": [A], "against": [B, None]}):
        with pytest.raises(errors.DedupError, match="Row 1 cannot be read: .*'text'"):
            benzer.dedup(**options, strict=True)


def test_old_documents_that_cannot_be_read_are_told() -> None:
    with pytest.warns(errors.RejectedWarning, match="1 of 2 old documents .*Row 1 cannot be read: .*'text'"):
        assert benzer.dedup([A, B], against=[A, None]).counts["removed_against"] == 1


def test_lines_of_files_that_cannot_be_read_are_listed_too(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"text": "{A}"}}\nnot json\n{{"text": "{B}"}}\n')
    with pytest.warns(errors.RejectedWarning, match="1 of 3 documents .*rows.jsonl:2: invalid json"):
        result = benzer.dedup(path)
    assert result.rejected.to_pylist()[0]["row"] == 2


def test_a_list_of_strings_is_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text(f"{A}\n{A}\n")
    for texts in (["."], ["-"], ["a.txt"], [str(tmp_path / "a.txt")]):
        assert quiet(texts).kept == texts and quiet(texts).counts["read"] == 1
    with pytest.warns(errors.BenzerWarning, match="'a.txt', are taken as texts, and there are files.*dedup_files"):
        benzer.dedup(["a.txt", "."])
    assert quiet(TEXTS).kept == [A, B, TEXTS[3]] and quiet(tuple(TEXTS)).removed == [A.upper()]
    assert quiet(TEXTS, against=[B]).kept == [A, TEXTS[3]]
    assert quiet([A, A], against=["a.txt"]).counts["removed_against"] == 0


def test_paths_are_paths_whoever_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text(f"{A}\n{A}\n")
    (tmp_path / "b.txt").write_text(f"{A}\n{B}\n")
    for data in (Path("a.txt"), [Path("a.txt")], "a.txt", "a*.txt", str(tmp_path / "a.txt")):
        assert quiet(data).counts["removed"] == 1 and quiet(data).counts["read"] == 2
    assert quiet(".").counts["read"] == quiet([Path("a.txt"), Path("b.txt")]).counts["read"] == 4
    assert benzer.dedup_files("a.txt").counts["read"] == 2
    assert benzer.dedup_files(["a.txt", "b.txt"]).counts["removed"] == 2
    assert benzer.dedup_files(["b.txt"], against=["a.txt"]).counts["removed_against"] == 1
    assert quiet([A, B], against=Path("a.txt")).counts["removed_against"] == quiet([A, B], against="a.txt").counts["removed_against"] == 1
    for wrong in ("no-such-file.txt", A, "-", "no*such", "x" * 9000, "a\0b"):
        with pytest.raises(errors.DedupError, match="(?s)no file or folder.*a list of texts"):
            benzer.dedup(wrong)
        with pytest.raises(errors.DedupError, match="(?s)no file or folder.*a list of texts"):
            benzer.dedup([A], against=wrong)
    assert benzer.dedup_files("b.txt", against=pd.DataFrame({"text": [A]})).counts["removed_against"] == 1
    for nothing, words in ((pd.DataFrame({"text": TEXTS}), "DataFrame"), ([], "an empty list"), ([A, 5], "list")):
        with pytest.raises(TypeError, match=f"a path or a list of paths, got {words}"):
            benzer.dedup_files(nothing)  # type: ignore[arg-type]
    with pytest.raises(errors.DedupError, match="cannot open"):
        benzer.dedup_files(["no-such-file.txt"])
    with pytest.raises(errors.DedupError, match="-"):
        benzer.dedup(Path("-"))


def test_dedup_files_has_the_options_of_dedup() -> None:
    import inspect

    (_, *options), (paths, *same) = (list(inspect.signature(one).parameters.values()) for one in (benzer.dedup, benzer.dedup_files))
    assert paths.name == "paths" and same == options


def test_what_is_neither_is_refused() -> None:
    wrong: list[tuple[Any, str]] = [
        ({"text": TEXTS}, "pandas.DataFrame"),
        (set(TEXTS), "no order"),
        (A.encode(), "decode it"),
        (5, "expected paths, texts"),
        ([A, {"text": A}], "dict, str"),
        ([A, Path("a")], "str"),
        ([1, 2], "got one of int"),
        (np.array([[A, B]]), "one dimension"),
        (np.array([1, 2]), "must hold texts, got int64"),
        (pd.Series([1, 2]), "must hold texts"),
    ]
    for data, words in wrong:
        with pytest.raises(TypeError, match=words):
            benzer.dedup(data)
    with pytest.raises(errors.ColumnError, match="`id` names the column 'id', but a list of 4 texts has no columns"):
        benzer.dedup(TEXTS, id="id")
    with pytest.raises(errors.ColumnError, match="`text` names the column 'body', but a pandas Series"):
        benzer.dedup(pd.Series(TEXTS), text="body")
    with pytest.raises(errors.ColumnError, match="`keep` names the column 's'"):
        benzer.dedup(TEXTS, keep="max:s")
    with pytest.raises(errors.ColumnError, match="reset_index"):
        benzer.dedup(pd.DataFrame({"text": TEXTS, "key": range(4)}).set_index("key"), id="key")
    with pytest.raises(errors.ColumnError, match="more than one column"):
        benzer.dedup(pd.DataFrame([TEXTS, TEXTS], index=["text", "text"]).T)
    with pytest.raises(errors.ParameterError, match="`text` must be the name of a column, or several"):
        benzer.dedup(pd.DataFrame({"text": TEXTS}), text=[])


def generator() -> Iterator[str]:
    yield from TEXTS


def rows() -> Iterator[dict[str, Any]]:
    yield from ({"text": text} for text in TEXTS)


COLUMNS: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.Series(TEXTS, index=list("wxyz"), name="body"),
    "pandas objects": lambda: pd.Series(TEXTS, dtype=object),
    "categories": lambda: pd.Series(TEXTS, dtype="category"),
    "polars": lambda: pl.Series("body", TEXTS),
    "numpy": lambda: np.array(TEXTS),
    "numpy objects": lambda: np.array(TEXTS, dtype=object),
    "array": lambda: pa.array(TEXTS),
    "dictionary": lambda: pa.array(TEXTS).dictionary_encode(),
    "chunked": lambda: pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
    "column": lambda: datasets.Dataset.from_dict({"body": TEXTS})["body"],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_texts_come_back_as_their_kind(name: str) -> None:
    data = COLUMNS[name]()
    result = quiet(data)
    assert result.removed_rows.tolist() == [2] and type(result.kept) is type(data)
    kept = result.kept.to_pylist() if hasattr(result.kept, "to_pylist") else list(result.kept)
    assert kept == [A, B, TEXTS[3]] and len(result.removed) == 1
    assert listed(result.evidence)["removed_row"] == [2] and listed(result.rejected) in ({}, {"row": [], "reason": []})


STREAMS: dict[str, tuple[Callable[[], Any], type]] = {
    "lazy": (lambda: pl.LazyFrame({"text": TEXTS}), pl.LazyFrame),
    "reader": (lambda: pa.table({"text": TEXTS}).to_reader(), pa.RecordBatchReader),
    "stream": (lambda: datasets.Dataset.from_dict({"text": TEXTS}).to_iterable_dataset(), datasets.Dataset),
    "texts": (generator, list),
    "rows": (rows, list),
    "map": (lambda: map(str, TEXTS), list),
}


@pytest.mark.parametrize("name", STREAMS)
def test_streams_are_read_once_and_come_back(name: str) -> None:
    make, kind = STREAMS[name]
    result = quiet(make())
    assert isinstance(result.kept, kind) and isinstance(result.removed, kind)
    for _ in range(2):
        kept = result.kept.collect() if name == "lazy" else result.kept.read_all() if name == "reader" else result.kept
        assert len(kept) == result.counts["kept"] == 3
    assert quiet(TEXTS[:1], against=make()).counts["removed_against"] == 1


def test_splits_are_one_corpus_and_come_back() -> None:
    first = datasets.Dataset.from_dict({"id": [1, 2], "text": TEXTS[:2]})
    second = datasets.Dataset.from_dict({"id": [3, 4], "text": TEXTS[2:], "more": ["x", "y"]})
    data = datasets.DatasetDict({"train": first, "test": second})
    result = quiet(data, id="id")
    assert isinstance(result.kept, datasets.DatasetDict) and list(result.kept) == ["train", "test"]
    assert list(result.kept["train"]["id"]) == [1, 2] and list(result.kept["test"]["id"]) == [4] and result.kept["test"].column_names == ["id", "text", "more"]
    assert list(result.removed["test"]["id"]) == [3] and len(result.removed["train"]) == 0
    assert list(result.evidence["removed_id"]) == [3] and list(result.evidence["removed_row"]) == [2] and list(result.evidence["kept_id"]) == [1]
    with pytest.raises(errors.ColumnError, match="no column 'more'"):
        benzer.dedup(data, text="more")


def test_names_of_columns_are_only_names() -> None:
    frame = pd.DataFrame({"a.b": TEXTS, "c\\d": [4, 3, 2, 1], "": [1, 2, 3, 4]})
    result = quiet(frame, text="a.b", id="c\\d")
    assert result.evidence["removed_id"].tolist() == [4]
    assert quiet(frame, text="a.b", id="c\\d", keep="max:c\\d").kept_rows.tolist() == [0, 1, 3]
    assert quiet(frame, text=["a.b", "a.b"]).counts["removed"] == 1


def test_settings_of_files_are_refused_for_tables(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": TEXTS})
    for options in ({"per_file": True}, {"input_format": "jsonl"}, {"resume": True}, {"write": "annotate"}, {"write": "remove"}):
        name = next(iter(options))
        with pytest.raises(errors.ParameterError, match=f"`{name}=.* is for files, got a pandas DataFrame of 4 rows; leave it out"):
            benzer.dedup(frame, **options)  # type: ignore[arg-type]
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"text": A}) + "\n")
    with pytest.raises(errors.ParameterError, match="`input_format='jsonl'` is for files, got a pandas"):
        benzer.dedup(path, against=frame, input_format="jsonl")
    with pytest.raises(errors.DedupError, match="no documents are written"):
        quiet(path, write="dry-run").kept  # noqa: B018
    result = quiet(frame, output=tmp_path / "run", write="dry-run")
    assert {"evidence.parquet", "pairs.parquet", "report.html", "manifest.json"} <= {path.name for path in (tmp_path / "run").iterdir()}
    assert len(result.kept) == 3
    with pytest.raises(errors.DedupError):
        benzer.dedup(frame, output=tmp_path / "run")
    assert len(quiet(frame, output=tmp_path / "run", overwrite=True).kept) == 3


def test_the_report_calls_a_table_what_it_is() -> None:
    with pytest.warns(errors.RejectedWarning):
        result = benzer.dedup(pd.DataFrame({"id": range(5), "text": [*TEXTS, None]}), against=[A])
    page = result.report().read_text()
    assert "<title>Duplicates in a pandas DataFrame of 5 rows</title>" in page and "a list of 1 text" in page
    assert "input.arrow" not in page and "against.jsonl" not in page and "<code>row 0</code>" in page and "row 4: " in page
    for data, words in [
        (TEXTS, "a list of 4 texts"),
        (pl.Series(TEXTS), "a Polars Series of 4 texts"),
        (pa.table({"text": TEXTS}), "an Arrow Table of 4 rows"),
        (np.array(TEXTS), "a NumPy array of 4 texts"),
        (datasets.DatasetDict({"a": datasets.Dataset.from_dict({"text": TEXTS})}), "a DatasetDict of 4 rows in 1 split"),
    ]:
        result = quiet(data)
        page = result.report().read_text()
        assert f"<title>Duplicates in {words}</title>" in page and "row 2" in page and "row 0" in page and "input." not in page


def test_a_notebook_keeps_its_style() -> None:
    frame = pd.DataFrame({"text": ["<script>", *TEXTS]})
    shown = quiet(frame)._repr_html_()
    assert "<style" not in shown and "<html" not in shown and "<head" not in shown and len(shown) < 4000
    assert "removed" in shown and "a pandas DataFrame of 5 rows" in shown and "report" in shown


def test_progress_is_shown_in_notebooks(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    assert not progress.in_notebook()
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    assert progress.in_notebook()
    quiet(TEXTS)
    assert "write" in capfd.readouterr().err
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace()))
    quiet(TEXTS)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("kind", ["int", "str", "float", "uuid", "timestamp", "date", "numpy"])
def test_ids_of_a_collection_come_back_as_they_were(kind: str, tmp_path: Path) -> None:
    ids = IDS[kind][:2]
    with benzer.Index(str(tmp_path / "db"), "news", {"text": "text"}) as index:
        index.insert([{"id": one, "text": A} for one in ids])
        plain = [one.item() if isinstance(one, np.generic) else one for one in ids]
        for found in (index.search(A), index.search_many([A])[0]):
            assert sorted((match.id for match in found), key=str) == sorted(plain, key=str)
            assert {type(match.id) for match in found} == {type(plain[0])}
        ((a, b, _),) = index.duplicates()
        assert {a, b} == set(plain)
        assert plain[1] in [match.id for match in index.search(id=ids[0])]
        assert index.get(ids[0]) == {"id": plain[0], "text": A}
    with benzer.Index(str(tmp_path / "db"), "news") as again:
        assert {match.id for match in again.search(A)} == {identity("id", one) for one in ids}
    if kind in ("int", "uuid", "numpy"):
        with benzer.Index(str(tmp_path / "db"), "news", id_type=uuid.UUID if kind == "uuid" else int) as declared:
            assert {match.id for match in declared.search(A)} == set(plain)


def test_ids_of_several_types_are_texts() -> None:
    index = benzer.Index("memory:", "mixed", {"text": "text"})
    index.insert([{"id": 7, "text": A}, {"id": "07", "text": A}])
    assert {match.id for match in index.search(A)} == {"7", "07"}
