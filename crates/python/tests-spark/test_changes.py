"""Inputs that are not the same each time they are read: nothing is decided by rows that changed, and somebody hears of it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ENGINE
from corpora import frame, local, mixed
from pyspark import cloudpickle

from benzer import errors
from benzer import spark as bs

# Workers of Spark Connect do not find this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

SCHEMA = "id string, text string, score int"
Table = dict[str, list[Any]]


def turned(table: Table) -> None:
    """The same ids for other rows, as `monotonically_increasing_id` does."""
    table["id"] = table["id"][1:] + table["id"][:1]


def renamed(table: Table) -> None:
    table["id"] = [f"{id}-again" for id in table["id"]]


def edited(table: Table) -> None:
    table["text"][7] += " and so on"


def vanished(table: Table) -> None:
    for values in table.values():
        del values[7]


def appeared(table: Table) -> None:
    for name, value in (("id", "new"), ("text", "a text of its own"), ("score", 1)):
        table[name].append(value)


def reread(folder: Path, first: int, change: Callable[[Table], None]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Changes the rows from some reading on. An engine cannot see that in the plan."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        import os

        import pyarrow as pa

        table: Table = {"id": [], "text": [], "score": []}
        for batch in batches:
            for name, values in table.items():
                values += batch.column(name).to_pylist()
        if not table["id"]:
            return
        reading = 0
        while True:
            try:
                os.close(os.open(os.path.join(folder, str(reading)), os.O_CREAT | os.O_EXCL))
                break
            except FileExistsError:
                reading += 1
        if reading >= first:
            change(table)
        yield pa.RecordBatch.from_arrays([pa.array(table["id"], pa.string()), pa.array(table["text"], pa.string()), pa.array(table["score"], pa.int32())], list(table))

    return work


@pytest.mark.parametrize("change", [turned, renamed, edited, vanished, appeared])
def test_rows_that_change_between_readings_stop_the_run(session: Any, work: str, tmp_path: Path, change: Callable[[Table], None]) -> None:
    rows = mixed(60, seed=4)
    expected = local(rows)
    for first in (1, 2):
        readings = tmp_path / f"readings-{first}"
        readings.mkdir()
        df = frame(session, rows, 1).mapInArrow(reread(readings, first, change), SCHEMA)
        run = bs.Deduplication(df, work=work, partitions=2)
        if first == 1:
            with pytest.raises(errors.DedupError, match="differed when the input was read again.*write the input with its ids to files first") as told:
                _ = run.evidence
            assert "\n" not in str(told.value) and told.value.__cause__ is None
            continue
        # What was decided is right, and is not applied to other rows.
        assert sorted(tuple(row) for row in run.evidence.collect()) == expected[2]
        for table in (run.kept, run.annotated):
            with pytest.raises(Exception, match="differed when the input was read again"):
                table.collect()


def test_an_input_that_does_not_change_is_read_three_times(session: Any, work: str, tmp_path: Path) -> None:
    rows = mixed(60, seed=4)
    df = frame(session, rows, 1).mapInArrow(reread(tmp_path, 99, turned), SCHEMA)
    kept = bs.dedup(df, work=work, partitions=2)
    assert {row["id"] for row in kept.collect()} == local(rows)[0]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["0", "1", "2"]


def test_rows_without_id_or_text_may_change(session: Any, work: str, tmp_path: Path) -> None:
    def without(table: Table) -> None:
        table["id"] += [None, "no text"]
        table["text"] += ["a text whose row has no id", None]
        table["score"] += [1, 2]

    rows = mixed(60, seed=4)
    df = frame(session, rows, 1).mapInArrow(reread(tmp_path, 2, without), SCHEMA)
    kept = {row["id"] for row in bs.dedup(df, work=work, partitions=2).collect()}
    assert kept == local(rows)[0] | {None, "no text"}


@pytest.mark.parametrize("made", ["monotonically_increasing_id()", "uuid()", "cast(rand() * 1000000000 as bigint)"])
def test_ids_that_cannot_be_stable_are_refused_before_anything_runs(session: Any, work: str, tmp_path: Path, made: str) -> None:
    from pyspark.sql import functions as F

    rows = frame(session, mixed(60, seed=4)).drop("id")
    df = rows.withColumn("id", F.expr(made))
    name = re.search(r"\w+(?=\(\))", made)
    assert name
    with pytest.raises(errors.ParameterError, match=rf"`{name[0]}\(\)`.*write it to files first"):
        bs.dedup(df, work=work, partitions=2)
    assert not Path(work).exists()
    # What is random elsewhere does not matter, and what was written stays as it is.
    if ENGINE != "sail":
        bs.Deduplication(df.withColumnRenamed("id", "other").withColumn("id", F.xxhash64("text")), work=work)
    df.write.parquet(str(tmp_path / "saved"))
    saved = session.read.parquet(str(tmp_path / "saved"))
    expected = local([(str(row["id"]), row["text"], row["score"]) for row in saved.collect()])
    assert {str(row["id"]) for row in bs.dedup(saved, work=work, partitions=2).collect()} == expected[0]


def test_random_rows_are_refused_and_remembered_ones_are_not(session: Any) -> None:
    from pyspark.sql import functions as F

    df = frame(session, mixed(60, seed=4))
    with pytest.raises(errors.ParameterError, match=r"`rand\(\)`"):
        bs.dedup(df.where(F.rand() < 0.5))
    if ENGINE == "local":
        remembered = df.withColumn("id", F.expr("uuid()")).persist()
        assert 0 < bs.dedup(remembered, partitions=2).count() < remembered.count()
        remembered.unpersist()


def test_nothing_is_computed_twice_where_the_engine_does_not_remember(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = mixed(60, seed=4)
    df = frame(session, rows, 1).mapInArrow(reread(tmp_path, 99, turned), SCHEMA)
    run = bs.Deduplication(df, partitions=2)
    assert sorted(tuple(row) for row in run.evidence.collect()) == local(rows)[2]
    assert {row["id"] for row in run.kept.collect()} == local(rows)[0]
    assert len(list(tmp_path.iterdir())) == 3
    if ENGINE == "sail":
        monkeypatch.setattr(bs.plan, "MOST_REMEMBERED", 1000)
        with pytest.raises(errors.ParameterError, match="`work` is needed"):
            bs.dedup(df, partitions=2)


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_repeated_ids_are_told_in_one_sentence(session: Any, work: str, keep: str) -> None:
    rows = [("a", "some text", 1), ("b", "other words", 2), ("a", "yet another text that is longer", 3), ("a", "some text", 4)]
    with pytest.raises(errors.DedupError) as told:
        bs.dedup(session.createDataFrame(rows, SCHEMA), keep=keep, work=work, partitions=1)
    message = str(told.value)
    assert message.startswith("2 rows have an id in 'id' that another row has (such as `a`)") and "dropDuplicates(['id'])" in message
    assert "\n" not in message and told.value.__cause__ is None


def test_errors_of_workers_are_one_sentence(session: Any, work: str) -> None:
    def burning(batches: Iterable[Any]) -> Iterator[Any]:
        for _ in batches:
            raise RuntimeError("the disk is on fire")
        yield from ()

    df = frame(session, mixed(60, seed=4)).mapInArrow(burning, SCHEMA)
    with pytest.raises(errors.DedupError) as told:
        bs.dedup(df, work=work, partitions=1)
    assert str(told.value) == "the engine stopped: RuntimeError: the disk is on fire"
    assert type(told.value.__cause__).__module__.startswith(("pyspark", "py4j"))


@pytest.mark.parametrize("threshold", [0.6, 0.5, 0.3])
def test_what_is_recommended_for_low_thresholds_works(session: Any, work: str, threshold: float) -> None:
    rows = mixed(60, seed=4)
    df = frame(session, rows)
    with pytest.raises(errors.ParameterError, match=f"0.95 of the pairs at a `threshold` of {threshold}") as told:
        bs.dedup(df, threshold=threshold)
    recall = re.search(r"give `recall` (0\.\d+)", str(told.value))
    assert recall, told.value
    run = bs.Deduplication(df, threshold=threshold, recall=float(recall[1]), work=work, partitions=2)
    assert sorted(tuple(row) for row in run.evidence.collect()) == local(rows, threshold=threshold, recall=float(recall[1]))[2]
