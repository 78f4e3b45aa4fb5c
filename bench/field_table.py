"""The whole field in one table: a row for each thing that is raced, Benzer beside the best of its peers, from the JSON of one run of all races."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

HEAD = "| what | unit | Benzer | best peer | | times | quality: Benzer, peer |\n|---|---|---:|---|---:|---:|---|"
NOTE = "The best peer is the fastest one of the race, whatever its quality; `times` is how many times as fast Benzer is, or as small. Errors are mean absolute errors of estimates. What exactly is called, and all peers, are below."
TEXT = {"text-english": "English", "text-cyrillic": "Cyrillic", "text-cjk": "Chinese, Japanese, Korean"}
PYTHON = [
    ("texts to signatures", "mb_per_s", "Python: texts to signatures in one call", "MB/s"),
    ("sets-122", "elements_per_s", "Python: sets of 122 elements", "M elements/s"),
    ("update_batch, 100 tokens", "updates_per_s", "Python: `update_batch` of 100 tokens", "calls/s"),
    ("index of 100,000, one at a time", "inserts_per_s", "Python: index, an insert a call", "documents/s"),
    ("index of 100,000, one at a time", "queries_per_s", "Python: index, a query a call", "queries/s"),
    ("index of 1,000,000, in bulk", "inserts_per_s", "Python: index of a million, inserts in bulk", "documents/s"),
    ("index of 1,000,000, in bulk", "queries_per_s", "Python: index of a million, queries in bulk", "queries/s"),
]
INDEX = {"bulk_insert": "inserts in one call", "insert": "an insert a call", "bulk_query": "queries in one call", "query": "a query a call", "scored_bulk_query": "queries in one call, with similarities", "scored_query": "a query a call, with similarities"}

Row = tuple[str, str, float, str, float, float | str, str]


def table(folder: Path, races: Iterable[str]) -> str:
    """The table of the races that have results."""
    makers = {"run": sketches, "dedup": dedup, "lsh": indexes, "redis": redis, "python": package, "spark": spark}
    files = {"run": "race"}
    lines = [HEAD]
    for race in races:
        path = folder / f"{files.get(race, race)}.json"
        if path.exists():
            try:
                lines += [shown(row) for row in makers[race](json.loads(path.read_text()))]
            except (LookupError, StopIteration, RuntimeError, ValueError) as error:
                lines.append(f"| bench/{race} | | | | | | its results are not whole: {error!r} |")
    return "\n".join(lines) + f"\n\n{NOTE}\n"


def shown(row: Row) -> str:
    what, unit, ours, peer, theirs, times, quality = row
    ratio = times if isinstance(times, str) else f"{times:.1f}"
    return f"| {what} | {unit} | {number(ours)} | {peer} | {number(theirs)} | {ratio} | {quality} |"


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def middle(value: Any) -> float:
    return statistics.median(value) if isinstance(value, list) else float(value)


def best(rows: list[dict[str, Any]], key: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Ours, and the peer with the highest value."""
    ours = [row for row in rows if row["peer"] == "benzer" and key in row]
    peers = [row for row in rows if not row["peer"].startswith("benzer") and key in row]
    if ours and peers:
        yield ours[0], max(peers, key=lambda row: middle(row[key]))


def errors(*rows: dict[str, Any]) -> str:
    """The mean absolute errors, where they are known."""
    if not any(row.get("error") for row in rows):
        return ""
    return "error " + ", ".join(f"{row['error']['mean_abs']:.3f}" if row.get("error") else "-" for row in rows)


def sketches(result: dict[str, Any]) -> Iterator[Row]:
    for size in (10, 122, 500, 5000):
        rows = [row for row in result["results"] if (row["task"], row["input"], row["registers"]) == ("sketch", f"sets-{size}", 128)]
        for ours, peer in best(rows, "elements_per_s"):
            values = ours["elements_per_s"] / 1e6, peer["elements_per_s"] / 1e6
            yield f"sketches of {size:,} elements, 128 registers", "M elements/s", values[0], peer["peer"], values[1], values[0] / values[1], errors(ours, peer)
    for name, language in TEXT.items():
        for ours, peer in best([row for row in result["results"] if row["input"] == name], "mb_per_s"):
            yield f"text to sketches, {language}", "MB/s", ours["mb_per_s"], peer["peer"], peer["mb_per_s"], ours["mb_per_s"] / peer["mb_per_s"], errors(ours, peer)


