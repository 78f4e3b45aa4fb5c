"""Whole deduplications of files, data sets, frames and tables, and collections."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import benzer
from benzer import errors

Rows = list[dict[str, str]]


def tables(rows: Rows) -> list[Any]:
    return [rows, pd.DataFrame(rows), pl.DataFrame(rows), pa.Table.from_pylist(rows), datasets.Dataset.from_list(rows)]


def ids(table: Any) -> list[str]:
    if isinstance(table, list):
        return [row["id"] for row in table]
    return [str(one) for one in (table["id"].to_pylist() if isinstance(table, pa.Table) else list(table["id"]))]


def test_every_kind_of_table_gives_the_same_result(articles: Rows, tmp_path: Path) -> None:
    path = tmp_path / "articles.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in articles))
    files = benzer.dedup(path, id="id")
    expected = [json.loads(line)["id"] for line in files.kept[0].read_text().splitlines()]
    for table in tables(articles):
        result = benzer.dedup(table, id="id")
        assert type(result.kept) is type(table) and type(result.removed) is type(table)
        assert sorted(ids(result.kept)) == sorted(expected)
        assert sorted(ids(result.kept) + ids(result.removed)) == sorted(row["id"] for row in articles)
        assert result.counts["removed"] == len(result.removed) == len(result.evidence)
        kind = pa.Table if isinstance(table, list) else type(table)
        assert isinstance(result.evidence, kind) and isinstance(result.pairs, kind)
    assert files.removed.num_rows == files.counts["removed"] == files.evidence.num_rows


def test_a_selection_of_a_data_set_is_taken_as_it_is(articles: Rows) -> None:
    chosen = datasets.Dataset.from_list(articles).select([5, 3, 8, 5])
    result = benzer.dedup(chosen)
    assert len(result.kept) == 3 and result.removed_rows.tolist() == [3]
    assert result.kept_rows.tolist() == [0, 1, 2]


def test_every_removal_has_its_evidence(articles: Rows) -> None:
    result = benzer.dedup(articles, threshold=0.7)
    texts = [row["text"] for row in articles]
    sketcher = benzer.Sketcher("fast", 1024)
    assert result.evidence.num_rows > 50
    for row in result.evidence.to_pylist():
        assert row["similarity"] >= 0.7 and row["rule"] in ("verified", "exact-copy")
        a, b = (sketcher.sketch_text(texts[row[name]]) for name in ("removed_row", "kept_row"))
        assert benzer.estimate.jaccard(a, b).value == pytest.approx(row["similarity"], abs=0.1)
    assert result.evidence["removed_id"] == result.evidence["removed_row"] and result.evidence["kept_id"].type == pa.int64()
    assert set(result.pairs["id_b"].to_pylist()) >= set(result.evidence["removed_id"].to_pylist())
    assert not set(result.evidence["kept_row"].to_pylist()) & set(result.evidence["removed_row"].to_pylist())


def test_another_threshold_and_the_report(articles: Rows, tmp_path: Path) -> None:
    result = benzer.dedup(pd.DataFrame(articles), threshold=0.7)
    higher = result.rethreshold(0.9)
    again = benzer.dedup(pd.DataFrame(articles), threshold=0.9)
    assert higher.counts["removed"] == again.counts["removed"] == len(higher.removed)
    assert higher.kept.index.tolist() == again.kept.index.tolist()
    assert len(higher.pairs) == len(again.pairs) < len(result.pairs)
    with pytest.raises(errors.ParameterError, match="at least 0.7"):
        result.rethreshold(0.5)
    page = result.report(tmp_path / "report.html")
    assert page.read_text().startswith("<!doctype html>") and "kept" in repr(result)


def test_policies_old_documents_and_several_columns(articles: Rows) -> None:
    frame = pd.DataFrame(articles)
    frame["score"] = range(len(frame))
    best = benzer.dedup(frame, keep="max:score")
    first = benzer.dedup(frame)
    assert best.counts["removed"] == first.counts["removed"] and best.kept["score"].sum() > first.kept["score"].sum()
    new = benzer.dedup(frame[100:], against=frame[:100])
    assert new.counts["against"] == 100 and new.counts["removed_against"] > 0
    assert set(new.evidence["kept_in"]) <= {"input", "against"}
    assert benzer.dedup(frame, text=["title", "text"]).counts["read"] == len(frame)
    exact = benzer.dedup(frame, recall=1, ngram=3, unit="words")
    assert exact.counts["removed"] > 0
    assert benzer.dedup(frame, preset="fineweb").counts["read"] == len(frame)


def test_a_row_without_a_text_is_neither_kept_nor_removed(articles: Rows) -> None:
    frame = pd.DataFrame({"text": [articles[0]["text"], None, articles[0]["text"]]})
    with pytest.warns(errors.RejectedWarning, match="1 of 3 documents cannot be read.*'text'"):
        result = benzer.dedup(frame)
    assert result.counts["rejected"] == 1 and result.kept.index.tolist() == [0] and result.rejected["row"].tolist() == [1]


def test_results_in_a_folder_and_progress(articles: Rows, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    result = benzer.dedup(articles, output=tmp_path / "run", progress=lambda *call: told.append(call))
    assert (tmp_path / "run/manifest.json").exists() and result.folder == tmp_path / "run"
    assert told and told[-1][0] == "write"
    with pytest.raises(errors.DedupError, match="run"):
        benzer.dedup(articles, output=tmp_path / "run")
    benzer.dedup(articles, output=tmp_path / "run", overwrite=True, progress=True)

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        benzer.dedup(articles * 50, progress=fail)


def test_a_low_threshold_takes_the_exact_join_and_says_so(articles: Rows) -> None:
    for threshold in (0.6, 0.5, 0.3):
        low, exact = benzer.dedup(articles, threshold=threshold), benzer.dedup(articles, threshold=threshold, recall=1)
        assert "exact join was taken instead" in low.warnings[0] and not exact.warnings
        assert low.removed_rows.tolist() == exact.removed_rows.tolist()
        with pytest.raises(errors.ParameterError, match="leave out `verify=\"estimate\"`.*or give recall=0."):
            benzer.dedup(articles, threshold=threshold, verify="estimate")


def test_copies_of_texts_without_words_go_and_empty_texts_stay() -> None:
    texts = ["!!!", "", "!!!", "\U0001f600", "...", "\U0001f600", ""]
    result = benzer.dedup([{"text": text} for text in texts])
    assert result.kept_rows.tolist() == [0, 1, 3, 4, 6]
    assert result.evidence["similarity"].to_pylist() == [1.0, 1.0]
    assert result.rethreshold(1).removed_rows.tolist() == [2, 5]
    new = benzer.dedup([{"text": "?"}, {"text": "!!!"}], against=[{"text": text} for text in texts])
    assert new.kept_rows.tolist() == [0] and new.counts["against_matched"] == 2


def test_items_that_leaked_are_named(articles: Rows) -> None:
    items = [{"text": articles[0]["text"]}, {"text": "nothing of the kind is in the corpus"}, {"text": articles[0]["text"]}]
    result = benzer.dedup(articles, against=items, measure="containment")
    assert result.counts["against_matched"] == 2 and result.counts["against"] == 3
    assert result.summary["matched"] == [0, 2]


def test_wrong_requests_say_what_is_wrong(articles: Rows) -> None:
    wrong: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (errors.ParameterError, "threshold", {"threshold": 2}),
        (errors.ParameterError, "keep", {"keep": "best"}),
        (errors.ParameterError, "recall", {"recall": 0}),
        (errors.ParameterError, "preset", {"preset": "none"}),
        (errors.ParameterError, "audit", {"audit": "no"}),
        (errors.ParameterError, "verify", {"verify": "maybe"}),
        (errors.ParameterError, "size", {"memory": "much"}),
        (errors.ColumnError, "no 'body'", {"text": "body"}),
    ]
    for exception, words, options in wrong:
        with pytest.raises(exception, match=words):
            benzer.dedup(articles, **options)
    with pytest.raises(errors.DedupError, match="cannot open"):
        benzer.dedup("no-such-file.jsonl")
    with pytest.raises(TypeError, match="expected paths"):
        benzer.dedup(5)
    with pytest.raises(TypeError, match="a list of texts, of dictionaries"):
        benzer.dedup([("a", "b")])
    with pytest.raises(errors.ColumnError, match="no column 'body'; the columns are 'id', 'title', 'text'"):
        benzer.dedup(pd.DataFrame(articles), text="body")
    nothing = benzer.dedup([])
    assert nothing.counts["read"] == 0 and nothing.kept == []


def test_containment_and_rules_of_fields(articles: Rows) -> None:
    schema = {"text": "text", "title": {"kind": "text", "n": 1}}
    with benzer.Index("memory:", "parts", schema, containment={"threshold": 0.7, "ratio": 8}) as index:
        index.insert(articles)
        words = articles[0]["text"].split(" ")
        part = {"text": " ".join(words[: len(words) // 3])}
        found = index.search(part, measure="containing")
        assert articles[0]["id"] in [match.id for match in found] and found[0].similarity == 1.0
        assert all(recall >= 0.95 for _, recall in found.recall_by_ratio)
        weighed = index.search(id=articles[0]["id"], weights={"title": 0}, thresholds={"text": 0.9}, rule="all")
        assert all(match.similarity >= 0.9 and list(match.fields) == ["text"] for match in weighed)


def test_collections(articles: Rows, tmp_path: Path) -> None:
    url = str(tmp_path / "db")
    with benzer.Index(url, "news", {"text": "text"}, threshold=0.7) as index:
        assert index.insert(pa.Table.from_pylist(articles)) == len(index) == len(articles)
        found = index.search(id=articles[0]["id"], limit=3)
        assert found.recall > 0.9 and all(match.exact is not None for match in found)
        same = index.search(articles[0]["text"])
        assert same[0].id == articles[0]["id"] and same[0].similarity == 1.0
        many = index.search_many([articles[1], articles[2]["text"]])
        assert len(many) == 2
        assert index.get(articles[0]["id"])["text"] == articles[0]["text"]  # type: ignore[index]
        assert articles[0]["id"] in index and "nobody" not in index and index.get("nobody") is None
        explained = index.search(articles[0]["text"], explain=True)[0].fields["text"]["explanation"]
        assert explained["n_shared"] > 10
        assert len(index.duplicates()) > 10
        assert explained["shared"][0]["in_query"] == explained["shared"][0]["in_match"]
        best = index.search(id=articles[0]["id"], top=4)
        assert len(best) == 4 and best.recall > 0.9
        (a, b, c), bar = index.triples()[0]
        assert bar.low <= bar.value <= bar.high
        assert c in [match.id for match in index.search(id=a, with_id=b, threshold=0.5)]
        with pytest.raises(errors.BenzerError, match="containment"):
            index.search(id=a, measure="containing")
        assert index.remove([articles[0]["id"], "nobody"]) == 1
        index.compact()
    assert benzer.collections(url) == ["news"]
    with benzer.Index(url, "news", read_only=True) as index:
        assert len(index) == len(articles) - 1 and index.settings["threshold"] == 0.7
    with pytest.raises(errors.StoreError, match="closed"):
        index.stats()
    with pytest.raises(errors.NotFoundError, match="schema"):
        benzer.Index(url, "other")
    with pytest.raises(errors.StoreError, match="not compatible"):
        benzer.Index(url, "news", {"title": "text"})
    benzer.drop_collection(url, "news")
    assert benzer.collections(url) == []


def test_wrong_documents_and_searches() -> None:
    index = benzer.Index("memory:", "a", {"body": "text", "tags": "values"}, keep_documents=False)
    index.insert([{"id": 1, "body": "some text", "tags": ["a", 5]}])
    with pytest.raises(errors.SchemaError, match="no `id`"):
        index.insert([{"body": "x"}])
    with pytest.raises(errors.SchemaError, match="document 2 at 0"):
        index.insert([{"id": 2, "body": ["not", "text"]}])
    with pytest.raises(errors.SchemaError, match="one of them"):
        index.search()
    with pytest.raises(errors.NotFoundError, match="no document"):
        index.search(id="9")
    with pytest.raises(errors.ParameterError, match="threshold"):
        index.search({"body": "x"}, threshold=7)
    assert [match.id for match in index.search({"body": "some text", "tags": ["a", "5"]})] == [1]
    with pytest.raises(errors.SchemaError, match="kind"):
        benzer.Index("memory:", "b", {"body": "blob"})


def test_the_command_line_is_the_module(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "benzer"]
    help_text = subprocess.run([*run, "--help"], capture_output=True, text=True, check=True).stdout
    assert "dedup" in help_text
    failed = subprocess.run([*run, "compare", "none", "neither"], capture_output=True, text=True, check=False)
    assert failed.returncode == 1 and failed.stderr.startswith("error:")
    assert subprocess.run([*run, "--nonsense"], capture_output=True, check=False).returncode == 2
