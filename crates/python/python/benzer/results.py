"""What a deduplication found."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer import _benzer, frames
from benzer.columns import Column, named
from benzer.errors import DedupError
from benzer.folders import TemporaryFolder


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
        has_ids: bool,
        write: str = "evidence",
        base: DedupResult | None = None,
    ) -> None:
        self._data, self._where, self._has_ids, self._write, self._base = data, folder, has_ids, write, base
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
        """Columns of the evidence, all if none is named."""
        found = named(_benzer.evidence(str(self._folder), list(names) or None))
        if not self._is_table:
            return found
        for side in ("removed", "kept"):
            # The engine counts the rows of its own copy from 1 on.
            if (row := found.get(f"{side}_row")) is not None:
                found[f"{side}_row"] = Column(row.values - 1, there=row.there)
            found.pop(f"{side}_file", None)
        return self._called(found, "removed_id", "kept_id")

    def _called(self, found: dict[str, Column], *columns: str) -> dict[str, Column]:
        """Rows of a table without ids are called by their number."""
        if self._is_table and not self._has_ids:
            for name in columns:
                if name in found:
                    found[name] = found[name].rows()
        return found

    @property
    def evidence(self) -> Any:
        """For every removed document the kept one, their similarity, and by which rule. Rows of tables are counted from 0 on (and are the ids, if there are none), lines of files from 1 on."""
        return frames.table(self._data, self._evidence())

    @property
    def pairs(self) -> Any:
        """All pairs of documents that are similar enough."""
        found = self._called(named(_benzer.pairs(str(self._folder))), "id_a", "id_b")
        return frames.table(self._data, found)

    @property
    def _is_table(self) -> bool:
        return frames.kind(self._data) != "paths"

    @cached_property
    def removed_rows(self) -> npt.NDArray[np.int64]:
        """The rows of the input that are removed, from 0 on; for tables."""
        if not self._is_table:
            raise DedupError("files have no common row numbers; see removed_file and removed_row of evidence")
        return np.sort(self._evidence("removed_row")["removed_row"].values)

    @property
    def kept_rows(self) -> npt.NDArray[np.int64]:
        """The rows of the input that stay, from 0 on; for tables. A row without a text stays."""
        removed = self.removed_rows
        stays = np.ones(len(self._data), dtype=bool)
        stays[removed] = False
        return np.nonzero(stays)[0].astype(np.int64)

    @property
    def kept(self) -> Any:
        """The documents that stay: a table of the kind of the input, or the files in which they are."""
        if self._is_table:
            return frames.take(self._data, self.kept_rows)
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
        if self._is_table:
            return frames.take(self._data, self.removed_rows)
        return frames.table(self._data, self._evidence("removed_id", "removed_file", "removed_row"))

    def rethreshold(self, threshold: float) -> DedupResult:
        """The result at a higher threshold, as a run at that threshold gives it, from the pairs that were found: nothing is read or compared again.

        The recall was not measured there (`summary["audit"]` is None); `summary["notes"]` says what else pairs do not tell.
        """
        where = TemporaryFolder()
        source = self._base or self
        text = f"{threshold:.9f}".rstrip("0").rstrip(".")
        found = json.loads(_benzer.rethreshold(str(source._folder), text, str(where.results)))
        changed = {name: found["summary"][name] for name in ("counts", "histogram", "audit", "warnings", "notes")}
        told = {name: found[name] for name in ("removed_before", "restored", "newly_removed")}
        summary = {**source.summary, **changed, **told, "threshold": threshold}
        return DedupResult(self._data, where, summary, has_ids=self._has_ids, base=source)

    def report(self, path: str | Path | None = None) -> Path:
        """The page that a person should look at before anything is deleted; copied to `path`, if one is given."""
        if path is None:
            return self.folder / "report.html"
        copy = Path(path)
        copy.write_bytes((self._folder / "report.html").read_bytes())
        return copy

    def _repr_html_(self) -> str:
        return (self._folder / "report.html").read_text(encoding="utf-8")

    def __repr__(self) -> str:
        counts = self.counts
        return f"<benzer.DedupResult: {counts['kept']} kept, {counts['removed']} removed of {counts['read']}>"
