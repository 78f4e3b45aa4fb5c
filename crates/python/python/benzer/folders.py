"""Temporary folders of results: how long their files are there."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path

RESULTS = "results"
"""The folder of the results inside of a temporary one."""

_MAX_BYTES = 1 << 30
"""Results of more bytes are not put into a pickle."""

_given_out: set[TemporaryFolder] = set()


class TemporaryFolder:
    """A folder that is removed with the last result that needs it.

    Once a path of it was given to the caller, it stays as long as the process; one that a worker process gave out is left, because the path may be
    for another process. A pickle carries the results themselves.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="benzer-"))
        # A forked process has the object too, and must not remove what is not its own.
        self._removal = weakref.finalize(self, _remove, self.path, os.getpid())

    @property
    def results(self) -> Path:
        """The folder of the results."""
        return self.path / RESULTS

    def give_out(self) -> None:
        """A path of the folder is given to the caller."""
        _given_out.add(self)
        if multiprocessing.current_process().name != "MainProcess":
            self._removal.detach()

    def __reduce__(self) -> tuple[Callable[[dict[str, bytes]], TemporaryFolder], tuple[dict[str, bytes]]]:
        files = [path for path in sorted(self.results.rglob("*")) if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        if size > _MAX_BYTES:
            raise pickle.PicklingError(
                f"the results take {size / 2**30:.1f} GiB in a temporary folder, too much for a pickle; give `output=` a folder that both processes see"
            )
        return _restored, ({str(path.relative_to(self.results)): path.read_bytes() for path in files},)


def _restored(files: dict[str, bytes]) -> TemporaryFolder:
    folder = TemporaryFolder()
    for name, content in files.items():
        path = folder.results / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)
