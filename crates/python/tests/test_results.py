"""Results of deduplications: other thresholds, archives of tables, how long files are there, other processes, and memory."""

from __future__ import annotations

import gc
import json
import multiprocessing
import pickle
import random
import subprocess
import sys
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import benzer
from benzer import errors

Rows = list[dict[str, str]]

UNSAID = ["estimate", "low", "high"]
"""What the sketches say of a pair for which nobody was removed before is not known at another threshold."""
SEARCH = ["met", "candidates", "oversized_buckets", "largest_bucket"]
"""Counts of how pairs were found."""


def clusters(seed: int, n: int = 200, size: int = 5) -> Rows:
    """Clusters of edited copies, some of them the same text, in any order; ids do not follow the rows."""
    draw = random.Random(seed)
    rows: Rows = []
    for cluster in range(n):
        words = [f"w{cluster}x{i}" for i in range(150)]
        texts: list[str] = []
        for _ in range(size):
            edited = list(words)
            for _ in range(draw.randrange(6)):
                edited[draw.randrange(150)] = f"e{draw.randrange(10**6)}"
            texts.append(draw.choice([*texts, " ".join(edited)]))
            words = draw.choice([words, edited])
        rows += [{"text": text} for text in texts]
    draw.shuffle(rows)
    names = draw.sample(range(len(rows)), len(rows))
    return [{"id": f"d{name}", **row} for name, row in zip(names, rows, strict=True)]


def as_rows(table: Any) -> list[dict[str, Any]]:
    return [{name: cell for name, cell in row.items() if name not in UNSAID} for row in table.to_pylist()]


@pytest.mark.parametrize("threshold", [0.75, 0.8, 0.85, 0.9])
@pytest.mark.parametrize("kind", ["rows", "rows with ids", "paths", "paths with ids"])
def test_a_higher_threshold_is_that_of_a_run_at_it(kind: str, threshold: float, tmp_path: Path) -> None:
    newly = 0
    for seed in range(3):
        rows = clusters(seed)
        data: Any = pa.Table.from_pylist(rows)
        if kind.startswith("paths"):
            data = []
            for i in range(2):
                data.append(tmp_path / f"{seed}{i}.jsonl")
                data[i].write_text("".join(json.dumps(row) + "\n" for row in rows[i::2]))
        settings: dict[str, Any] = {"recall": 1, "audit": "off", "id": "id" if kind.endswith("ids") else None}
        again = benzer.dedup(data, threshold=0.7, **settings).rethreshold(threshold)
        direct = benzer.dedup(data, threshold=threshold, **settings)
        assert as_rows(again.evidence) == as_rows(direct.evidence)
        assert again.pairs == direct.pairs and again.removed == direct.removed
        without = [{name: n for name, n in result.counts.items() if name not in SEARCH} for result in (again, direct)]
        assert without[0] == without[1]
        assert again.summary["histogram"] == direct.summary["histogram"] and again.warnings == direct.warnings
        if not kind.startswith("paths"):
            assert again.kept == direct.kept and again.kept_rows.tolist() == direct.kept_rows.tolist()
        newly += again.summary["newly_removed"]
        page = again.report().read_text()
        assert f"similarity of {threshold} on" in page and f">{again.counts['kept']:,}<" in page
    assert newly > 0 or threshold == 0.9, "documents that were kept must be among those that are removed"


def test_bands_and_the_audit_are_told_where_pairs_cannot_tell_them() -> None:
    low = benzer.dedup(clusters(3), threshold=0.7)
    assert low.summary["audit"] is not None
    again = low.rethreshold(0.9)
    assert again.summary["audit"] is None and "bands for 0.7" in again.summary["notes"][0]
    assert again.rethreshold(0.8).counts["removed"] == low.rethreshold(0.8).counts["removed"]
    with pytest.raises(errors.ParameterError, match="cluster leaders"):
        benzer.dedup(clusters(3), cluster="components").rethreshold(0.9)


@pytest.mark.parametrize("make", [list, pd.DataFrame, pl.DataFrame, pa.Table.from_pylist])
def test_what_a_table_keeps_is_saved_and_removed_the_next_day(make: Any, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    rows = clusters(5, n=40)
    monday = benzer.dedup(make(rows[:120]), id="id", save=seen)
    assert monday.counts["kept"] > 20 and monday.counts["against"] == 0
    both = make([*rows[:120], *rows[120:]])
    tuesday = benzer.dedup(both, id="id", save=seen)
    assert tuesday.counts["against"] == monday.counts["kept"]
    assert tuesday.counts["removed_against"] >= 120
    assert not {row["id"] for row in rows[:120]} & {str(one) for one in list(pd.DataFrame(_records(tuesday.kept)).get("id", []))}
    wednesday = benzer.dedup(make(rows), id="id", against=seen)
    assert wednesday.counts["kept"] == 0 and wednesday.counts["removed_against"] == len(rows)
    assert set(pd.DataFrame(_records(wednesday.evidence))["kept_in"]) == {"against"}
    assert benzer.dedup(make(rows), id="id", against=seen).counts["against"] == wednesday.counts["against"], "only `save` adds"


def _records(table: Any) -> list[dict[str, Any]]:
    if isinstance(table, list):
        return table
    if isinstance(table, pd.DataFrame):
        return table.to_dict("records")
    return table.to_dicts() if isinstance(table, pl.DataFrame) else table.to_pylist()


def test_saving_and_writing_nothing_exclude_each_other(articles: Rows, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in articles))
    with pytest.raises(errors.ParameterError, match="write='dry-run' nothing is saved"):
        benzer.dedup(path, save=tmp_path / "seen", write="dry-run")
    assert not (tmp_path / "seen").exists()
    own = benzer.dedup(path, save=tmp_path / "run" / "saved", output=tmp_path / "run")
    assert (own.folder / "saved" / "archive.json").exists()
    with pytest.raises(errors.ParameterError, match="python -m benzer"):
        benzer.dedup(path, output="s3://bucket/run")


