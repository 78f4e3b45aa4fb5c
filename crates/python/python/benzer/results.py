"""What a deduplication found."""

from __future__ import annotations

import html
import json
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer import _benzer, frames
from benzer.errors import DedupError
from benzer.inputs import Rows


class DedupResult:
    """Kept and removed documents, with the evidence for every removal. Tables are of the kind of the input."""

    def __init__(
        self,
        data: Any,
        folder: Path,
        summary: dict[str, Any],
        holder: tempfile.TemporaryDirectory[str],
        *,
        has_ids: bool,
        base: DedupResult | None = None,
        rows: tuple[Rows | list[str], Rows | list[str]] = ([], []),
    ) -> None:
        self._data, self._holder, self._has_ids, self._base = data, holder, has_ids, base
        self._inputs = rows
        self.folder = folder
        """The folder of the results: evidence.parquet, pairs.parquet, report.html, manifest.json and others."""
        self.summary = summary
        """Counts, timings, the measured recall, and warnings."""

    @property
    def counts(self) -> dict[str, int]:
        """Documents read, kept, removed, and more."""
        counts: dict[str, int] = self.summary["counts"]
        return counts

    @property
    def warnings(self) -> list[str]:
        """What people should look at."""
        warnings: list[str] = self.summary["warnings"]
        return warnings

    @cached_property
    def _evidence(self) -> dict[str, Any]:
        found: dict[str, Any] = _benzer.evidence(str(self.folder))
        rows, old = self._inputs
        if not isinstance(rows, Rows):
            return found
        del found["removed_file"], found["kept_file"]
        # The engine counts the rows of its own copy from 1 on.
        is_old = [one == "against" for one in found["kept_in"]]
        known = isinstance(old, Rows)
        found["removed_row"] = [row - 1 for row in found["removed_row"]]
        found["kept_row"] = [row if row is None or (is_old and not known) else row - 1 for row, is_old in zip(found["kept_row"], is_old, strict=True)]
        removed = np.array(found["removed_row"], dtype=np.int64)
        kept = [-1 if row is None or (is_old and not known) else row + (rows.n if is_old else 0) for row, is_old in zip(found["kept_row"], is_old, strict=True)]
        found["removed_id"] = self._given(found["removed_id"], removed)
        found["kept_id"] = self._given(found["kept_id"], np.array(kept, dtype=np.int64))
        return found

    def _given(self, names: Sequence[str], at: npt.NDArray[np.int64]) -> Any:
        """Ids as they were given, by where they are: a row, behind all rows one of the old documents, or -1 in a file; rows without ids are called by their number."""
        rows, old = self._inputs
        assert isinstance(rows, Rows)
        ids = [np.arange(one.n) if one.ids is None else one.ids for one in (rows, old) if isinstance(one, Rows)]
        if rows.ids is None:
            at = np.where(at >= rows.n, at - rows.n, at)
        if (at >= 0).all():
            pool = frames.joined(ids) if rows.ids is not None and (at >= rows.n).any() else ids[0]
            return at if rows.ids is None else frames.pick(pool, at)
        pool = [value for one in ids for value in frames.values(one)]
        whole = all(isinstance(value, int) for value in pool)
        values = [pool[row] if row >= 0 else int(name) if whole and name.isdecimal() else name for row, name in zip(at, names, strict=True)]
        if any(isinstance(value, str) for value in values):
            # What a column holds has one type.
            return [str(value) for value in values]
        return frames.like(ids[0], values)

    def _paired(self, found: dict[str, Any]) -> dict[str, Any]:
        """The ids of pairs as they were given."""
        rows, old = self._inputs
        if not isinstance(rows, Rows):
            return found
        for name in ("id_a", "id_b"):
            at = rows.rows_of(found[name])
            if isinstance(old, Rows) and (at < 0).any():
                of_old = old.rows_of(found[name])
                at = np.where((at < 0) & (of_old >= 0), of_old + rows.n, at)
            found[name] = self._given(found[name], at)
        return found

    @property
    def evidence(self) -> Any:
        """For every removed document the kept one, their similarity, and by which rule. Ids are the values that were given. Rows of tables are counted from 0 on (and are the ids, if there are none), lines of files from 1 on."""
        return frames.table(self._data, self._evidence)

    @property
    def pairs(self) -> Any:
        """All pairs of documents that are similar enough."""
        found: dict[str, Any] = _benzer.pairs(str((self._base or self).folder))
        if self._base is not None:
            threshold = self.summary["threshold"]
            rows = [i for i, similarity in enumerate(found["similarity"]) if similarity >= threshold]
            found = {name: [column[i] for i in rows] for name, column in found.items()}
        return frames.table(self._data, self._paired(found))

    @cached_property
    def _rejects(self) -> tuple[list[str], list[int], list[str]]:
        """File, line and reason of what cannot be read. Rows of tables are counted from 0 on."""
        path = (self._base or self).folder / "rejects.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if self.counts["rejected"] and path.exists() else []
        found: list[dict[str, Any]] = [json.loads(line) for line in lines]
        rows = self._inputs[0]
        if not isinstance(rows, Rows):
            return [one["file"] for one in found], [one["line"] for one in found], [one["reason"] for one in found]
        numbers = [one["line"] - 1 for one in found]
        return [], numbers, [rows.rejected.get(row) or one["reason"] for row, one in zip(numbers, found, strict=True)]

    @property
    def rejected(self) -> Any:
        """The documents that cannot be read, with the reason for each: a table of row (and id, if ids were named), or of file and row (the line, from 1 on). They are neither kept nor removed."""
        files, numbers, reasons = self._rejects
        rows = self._inputs[0]
        at = np.array(numbers, dtype=np.int64)
        if not isinstance(rows, Rows):
            return frames.table(self._data, {"file": files, "row": at, "reason": reasons})
        ids = {} if rows.ids is None else {"id": frames.pick(rows.ids, at)}
        return frames.table(self._data, {"row": at, **ids, "reason": reasons})

    @property
    def rejected_rows(self) -> npt.NDArray[np.int64]:
        """The rows of the input that cannot be read, from 0 on; for tables."""
        self._check_rows()
        return np.array(self._rejects[1], dtype=np.int64)

    def first_reject(self) -> str:
        """The first document that cannot be read, in words."""
        files, numbers, reasons = self._rejects
        return "" if not numbers else f"{f'{files[0]}:' if files else 'Row '}{numbers[0]}: {reasons[0]}."

    @property
    def _is_table(self) -> bool:
        return isinstance(self._inputs[0], Rows)

    def _check_rows(self) -> None:
        if not self._is_table:
            raise DedupError("files have no common row numbers; see removed_file and removed_row of evidence, and file and row of rejected")

    @cached_property
    def removed_rows(self) -> npt.NDArray[np.int64]:
        """The rows of the input that are removed, from 0 on; for tables."""
        self._check_rows()
        return np.sort(np.array(self._evidence["removed_row"], dtype=np.int64))

    @property
    def kept_rows(self) -> npt.NDArray[np.int64]:
        """The rows of the input that stay, from 0 on; for tables. A row that cannot be read is not among them: see `rejected`."""
        stays = np.ones(self.counts["read"], dtype=bool)
        stays[self.removed_rows] = False
        stays[self.rejected_rows] = False
        return np.nonzero(stays)[0].astype(np.int64)

    @property
    def kept(self) -> Any:
        """The documents that stay: a table of the kind of the input, or the files in which they are."""
        if isinstance(self._inputs[0], Rows):
            return self._inputs[0].take(self.kept_rows)
        if self._base is not None:
            raise DedupError("files are not written again at another threshold; run dedup with it, or use evidence")
        documents = self.folder / "documents"
        if not documents.exists():
            raise DedupError("no documents were written, as `write='dry-run'` asked; leave it out, or see `removed` and `evidence`")
        return sorted(path for path in documents.rglob("*") if path.is_file())

    @property
    def removed(self) -> Any:
        """The documents that go: a table of the kind of the input; for files, their ids, files and rows."""
        if isinstance(self._inputs[0], Rows):
            return self._inputs[0].take(self.removed_rows)
        names = ("removed_id", "removed_file", "removed_row")
        return frames.table(self._data, {name: self._evidence[name] for name in names})

    def rethreshold(self, threshold: float) -> DedupResult:
        """The result at a higher threshold, from the pairs that were found: nothing is read or compared again."""
        holder = tempfile.TemporaryDirectory(prefix="benzer-")
        folder = Path(holder.name) / "results"
        source = self._base or self
        text = f"{threshold:.9f}".rstrip("0").rstrip(".")
        _was, before, removed, restored = _benzer.rethreshold(str(source.folder), text, str(folder))
        counts = {**source.counts, "removed": removed, "kept": source.counts["kept"] + restored}
        summary = {**source.summary, "counts": counts, "threshold": threshold, "removed_before": before}
        return DedupResult(self._data, folder, summary, holder, has_ids=self._has_ids, base=source, rows=self._inputs)

    def report(self, path: str | Path | None = None) -> Path:
        """The page that a person should look at before anything is deleted; copied to `path`, if one is given."""
        page = (self._base or self).folder / "report.html"
        if path is None:
            return page
        copy = Path(path)
        copy.write_bytes(page.read_bytes())
        return copy

    def _repr_html_(self) -> str:
        """A small table for notebooks. It carries no style sheet, which would be one for the whole notebook; the page is :meth:`report`."""
        counts, audit = self.counts, self.summary.get("audit")
        facts = [(name, f"{counts[name]:,}") for name in ("read", "kept", "removed", "rejected")]
        if self._base is None:
            facts += [("exact copies among the removed", f"{counts['copies']:,}"), ("clusters", f"{counts['clusters']:,}")]
        if audit and audit["recall"] and self._base is None:
            facts.append(("recall, measured", f"{audit['recall']['value']:.3f}"))
        cells = "".join(f'<tr><td style="text-align: left">{html.escape(name)}</td><td style="text-align: right">{value}</td></tr>' for name, value in facts)
        notes = "".join(f"<li>{html.escape(one)}</li>" for one in self.warnings)
        source = self._inputs[0].called if isinstance(self._inputs[0], Rows) else ", ".join(self._inputs[0])
        return (
            f"<div><b>Duplicates in {html.escape(source)}</b><table>{cells}</table>{f'<ul>{notes}</ul>' if notes else ''}"
            "<p>The page with the pairs to look at: <code>result.report('report.html')</code></p></div>"
        )

    def __repr__(self) -> str:
        counts = self.counts
        return f"<benzer.DedupResult: {counts['kept']} kept, {counts['removed']} removed, {counts['rejected']} rejected of {counts['read']}>"
