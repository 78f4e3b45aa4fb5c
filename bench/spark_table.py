"""spark.md: the results of the race on Spark as Markdown, speed with the quality and the bytes beside it."""

from __future__ import annotations

import shlex
from typing import Any

NAMES = {"benzer": "benzer.spark, Spark", "sail": "benzer.spark, Sail", "mllib": "MLlib MinHashLSH, Spark"}


def markdown(results: dict[str, Any]) -> str:
    """The whole document."""
    machine = results["machine"]
    lines = [
        "# Deduplication on Spark",
        "",
        f"{results['date']}, commit `{results['commit']}`, local[2] on {machine['cpu']} ({machine['cores']} cores, {machine['memory_gib']} GiB); load {machine['load_at_start']} when it began.",
        "",
        f"Command: `{shlex.join(results['command'])}`. The first documents of {results['corpus']}, JSON lines to Parquet, threshold 0.8, word 5-grams; 8 partitions and 6 GB for the JVM "
        "everywhere. Seconds are those of the whole process, and without the start of the session (work). On CPU are the seconds of all its processes, start included, and MB/s a core is by them, which other work on the machine does not change. Memory is that of all processes together. Precision and recall are of "
        "pairs, by the exact join. Of a template's pairs the bucket rule of benzer leaves most out, on purpose: its documents are removed by their first members. So what counts is "
        "beside it: justified removals have a kept document at least 0.8 similar; left are kept documents that an earlier kept one is at least 0.8 similar to.",
    ]
    for race in results["races"]:
        lines += ["", f"## {race['docs']:,} documents, {race['bytes'] / 1e6:.0f} MB", "", *table(race)]
    lines += [
        "",
        "## What was run",
        "",
        "- benzer.spark: `Deduplication(df, work=..., partitions=8)`, kept rows and pairs written. The same rows are moved on Sail, which does not report bytes: "
        "there the bytes before compression are those that Spark counts.",
        "- MLlib: RegexTokenizer with a pattern for the same words, NGram(5), HashingTF(2^24, binary), MinHashLSH with 2 tables (the fewest that find 0.95 of the pairs at 0.8), hashed once "
        "and kept in memory, approxSimilarityJoin at 0.2; of a pair the larger id is removed.",
    ]
    return "\n".join(lines) + "\n"


def table(race: dict[str, Any]) -> list[str]:
    """The engines of one size."""
    ours = next((row for row in race["engines"] if row["engine"] == "benzer" and row["why"] is None), None)
    lines = [
        "| | seconds | / benzer | work | / benzer | on CPU | MB/s a core | peak MiB | pairs | precision | recall | removed | justified | left | shuffled bytes a document | before compression |",
        "|---|" + "---:|" * 15,
    ]
    for row in race["engines"]:
        name, seconds = NAMES[row["engine"]], row["seconds"]
        if row["why"] is not None:
            ratio = f"at least {seconds / ours['seconds']:.1f}" if ours and row["why"].startswith("not ended") else "-"
            what = row["why"].replace("not ended", f"not ended after {seconds:.0f} s") if row["why"].startswith("not ended") else "failed"
            what += f" ({row['disk_gb']} GB on disk)"
            lines.append(f"| {name} | {what} | {ratio} | | | {row['cpu']:.0f} | | {row['peak_mib']:,} |" + " |" * 8)
            continue
        ratios = [f"{row[key] / ours[key]:.2f}" if ours else "-" for key in ("seconds", "work")]
        speed = race["bytes"] / 1e6 / row["cpu"]
        # Sail moves the same rows and reports nothing.
        same = f"{ours['shuffled_raw']:,} (the same rows)" if ours and "shuffled_raw" in ours else "not reported"
        shuffled = [f"{row[key]:,}" if key in row else same if key == "shuffled_raw" else "not reported" for key in ("shuffled", "shuffled_raw")]
        lines.append(
            f"| {name} | {seconds:.1f} | {ratios[0]} | {row['work']:.1f} | {ratios[1]} | {row['cpu']:.0f} | {speed:.2f} | {row['peak_mib']:,} | {row['pairs']:,} | {row['precision']:.4f} | "
            f"{row['recall']:.4f} | {row['removed']:,} | {row['justified']:.4f} | {row['left']:,} | {shuffled[0]} | {shuffled[1]} |"
        )
    exact = next((row["exact_pairs"] for row in race["engines"] if "exact_pairs" in row), None)
    return [*lines, "", f"All pairs at 0.8: {exact:,}, by the exact join on one machine in {race['exact_seconds']} s."] if exact is not None else lines
