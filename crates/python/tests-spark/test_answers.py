"""The same answer as on one machine, on any engine that `session` of conftest gives."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ENGINE, FULL, Here
from corpora import chain, distributed, frame, local, mixed, skewed, template
from loopback import below, is_loopback, listening

import benzer
from benzer import errors
from benzer import spark as bs
from benzer.spark import graph


@pytest.mark.parametrize("keep", ["first", "last", "longest", "max:score"])
def test_kept_ids_pairs_and_evidence_are_those_of_one_machine(session: Any, work: str, keep: str) -> None:
    rows = mixed()
    expected = local(rows, keep=keep)
    assert len(expected[2]) > 100 and {why[8] for why in expected[2]} == {"verified", "exact-copy"}
    run = bs.Deduplication(frame(session, rows), keep=keep, work=work, partitions=3)
    assert distributed(run) == expected


@pytest.mark.parametrize(("parts", "partitions"), [(1, 1), (7, 2), (2, 11)])
def test_the_number_of_partitions_does_not_matter(session: Any, work: str, parts: int, partitions: int) -> None:
    rows = mixed(200, seed=3)
    run = bs.Deduplication(frame(session, rows, parts), threshold=0.7, work=work, partitions=partitions)
    assert distributed(run) == local(rows, threshold=0.7)


def test_skewed_clusters_by_components_and_in_blocks(session: Any, work: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = mixed(60, seed=5) + chain(60) + skewed(100)
    expected = local(rows)
    ways: list[str] = []

    def noted(name: str) -> Callable[..., Any]:
        way = getattr(graph, name)
        return lambda *arguments: (ways.append(name), way(*arguments))[1]

    for name in ("components", "blocks"):
        monkeypatch.setattr(graph, name, noted(name))
    for task_edges, wanted in ((100_000, []), (5000, ["components"]), (3000, ["components", "blocks"])):
        ways.clear()
        run = bs.Deduplication(frame(session, rows), work=work, partitions=2, task_edges=task_edges)
        assert distributed(run) == expected, task_edges
        assert ways == wanted


def test_blocks_are_cut_across_partitions(session: Any, work: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = skewed(100) + mixed(20, seed=8)
    task_edges, stage = 700, graph.stage
    cuts: list[list[int]] = []

    def sizes(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        yield pa.RecordBatch.from_pydict({"n": [sum(batch.num_rows for batch in batches)]})

    def noted(edges: Any, name: str, *arguments: Any) -> Any:
        if name == "first":
            # Unevenly, and not as they were found: few documents have most of the edges.
            edges = edges.repartition(4, "b")
            cuts.append([row["n"] for row in edges.mapInArrow(sizes, "n long").collect()])
        return stage(edges, name, *arguments)

    monkeypatch.setattr(graph, "stage", noted)
    monkeypatch.setattr(graph, "MOST_SENT", 50)
    run = bs.Deduplication(frame(session, rows), work=work, partitions=5, task_edges=task_edges)
    assert distributed(run) == local(rows)
    # Several tasks have edges in the first round, at least one of them more than a block.
    assert len(cuts) > 2 and sum(n > 0 for n in cuts[0]) > 1 and max(cuts[0]) > task_edges, cuts


def test_a_long_chain_of_versions_and_a_template(session: Any, work: str) -> None:
    # By components and in blocks where that takes seconds, else in one task.
    is_full = FULL or ENGINE == "sail"
    by_parts = {"task_edges": 5000} if is_full else {}
    for rows, options in ((chain(10_000), by_parts), (template(100_000 if is_full else 5_000), {})):
        kept, pairs, why = local(rows)
        run = bs.Deduplication(frame(session, rows), work=work, partitions=2, **options)
        assert {row["id"] for row in run.kept.select("id").collect()} == kept
        assert sorted(tuple(row) for row in run.evidence.collect()) == why
        # Millions of pairs are compared by their sums.
        sums = run.pairs.agg({"id_a": "count", "intersection": "sum", "union": "sum"}).select("count(id_a)", "sum(intersection)", "sum(union)")
        assert tuple(sums.collect()[0]) == (len(pairs), sum(pair[2] for pair in pairs), sum(pair[3] for pair in pairs))
        if len(pairs) < 500_000:
            assert sorted(tuple(row) for row in run.pairs.collect()) == pairs


def test_annotated_rows_and_rows_without_id_or_text(session: Any, work: str) -> None:
    rows = [("a", "the same text of a few words here", 1), ("b", "the same text of a few words here", 2), ("c", "another text that is like no other one", 3)]
    df = session.createDataFrame([*rows, ("d", None, 4), (None, "the same text of a few words here", 5)], "id string, text string, score int")
    marked = bs.dedup(df, annotate=True, work=work, partitions=1)
    marks = {row["score"]: tuple(row)[3:] for row in marked.collect()}
    assert marks[2] == ("a", 2, "a", 1.0, True) and marks[1] == ("a", 2, None, None, False)
    assert marks[3] == marks[4] == marks[5] == (None, 1, None, None, False)
    assert bs.dedup(df, work=work, partitions=1).count() == 4


def test_functions_for_sql(session: Any) -> None:
    bs.register(session)
    a, b = "one two three four five six seven eight nine ten", "one two three four five six seven eight nine eleven"
    session.createDataFrame([(a, b), (a, a), (a, None)], "a string, b string").createOrReplaceTempView("texts")
    query = "select benzer_jaccard(benzer_sketch(a), benzer_sketch(b)) as j, benzer_bands(benzer_sketch(a)) as keys from texts"
    found = session.sql(query).collect()
    sketcher = benzer.Sketcher()
    expected = benzer.estimate.jaccard(sketcher.sketch_text(a), sketcher.sketch_text(b)).value
    assert sorted(row["j"] for row in found if row["j"] is not None) == sorted([expected, 1.0])
    assert all(len(row["keys"]) == 18 for row in found)
    sketches = bs.sketch(session.table("texts"), text="a").select("sketch").collect()
    assert bytes(sketches[0]["sketch"]) == sketcher.sketch_text(a).encode()
    bar = session.sql("select benzer_jaccard_bar(benzer_sketch(a), benzer_sketch(b)) as bar from texts limit 1").collect()[0]["bar"]
    assert bar["low"] <= bar["value"] <= bar["high"]


def test_wrong_requests_say_what_is_wrong(session: Any, work: str) -> None:
    df = session.createDataFrame([("a", "some text", 1.5), ("a", "other words", 2.5)], "id string, text string, number double")
    wrong: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (errors.ColumnError, "no column 'body'", {"text": "body"}),
        (errors.ColumnError, "strings or integers", {"id": "number"}),
        (errors.ParameterError, "threshold", {"threshold": 2}),
        (errors.ParameterError, "recall", {"recall": 1}),
        (errors.ParameterError, "keep", {"keep": "best"}),
        (errors.ParameterError, "task_edges", {"task_edges": 0}),
        (TypeError, "no option verify", {"verify": "estimate"}),
    ]
    for exception, message, options in wrong:
        with pytest.raises(exception, match=message):
            bs.dedup(df, **options)


def test_the_command(session: Any, work: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benzer.spark import __main__ as command

    rows = mixed(60, seed=9)
    frame(session, rows).write.parquet(str(tmp_path / "in.parquet"))
    from pyspark.sql import SparkSession

    monkeypatch.setattr(SparkSession, "builder", Here(session))
    arguments = [str(tmp_path / "in.parquet"), str(tmp_path / "out"), "--threshold", "0.8", "--evidence", str(tmp_path / "why"), "--work", work, "--partitions", "2"]
    assert command.main([*arguments, "--format", "parquet", "--task-edges", "100000"]) == 0
    kept, _, why = local(rows)
    assert {row["id"] for row in session.read.parquet(str(tmp_path / "out")).collect()} == kept
    assert session.read.parquet(str(tmp_path / "why")).count() == len(why)
    assert command.main(["in.unknown", "out"]) == 2
    assert command.main([*arguments, "--format", "parquet", "--task-edges", "0", "--overwrite"]) == 2


def test_the_engine_listens_on_loopback_only(session: Any) -> None:
    assert session.range(3).count() == 3
    addresses = listening(below(os.getpid()))
    assert addresses and all(map(is_loopback, addresses)), addresses
