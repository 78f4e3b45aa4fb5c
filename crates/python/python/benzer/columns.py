"""Columns of results, as buffers of NumPy: a cell is a Python object only when somebody asks for it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer import _benzer


@dataclass(frozen=True)
class Column:
    """Numbers, flags, or texts."""

    values: npt.NDArray[Any]
    """The cells, or the bytes of the texts."""
    offsets: npt.NDArray[np.int64] | None = None
    """Where each text begins, and where the last one ends."""
    there: npt.NDArray[np.bool_] | None = None
    """Which cells have a value, if not all have one."""

    def __len__(self) -> int:
        return len(self.values) if self.offsets is None else len(self.offsets) - 1

    def arrow(self) -> Any:
        """As an array of Arrow, which takes the buffers over."""
        import pyarrow as pa

        if self.offsets is None:
            return pa.array(self.values, mask=None if self.there is None else ~self.there)
        valid = None if self.there is None else pa.py_buffer(np.packbits(self.there, bitorder="little"))
        few = len(self.values) < 2**31
        kind, offsets = (pa.string(), self.offsets.astype(np.int32)) if few else (pa.large_string(), self.offsets)
        return pa.Array.from_buffers(kind, len(self), [valid, pa.py_buffer(offsets), pa.py_buffer(self.values)])

    def cells(self) -> list[Any]:
        """As Python objects."""
        cells: list[Any]
        if self.offsets is None:
            cells = self.values.tolist()
        else:
            data, ends = self.values.tobytes(), self.offsets.tolist()
            # Names of files and rules come again and again.
            cells = [sys.intern(data[start:end].decode()) for start, end in zip(ends, ends[1:], strict=False)]
        if self.there is None:
            return cells
        return [cell if there else None for cell, there in zip(cells, self.there.tolist(), strict=True)]

    def rows(self) -> Column:
        """Names that end with the row of a document, as numbers from 0 on; other names as they are."""
        assert self.offsets is not None
        numbers = _benzer.last_numbers(self.offsets, self.values)
        return self if numbers is None else Column(numbers - 1)


def named(found: dict[str, tuple[Any, Any, Any]]) -> dict[str, Column]:
    """What the engine gives."""
    return {name: Column(*parts) for name, parts in found.items()}
