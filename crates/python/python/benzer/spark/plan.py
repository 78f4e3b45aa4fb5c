"""How stages of the engine become a plan of Spark: batches go through :class:`benzer._benzer.Stage`, rows to the task of their slice.

Only what Spark Connect has is used, so that classic Spark, Spark Connect and compatible engines run the same plan.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benzer import _benzer
from benzer.deduplication import request
from benzer.errors import ColumnError, ParameterError

#: Rows between two stages.
ROWS = "slice int, kind int, a binary, b binary, c binary"
#: Options that mean what they do in :func:`benzer.dedup`.
ASKED = {"threshold", "recall", "preset", "ngram", "unit", "text_settings"}
#: Slices for each partition of a shuffle: uneven ones even out.
SLICES_PER_PARTITION = 4


@dataclass(frozen=True)
class Settings:
    """What all stages of a run agree on."""

    request: str
    slices: int
    task_edges: int
    partitions: int | None
    work: str | None


def settings(
    spark: Any,
    *,
    keep: str = "first",
    partitions: int | None = None,
    work: str | None = None,
    task_edges: int = 4_000_000,
    **asked: Any,
) -> Settings:
    """Settings with the defaults of `benzer dedup`, of which :data:`ASKED` can be given; wrong ones are refused here, before anything runs."""
    if other := sorted(set(asked) - ASKED):
        raise TypeError(f"there is no option {', '.join(other)} on an engine; there are {', '.join(sorted(ASKED))}, partitions, work and task_edges")
    if task_edges < 1:
        raise ParameterError(f"`task_edges` must be at least 1, got {task_edges}")
    order = keep.partition(":")[0] + ":value" if ":" in keep else keep
    wanted = json.dumps(request(keep=order, **asked))
    _benzer.stage_documents(wanted)
    n = partitions or int(spark.conf.get("spark.sql.shuffle.partitions") or 200)
    return Settings(wanted, SLICES_PER_PARTITION * n, task_edges, partitions, work)


def stage(rows: Any, name: str, of: Settings, schema: str = ROWS) -> Any:
    """The rows after a stage, each partition in a task of its own."""
    return rows.mapInArrow(_worker(name, of.request, of.slices, of.task_edges), schema)


def moved(rows: Any, of: Settings) -> Any:
    """The rows where their slices are. Tasks bring them into order themselves: not every engine keeps one."""
    return spread(rows, "slice", of)


def spread(rows: Any, by: str, of: Settings) -> Any:
    """The rows in as many partitions as were asked for, by a column."""
    return rows.repartition(by) if of.partitions is None else rows.repartition(of.partitions, by)


def held(rows: Any, of: Settings) -> Any:
    """The rows computed once: in files below `work`, or in a checkpoint where the cluster has a folder for it, or as far as possible in the memory of executors."""
    if of.work is not None:
        path = f"{of.work.rstrip('/')}/benzer-{uuid.uuid4().hex}"
        rows.write.parquet(path)
        # Nothing may have been written of no rows, not even their columns.
        return rows.sparkSession.read.schema(rows.schema).parquet(path)
    if rows.sparkSession.conf.get("spark.checkpoint.dir", None):
        return rows.checkpoint()
    return rows.persist()


def documents(df: Any, text: str | Sequence[str], id: str, keep: str) -> Any:  # noqa: A002
    """The columns that stages look at: id, text and the value of the policy's column."""
    from pyspark.sql import functions as F

    texts = [text] if isinstance(text, str) else list(text)
    order = keep.partition(":")[2]
    missing = [name for name in [*texts, id, *filter(None, [order])] if name not in df.columns]
    if missing:
        raise ColumnError(f"there is no column {', '.join(map(repr, missing))}; the columns are {', '.join(map(repr, df.columns))}")
    types = dict(df.dtypes)
    if types[id] not in ("string", "tinyint", "smallint", "int", "bigint") and not types[id].startswith(("varchar", "char")):
        raise ColumnError(f"the column of ids must have strings or integers, {id!r} has {types[id]}; cast it, or make ids with `uuid()` and save them")
    joined: Any = column(texts[0])
    for name in texts[1:]:
        joined = F.concat(joined, F.lit("\n"), column(name))
    if len(texts) > 1:
        # Newlines between empty fields are no text.
        joined = F.when(F.length(joined) < len(texts), F.lit("")).otherwise(joined)
    columns = [column(id).cast("string").alias("id"), joined.cast("string").alias("text")]
    if order:
        columns.append(_value(F, order, types[order]).alias("value"))
    return df.select(*columns)


def column(name: str) -> Any:
    """A column by its name, whatever characters that has."""
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


def _value(F: Any, name: str, kind: str) -> Any:
    """What documents are ordered by: strings as they are, numbers, dates and times as numbers."""
    values = column(name)
    if kind == "string" or kind.startswith(("varchar", "char")):
        return values.cast("string")
    if kind == "date":
        return F.unix_date(values).cast("double")
    if kind.startswith(("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "timestamp")):
        return values.cast("double")
    raise ColumnError(f"{name!r} has {kind}, by which documents cannot be ordered; give a column of numbers, strings, dates or times")


def edges(df: Any, text: str | Sequence[str], id: str, keep: str, of: Settings) -> Any:  # noqa: A002
    """Similar documents and copies, as rows; nothing is computed yet."""
    docs = documents(df, text, id, keep)
    if _benzer.stage_documents(of.request) < 1 << 40:
        _benzer.stage_documents(of.request, docs.count())
    buckets = stage(moved(stage(docs, "bands", of), of), "buckets", of)
    wanted = stage(moved(buckets, of), "partners", of)
    members = stage(moved(wanted.unionByName(stage(docs, "texts", of)), of), "fetch", of)
    return stage(moved(members, of), "compare", of)


def _worker(name: str, request: str, slices: int, most: int) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """What a task runs. It is sent to executors by value, and imports there what it needs."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from benzer import _benzer

        native = _benzer.Stage(name, request, slices, most)

        for batch in batches:
            # A row may be large, and a batch all that a task has: few bytes at a time are copied.
            rows = max(1, batch.num_rows * (4 << 20) // max(1, batch.nbytes))
            for start in range(0, batch.num_rows, rows):
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, batch.schema) as writer:
                    writer.write_batch(batch.slice(start, rows))
                made = native.push(sink.getvalue().to_pybytes())
                if made is not None:
                    yield from pa.ipc.open_stream(made)
        while (made := native.finish()) is not None:
            yield from pa.ipc.open_stream(made)

    return work
