"""`python -m benzer.spark IN OUT`: deduplicates what Spark reads. `spark-submit` runs it too, on this file."""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import Any

_EXAMPLES = """examples:
  python -m benzer.spark articles.jsonl clean --threshold 0.8
  python -m benzer.spark s3a://corpus/*.parquet s3a://clean --id number --keep longest --work s3a://scratch
  python -m benzer.spark corpus.parquet clean --remote sc://localhost:15002 --evidence why
  spark-submit --master spark://HOST:7077 --archives benzer.zip#benzer-wheel --conf spark.executorEnv.PYTHONPATH=benzer-wheel \\
    .../site-packages/benzer/spark/__main__.py IN OUT   (docs/guide/spark.md)
"""


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = argparse.ArgumentParser(
        prog="python -m benzer.spark",
        description="Removes near-duplicates with Apache Spark. Every removed document names a kept one that is at least as similar as the threshold, by exact comparison.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("input", metavar="IN", help="files or folders that Spark reads")
    made.add_argument("output", metavar="OUT", help="a folder for the kept rows, in the format of the input")
    made.add_argument("--format", choices=["parquet", "json", "csv", "orc"], help="format of the input; by its extension otherwise")
    made.add_argument("--text", default="text", metavar="COLUMN[,COLUMN]", help="column of the text (text)")
    made.add_argument("--id", default="id", metavar="COLUMN", help="column of ids, different for each row (id)")
    made.add_argument("--threshold", type=float, help="similarity from which on documents are duplicates (0.8)")
    made.add_argument("--keep", default="first", metavar="POLICY", help="first, last, longest, shortest, max:COLUMN, min:COLUMN")
    made.add_argument("--recall", type=float, help="share of pairs at the threshold that must be found (0.95)")
    made.add_argument("--preset", help="shingles, bands and threshold of another tool: fineweb, nemo, datasketch, lance")
    made.add_argument("--annotate", action="store_true", help="write all rows, with columns that say which are kept")
    made.add_argument("--evidence", metavar="OUT", help="a folder for the reasons, as Parquet")
    made.add_argument("--pairs", metavar="OUT", help="a folder for all pairs of similar documents, as Parquet")
    made.add_argument("--partitions", type=int, help="tasks of a shuffle")
    made.add_argument("--work", metavar="DIR", help="a folder that all executors see, for intermediate results")
    made.add_argument("--task-edges", type=int, default=4_000_000, metavar="N", help="similar pairs up to which a component is resolved in one task (4000000)")
    made.add_argument("--remote", metavar="URL", help="a Spark Connect server, such as sc://localhost:15002")
    made.add_argument("--overwrite", action="store_true", help="replace what is in the folders")
    made.add_argument("--log-level", default="OFF", metavar="LEVEL", help="what Spark logs besides the one line that says what is wrong: OFF, ERROR, WARN, INFO (OFF)")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Runs, and gives the exit code: 1 for data, 2 for usage."""
    given = parser().parse_args(arguments)
    from benzer.errors import BenzerError, ColumnError, ParameterError

    try:
        n = _run(given)
    except BenzerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ParameterError) and not isinstance(error, ColumnError) else 1
    print(f"{n} documents removed; the rest is in {given.output}", file=sys.stderr)
    return 0


def _run(given: argparse.Namespace) -> int:
    """Writes what is asked for, and gives the number of removed documents."""
    from benzer.errors import ParameterError
    from benzer.spark import Deduplication, addresses
    from benzer.spark.reasons import told

    kind = given.format or _format(given.input)
    if kind is None:
        raise ParameterError(f"the format of `{given.input}` is not known by its extension; say it with --format")
    named = {"OUT": given.output, "--evidence": given.evidence, "--pairs": given.pairs}
    outputs = {name: path for name, path in named.items() if path}
    addresses.refuse_overlaps({f"IN `{given.input}`": addresses.read(given.input)}, outputs, given.work)
    options = {"header": "true"} if kind == "csv" else {}
    with told():
        spark = _session(given)
        if not given.overwrite:
            addresses.refuse_existing(spark, outputs, "give --overwrite to replace it, or another name")
        df = spark.read.format(kind).options(**options).load(given.input)
        names = ("threshold", "keep", "recall", "preset", "partitions", "work", "task_edges", "id")
        run = Deduplication(df, text=given.text.split(","), **{name: getattr(given, name) for name in names})
        mode = "overwrite" if given.overwrite else "error"
        rows = run.annotated if given.annotate else run.kept
        rows.write.mode(mode).options(**options).format(kind).save(given.output)
        for table, path in [("evidence", given.evidence), ("pairs", given.pairs)]:
            if path:
                getattr(run, table).write.mode(mode).parquet(path)
        return int(run.evidence.count())


def _session(given: argparse.Namespace) -> Any:
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    if given.remote:
        return builder.remote(given.remote).getOrCreate()
    spark = builder.appName("benzer").config("spark.ui.showConsoleProgress", str(sys.stderr.isatty()).lower()).getOrCreate()
    # A session of Spark Connect, which the environment may ask for, has none.
    with contextlib.suppress(Exception):
        spark.sparkContext.setLogLevel(given.log_level)
    return spark


def _format(path: str) -> str | None:
    name = path.rstrip("/").removesuffix(".gz").removesuffix(".zst")
    endings = {".parquet": "parquet", ".jsonl": "json", ".json": "json", ".ndjson": "json", ".csv": "csv", ".orc": "orc"}
    return next((kind for ending, kind in endings.items() if name.endswith(ending)), None)


if __name__ == "__main__":
    sys.exit(main())
