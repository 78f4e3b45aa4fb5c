"""Tables and texts of other libraries: which one it is, its columns as Arrow, and some of its rows as the same kind of table.

Nothing is imported that the caller has not imported already.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from io import IOBase
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer.arguments import is_missing
from benzer.columns import Column
from benzer.errors import ColumnError

EXPECTED = "expected paths, texts, a Dataset, a frame, an Arrow table or a list of dictionaries"


def kind(data: Any) -> str:
    """What `data` is: ``paths``, ``texts`` or ``records`` (lists), a table, a stream, or a column of texts; see `KINDS`."""
    if isinstance(data, str | os.PathLike):
        return "paths"
    for module, name, known in KINDS:
        if module in sys.modules and isinstance(data, getattr(sys.modules[module], name, ())):
            return known
    if is_dataset_column(data):
        return "column"
    if isinstance(data, list | tuple):
        return _kind_of_list(data)
    if hasattr(data, "__arrow_c_stream__"):
        return "stream"
    remedy = next((remedy for types, remedy in _REFUSED if isinstance(data, types)), None)
    if remedy is not None or not isinstance(data, Iterable):
        raise TypeError(f"{EXPECTED}, got {type(data).__name__}{remedy or ''}")
    return "records"


KINDS = [
    ("datasets", "Dataset", "dataset"),
    ("datasets", "DatasetDict", "splits"),
    ("datasets", "IterableDataset", "stream"),
    ("pandas", "DataFrame", "pandas"),
    ("pandas", "Series", "pandas-column"),
    ("polars", "DataFrame", "polars"),
    ("polars", "LazyFrame", "stream"),
    ("polars", "Series", "polars-column"),
    ("pyarrow", "Table", "arrow"),
    ("pyarrow", "RecordBatch", "arrow"),
    ("pyarrow", "RecordBatchReader", "stream"),
    ("pyarrow", "Array", "arrow-column"),
    ("pyarrow", "ChunkedArray", "arrow-column"),
    ("numpy", "ndarray", "numpy"),
]
"""Modules, their types, and what they are here."""

COLUMNS = ("pandas-column", "polars-column", "arrow-column", "numpy", "column", "texts")
"""Kinds that are one column of texts."""

_REFUSED: list[tuple[Any, str]] = [
    (Mapping, "; a dictionary of columns is a table with pandas.DataFrame(...), and one document is a list with it: [document]"),
    (Set, ", which has no order; make a list of it"),
    (bytes | bytearray | memoryview, "; decode it, and give a list of texts"),
    (IOBase, "; give its path, as a pathlib.Path"),
]


def _kind_of_list(data: list[Any] | tuple[Any, ...]) -> str:
    """A list is one of paths, of texts or of dictionaries; what is missing (None, NaN) is found out later."""
    types = set(map(type, data))
    found = {known for known, wanted in _IN_LISTS if any(issubclass(one, wanted) for one in types)}
    others = {one for one in types if not issubclass(one, tuple(wanted for _, wanted in _IN_LISTS))}
    wrong = next((one for one in data if type(one) in others and not is_missing(one)), None) if others else None
    if wrong is not None or len(found) > 1 or (others and "paths" in found):
        names = ", ".join(sorted(one.__name__ for one in types))
        remedy = "; join the tokens of each text, such as ' '.join(tokens)" if isinstance(wrong, list | tuple) else ""
        raise TypeError(f"expected a list of texts, of dictionaries or of pathlib.Path objects, got one of {names}{remedy}")
    # Nothing but missing rows: nobody can say of what.
    return found.pop() if found else "texts" if data else "records"


_IN_LISTS: list[tuple[str, Any]] = [("texts", (str, bytes)), ("records", Mapping), ("paths", os.PathLike)]


def is_dataset_column(data: Any) -> bool:
    """Whether it is a column of a `datasets.Dataset`, which reads rows only when they are asked for."""
    return "datasets" in sys.modules and hasattr(data, "column_name") and isinstance(getattr(data, "source", None), sys.modules["datasets"].Dataset)


def collected(data: Any) -> Any:
    """What can be read more than once: streams, lazy frames and generators as tables and lists."""
    known = kind(data)
    if known == "stream":
        if hasattr(data, "collect"):
            return data.collect()
        if hasattr(data, "read_all"):
            return data.read_all()
        if hasattr(data, "__arrow_c_stream__"):
            return _pyarrow().table(data)
        return sys.modules["datasets"].Dataset.from_list(list(data), features=data.features)
    return data if known != "records" or isinstance(data, list | tuple) else list(data)


def way_back(data: Any) -> str:
    """The method that makes rows of what was collected what was given again; none where that is not possible: a generator gives a list, an `IterableDataset` a `Dataset`."""
    if kind(data) != "stream":
        return ""
    return "lazy" if hasattr(data, "collect") else "to_reader" if hasattr(data, "read_all") else ""


def n_rows(data: Any) -> int:
    """How many documents there are."""
    if kind(data) == "splits":
        return sum(len(split) for split in data.values())
    return len(data)


def describe(data: Any) -> str:
    """What people call it: ``a pandas DataFrame of 200 rows``."""
    known, n = kind(data), n_rows(data)
    rows = f"{n:,} {'text' if known in COLUMNS else 'row'}{'' if n == 1 else 's'}"
    if known in ("texts", "records"):
        return f"a list of {rows if known == 'texts' else f'{n:,} ' + ('dictionary' if n == 1 else 'dictionaries')}"
    if known == "splits":
        return f"a DatasetDict of {rows} in {len(data)} split{'' if len(data) == 1 else 's'}"
    library = {"pandas": "a pandas ", "polars": "a Polars ", "numpy": "a NumPy ", "arrow": "an Arrow "}.get(known.partition("-")[0], "a ")
    what = "column of a Dataset" if known == "column" else "array" if known == "numpy" else type(data).__name__
    return f"{library}{what} of {rows}"


def columns(data: Any, names: list[str]) -> Any:
    """An Arrow table of some columns, without a copy where the library keeps Arrow itself."""
    pa = _pyarrow()
    known = kind(data)
    check_names(data, names)
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


def column(data: Any, name: str) -> Any:
    """One column, as its library has it; a list for dictionaries."""
    check_names(data, [name])
    known = kind(data)
    if known == "records":
        return [row.get(name) if isinstance(row, Mapping) else None for row in data]
    if known == "pandas":
        return data.iloc[:, [str(one) for one in data.columns].index(name)]
    if known == "polars":
        return data[name]
    if known == "splits":
        return joined([column(split, name) for split in data.values()])
    return columns(data, [name]).column(0)


def check_names(data: Any, names: list[str]) -> None:
    """Refuses names that no column has, or more than one."""
    if kind(data) == "splits":
        for split in data.values():
            check_names(split, names)
        return
    present = names_of(data)
    missing = [name for name in names if name not in present]
    if missing and kind(data) == "records":
        raise ColumnError(f"there is no {', '.join(map(repr, missing))} in any of the dictionaries, which have {', '.join(map(repr, present))}")
    if missing:
        index = [name for name in missing if kind(data) == "pandas" and name in data.index.names]
        remedy = f"; {index[0]!r} is in the index: use reset_index()" if index else ""
        raise ColumnError(f"there is no column {', '.join(map(repr, missing))}; the columns are {', '.join(map(repr, present))}{remedy}")
    twice = [name for name in names if present.count(name) > 1]
    if twice:
        raise ColumnError(f"more than one column is called {twice[0]!r}; rename all but one")


def names_of(data: Any) -> list[str]:
    """The names of the columns; of dictionaries all keys, in the order in which they come up."""
    known = kind(data)
    if known == "dataset":
        return list(data.column_names)
    if known in ("pandas", "polars"):
        return [str(name) for name in data.columns]
    if known == "arrow":
        return list(data.schema.names)
    return list(dict.fromkeys(str(name) for row in data if isinstance(row, Mapping) for name in row))


def take(data: Any, rows: npt.NDArray[np.int64]) -> Any:
    """Some rows, as the same kind of table."""
    known = kind(data)
    if known == "dataset":
        return data.select(rows)
    if known == "splits":
        return _take_of_splits(data, rows)
    if known == "column":
        return type(data)(data.source.select(rows), data.column_name)
    if known in ("pandas", "pandas-column"):
        return data.iloc[rows]
    if known in ("polars", "polars-column", "numpy"):
        return data[rows]
    if known in ("arrow", "arrow-column"):
        return data.take(_pyarrow().array(rows))
    return [data[row] for row in rows]


def _take_of_splits(data: Any, rows: npt.NDArray[np.int64]) -> Any:
    chosen, start = {}, 0
    for name, split in data.items():
        end = start + len(split)
        chosen[name] = split.select(rows[(rows >= start) & (rows < end)] - start)
        start = end
    return type(data)(chosen)


def values(column: Any) -> list[Any]:
    """The values of a column, as Python has them."""
    if isinstance(column, list | tuple):
        return list(column)
    method = next(name for name in ("to_pylist", "to_list", "tolist") if hasattr(column, name))
    return list(getattr(column, method)())


def joined(parts: list[Any]) -> Any:
    """Columns of one kind one after the other; a list, if they are not of one kind."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, list) for part in parts) or len({kind(part) for part in parts}) > 1:
        return [value for part in parts for value in values(part)]
    known = kind(parts[0])
    if known == "pandas-column":
        return sys.modules["pandas"].concat(parts, ignore_index=True)
    if known == "polars-column":
        return sys.modules["polars"].concat(parts, how="vertical_relaxed")
    pa = _pyarrow()
    chunks = [chunk for part in parts for chunk in getattr(part, "chunks", [part])]
    same = len({str(chunk.type) for chunk in chunks}) <= 1
    return pa.chunked_array(chunks, parts[0].type) if same else [value for part in parts for value in values(part)]