def _file(path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in clusters(1, n=20)))
    return path


def test_files_of_temporary_results_are_there_when_the_result_is_gone(tmp_path: Path) -> None:
    path = _file(tmp_path / "a.jsonl")
    kept, page = benzer.dedup(path).kept, benzer.dedup(clusters(1, n=20)).report()
    folder, higher = benzer.dedup(path).folder, benzer.dedup(clusters(1, n=20)).rethreshold(0.9).report()
    gc.collect()
    assert kept[0].read_text() and page.read_text() and higher.read_text() and (folder / "manifest.json").is_file()
    result = benzer.dedup(path)
    temporary = result._folder
    assert temporary.exists()
    del result
    gc.collect()
    assert not temporary.parent.exists(), "nobody was given a path of it"
    code = f"import benzer; print(benzer.dedup({str(path)!r}).kept[0])"
    left = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert left.endswith("a.jsonl") and not Path(left).exists(), "temporary files end with the process"


def test_what_was_not_written_is_said(tmp_path: Path) -> None:
    path = _file(tmp_path / "a.jsonl")
    with pytest.raises(errors.DedupError, match="dry-run"):
        _ = benzer.dedup(path, write="dry-run").kept
    with pytest.raises(errors.DedupError, match="is_duplicate"):
        _ = benzer.dedup(path, write="annotate").kept
    result = benzer.dedup(path, output=tmp_path / "out")
    (tmp_path / "out" / "manifest.json").unlink()
    with pytest.raises(errors.DedupError, match="are gone"):
        _ = result.kept


def dedup_of_paths(path: str) -> Any:
    return benzer.dedup(path)


def dedup_of_rows(seed: int) -> Any:
    return benzer.dedup(clusters(seed, n=20))


def files_of_paths(path: str) -> Any:
    result = benzer.dedup(path)
    return result.kept, result.report()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_results_of_worker_processes_are_read_here(method: str, tmp_path: Path) -> None:
    path = str(_file(tmp_path / "a.jsonl"))
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        of_paths, of_rows = pool.submit(dedup_of_paths, path).result(), pool.submit(dedup_of_rows, 1).result()
        kept, page = pool.submit(files_of_paths, path).result()
    here = benzer.dedup(path)
    assert of_paths.kept[0].read_bytes() == here.kept[0].read_bytes() == kept[0].read_bytes()
    assert page.read_text().startswith("<!doctype html>")
    assert of_rows.kept == benzer.dedup(clusters(1, n=20)).kept
    assert of_paths.evidence == here.evidence and of_rows.report().exists()
    assert of_rows.rethreshold(0.9).counts["removed"] == benzer.dedup(clusters(1, n=20), threshold=0.9, recall=1).counts["removed"]


def test_a_pickle_is_a_result_of_its_own(tmp_path: Path) -> None:
    result = benzer.dedup(_file(tmp_path / "a.jsonl"))
    twice = [pickle.loads(pickle.dumps(result)) for _ in range(2)]
    first = twice.pop()
    del result
    gc.collect()
    assert first.kept != twice[0].kept
    del first
    gc.collect()
    assert twice[0].kept[0].read_text() and twice[0].rethreshold(0.9).evidence.num_rows >= 0


def test_too_much_for_a_pickle_is_said_when_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benzer.folders._MAX_BYTES", 1000)
    with pytest.raises(pickle.PicklingError, match="give `output="):
        pickle.dumps(benzer.dedup(clusters(1, n=20)))


def test_evidence_is_not_made_of_python_objects() -> None:
    n = 60_000
    frame = pa.table({"id": [f"document {i}" for i in range(n)], "text": [f"one text of {i % 5} in five words and more" for i in range(n)]})
    result = benzer.dedup(frame, id="id", audit="off", threads=1)
    assert result.counts["removed"] == n - 5

    def cost(work: Any) -> tuple[float, int]:
        """Bytes at the peak, of Python and NumPy, and objects that stay, for each removal."""
        gc.collect()
        blocks = sys.getallocatedblocks()
        tracemalloc.start()
        made = work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        gc.collect()
        return peak / n, (sys.getallocatedblocks() - blocks if made is not None else 0)

    for name, most in [("removed_rows", 24), ("kept_rows", 24), ("kept", 24), ("removed", 40), ("evidence", 60), ("pairs", 60)]:
        peak, objects = cost(lambda name=name: getattr(result, name))
        assert peak < most and objects < n / 10, f"{name}: {peak:.0f} bytes at the peak and {objects} objects of {n} removals"


def test_evidence_without_arrow_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = clusters(1, n=20)
    with_arrow = benzer.dedup(rows, id="id").evidence.to_pylist()
    frame = benzer.dedup(pd.DataFrame(rows), id="id").evidence

    def missing() -> Any:
        raise ImportError("no pyarrow")

    result = benzer.dedup(rows, id="id")
    of_frame = benzer.dedup(pd.DataFrame(rows), id="id")
    monkeypatch.setattr("benzer.frames._pyarrow", missing)
    assert result.evidence == with_arrow
    assert of_frame.evidence["kept_row"].tolist() == frame["kept_row"].tolist()
    assert np.array_equal(of_frame.evidence["similarity"], frame["similarity"])