def dedup(result: dict[str, Any]) -> Iterator[Row]:
    rows = [row for row in result["results"] if "quality" in row]
    ours = next(row for row in rows if row["peer"] == "benzer")
    peers = [row for row in rows if not row["peer"].startswith("benzer")]
    peer = min(peers, key=lambda row: middle(row["seconds"]))
    values = middle(ours["seconds"]), middle(peer["seconds"])
    quality = "; ".join(f"{row['quality']['justified']:.3f} of removals justified, recall {row['quality']['recall']:.3f}" for row in (ours, peer))
    yield f"deduplication of {result['corpus']['docs']:,} documents", "seconds", values[0], peer["peer"], values[1], values[1] / values[0], quality


def indexes(result: dict[str, Any]) -> Iterator[Row]:
    for key, name in INDEX.items():
        for kind in ("uniform", "skewed"):
            rows = [row for row in result["results"] if row["input"] == kind]
            for ours, peer in best(rows, key):
                values = middle(ours[key]), middle(peer[key])
                quality = f"recall {ours['recall']:.4f}, {peer['recall']:.4f}"
                yield f"index of a million signatures, {name}, {kind}", "documents/s" if "insert" in key else "queries/s", values[0], peer["peer"], values[1], values[0] / values[1], quality


def redis(result: dict[str, Any]) -> Iterator[Row]:
    ours, peer = (result["results"][f"{name}, one server, 20,000 documents"] for name in ("Benzer", "datasketch"))
    quality = f"found by a search {ours['matches_per_search_one_at_a_time']:.2f}, {peer['matches_per_search']:.2f}"
    for key, name in (("inserts_per_second", "inserts in batches"), ("searches_per_second_one_at_a_time", "a search a call")):
        yield f"Redis: {name}", "documents/s" if "insert" in key else "searches/s", ours[key], "datasketch", peer[key], ours[key] / peer[key], quality
    yield "Redis: memory of a document", "bytes", ours["bytes_per_document"], "datasketch", peer["bytes_per_document"], peer["bytes_per_document"] / ours["bytes_per_document"], ""


def package(result: dict[str, Any]) -> Iterator[Row]:
    for name, key, what, unit in PYTHON:
        runs = [one for one in result["runs"] if one["name"] == name and key in one]
        peers = dict.fromkeys(one["peer"] for one in runs)
        rows = [{**next(one for one in runs if one["peer"] == peer), key: [one[key] for one in runs if one["peer"] == peer]} for peer in peers]
        for ours, peer in best(rows, key):
            scale = 1e6 if unit.startswith("M ") else 1.0
            values = middle(ours[key]) / scale, middle(peer[key]) / scale
            yield what, unit, values[0], peer["peer"], values[1], values[0] / values[1], errors(ours, peer)


def spark(result: dict[str, Any]) -> Iterator[Row]:
    for race in result["races"]:
        engines = {one["engine"]: one for one in race["engines"]}
        if not {"benzer", "mllib"} <= engines.keys():
            continue
        peer = engines["mllib"]
        ended, stopped = peer["why"] is None, (peer["why"] or "").startswith("not ended")
        name = "MLlib" if ended else "MLlib, stopped" if stopped else "MLlib, failed"
        for engine, on in (("benzer", "Spark"), ("sail", "Sail")):
            ours = engines.get(engine)
            if ours is None or ours["why"] is not None:
                continue
            ratio = peer["seconds"] / ours["seconds"]
            times = ratio if ended else f"at least {ratio:.1f}" if stopped else "-"
            quality = "; ".join(f"{one['justified']:.3f} of removals justified" if one.get("justified") is not None else "did not end" for one in (ours, peer))
            yield f"{race['docs']:,} documents on {on}, two cores", "seconds", ours["seconds"], name, peer["seconds"], times, quality
