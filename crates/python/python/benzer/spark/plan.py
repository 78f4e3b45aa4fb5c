"""How stages of the engine become a plan of Spark: batches go through :class:`benzer._benzer.Stage`, rows to the task of their slice.

Only what Spark Connect has is used, so that classic Spark, Spark Connect and compatible engines run the same plan.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benzer import _benzer
from benzer.deduplication import request
from benzer.errors import ColumnError, DedupError, ParameterError

#: Rows between two stages.
ROWS = "slice int, kind int, a binary, b binary, c binary"
#: Options that mean what they do in :func:`benzer.dedup`.
ASKED = {"threshold", "recall", "preset", "ngram", "unit", "text_settings"}
#: Slices for each partition of a shuffle: uneven ones even out.
SLICES_PER_PARTITION = 4
#: Kinds of rows, as the engine numbers them.
REPEATED, OTHER, SEEN, COPY, EDGE, CHANGED, LAST = -3, -2, -1, 0, 3, 5, 6
#: What gives other values whenever it is computed, in plans of Spark and of Sail.
_UNSTABLE = re.compile(r"\b(monotonically_increasing_id|MonotonicId|uuid|rand|randn|random|randstr|shuffle)\b(?=\(|Exec|\n|$)")
#: What is said of a row, if the input was not the same each time.
DIFFERED = (
    "differed when the input was read again: its id or its text changed, or it was not there each time; "
    "write the input with its ids to files first and read those, or name a column of stable ids with `id`"
)
#: Bytes of a table that the driver holds for an engine that does not.
MOST_REMEMBERED = 32 << 20


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
    if is_spark(rows.sparkSession):
        return rows.persist()
    # Computed again it might not be the same.
    table = rows.toArrow()
    if table.nbytes > MOST_REMEMBERED:
        raise ParameterError(f"`work` is needed: this engine does not remember tables, and what was found has {table.nbytes >> 20} MB; give a folder that all its workers see")
    return rows.sparkSession.createDataFrame(table, schema=rows.schema)


def is_spark(spark: Any) -> bool:
    """Whether the engine is Spark itself, which remembers tables, and not a compatible one."""
    return str(spark.sql("select version()").collect()[0][0]).startswith(spark.version)


@dataclass(frozen=True)
class Columns:
    """What stages look at, as expressions of the input: id and text as strings, the value of the policy's column, and a hash of what decides, by which a row is known again."""

    id: Any
    text: Any
    value: Any
    seen: Any


def columns(df: Any, text: str | Sequence[str], id: str, keep: str) -> Columns:  # noqa: A002
    """The expressions for a DataFrame; columns that are missing or of a wrong type are refused."""
    from pyspark.sql import functions as F

    texts = [text] if isinstance(text, str) else list(text)
    order = keep.partition(":")[2]
    missing = [name for name in [*texts, id, *filter(None, [order])] if name not in df.columns]
    if missing and not df.columns:
        raise ColumnError(f"there is no column {', '.join(map(repr, missing))}, and no other: is there anything to read where the input is said to be?")
    if missing:
        raise ColumnError(f"there is no column {', '.join(map(repr, missing))}; the columns are {', '.join(map(repr, df.columns))}")
    types = dict(df.dtypes)
    if types[id] not in ("string", "tinyint", "smallint", "int", "bigint") and not types[id].startswith(("varchar", "char")):
        raise ColumnError(f"the column of ids must have strings or integers, {id!r} has {types[id]}; cast it, or write the input with ids to files first")
    joined: Any = column(texts[0])
    for name in texts[1:]:
        joined = F.concat(joined, F.lit("\n"), column(name))
    if len(texts) > 1:
        # Newlines between empty fields are no text.
        joined = F.when(F.length(joined) < len(texts), F.lit("")).otherwise(joined)
    key, joined = column(id).cast("string"), joined.cast("string")
    value = _value(F, order, types[order]) if order else None
    deciding = [joined] if value is None else [joined, value]
    return Columns(key, joined, value, F.when(key.isNotNull() & joined.isNotNull(), F.xxhash64(*deciding)))


def documents(df: Any, of: Columns) -> Any:
    """A row for each document. The input is read more than once, and must be the same each time: what cannot be is refused."""
    named = [of.id.alias("id"), of.text.alias("text"), *([] if of.value is None else [of.value.alias("value")]), of.seen.alias("seen")]
    docs = df.select(*named)
    if found := _UNSTABLE.search(_plan_of(docs)):
        # Sail has names of its own.
        name = {"MonotonicId": "monotonically_increasing_id", "random": "rand"}.get(found[1], found[1])
        raise ParameterError(f"`df` has ids, texts or rows from `{name}()`, which gives others each time; write it to files first and read those, or name a column of stable ids with `id`")
    return docs


def _plan_of(df: Any) -> str:
    """What the engine is going to do, without what it has done and remembers."""
    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        df.explain(extended=True)
    analyzed, _, rest = written.getvalue().partition("== Optimized Logical Plan ==")
    optimized = rest.partition("== Physical Plan ==")[0].strip()
    # Spark computes rows that the driver has while it makes its plan, each time anew.
    plan = analyzed if not optimized or optimized.startswith("LocalRelation") else optimized
    lines, remembered = [], None
    for line in plan.splitlines():
        depth = len(line) - len(line.lstrip(" +-:"))
        if remembered is not None and depth > remembered:
            continue
        remembered = depth if "InMemoryRelation" in line else None
        lines.append(line)
    return "\n".join(lines)


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


def edges(df: Any, of_columns: Columns, of: Settings) -> Any:
    """Similar documents and copies, and all documents that were seen, as rows; nothing is computed yet."""
    docs = documents(df, of_columns)
    if _benzer.stage_documents(of.request) < 1 << 40:
        _benzer.stage_documents(of.request, docs.count())
    buckets = stage(moved(stage(docs, "bands", of), of), "buckets", of)
    wanted = stage(moved(buckets, of), "partners", of)
    members = stage(moved(wanted.unionByName(stage(docs, "texts", of)), of), "fetch", of)
    return stage(moved(members, of), "compare", of)


def refuse_wrong(found: Any, id: str) -> None:  # noqa: A002
    """Stops if the stages noticed repeated ids, or documents that were others when they were read again. `found` is held."""
    from pyspark.sql import functions as F

    told = found.where(F.col("kind") < SEEN).groupBy("kind").agg(F.sum(F.col("b").cast("string").cast("long")).alias("n"), F.min("a").alias("example")).collect()
    for kind, n, example in sorted((row["kind"], row["n"], bytes(row["example"]).decode()) for row in told):
        if kind == REPEATED:
            raise DedupError(
                f"{'1 row has' if n == 1 else f'{n} rows have'} an id in {id!r} that another row has (such as `{example}`); on an engine documents are told apart by their ids: "
                f"drop what is repeated with `df.dropDuplicates([{id!r}])`, or write the input with new ids to files first and read those"
            )
        raise DedupError(f"{'1 row' if n == 1 else f'{n} rows'}, such as the one with the id `{example}`, {DIFFERED}")


def _worker(name: str, request: str, slices: int, max_edges: int) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """What a task runs. It is sent to executors by value, and imports there what it needs."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from benzer import _benzer

        native = _benzer.Stage(name, request, slices, max_edges)

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
