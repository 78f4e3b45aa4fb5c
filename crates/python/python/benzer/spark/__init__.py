"""The deduplication of `benzer dedup` on Apache Spark: the same documents are kept, with the same pairs and the same evidence.

>>> from benzer import spark as bs                                   # doctest: +SKIP
>>> kept = bs.dedup(spark.read.parquet("s3://corpus"), id="id", threshold=0.8)   # doctest: +SKIP
>>> kept.write.parquet("s3://clean")                                 # doctest: +SKIP

Stages of the Rust engine run inside of `mapInArrow`; Spark moves the data. Classic Spark, Spark Connect and compatible engines (Sail) run it. The guide is
``docs/guide/spark.md``. PySpark and PyArrow must be installed; nothing else here imports them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from benzer.spark import addresses, graph, plan
from benzer.spark.functions import called, register
from benzer.spark.reasons import told

__all__ = ["Deduplication", "dedup", "evidence", "pairs", "register", "sketch"]

_PAIRS = "id_a string, id_b string, intersection int, union int, similarity double, exact_copy boolean"


class Deduplication:
    """A run: similar documents are found once, when something is asked for, and all tables come from that.

    Args:
        df: A DataFrame. It is read three times, and must have the same rows each time: ids that change (`monotonically_increasing_id`, `uuid`) and other random
            columns are to be written to files first. A row that is not what it was stops the run.
        text: The column of the text, or several whose texts are joined.
        id: The column of ids, strings or integers, different for each row. Integers compare by number, and come
            before other ids, which compare bytewise.
        options: As in :func:`dedup`.
    """

    def __init__(self, df: Any, *, text: str | Sequence[str] = "text", id: str = "id", keep: str = "first", **options: Any) -> None:  # noqa: A002
        self._df, self._id = df, id
        self._settings = plan.settings(df.sparkSession, keep=keep, **options)
        self._columns = plan.columns(df, text, id, keep)
        addresses.refuse_work_among_inputs(df, self._settings.work)
        with told():
            self._lazy = plan.edges(df, self._columns, self._settings)

    @cached_property
    def _found(self) -> Any:
        """All that the stages say, held."""
        with told():
            found = plan.held(self._lazy, self._settings)
            plan.refuse_wrong(found, self._id)
            return found

    @property
    def _edges(self) -> Any:
        return self._found.where(plan.column("kind") >= plan.COPY)

    @cached_property
    def pairs(self) -> Any:
        """Every pair of similar documents, the columns of `pairs.parquet`: `id_a` comes first in keep order."""
        return plan.stage(self._edges, "pairs", self._settings, _PAIRS)

    @cached_property
    def evidence(self) -> Any:
        """Why each removed document was removed, the columns of `evidence.parquet`."""
        edges = self._edges
        with told():
            return plan.held(graph.evidence(edges, self._settings), self._settings)

    @cached_property
    def kept(self) -> Any:
        """The rows that are kept. A row that is not what the stages saw stops whoever reads them."""
        return self._joined(self._removed("removed_id"), only_kept=True).select(*self._names())

    @cached_property
    def annotated(self) -> Any:
        """All rows, with the columns that `benzer dedup --annotate` adds: `dup_cluster_id`, `dup_cluster_size`, `dup_of`, `dup_similarity`, `is_duplicate`."""
        from pyspark.sql import functions as F

        removed = self._removed("removed_id", "kept_id", "similarity")
        sizes = self.evidence.groupBy("kept_id").agg((F.count("*") + 1).alias("benzer_size")).withColumnRenamed("kept_id", "benzer_leader")
        return self._joined(removed, sizes).select(
            *self._names(),
            F.col("benzer_leader").alias("dup_cluster_id"),
            F.coalesce(F.col("benzer_size"), F.lit(1)).alias("dup_cluster_size"),
            F.col("benzer_kept_id").alias("dup_of"),
            F.col("benzer_similarity").alias("dup_similarity"),
            F.col("benzer_removed_id").isNotNull().alias("is_duplicate"),
        )

    def _joined(self, removed: Any, sizes: Any = None, *, only_kept: bool = False) -> Any:
        """The rows as they are read now, beside what was decided: every document that was seen must be there, as it was, and no other."""
        from pyspark.sql import functions as F

        seen = plan.stage(self._found.where(F.col("kind") == plan.SEEN), "seen", self._settings, "benzer_id string, benzer_seen long")
        decided = seen.join(removed, F.col("benzer_id") == F.col("benzer_removed_id"), "left")
        if sizes is not None:
            decided = decided.join(sizes, F.coalesce("benzer_kept_id", "benzer_id") == F.col("benzer_leader"), "left")
        rows = self._df.select("*", self._columns.id.alias("benzer_key"), self._columns.seen.alias("benzer_again"))
        joined = decided.join(rows, F.col("benzer_id") == F.col("benzer_key"), "full_outer")
        # What differs is told as a string: Sail would compute both ways of a truth.
        said = F.concat(F.lit("benzer.errors.DedupError: the row with the id `"), F.coalesce("benzer_key", "benzer_id"), F.lit(f"` {plan.DIFFERED}"))
        was = F.when(~F.col("benzer_seen").eqNullSafe(F.col("benzer_again")), F.raise_error(said).cast("string"))
        if only_kept:
            was = was.when(F.col("benzer_removed_id").isNotNull(), F.lit("removed"))
        return joined.where(was.otherwise(F.lit("kept")) == "kept")

    def _names(self) -> list[Any]:
        return [plan.column(name) for name in self._df.columns]

    def _removed(self, *columns: str) -> Any:
        from pyspark.sql import functions as F

        return self.evidence.select(*(F.col(name).alias(f"benzer_{name}") for name in columns))


def dedup(
    df: Any,
    text: str | Sequence[str] = "text",
    id: str = "id",  # noqa: A002
    threshold: float | None = None,
    keep: str = "first",
    *,
    annotate: bool = False,
    **options: Any,
) -> Any:
    """The rows of a DataFrame without near-duplicates: every removed one is at least `threshold` similar to a kept one, by exact comparison.

    Args:
        df, text, id: As in :class:`Deduplication`. Rows without an id or a text are kept.
        threshold: From which similarity on documents are duplicates; 0.8, or that of the preset.
        keep: Which of two duplicates is kept: ``first`` (the smallest id), ``last``, ``longest``, ``shortest``, ``max:COLUMN``, ``min:COLUMN``.
        annotate: All rows, with columns that say which are kept and why not.
        options: `recall`, `preset`, `ngram`, `unit`, `text_settings` as in :func:`benzer.dedup`; `partitions`, the number of tasks of a shuffle (that of the
            session); `work`, a folder that all executors see, for intermediate results (without it checkpoints, or what executors remember); `task_edges`, the size
            up to which a component is resolved in one task.
    """
    run = Deduplication(df, text=text, id=id, threshold=threshold, keep=keep, **options)
    return run.annotated if annotate else run.kept


def evidence(df: Any, **options: Any) -> Any:
    """Why each removed document was removed: a row for each. Options as in :func:`dedup`."""
    return Deduplication(df, **options).evidence


def pairs(df: Any, **options: Any) -> Any:
    """Every pair of similar documents, with the exact similarity. Options as in :func:`dedup`."""
    return Deduplication(df, **options).pairs


def sketch(df: Any, text: str = "text", column: str = "sketch", **options: Any) -> Any:
    """The DataFrame with a column of sketches: the bytes of :meth:`benzer.Sketch.encode`; `register` has functions for them."""
    import pandas as pd
    from pyspark.sql.functions import pandas_udf

    wanted = plan.settings(df.sparkSession, **options).request

    def made(texts: Any) -> Any:
        return called("sketch", wanted, text=texts)["sketch"]

    made.__annotations__ = {"texts": pd.Series, "return": pd.Series}
    return df.withColumn(column, pandas_udf(made, "binary")(plan.column(text)))
