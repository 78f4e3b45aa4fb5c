"""What a deduplication found."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer import _benzer, frames
from benzer.arguments import number
from benzer.columns import Column, named
from benzer.errors import DedupError, in_python
from benzer.folders import TemporaryFolder
from benzer.inputs import Rows


class DedupResult:
    """Kept and removed documents, with the evidence for every removal. Tables are of the kind of the input.

    Without `output`, files of the result are temporary: they last as long as the result, and once a path of them was asked for
    (:attr:`kept` of files, :meth:`report`, :attr:`folder`) as long as the process.
    """

    def __init__(
        self,
        data: Any,
        folder: Path | TemporaryFolder,
        summary: dict[str, Any],
        *,
        write: str = "evidence",
        base: DedupResult | None = None,
        rows: tuple[Rows | list[str], Rows | list[str]] = ([], []),
    ) -> None:
        self._data, self._where, self._write, self._base = data, folder, write, base
        self._inputs = rows
        self.summary = summary
        """Counts, timings, the measured recall, and warnings."""

    @property
    def folder(self) -> Path:
        """The folder of the results: evidence.parquet, pairs.parquet, report.html, manifest.json and others."""
        if isinstance(self._where, TemporaryFolder):
            self._where.give_out()
        return self._folder

    @property
    def _folder(self) -> Path:
        folder = self._where.results if isinstance(self._where, TemporaryFolder) else self._where
        if "://" not in str(folder) and not (folder / "manifest.json").is_file():
            raise DedupError(f"the results in `{folder}` are gone; run dedup again, with `output=` to keep them")
        return folder

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

    def _evidence(self, *names: str) -> dict[str, Column]:
        """Columns of the evidence as the engine writes them, all if none is named."""
        return named(_benzer.evidence(str(self._folder), list(names) or None))

    def _evidence_of_rows(self, rows: Rows) -> dict[str, Any]:
        """Evidence with rows counted from 0 on, as the engine does not, and ids as they were given."""
        found: dict[str, Any] = self._evidence()
        old = self._inputs[1]
        is_old = np.zeros(len(found["kept_in"]), dtype=bool)
        is_named = is_old
        if self.counts["removed_against"]:
            is_old = np.array(found["kept_in"].cells()) == "against"
            files = np.array(found["kept_file"].cells(), dtype=object)
            # Of the old documents, those of a file or an archive keep the places that they have there.
            is_named = is_old & (files != old.file) if isinstance(old, Rows) else is_old
        removed, place = found["removed_row"].values - 1, found["kept_row"]
        kept = np.where(is_named, place.values, place.values - 1)
        at = np.where(is_named, -1, np.where(is_old, kept + rows.n, kept))
        found["removed_id"] = self._given(rows, removed, found["removed_id"].cells)
        found["kept_id"] = self._given(rows, at, found["kept_id"].cells)
        found["removed_row"], found["kept_row"] = Column(removed), Column(kept, there=place.there)
        del found["removed_file"], found["kept_file"]
        return found

    def _given(self, rows: Rows, at: npt.NDArray[np.int64], names: Callable[[], list[Any]]) -> Any:
        """Ids as they were given, by where they are: a row, behind all rows one of the old documents, or -1 elsewhere; rows without ids are called by their number."""
        old = self._inputs[1]
        if rows.ids is None:
            at = np.where(at >= rows.n, at - rows.n, at)
        if (at >= 0).all():
            if rows.ids is None:
                return at
            pool = frames.joined([rows.ids, old.ids]) if isinstance(old, Rows) and (at >= rows.n).any() else rows.ids
            return frames.pick(pool, at)
        known = [np.arange(one.n) if one.ids is None else one.ids for one in (rows, old) if isinstance(one, Rows)]
        pool = [value for one in known for value in frames.values(one)]
        whole = rows.ids is not None and all(isinstance(value, int) for value in pool)
        values = [pool[row] if row >= 0 else int(name) if whole and name.isdecimal() else name for row, name in zip(at, names(), strict=True)]
        if any(isinstance(value, str) for value in values):
            # What a column holds has one type.
            return [str(value) for value in values]
        return frames.like(known[0], values)

    def _pairs_of_rows(self, rows: Rows, found: dict[str, Any]) -> dict[str, Any]:
        """Pairs with ids as they were given."""
        old, is_old = self._inputs[1], found["a_is_old"].values
        for name, elsewhere in (("id_a", is_old), ("id_b", np.zeros_like(is_old))):
            column = found[name]
            if rows.ids is None and not elsewhere.any():
                found[name] = column.rows()
                continue
            names = frames.cells(column)
            at = np.where(elsewhere, -1, rows.rows_of(names))
            if isinstance(old, Rows) and elsewhere.any():
                of_old = old.rows_of(names)
                at = np.where(elsewhere & (of_old >= 0), of_old + rows.n, at)
            found[name] = self._given(rows, at, column.cells)
        return found

    @property
    def evidence(self) -> Any:
        """For every removed document the kept one, their similarity, and by which rule. Ids are the values that were given. Rows of tables are counted from 0 on (and are the ids, if there are none), lines of files from 1 on."""
        rows = self._inputs[0]
        return frames.table(self._data, self._evidence_of_rows(rows) if isinstance(rows, Rows) else self._evidence())

    @property
    def pairs(self) -> Any:
        """All pairs of documents that are similar enough."""
        rows, found = self._inputs[0], named(_benzer.pairs(str(self._folder)))
        made = self._pairs_of_rows(rows, dict(found)) if isinstance(rows, Rows) else dict(found)
        del made["a_is_old"]
        return frames.table(self._data, made)

    @cached_property
    def _rejects(self) -> tuple[list[str], list[int], list[str]]:
        """File, line and reason of what cannot be read. Rows of tables are counted from 0 on."""
        path = (self._base or self)._folder / "rejects.jsonl"
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
        return np.sort(self._evidence("removed_row")["removed_row"].values - 1)

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
        if self._write == "annotate":
            raise DedupError(f"with write='annotate' the files have all documents, marked by `is_duplicate`: see `{self.folder / 'documents'}`")
        if self._write != "remove":
            raise DedupError(f"with write={self._write!r} no documents are written; leave it out, or use evidence")
        documents = self.folder / "documents"
        return sorted(path for path in documents.rglob("*") if path.is_file())

    @property
    def removed(self) -> Any:
        """The documents that go: a table of the kind of the input; for files, their ids, files and rows."""
        if isinstance(self._inputs[0], Rows):
            return self._inputs[0].take(self.removed_rows)
        return frames.table(self._data, self._evidence("removed_id", "removed_file", "removed_row"))

    def rethreshold(self, threshold: float) -> DedupResult:
        """The result at a higher threshold, as a run at that threshold gives it, from the pairs that were found: nothing is read or compared again.

        The recall was not measured there (`summary["audit"]` is None); `summary["notes"]` says what else pairs do not tell.
        """
        threshold = number("threshold", threshold, above=0, maximum=1)
        where = TemporaryFolder()
        source = self._base or self
        text = f"{threshold:.9f}".rstrip("0").rstrip(".")
        found = json.loads(_benzer.rethreshold(str(source._folder), text, str(where.results)))
        for said in ("warnings", "notes"):
            found["summary"][said] = [in_python(one) for one in found["summary"][said]]
        changed = {name: found["summary"][name] for name in ("counts", "histogram", "audit", "warnings", "notes", "matched")}
        old = self._inputs[1]
        if isinstance(old, Rows):
            changed["matched"] = old.called_by(changed["matched"])
        told = {name: found[name] for name in ("removed_before", "restored", "newly_removed")}
        summary = {**source.summary, **changed, **told, "threshold": threshold}
        return DedupResult(self._data, where, summary, base=source, rows=self._inputs)

    def report(self, path: str | Path | None = None) -> Path:
        """The page that a person should look at before anything is deleted; copied to `path`, if one is given."""
        if path is None:
            return self.folder / "report.html"
        copy = Path(path)
        copy.write_bytes((self._folder / "report.html").read_bytes())
        return copy

    def _repr_html_(self) -> str:
        """A small table for notebooks. It carries no style sheet, which would be one for the whole notebook; the page is :meth:`report`."""
        counts, audit = self.counts, self.summary.get("audit")
        facts = [(name, f"{counts[name]:,}") for name in ("read", "kept", "removed", "rejected")]
        facts += [("exact copies among the removed", f"{counts['copies']:,}"), ("clusters", f"{counts['clusters']:,}")]
        if audit and audit["recall"]:
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

