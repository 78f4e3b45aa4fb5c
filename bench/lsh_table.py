"""lsh.md: the results of the race of indexes as Markdown tables, speed with the recall beside it."""

from __future__ import annotations

import shlex
from statistics import median
from typing import Any

Result = dict[str, Any]
PARTS = {
    "insert": "insert, one in a call",
    "bulk_insert": "all in a call",
    "query": "query, one in a call",
    "bulk_query": "all in a call",
    "scored_query": "query with similarities, one in a call",
    "scored_bulk_query": "all in a call",
}


def markdown(race: dict[str, Any]) -> str:
    """The whole document."""
    machine, results = race["machine"], race["results"]
    lines = [
        "# The race of indexes",
        "",
        f"{race['date']}, commit `{race['commit']}`, one pinned core of {machine['cpu']} ({machine['cores']} cores, "
        f"{machine['memory_gib']} GiB; {', '.join(machine['flags'])}); load {machine['load_at_start']} when it began.",
        "",
        f"Command: `{shlex.join(race['command'])}`. A million signatures of 128 registers, 16 bands of 8 rows, threshold 0.8; 200,000 queries, each for a document that is in the index. "
        "Thousands of documents a second, the median of the runs; in parentheses Benzer's speed over the peer's. A query with similarities gives those of the documents that reach the threshold: Benzer and gaoya always do; beside the others, which give candidates, similarities are computed from the signatures that were inserted. Bytes are resident memory for each document; Benzer and gaoya keep the signatures in them, the others do not.",
    ]
    for name in dict.fromkeys(result["input"] for result in results):
        rows = [result for result in results if result["input"] == name]
        lines += ["", f"## {name}", "", *section(rows)]
    apis = {result["peer"]: f"{result['version']}: {result['api']}" for result in results if "api" in result}
    lines += ["", "## What was called", "", *(f"- {who}: {api}" for who, api in apis.items())]
    absent = {f"- {result['peer']}: {result['failed']}": None for result in results if "failed" in result}
    if absent:
        lines += ["", "## Not in the tables", "", *absent]
    return "\n".join(lines) + "\n"


def section(rows: list[Result]) -> list[str]:
    """One table."""
    lines = [
        "| | " + " | ".join(PARTS.values()) + " | bytes | recall of planted pairs | found by a query |",
        "|---|" + "---:|" * (len(PARTS) + 3),
    ]
    benzer = next((row for row in rows if row["peer"] == "benzer"), {})
    for row in (row for row in rows if "failed" not in row):
        speeds = " | ".join(speed(row, benzer, part) for part in PARTS)
        size = f"{row['bytes_per_document']:.0f}" if "bytes_per_document" in row else "-"
        lines.append(f"| {row['peer']} | {speeds} | {size} | {row['recall']:.4f} | {row['found_per_query']:.2f} |")
    return lines


def speed(row: Result, benzer: Result, part: str) -> str:
    """Thousands a second, and how many times as fast Benzer is."""
    if part not in row:
        return "no such call"
    rate = median(row[part])
    ratio = f" ({median(benzer[part]) / rate:.1f})" if part in benzer and not row["peer"].startswith("benzer") else ""
    return f"{rate / 1000:,.0f}{ratio}"


def summary(result: Result) -> str:
    """One line for the terminal."""
    if "failed" in result:
        return f"{result['peer']}: {result['failed']}"
    rates = ", ".join(f"{part} {median(result[part]) / 1000:,.0f}" for part in PARTS if part in result)
    return f"{result['peer']}: {rates} thousand/s"
