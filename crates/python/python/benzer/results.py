"""What a deduplication found."""

from __future__ import annotations

import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer import _benzer, frames
from benzer.arguments import number
from benzer.errors import DedupError, in_python


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
    ) -> None:
        self._data, self._holder, self._has_ids, self._base = data, holder, has_ids, base
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
        return [in_python(warning) for warning in self.summary["warnings"]]

    @cached_property
    def _evidence(self) -> dict[str, list[Any]]:
        found = _benzer.evidence(str(self.folder))
        if self._is_table:
            # The engine counts the rows of its own copy from 1 on.
            for name in ("removed_row", "kept_row"):
                found[name] = [None if row is None else row - 1 for row in found[name]]
            del found["removed_file"], found["kept_file"]
        return self._named(found, "removed_id", "kept_id")

    def _named(self, found: dict[str, list[Any]], *columns: str) -> dict[str, list[Any]]:
        """Rows of a table without ids are called by their number."""
        if self._is_table and not self._has_ids:
            for name in columns:
                found[name] = [int(one.rpartition(":")[2]) - 1 for one in found[name]]
        return found

    @property
    def evidence(self) -> Any:
        """For every removed document the kept one, their similarity, and by which rule. Rows of tables are counted from 0 on (and are the ids, if there are none), lines of files from 1 on."""
        return frames.table(self._data, self._evidence)

    @property
    def pairs(self) -> Any:
        """All pairs of documents that are similar enough."""
        found = self._named(_benzer.pairs(str((self._base or self).folder)), "id_a", "id_b")
        if self._base is None:
            return frames.table(self._data, found)
        threshold = self.summary["threshold"]
        rows = [i for i, similarity in enumerate(found["similarity"]) if similarity >= threshold]
        return frames.table(self._data, {name: [column[i] for i in rows] for name, column in found.items()})

    @property
    def _is_table(self) -> bool:
        return frames.kind(self._data) != "paths"

    @cached_property
    def removed_rows(self) -> npt.NDArray[np.int64]:
        """The rows of the input that are removed, from 0 on; for tables."""
        if not self._is_table:
            raise DedupError("files have no common row numbers; see removed_file and removed_row of evidence")
        return np.sort(np.array(self._evidence["removed_row"], dtype=np.int64))

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
        documents = self.folder / "documents"
        return sorted(path for path in documents.rglob("*") if path.is_file())

    @property
    def removed(self) -> Any:
        """The documents that go: a table of the kind of the input; for files, their ids, files and rows."""
        if self._is_table:
            return frames.take(self._data, self.removed_rows)
        names = ("removed_id", "removed_file", "removed_row")
        return frames.table(self._data, {name: self._evidence[name] for name in names})

    def rethreshold(self, threshold: float) -> DedupResult:
        """The result at a higher threshold, from the pairs that were found: nothing is read or compared again."""
        threshold = number("threshold", threshold, above=0, most=1)
        holder = tempfile.TemporaryDirectory(prefix="benzer-")
        folder = Path(holder.name) / "results"
        source = self._base or self
        text = f"{threshold:.9f}".rstrip("0").rstrip(".")
        _was, before, removed, restored = _benzer.rethreshold(str(source.folder), text, str(folder))
        counts = {**source.counts, "removed": removed, "kept": source.counts["kept"] + restored}
        summary = {**source.summary, "counts": counts, "threshold": threshold, "removed_before": before}
        return DedupResult(self._data, folder, summary, holder, has_ids=self._has_ids, base=source)

    def report(self, path: str | Path | None = None) -> Path:
        """The page that a person should look at before anything is deleted; copied to `path`, if one is given."""
        page = (self._base or self).folder / "report.html"
        if path is None:
            return page
        copy = Path(path)
        copy.write_bytes(page.read_bytes())
        return copy

    def _repr_html_(self) -> str:
        return self.report().read_text(encoding="utf-8")

    def __repr__(self) -> str:
        counts = self.counts
        return f"<benzer.DedupResult: {counts['kept']} kept, {counts['removed']} removed of {counts['read']}>"
