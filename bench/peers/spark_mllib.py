"""A plain pipeline of MLlib on local[2]: words, 5-grams, hashed features, MinHashLSH, approxSimilarityJoin at distance 0.2; of a pair the larger id is removed."""

from __future__ import annotations

import sys

from pyspark import StorageLevel
from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
from pyspark.sql import functions as F
from spark_session import Clock, local

#: Tables, each of one hash function: MLlib has no rows. Two are the fewest that find 0.95 of the pairs at 0.8, which is 1 - 0.2^2 = 0.96; more take longer.
TABLES = 2
#: Words as `benzer` has them in Latin texts (UAX #29): points and apostrophes between letters, points and commas between digits belong to a word.
WORDS = r"[\p{L}\p{M}\p{N}_]+(?:(?:(?<=\p{L})[:.'\u2019\u00b7](?=\p{L})|(?<=\p{N})[.,;'](?=\p{N}))[\p{L}\p{M}\p{N}_]+)*"


def main(source: str, folder: str, _: str) -> None:
    clock = Clock(folder)
    session = local(folder)
    clock.ready(session)
    df = session.read.schema("id string, text string").json(source)
    words = RegexTokenizer(inputCol="text", outputCol="words", pattern=WORDS, gaps=False)
    shingles = NGram(n=5, inputCol="words", outputCol="shingles")
    features = HashingTF(numFeatures=1 << 24, binary=True, inputCol="shingles", outputCol="features")
    # MinHash refuses empty sets; a text of fewer than five words has no shingle here.
    cut = shingles.transform(words.transform(df)).where(F.size("shingles") > 0)
    hashed = features.transform(cut).select("id", "features")
    model = MinHashLSH(numHashTables=TABLES, inputCol="features", outputCol="hashes", seed=42).fit(hashed)
    # Both sides of the join are the same rows: hashed once.
    sides = model.transform(hashed).persist(StorageLevel.MEMORY_AND_DISK)
    joined = model.approxSimilarityJoin(sides, sides, 0.2, distCol="distance")
    pairs = joined.select(F.col("datasetA.id").alias("id_a"), F.col("datasetB.id").alias("id_b")).where("id_a < id_b")
    pairs.write.parquet(f"{folder}/pairs")
    removed = session.read.parquet(f"{folder}/pairs").select(F.col("id_b").alias("id")).distinct()
    df.join(removed, "id", "left_anti").write.parquet(f"{folder}/kept")
    clock.done()


if __name__ == "__main__":
    main(*sys.argv[1:])
