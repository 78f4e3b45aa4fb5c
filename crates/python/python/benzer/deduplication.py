"""Whole deduplications: of files, data sets, frames and tables."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from benzer import _benzer, frames, settings
from benzer.arguments import plain
from benzer.errors import ColumnError
from benzer.progress import Progress, reporting
from benzer.results import DedupResult
from benzer.sketch import Unit, text_options

_INPUT = "input.arrow"


def dedup(
    data: Any,
    *,
    threshold: float | None = None,
    text: str | Sequence[str] = "text",
    id: str | None = None,  # noqa: A002
    keep: str = "first",
    recall: float | None = None,
    preset: str | None = None,
    ngram: int | None = None,
    unit: Unit = "words",
    text_settings: dict[str, Any] | None = None,
    verify: Literal["exact", "estimate"] = "exact",
    cluster: Literal["leaders", "components"] = "leaders",
    against: Any = None,
    measure: Literal["jaccard", "containment"] = "jaccard",
    save: str | Path | None = None,
    output: str | Path | None = None,
    write: Literal["remove", "annotate", "dry-run"] = "remove",
    overwrite: bool = False,
    audit: str | int = "auto",
    strict: bool = False,
    threads: int | None = None,
    memory: str | int | None = None,
    work_dir: str | Path | None = None,
    resume: bool = False,
    input_format: str | None = None,
    per_file: bool = False,
    progress: Progress = None,
) -> DedupResult:
    """Removes near-duplicates: every removed document names a kept one that is at least `threshold` similar, by exact comparison.

    Args:
        data: Paths (files, folders, globs, addresses of objects), a `datasets.Dataset`, a pandas or Polars frame, an Arrow table, or a list of
            dictionaries. The result has the same kind.
        threshold: From which similarity on documents are duplicates; 0.8, or that of the preset.
        text: The column of the text, or several whose texts are joined.
        id: The column of ids; without one, a document is its row.
        keep: Which of two duplicates is kept: ``first``, ``last``, ``longest``, ``shortest``, ``max:COLUMN``, ``min:COLUMN``.
        recall: The share of pairs at the threshold that must be found, 0.95 by default; 1 finds all by an exact join.
        preset: Shingles, bands and threshold of another tool: ``fineweb``, ``nemo``, ``datasketch``, ``lance``.
        ngram, unit, text_settings: How a text becomes shingles: 5 words by default; the rest as in :func:`benzer.sketch.text_options`.
        verify, cluster: Relax the promise above; the evidence says so.
        against: Old documents, of the same kinds as `data`, which are never removed.
        measure: ``containment`` removes what contains an old document.
        save: An archive to which the kept documents are added, for later runs against it.
        output: A folder for the results; without it they last as long as the result.
        write: For paths, whether the kept documents are written, all of them with marks, or none.
        overwrite, resume, work_dir, memory, threads, strict, audit, input_format, per_file: As on the command line.
        progress: True for a bar of tqdm, False for none, or a function of stage, done and total. By default a bar on a terminal.

    >>> rows = [{"text": "the same short text"}, {"text": "another one"}, {"text": "The same, short text!"}]
    >>> result = dedup(rows)
    >>> result.kept
    [{'text': 'the same short text'}, {'text': 'another one'}]
    >>> result.counts["removed"]
    1
    """
    settings.check(locals())
    kind = frames.kind(data)
    if kind == "records" and not isinstance(data, list):
        data = list(data)
    texts = [text] if isinstance(text, str) else list(text)
    if kind == "records" and not all(isinstance(row, dict) for row in data):
        raise TypeError("a list of documents must be a list of dictionaries; make one of texts with [{'text': text} for text in texts]")
    holder = tempfile.TemporaryDirectory(prefix="benzer-")
    folder = Path(output) if output is not None else Path(holder.name) / "results"
    old, old_texts, old_id = _input(against, texts, id, None, Path(holder.name) / "against.arrow")
    inputs, fields, id_field = _input(data, texts, id, _order(keep), Path(holder.name) / _INPUT)
    wanted = request(
        inputs=inputs,
        output=str(folder),
        threshold=threshold,
        keep=keep if kind == "paths" or _order(keep) is None else f"{keep.partition(':')[0]}:order",
        text_fields=fields,
        id_field=id_field,
        input_format=input_format if kind == "paths" else None,
        per_file=per_file,
        recall=recall,
        preset=preset,
        verify=verify,
        cluster=cluster,
        measure=measure,
        against=old,
        against_text_fields=old_texts,
        against_id_field=old_id,
        save=None if save is None else str(save),
        write=write if kind == "paths" else "dry-run",
        audit=str(audit),
        threads=threads,
        memory=None if memory is None else str(memory),
        work_dir=None if work_dir is None else str(work_dir),
        resume=resume,
        overwrite=overwrite,
        strict=strict,
        ngram=ngram,
        unit=unit,
        text_settings=text_settings,
    )
    with reporting(progress) as report:
        summary = json.loads(_benzer.dedup(json.dumps(wanted, default=plain), report))
    return DedupResult(data, folder, summary, holder, has_ids=id is not None)


def request(
    *, threshold: float | None = None, ngram: int | None = None, unit: Unit = "words", text_settings: dict[str, Any] | None = None, **given: Any
) -> dict[str, Any]:
    """What the engine is asked for: the given settings, and defaults for the others."""
    shingles = None
    if ngram is not None or unit != "words" or text_settings:
        shingles = text_options(5 if ngram is None else ngram, unit, **(text_settings or {}))
    usual: dict[str, Any] = {
        "inputs": [],
        "output": "",
        "keep": "first",
        "text_fields": ["text"],
        "id_field": None,
        "input_format": None,
        "per_file": False,
        "recall": None,
        "preset": None,
        "verify": "exact",
        "cluster": "leaders",
        "measure": "jaccard",
        "against": [],
        "against_text_fields": ["text"],
        "against_id_field": None,
        "save": None,
        "write": "dry-run",
        "audit": "off",
        "threads": 1,
        "memory": None,
        "work_dir": None,
        "resume": False,
        "overwrite": False,
        "strict": False,
    }
    return usual | given | {"text": shingles, "threshold": None if threshold is None else _decimal(threshold)}


def _input(
    data: Any, texts: list[str], id: str | None, order: str | None, path: Path  # noqa: A002
) -> tuple[list[str], list[str], str | None]:
    """The paths of an input, the fields of its text, and that of its id; a table is written to a file with the needed columns."""
    if data is None:
        return [], texts, id
    if frames.kind(data) == "paths":
        return [str(one) for one in ([data] if isinstance(data, str | Path) else data)], texts, id
    names = {f"text{i}": name for i, name in enumerate(texts)}
    if id is not None:
        names["id"] = id
    if order is not None:
        names["order"] = order
    if frames.kind(data) == "records":
        return _lines(data, names, path.with_suffix(".jsonl")), [f"text{i}" for i in range(len(texts))], None if id is None else "id"
    table = frames.columns(data, list(dict.fromkeys(names.values())))
    import pyarrow as pa

    table = pa.table({short: table.column(name) for short, name in names.items()})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=65536)
    return [str(path)], [f"text{i}" for i in range(len(texts))], None if id is None else "id"


def _lines(rows: list[Any], names: dict[str, str], path: Path) -> list[str]:
    """Dictionaries as lines of JSON, for which nothing has to be installed."""
    present = frames.names_of(rows)
    missing = [name for name in names.values() if name not in present]
    if missing and rows:
        raise ColumnError(f"there is no {', '.join(map(repr, missing))} in the first dictionary, which has {', '.join(map(repr, present))}")
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps({short: row.get(name) for short, name in names.items()}) + "\n")
    return [str(path)]


def _order(keep: str) -> str | None:
    """The column that a policy looks at."""
    policy, _, column = keep.partition(":")
    return column if policy in ("max", "min") and column else None


def _decimal(threshold: float) -> str:
    """A number without an exponent."""
    return f"{threshold:.9f}".rstrip("0").rstrip(".")
