"""dedup.md: the results of the dedup race as Markdown tables, speed with the quality beside it."""

from __future__ import annotations

import shlex
from statistics import median
from typing import Any

Result = dict[str, Any]
# Whom the times are compared with.
REFERENCE = "benzer"


def markdown(race: dict[str, Any]) -> str:
    """The whole document."""
    machine, corpus = race["machine"], race["corpus"]
    done = sorted((r for r in race["results"] if "quality" in r), key=lambda r: median(r["seconds"]))
    lines = [
        "# The dedup race",
        "",
        f"{race['date']}, commit `{race['commit']}`, one pinned core of {machine['cpu']} ({machine['cores']} cores, "
        f"{machine['memory_gib']} GiB; {', '.join(machine['flags'])}); load {machine['load_at_start']} when it began.",
        "",
        f"Command: `{shlex.join(race['command'])}`. {corpus['name']}: {corpus['docs']:,} documents, {corpus['bytes'] / 1e6:.0f} MB; threshold 0.8, "
        "word 5-grams, 128 registers. Seconds from process start to exit, median of the runs (who takes longer than 20 s runs once); the spread is (slowest - fastest) / median; "
        "less than 100% on the CPU means waiting or disturbance. Precision and recall are against the exact resolve in file order; justified "
        "removals have a document at least 0.8 similar among those that the same tool kept; named: the share of the removals, where a tool says "
        "what it kept instead, whose named document is that similar and was kept.",
        "",
        *speed_table(done),
        "",
        "## Covered pairs, by exact J",
        "",
        "Share of the pairs of which at least one document was removed: between documents with at most 64 partners at J >= 0.5, and of all pairs, "
        "where the largest cluster outweighs everything.",
        "",
        *bin_table({r["peer"]: r["quality"]["covered"]["few_partners"] for r in done}),
        "",
        *bin_table({f"{r['peer']}, all": r["quality"]["covered"]["all"] for r in done}),
    ]
    for result in done:
        if pairs := result["quality"].get("pairs"):
            lines += pair_section(result["peer"], pairs)
    lines += ["", "## What was run", "", *(f"- {r['peer']} {r['version']}: {r['api']}" for r in done)]
    absent = [f"- {r['peer']}: {r['failed']}" for r in race["results"] if "failed" in r]
    if absent:
        lines += ["", "## Not in the tables", "", *absent]
    return "\n".join(lines) + "\n"


def speed_table(done: list[Result]) -> list[str]:
    """Fastest first."""
    reference = next((median(r["seconds"]) for r in done if r["peer"] == REFERENCE), None)
    lines = [
        f"| | seconds | spread | on CPU | / {REFERENCE} | peak MiB | removed | precision | recall | justified | named | version |",
        "|---|" + "---:|" * 11,
    ]
    for r in done:
        seconds, quality = median(r["seconds"]), r["quality"]
        spread = (max(r["seconds"]) - min(r["seconds"])) / seconds
        ratio = f"{seconds / reference:.1f}" if reference else "-"
        named = quality["named_justified"] / quality["named"] if quality["named"] else None
        shares = " | ".join(share(value) for value in (quality["precision"], quality["recall"], quality["justified"], named))
        lines.append(
            f"| {r['peer']} | {seconds:.2f} | {spread:.0%} | {r['on_cpu']:.0%} | {ratio} | {r['peak_mib']:.0f} | {quality['removed']:,} "
            f"| {shares} | {r['version']} |"
        )
    if done:
        lines.append(f"| exact, in file order | | | | | | {done[0]['quality']['reference']:,} | 1 | 1 | 1 | | |")
    return lines


def bin_table(columns: dict[str, list[dict[str, Any]]]) -> list[str]:
    """One row for each contestant, one column for each bin."""
    if not columns:
        return ["Nobody finished."]
    bins = next(iter(columns.values()))
    heads = [f"{interval(b['low'])} ({b['edges']:,})" for b in bins]
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for name, row in columns.items():
        lines.append(f"| {name} | " + " | ".join(share(b["hits"] / b["edges"]) for b in row) + " |")
    return lines


def pair_section(peer: str, pairs: dict[str, Any]) -> list[str]:
    """The recall of the pairs that a contestant reports."""
    return [
        "",
        f"## Pairs that {peer} reports, by exact J",
        "",
        f"{pairs['pairs']:,} pairs; {pairs['differing']:,} with another intersection or union than the truth, {pairs['unknown']:,} that are no edge "
        "of it. Share of the edges that were found, between documents with at most 64 partners and of all; a large cluster is not paired in full.",
        "",
        *bin_table({"few partners": pairs["found"]["few_partners"]}),
        "",
        *bin_table({"all": pairs["found"]["all"]}),
    ]


def interval(low: float) -> str:
    """The bin that begins at a J."""
    return "1" if low == 1 else f"{low:.2f}-{low + 0.05:.2f}"


def share(value: float | None) -> str:
    """Four digits: the differences that matter are small."""
    return "-" if value is None else f"{value:.4f}"
