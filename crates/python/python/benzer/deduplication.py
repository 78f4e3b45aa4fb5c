
"""Whole deduplications: of files, data sets, frames and tables."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec

from benzer import _benzer, inputs, settings
from benzer.arguments import plain
from benzer.errors import DedupError, ParameterError, RejectedWarning, in_python, warn
from benzer.folders import TemporaryFolder
from benzer.inputs import Rows, Wanted
from benzer.progress import Progress, reporting
from benzer.results import DedupResult
from benzer.sketch import Unit, text_options

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""Files, folders, patterns, addresses of objects."""

_P = ParamSpec("_P")


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
    write: Literal["remove", "annotate", "dry-run"] | None = None,
    overwrite: bool = False,
    audit: str | int = "auto",
    strict: bool = False,
    allow_rejects: bool = False,
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
        data: A `datasets.Dataset` or `DatasetDict` (whose splits are one corpus), a pandas or Polars frame, an Arrow table, a list of dictionaries, a list, column,
            series or array of texts, or a stream of these (`LazyFrame`, `RecordBatchReader`, `IterableDataset`, a generator), which is held in memory. Or files: a
            `pathlib.Path` or a list of them, or one string that is a path, a pattern or an address that there is; :func:`dedup_files` takes strings only for paths.
            What stays comes back as the same kind: a generator as a list, an `IterableDataset` as a `Dataset`.
        threshold: From which similarity on documents are duplicates; 0.8, or that of the preset.
        text: The column of the text, or several whose texts are joined.
        id: The column of ids, which come back as the values that they are; without one, a document is its row.
        keep: Which of two duplicates is kept: ``first``, ``last``, ``longest``, ``shortest``, ``max:COLUMN``, ``min:COLUMN``. A row with nothing (or NaN) in that column comes last.
        recall: The share of pairs at the threshold that must be found, 0.95 by default; 1 finds all by an exact join.
        preset: Shingles, bands and threshold of another tool: ``fineweb``, ``nemo``, ``datasketch``, ``lance``.
        ngram, unit, text_settings: How a text becomes shingles: 5 words by default; the rest as in :func:`benzer.sketch.text_options`.
        verify, cluster: Relax the promise above; the evidence says so.
        against: Old documents, of the same kinds as `data`, which are never removed.
        measure: ``containment`` removes what contains an old document.
        save: The folder of an archive: documents that are in it are removed, and the kept ones are added to it for the next run. It is made if it
            is not there.
        output: A folder for the results (evidence, pairs, report); without it they are temporary, and last as long as the result (see :class:`DedupResult`). Kept rows of a table are `kept`, and not in it.
        write: For files, whether the kept documents are written (``remove``, the default), all of them with marks (``annotate``), or none (``dry-run``).
        overwrite, work_dir, memory, threads, strict, allow_rejects, audit: As on the command line.
        resume, input_format, per_file: As on the command line, for files only.
        progress: True for a bar of tqdm, False for none, or a function of stage, done and total. By default a bar on a terminal and in a notebook.

    A row that cannot be read (no text, no id, a value of another type) is neither kept nor removed: a :class:`benzer.errors.RejectedWarning` tells, and
    `rejected` lists it with the reason. So the counts of kept, removed and rejected ones add up to that of those read.

    >>> rows = [{"text": "the same short text"}, {"text": "another one"}, {"text": "The same, short text!"}]
    >>> result = dedup(rows)
    >>> result.kept
    [{'text': 'the same short text'}, {'text': 'another one'}]
    >>> result.counts["removed"]
    1
    """
    settings.check(locals())
    texts, order = [text] if isinstance(text, str) else list(text), _order(keep)
    if isinstance(output, str) and "://" in output:
        raise ParameterError(f"`output` must be a folder of this machine, got `{output}`; `python -m benzer dedup` sends results to a store")
    found = inputs.read(data, Wanted(texts, id, order), "input")
    old = [] if against is None else inputs.read(against, Wanted(texts, id, None), "against")
    of_files = {"resume": resume, "input_format": input_format, "per_file": per_file}
    _check(found, strict, {**of_files, "write": write if write != "dry-run" else None})
    _check(old, strict, of_files)
    temporary = TemporaryFolder()
    folder = Path(output).absolute() if output is not None else temporary.results
    writes = write or ("evidence" if isinstance(found, Rows) else "remove")
    of_old = {_OF_OLD[name]: value for name, value in _fields(old, Wanted(texts, id, None), temporary.path).items()}
    of_old["against"], save = _with_archive(of_old["against"], save, folder, writes)
    wanted = request(
        **_fields(found, Wanted(texts, id, order), temporary.path),
        **of_old,
        output=str(folder),
        threshold=threshold,
        keep=f"{keep.partition(':')[0]}:{found.order_field}" if isinstance(found, Rows) and order is not None else keep,
        input_format=input_format,
        per_file=per_file,
        recall=recall,
        preset=preset,
        verify=verify,
        cluster=cluster,
        measure=measure,
        save=save,
        write=writes,
        audit=str(audit),
        threads=threads,
        memory=None if memory is None else str(memory),
        work_dir=None if work_dir is None else str(work_dir),
        resume=resume,
        overwrite=overwrite,
        strict=strict,
        allow_rejects=allow_rejects,
        ngram=ngram,
        unit=unit,
        text_settings=text_settings,
    )
    with reporting(progress) as report:
        summary = json.loads(_benzer.dedup(json.dumps(wanted, default=plain), report))
    for said in ("warnings", "notes"):
        summary[said] = [in_python(one) for one in summary[said]]
    if isinstance(old, Rows):
        summary["matched"] = old.called_by(summary["matched"])
    result = DedupResult(
        data if isinstance(found, list) else found.data, temporary if output is None else folder, summary, write=writes, rows=(found, old)
    )
    _tell(result, old)
    return result


def _of_files(model: Callable[Concatenate[Any, _P], DedupResult]) -> Callable[[Callable[..., DedupResult]], Callable[Concatenate[Paths, _P], DedupResult]]:
    """Gives a function of paths the options of another one, for readers and type checkers."""

    def taking(function: Callable[..., DedupResult]) -> Callable[Concatenate[Paths, _P], DedupResult]:
        _, *options = inspect.signature(model).parameters.values()
        paths = inspect.Parameter("paths", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Paths")
        function.__signature__ = inspect.Signature([paths, *options], return_annotation="DedupResult")  # type: ignore[attr-defined]
        return function

    return taking


@_of_files(dedup)
def dedup_files(paths: Paths, **options: Any) -> DedupResult:
    """As :func:`dedup`, of files: every string is a path (of a file or a folder, a pattern, the address of objects, or ``-`` for standard input), in `against` too.

    >>> dedup_files(["corpus/2025.jsonl", "corpus/2026.jsonl"], against=["old.parquet"])  # doctest: +SKIP
    <benzer.DedupResult: 110 kept, 90 removed, 0 rejected of 200>
    """
    files = _files(paths)
    if not files:
        got = "an empty list" if isinstance(paths, list | tuple) and not paths else type(paths).__name__
        raise TypeError(f"`paths` must be a path or a list of paths, got {got}; benzer.dedup takes tables and texts")
    return dedup(files, **{**options, "against": _files(options.get("against")) or options.get("against")})


def _files(paths: Any) -> list[inputs.File]:
    """Paths, if it is one or a list of them."""
    many = [paths] if isinstance(paths, str | os.PathLike) else paths
    if not isinstance(many, list | tuple) or not all(isinstance(one, str | os.PathLike) for one in many):
        return []
    return [inputs.File(os.fspath(one)) for one in many]


def _check(rows: Rows | list[str], strict: bool, of_files: dict[str, Any]) -> None:
    """Of tables and texts, refuses what is for files, and with `strict` rows that cannot be read."""
    if isinstance(rows, list):
        return
    remedies = {
        "resume": "rows are read again from where they are; write them to a file to go on with a run",
        "input_format": "rows have no format",
        "per_file": "every row is a document",
        "write": "the kept rows are `result.kept`, which is written as its library does it",
    }
    for name, value in of_files.items():
        if value:
            raise ParameterError(f"`{name}={value!r}` is for files, got {rows.called}; leave it out: {remedies[name]}")
    if strict and rows.rejected:
        raise DedupError(f"{rows.first_reject()}; correct it, or leave out `strict`, and `result.rejected` lists such rows")


_OF_OLD = {"inputs": "against", "text_fields": "against_text_fields", "id_field": "against_id_field", "called": "against_called"}


def _fields(found: Rows | list[str], wanted: Wanted, folder: Path) -> dict[str, Any]:
    """Where the engine finds the documents, their texts and ids."""
    if isinstance(found, list):
        return {"inputs": found, "text_fields": wanted.texts, "id_field": wanted.id, "called": None}
    return {"inputs": [str(found.write(folder))], "text_fields": found.text_fields, "id_field": found.id_field, "called": found.called}


def _tell(result: DedupResult, old: Rows | list[str]) -> None:
    """Warns of what the run left out, and of what it warns of itself."""
    n, read = result.counts["rejected"], result.counts["read"]
    if n:
        warn(f"{n:,} of {read:,} documents cannot be read and are neither kept nor removed; `result.rejected` lists them. {result.first_reject()}", RejectedWarning)
    if isinstance(old, Rows) and old.rejected:
        warn(f"{len(old.rejected):,} of {old.n:,} old documents cannot be read and were not looked for. {old.first_reject()}", RejectedWarning)
    for one in result.warnings:
        warn(one)


def _with_archive(old: list[str], save: str | Path | None, folder: Path, write: str) -> tuple[list[str], str | None]:
    """The old documents, with those of the archive that grows first, as on the command line; and that archive."""
    if save is None:
        return old, None
    if write == "dry-run":
        raise ParameterError(f"with write='dry-run' nothing is saved in `{save}`; give `against` the archive to compare with it only, or leave `write` out")
    archive = Path(save).absolute()
    others = [one for one in old if Path(one).absolute() != archive]
    return others if archive == folder / "saved" else [str(archive), *others], str(archive)


def request(
    *, threshold: float | None = None, ngram: int | None = None, unit: Unit = "words", text_settings: dict[str, Any] | None = None, **given: Any
) -> dict[str, Any]:
    """What the engine is asked for: the given settings, and defaults for the others."""
    shingles = None
    if ngram is not None or unit != "words" or text_settings:
        shingles = text_options(5 if ngram is None else ngram, unit, **(text_settings or {}))
    defaults: dict[str, Any] = {
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
        "called": None,
        "against_called": None,
    }
    return defaults | given | {"text": shingles, "threshold": None if threshold is None else _decimal(threshold)}


def _order(keep: str) -> str | None:
    """The column that a policy looks at."""
    policy, _, column = keep.partition(":")
    return column if policy in ("max", "min") and column else None


def _decimal(threshold: float) -> str:
    """A number without an exponent."""
    return f"{threshold:.9f}".rstrip("0").rstrip(".")

