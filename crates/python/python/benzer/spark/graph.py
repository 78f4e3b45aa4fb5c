"""From similar pairs to decisions: connected components, then each component in one task."""

from __future__ import annotations

from typing import Any

from benzer.spark.plan import CHANGED, COPY, EDGE, LAST, ROWS, Settings, held, moved, spread, stage

EVIDENCE = (
    "removed_id string, kept_id string, similarity double, intersection int, union int, "
    "estimate double, low double, high double, rule string"
)
#: Rounds of stars after which something is wrong: 2^60 documents need fewer.
MOST_ROUNDS = 60
#: Rows of a table that an engine may send to all executors for a join. It decides by the size of files: 10 MB of those, with 2 million rows, need more than a heap of 512 MB.
MOST_SENT = 500_000


def evidence(edges: Any, of: Settings) -> Any:
    """A row for each removed document. `edges` are held."""
    if edges.count() <= of.task_edges:
        return stage(edges.coalesce(1), "resolve", of, EVIDENCE)
    from pyspark.sql import functions as F

    roots = components(edges, of).select(F.col("a").alias("member"), F.col("b").alias("root"))
    labelled = held(edges.join(_sent(roots), F.col("a") == F.col("member")).drop("member"), of)
    sizes = labelled.groupBy("root").count()
    large = sizes.where(F.col("count") > of.task_edges).select("root")
    if large.limit(1).count() == 0:
        return stage(_rows(labelled.repartition("root")), "resolve", of, EVIDENCE)
    small = _rows(labelled.join(large, "root", "left_anti").repartition("root"))
    # A large component was found in one task, or came to one with its root: it is spread over all.
    rest = held(spread(_rows(labelled.join(large, "root", "left_semi")), "a", of), of)
    decided = blocks(rest.where(F.col("kind") == EDGE), of)
    # Decisions of a large component need not be together: a copy meets that of its representative.
    together = decided.withColumn("key", F.col("a")).unionByName(rest.where(F.col("kind") == COPY).withColumn("key", F.col("b")))
    done = stage(_rows(together.repartition("key")), "resolve", of, EVIDENCE)
    return stage(small, "resolve", of, EVIDENCE).unionByName(done)


def components(edges: Any, of: Settings) -> Any:
    """Links from each document to the first of its component, by rounds of large-star and small-star."""
    from pyspark.sql import functions as F

    links = held(stage(edges, "forest", of), of)
    for _ in range(MOST_ROUNDS):
        links = held(stage(moved(stage(moved(links, of), "large_star", of), of), "small_star", of), of)
        if links.where(F.col("kind") == CHANGED).limit(1).count() == 0:
            return links.where(F.col("a") > F.col("b"))
    raise RuntimeError(f"components were not found in {MOST_ROUNDS} rounds; please report this")


def blocks(pending: Any, of: Settings) -> Any:
    """The edges that decide, of components that are too large for one task: in keep order, as many edges at a time as a task takes.

    Stages keep the first edges, in the memory of Python workers: an engine that orders rows may do so in a heap that is too small.
    """
    from pyspark.sql import functions as F

    decided = pending.limit(0)
    while True:
        # Not `coalesce`, which would leave the first stage to one task as well.
        first = stage(pending, "first", of).repartition(1)
        block = held(stage(first, "block", of), of)
        removed = block.where(F.col("kind") == EDGE)
        decided = decided.unionByName(removed)
        last = block.where(F.col("kind") == LAST).select("a").collect()
        if not last:
            return decided
        gone = removed.select(F.col("a").alias("gone"))
        pending = pending.where(F.col("a") > F.lit(bytearray(last[0]["a"])))
        pending = held(pending.join(_sent(gone), F.col("b") == F.col("gone"), "left_anti"), of)


def _sent(rows: Any) -> Any:
    """A table to join with; a large one is sorted, on disk if need be. `rows` are held."""
    return rows if rows.count() <= MOST_SENT else rows.hint("merge")


def _rows(rows: Any) -> Any:
    return rows.select(*(name.split()[0] for name in ROWS.split(", ")))
