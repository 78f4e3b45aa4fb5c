"""How a long run tells how far it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[str, int, int | None], object]
Progress = bool | Report | None


@contextmanager
def reporting(progress: Progress) -> Iterator[Report | None]:
    """The function that is told stage, done and total; a bar of tqdm by default on a terminal and in a notebook."""
    if callable(progress):
        yield progress
        return
    wanted = (sys.stderr.isatty() or in_notebook()) if progress is None else progress
    if not wanted:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if progress:
            raise
        yield None
        return
    bars = _Bars(tqdm)
    try:
        yield bars.report
    finally:
        bars.close()


def in_notebook() -> bool:
    """Whether a notebook shows what is printed: IPython runs in a kernel."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class _Bars:
    """One bar of tqdm for each stage."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm, self._bar, self._stage = tqdm, None, ""

    def report(self, stage: str, done: int, total: int | None) -> None:
        if stage != self._stage:
            self.close()
            self._stage = stage
            self._bar = self._tqdm(total=total, desc=stage, unit_scale=True)
        bar: Any = self._bar
        bar.update(done - bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
