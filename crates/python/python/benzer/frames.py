"""Tables of other libraries: which one it is, its columns as Arrow, and some of its rows as the same kind of table.

Nothing is imported that the caller has not imported already.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer.columns import Column
from benzer.errors import ColumnError


def kind(data: Any) -> str:
    """``dataset``, ``pandas``, ``polars``, ``arrow``, ``paths`` or ``records``."""
    if isinstance(data, str | Path):
        return "paths"
    for module, name, known in _KINDS:
        if module in sys.modules and isinstance(data, _attribute(sys.modules[module], name)):
            return known
    if isinstance(data, list | tuple) and data and all(isinstance(one, str | Path) for one in data):
        return "paths"
    if isinstance(data, Iterable):
        return "records"
    raise TypeError(f"expected paths, a Dataset, a frame, an Arrow table or a list of dictionaries, got {type(data).__name__}")


_KINDS = [
    ("datasets", "Dataset", "dataset"),
    ("pandas", "DataFrame", "pandas"),
    ("polars", "DataFrame", "polars"),
    ("pyarrow", "Table", "arrow"),
    ("pyarrow", "RecordBatch", "arrow"),
]


def _attribute(module: Any, name: str) -> Any:
    return getattr(module, name, ())


def is_dataset_column(data: Any) -> bool:
    """Whether it is a column of a `datasets.Dataset`, which reads rows only when they are asked for."""
    return "datasets" in sys.modules and kind(getattr(data, "source", ())) == "dataset" and hasattr(data, "column_name")


def columns(data: Any, names: list[str]) -> Any:
    """An Arrow table of some columns, without a copy where the library keeps Arrow itself."""
    pa = _pyarrow()
    known = kind(data)
    present = names_of(data)
    missing = [name for name in names if name not in present]
    if missing:
        raise ColumnError(f"there is no column {', '.join(map(repr, missing))}; the columns are {', '.join(map(repr, present))}")
    if known == "dataset":
        # With a selection of rows, Arrow has to gather them.
        chosen = data.select_columns(names).with_format("arrow")
        return chosen.data.table if chosen._indices is None else chosen[:]
    if known == "pandas":
        return pa.Table.from_pandas(data[names], preserve_index=False)
    if known == "polars":
        return data.select(names).to_arrow()
    if known == "arrow":
        table = data if isinstance(data, pa.Table) else pa.Table.from_batches([data])
        return table.select(names)
    raise TypeError(f"expected a table, got {type(data).__name__}")


def names_of(data: Any) -> list[str]:
    """The names of the columns."""
    known = kind(data)
    if known == "dataset":
        return list(data.column_names)
    if known in ("pandas", "polars"):
        return [str(name) for name in data.columns]
    if known == "arrow":
        return list(data.schema.names)
    return list(data[0]) if data else []


def take(data: Any, rows: npt.NDArray[np.int64]) -> Any:
    """Some rows, as the same kind of table."""
    known = kind(data)
    if known == "dataset":
        return data.select(rows)
    if known == "pandas":
        return data.iloc[rows]
    if known == "polars":
        return data[rows]
    if known == "arrow":
        return data.take(_pyarrow().array(rows))
    return [data[row] for row in rows]


def table(data: Any, columns: dict[str, Column]) -> Any:
    """Columns as a table of the same kind as `data`; of Arrow for paths, and a list of dictionaries where Arrow is not installed."""
    known = kind(data)
    try:
        found = _pyarrow().table({name: column.arrow() for name, column in columns.items()})
    except ImportError:
        cells = {name: column.cells() for name, column in columns.items()}
        if known in ("pandas", "polars"):
            return sys.modules[known].DataFrame(cells)
        return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    if known == "pandas":
        return found.to_pandas()
    if known == "polars":
        return sys.modules["polars"].from_arrow(found)
    if known == "dataset":
        return sys.modules["datasets"].Dataset(found)
    return found


def records(data: Any) -> Iterator[Mapping[str, Any]]:
    """The rows of a table as dictionaries."""
    known = kind(data)
    if known == "pandas":
        return iter(data.to_dict("records"))
    if known == "polars":
        return iter(data.iter_rows(named=True))
    if known == "arrow":
        return iter(data.to_pylist())
    if known == "paths":
        raise TypeError("expected documents, got paths; `benzer index` reads files")
    if isinstance(data, Mapping):
        return iter([data])
    return iter(data)


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("tables go through Arrow: pip install pyarrow, or give the path of a file") from error
    return pyarrow
