"""Small corpora, and what `benzer.dedup` on one machine says about them."""

from __future__ import annotations

import random
from typing import Any

import pandas as pd

import benzer

Rows = list[tuple[str, str, int]]


def words(random_: random.Random, n: int) -> list[str]:
    return [f"w{random_.randrange(900)}" for _ in range(n)]


def mixed(n: int = 600, seed: int = 1) -> Rows:
    """Clusters of edited versions, a template, copies, a text without words, and texts like no other; ids in no order."""
    random_ = random.Random(seed)
    texts: list[str] = []
    while len(texts) < n:
        base = words(random_, random_.randrange(20, 90))
        texts.append(" ".join(base))
        for _ in range(random_.choice([0, 0, 1, 2, 6])):
            edited = list(base)
            for _ in range(random_.randrange(4)):
                edited[random_.randrange(len(edited))] = random_.choice(["new", "other", "word"])
            texts.append(" ".join(edited))
    template = " ".join(words(random_, 80))
    texts += [f"{template} number {i}" for i in range(n // 5)] + ["...", "", "two words", "two words"]
    ids = random_.sample(range(10**6), len(texts))
    return [(f"doc-{i}", text, i % 17) for i, text in zip(ids, texts, strict=True)]


def chain(n: int) -> Rows:
    """Versions of which each is similar to its neighbours only: a long component."""
    return [(f"{i:06}", " ".join(f"word{j}" for j in range(4 * i, 4 * i + 60)), 0) for i in range(n)]


def template(n: int) -> Rows:
    """Documents that differ in a word or two."""
    body = " ".join(f"body{j}" for j in range(60))
    return [(f"{i:07}", f"{body} dear customer {i}", 0) for i in range(n)]


def skewed(n: int) -> Rows:
    """Clusters of n documents, of half as many, and so on: one has half of all documents, and most of the pairs."""
    random_, rows, cluster = random.Random(n), [], 0
    while n > 0:
        base = " ".join(words(random_, 70))
        rows += [(f"skew-{cluster}-{random_.random()}", f"{base} version {i}", i) for i in range(n)]
        n, cluster = n // 2, cluster + 1
    return rows


def local(rows: Rows, **options: Any) -> tuple[set[str], list[Any], list[Any]]:
    """Kept ids, pairs and evidence of a run on one machine."""
    frame = pd.DataFrame(rows, columns=["id", "text", "score"])
    result = benzer.dedup(frame, id="id", audit="off", progress=False, **options)
    pairs = result.pairs[["id_a", "id_b", "intersection", "union", "similarity", "exact_copy"]]
    why = result.evidence[["removed_id", "kept_id", "similarity", "intersection", "union", "estimate", "low", "high", "rule"]]
    return set(result.kept["id"]), sorted(pairs.itertuples(index=False, name=None)), sorted(why.itertuples(index=False, name=None))


def distributed(run: Any) -> tuple[set[str], list[Any], list[Any]]:
    """The same of a run on an engine."""
    kept = {row["id"] for row in run.kept.select("id").collect()}
    return kept, sorted(tuple(row) for row in run.pairs.collect()), sorted(tuple(row) for row in run.evidence.collect())


def frame(spark: Any, rows: Rows, partitions: int = 3) -> Any:
    return spark.createDataFrame(rows, "id string, text string, score int").repartition(partitions)
