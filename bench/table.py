"""race.md: the results as Markdown tables, speed with the error beside it."""

from __future__ import annotations

import shlex
from statistics import median
from typing import Any

Result = dict[str, Any]
# Whom the speeds of a task are compared with.
REFERENCE = {"sketch": "rensa", "text": "daft"}


def markdown(race: dict[str, Any]) -> str:
    """The whole document."""
    machine, results = race["machine"], race["results"]
    lines = [
        "# The race",
        "",
        f"{race['date']}, commit `{race['commit']}`, one pinned core of {machine['cpu']} ({machine['cores']} cores, "
        f"{machine['memory_gib']} GiB; {', '.join(machine['flags'])}); load {machine['load_at_start']} when it began.",
        "",
        f"Command: `{shlex.join(race['command'])}`. Median of the runs; the spread is (slowest - fastest) / median; less than 100% "
        "on the CPU means that others disturbed the heat.",
        "The variance ratio compares the squared error with J (1 - J) / registers, the variance of independent permutations.",
    ]
    for task, name in dict.fromkeys((r["task"], r["input"] + f", {r['registers']} registers") for r in results):
        rows = [r for r in results if r["task"] == task and r["input"] + f", {r['registers']} registers" == name]
        lines += ["", f"## {task}: {name}", "", *section(task, rows)]
    apis = {r["peer"] + ", " + r["task"]: f"{r['version']}: {r['api']}" for r in results if "api" in r}
    lines += ["", "## What was called", "", *(f"- {who}: {api}" for who, api in apis.items())]
    absent = {f"- {r['peer']}, {r['task']}: {r['failed']}": None for r in results if "failed" in r}
    if absent:
        lines += ["", "## Not in the tables", "", *absent]
    return "\n".join(lines) + "\n"


def section(task: str, rows: list[Result]) -> list[str]:
    """One table, fastest first."""
    done = sorted((r for r in rows if "seconds" in r), key=speed, reverse=True)
    reference = next((speed(r) for r in done if r["peer"] == REFERENCE[task]), None)
    unit = "M elements/s" if task == "sketch" else "MB/s"
    lines = [
        f"| | {unit} | / {REFERENCE[task]} | spread | on CPU | mean abs error | RMS error | bias | variance ratio |",
        "|---|" + "---:|" * 8,
    ]
    for r in done:
        ratio = f"{speed(r) / reference:.2f}" if reference else "-"
        spread = (max(r["seconds"]) - min(r["seconds"])) / median(r["seconds"])
        lines.append(f"| {r['peer']} | {speed(r):.3g} | {ratio} | {spread:.0%} | {r.get('on_cpu', 1):.0%} | {errors(r)} |")
    return lines


def speed(result: Result) -> float:
    """Millions of elements, or of bytes, per second."""
    return result["elements_per_s"] / 1e6 if "elements_per_s" in result else result["mb_per_s"]


def errors(result: Result) -> str:
    """The four error columns."""
    error = result.get("error")
    if not error:
        return "- | - | - | -"
    return f"{error['mean_abs']:.4f} | {error['rms']:.4f} | {error['bias']:+.4f} | {error['variance_ratio']:.2f}"