def pick(column: Any, rows: npt.NDArray[np.int64]) -> Any:
    """Some values of a column, for a column of a new table."""
    if isinstance(column, list):
        return [column[row] for row in rows]
    chosen = take(column, rows)
    return chosen.array if kind(column) == "pandas-column" else chosen


def like(column: Any, values: list[Any]) -> Any:
    """Values as a column of the type of another, if they can be."""
    try:
        known = kind(column)
        if known == "pandas-column":
            return sys.modules["pandas"].Series(values, dtype=column.dtype).array
        if known == "polars-column":
            return sys.modules["polars"].Series(values, dtype=column.dtype)
        if known == "arrow-column":
            return _pyarrow().array(values, column.type)
    except (TypeError, ValueError, OverflowError):
        pass
    return values


def table(data: Any, columns: dict[str, Any]) -> Any:
    """Columns as a table of the same kind as `data`; of Arrow for paths and lists, and a list of dictionaries where Arrow is not installed or does not know the values.

    Columns are buffers of results, lists, or what the library of the table has.
    """
    known = kind(data)
    made = {name: cells(column) if isinstance(column, Column) else column for name, column in columns.items()}
    if known.startswith("pandas"):
        return sys.modules["pandas"].DataFrame({name: column.to_pandas() if isinstance(columns[name], Column) and hasattr(column, "to_pandas") else column for name, column in made.items()})
    if known.startswith("polars"):
        polars = sys.modules["polars"]
        return polars.DataFrame({name: polars.Series(name, column) for name, column in made.items()})
    try:
        whole = _pyarrow().table(made)
    except (ImportError, TypeError, ValueError, OverflowError):
        return [dict(zip(made, row, strict=True)) for row in zip(*map(values, made.values()), strict=True)]
    if known in ("dataset", "splits", "column"):
        datasets = sys.modules["datasets"]
        return datasets.Dataset(datasets.table.InMemoryTable(whole))
    return whole


def cells(column: Column) -> Any:
    """As an array of Arrow, or a list where it is not installed."""
    try:
        return column.arrow()
    except ImportError:
        return column.cells()


def records(data: Any) -> Iterator[Mapping[str, Any]]:
    """The rows of a table as dictionaries."""
    if isinstance(data, Mapping):
        return iter([data])
    data = collected(data)
    known = kind(data)
    if known == "pandas":
        return iter(data.to_dict("records"))
    if known == "polars":
        return iter(data.iter_rows(named=True))
    if known == "arrow":
        return iter(data.to_pylist())
    if known == "paths":
        raise TypeError("expected documents, got paths; `benzer index` reads files")
    return iter(data)


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("tables go through Arrow: pip install pyarrow, or give the path of a file") from error
    return pyarrow
