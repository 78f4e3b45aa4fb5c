"""What a caller gives to :func:`benzer.dedup`, as the engine reads it: paths, or rows with checked columns.

The engine reads texts, ids that are texts or integers, and orders that are numbers or texts. Everything else that means such a value is converted here; a row where
that cannot be done is rejected with the reason; a column that holds nothing of the kind is an error. Ids come back as the values that they were.
"""

from __future__ import annotations

import datetime
import decimal
import glob
import json
import os
import re
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer import frames
from benzer.arguments import is_missing
from benzer.errors import ColumnError, DedupError, warn

_ADDRESS = re.compile(r"[A-Za-z0-9]+://")


@dataclass(frozen=True)
class Wanted:
    """The columns that a run looks at."""

    texts: list[str]
    id: str | None
    order: str | None


@dataclass(frozen=True)
class Column:
    """A column as the engine reads it (Arrow, or a list), None where a row is rejected, and why."""

    clean: Any
    reasons: dict[int, str]


class Rows:
    """Documents in memory: what was given, the columns that the engine reads, and the rows that it cannot."""

    def __init__(self, given: Any, wanted: Wanted, role: str) -> None:
        self._way_back = frames.way_back(given)
        self.data = frames.collected(given)
        self.role = role
        self.called = frames.describe(self.data)
        self.n = frames.n_rows(self.data)
        self.rejected: dict[int, str] = {}
        """Why rows cannot be read, as far as Python knows."""
        self._columns: dict[str, Any] = {}
        self.file = ""
        """The name of the file that the engine reads, which is where its results say that a row is."""
        self.text_fields, self.id_field, self.order_field = self._read(wanted)
        self.ids: Any = None if wanted.id is None else frames.column(self.data, wanted.id)
        """The ids as they were given."""

    def _read(self, wanted: Wanted) -> tuple[list[str], str | None, str | None]:
        if frames.kind(self.data) in frames.COLUMNS:
            self._check_no_columns(wanted)
            return [self._add("text", _texts(self.data, "text"))], None, None
        if not wanted.texts:
            raise ColumnError("`text` names no column; give one, or several whose texts are joined")
        names = list(dict.fromkeys(name for name in [*wanted.texts, wanted.id, wanted.order] if name is not None))
        if self.n or frames.kind(self.data) != "records":
            frames.check_names(self.data, names)
        column = frames.column if self.n or frames.kind(self.data) != "records" else lambda *_: []
        texts = [self._add(name, _texts(column(self.data, name), name)) for name in dict.fromkeys(wanted.texts)]
        id_field = None if wanted.id is None else self._add(wanted.id, _ids(column(self.data, wanted.id), wanted.id))
        order = None if wanted.order is None else self._add(wanted.order, _orders(column(self.data, wanted.order), wanted.order))
        return texts, id_field, order

    def _check_no_columns(self, wanted: Wanted) -> None:
        for name, value in (("id", wanted.id), ("keep", wanted.order), ("text", None if wanted.texts in (["text"], []) else ", ".join(wanted.texts))):
            if value is not None:
                raise ColumnError(f"`{name}` names the column {value!r}, but {self.called} has no columns; give a frame or a list of dictionaries, or leave it out")

    def _add(self, name: str, column: Column) -> str:
        """Takes a column; the path by which the engine finds it."""
        name = name or "column"
        while name in self._columns and self._columns[name] is not column.clean:
            name += "_"
        self._columns[name] = column.clean
        for row, reason in column.reasons.items():
            self.rejected.setdefault(row, reason)
        return _path(name)

    def write(self, folder: Path) -> Path:
        """A file with the columns: Arrow, or lines of JSON for lists, for which nothing has to be installed."""
        path = self._write(folder)
        self.file = path.name
        self._columns = {name: column for name, column in self._columns.items() if _path(name) == self.id_field}
        return path

    def _write(self, folder: Path) -> Path:
        if not any(hasattr(column, "to_pylist") for column in self._columns.values()):
            return self._lines(folder)
        import pyarrow as pa

        try:
            table = pa.table(self._columns)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return self._lines(folder)
        path = folder / f"{self.role}.arrow"
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=65536)
        return path

    def _lines(self, folder: Path) -> Path:
        path = folder / f"{self.role}.jsonl"
        columns = [frames.values(column) for column in self._columns.values()]
        with path.open("w", encoding="utf-8") as file:
            for row in zip(*columns, strict=True):
                file.write(json.dumps(dict(zip(self._columns, row, strict=True))) + "\n")
        return path

    def first_reject(self) -> str:
        """The first row that cannot be read, in words."""
        row = min(self.rejected)
        return f"Row {row} cannot be read: {self.rejected[row]}"

    def take(self, rows: npt.NDArray[np.int64]) -> Any:
        """Some rows, of the kind that was given."""
        chosen = frames.take(self.data, rows)
        return getattr(chosen, self._way_back)() if self._way_back else chosen

    def rows_of(self, names: Any) -> npt.NDArray[np.int64]:
        """The rows of ids as the engine writes them, a list or an array of Arrow; -1 for what is not there."""
        if self.id_field is not None and hasattr(names, "type"):
            import pyarrow as pa
            import pyarrow.compute

            compute: Any = pyarrow.compute
            rows = compute.index_in(names.cast(pa.large_string()), value_set=self._names)
            return np.asarray(rows.fill_null(-1)).astype(np.int64)
        of = self._by_name.get
        names = frames.values(names)
        return np.array([of(name, -1) for name in names], dtype=np.int64)

    def called_by(self, names: list[str]) -> list[Any]:
        """Documents as their user calls them, by their ids or else their rows; those of elsewhere keep their names."""
        at = self.rows_of(names)
        pool = range(self.n) if self.ids is None else frames.values(self.ids)
        return [pool[row] if row >= 0 else name for row, name in zip(at.tolist(), names, strict=True)]

    @cached_property
    def _names(self) -> Any:
        """The ids as the engine writes them, for Arrow."""
        import pyarrow as pa

        clean = next(iter(self._columns.values()))
        if isinstance(clean, list):
            return pa.array([None if one is None else str(one) for one in clean], pa.large_string())
        names = clean.cast(pa.large_string())
        return names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names

    @cached_property
    def _by_name(self) -> dict[str, int]:
        if self.id_field is None:
            # The engine counts the rows of its copy from 1 on.
            return {f"{self.file}:{row + 1}": row for row in range(self.n)}
        clean = frames.values(next(iter(self._columns.values())))
        return {str(clean[row]): row for row in range(self.n - 1, -1, -1) if clean[row] is not None}


def _path(name: str) -> str:
    """The path by which the engine finds a column, in whose names a dot is no step."""
    return re.sub(r"([\\.])", r"\\\1", name)


class File(os.PathLike[str]):
    """A path that stays as it was typed: `pathlib` would make ``s3:/`` of ``s3://``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __fspath__(self) -> str:
        return self.name


def read(data: Any, wanted: Wanted, role: str) -> Rows | list[str]:
    """Rows, or the paths of files."""
    if frames.kind(data) != "paths":
        _warn_of_paths(data)
        return Rows(data, wanted, role)
    return [path_of(data)] if isinstance(data, str | os.PathLike) else [_file(path) for path in data]


def _warn_of_paths(data: Any) -> None:
    """A list of strings is texts; whoever gives names of files is told."""
    if not isinstance(data, list | tuple) or not data or not isinstance(data[0], str):
        return
    try:
        are_files = all(isinstance(one, str) and len(one) < 1024 and os.path.lexists(one) for one in data)
    except (OSError, ValueError):
        return
    if are_files:
        warn(f"the strings of the list, such as {data[0]!r}, are taken as texts, and there are files of these names; for files use benzer.dedup_files, or pathlib.Path")


def path_of(data: str | os.PathLike[str]) -> str:
    """The path that a single argument is; a text that is no path is refused, because nobody can say what was meant."""
    if isinstance(data, os.PathLike):
        return _file(data)
    if _ADDRESS.match(data):
        return data
    try:
        found = os.path.lexists(data) or next(glob.iglob(data, recursive=True), None) is not None
    except (OSError, ValueError):
        found = False
    if not found:
        shown = data if len(data) <= 60 else f"{data[:60]}..."
        raise DedupError(
            f"cannot open {shown!r}: there is no file or folder of that name, and no file that it is a pattern of; "
            "if it is a text, give a list of texts: [text]; if it is a path, look whether it is spelled as it should be, seen from "
            f"{os.getcwd()!r}"
        )
    return _file(Path(data)) if data == "-" else data


def _file(path: os.PathLike[str]) -> str:
    """A path as the engine takes it; a file called `-` is not standard input, unless somebody typed that for files."""
    name = os.fspath(path)
    return os.path.join(os.curdir, name) if name == "-" and not isinstance(path, File) else name


def _arrow(column: Any) -> Any:
    """A column as Arrow, if Arrow is there and can hold it; else a list."""
    if isinstance(column, list | tuple):
        return column
    try:
        import pyarrow as pa
    except ImportError:
        return frames.values(column)
    known = frames.kind(column)
    if known == "column":
        return frames.column(column.source, column.column_name)
    if known == "arrow-column":
        return column
    if known == "polars-column" and str(column.dtype) == "Object":
        # Polars would give the addresses of the objects.
        return column.to_list()
    if known == "numpy" and column.ndim != 1:
        raise TypeError(f"expected an array of one dimension, got one of the shape {column.shape}; texts are its elements")
    try:
        return column.to_arrow() if known == "polars-column" else pa.array(column, from_pandas=True)
    except Exception:  # Each library has its own exceptions for values that Arrow does not know; these are looked at one by one.
        return frames.values(column)


def _decoded(column: Any) -> Any:
    """A column as Arrow without dictionary, if Arrow can hold it; else a list."""
    found = _arrow(column)
    if hasattr(found, "type"):
        import pyarrow as pa

        if pa.types.is_dictionary(found.type):
            return found.cast(found.type.value_type)
    return found


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _texts(column: Any, name: str) -> Column:
    """Texts: strings, and bytes that are UTF-8."""
    found = _arrow(column)
    if hasattr(found, "type"):
        import pyarrow as pa

        kind = found.type.value_type if pa.types.is_dictionary(found.type) else found.type
        if pa.types.is_null(kind):
            found, kind = pa.nulls(len(found), pa.string()), pa.string()
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            try:
                found, kind = found.cast(pa.large_string()), pa.large_string()
            except pa.ArrowInvalid:
                pass
        if _is_text(kind):
            return Column(found, _nulls(found, f"no text in column {name!r} (None)"))
        if not _has_bytes(kind):
            raise TypeError(_no_texts(name, str(found.type), pa.types.is_list(kind) or pa.types.is_large_list(kind)))
        found = frames.values(found)
    return _each(found, name, _text, lambda got, one: _no_texts(name, got, isinstance(one, list | tuple | np.ndarray)))


def _has_bytes(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind))


def _no_texts(name: str, got: str, tokens: bool) -> str:
    remedy = "join the tokens of each first, such as ' '.join(tokens)" if tokens else "name the column of the texts with text=, or convert it to texts"
    return f"column {name!r} must hold texts, got {got}; {remedy}"


def _text(value: Any, name: str) -> str:
    """A text, or a `ValueError` with what is wrong with it."""
    if isinstance(value, bytes | bytearray | memoryview):
        try:
            return bytes(value).decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"bytes that are not UTF-8 in column {name!r} (byte {error.start}); decode them first") from None
    if not isinstance(value, str):
        raise TypeError
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(f"no Unicode in column {name!r}: a lone surrogate at {error.start}; decode it with errors='replace'") from None
    return value


def _ids(column: Any, name: str) -> Column:
    """Ids: texts and integers as they are, other values by the texts that stand for them."""
    found = _decoded(column)
    if hasattr(found, "type"):
        import pyarrow as pa

        types, kind = pa.types, found.type
        if types.is_null(kind):
            found, kind = pa.nulls(len(found), pa.string()), pa.string()
        if types.is_integer(kind) or _is_text(kind):
            return Column(found, _nulls(found, f"no id in column {name!r} (None)"))
        found = frames.values(found)
    if any(isinstance(one, bytes) for one in found):
        found = _bytes_as_ids(found)
    made = _each(found, name, _id, lambda got, _: f"column {name!r} must hold ids (texts, integers or other single values), got {got}; name another one with id=, or convert it")
    if not isinstance(column, list | tuple):
        made = Column([None if one is None else str(one) for one in made.clean], made.reasons)
    return made


def _bytes_as_ids(found: list[Any]) -> list[Any]:
    """Bytes as texts, if all of them are; else in hexadecimal, all of them."""
    try:
        return [one.decode("utf-8") if isinstance(one, bytes) else one for one in found]
    except UnicodeDecodeError:
        return [one.hex() if isinstance(one, bytes) else one for one in found]


def _id(value: Any, name: str) -> str | int:
    """An id as the engine takes it: a whole number is the integer that it is."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return _text(value, name)
    if isinstance(value, float | decimal.Decimal):
        number = float(value)
        return int(number) if number.is_integer() and abs(number) < 2**53 else str(value)
    if isinstance(value, int):
        return value
    if isinstance(value, uuid.UUID | datetime.date | datetime.time | datetime.timedelta):
        return str(value)
    raise TypeError


def _orders(column: Any, name: str) -> Column:
    """What `max:` and `min:` look at: numbers, times and texts. A missing one sorts last."""
    found = _decoded(column)
    if hasattr(found, "type"):
        import pyarrow as pa

        types, kind = pa.types, found.type
        if _is_text(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_timestamp(kind) or types.is_date(kind):
            return Column(found, {})
        if types.is_null(kind):
            return Column(pa.nulls(len(found), pa.float64()), {})
        found = frames.values(found)
    made = _each(found, name, _order, lambda got, _: f"column {name!r} must hold numbers, times or texts, got {got}; `keep` needs a column that can be compared", rejects=False)
    return Column(made.clean, {})


def _order(value: Any, name: str) -> float | int | str:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str):
        return _text(value, name)
    if isinstance(value, bool | decimal.Decimal):
        return float(value)
    if isinstance(value, int | float):
        return value
    if isinstance(value, datetime.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)).timestamp()
    if isinstance(value, datetime.date):
        return (value - datetime.date(1970, 1, 1)).days * 86400
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, datetime.time):
        return value.isoformat()
    raise TypeError


def _each(
    found: Iterable[Any], name: str, convert: Callable[[Any, str], Any], wrong: Callable[[str, Any], str], *, rejects: bool = True
) -> Column:
    """Converts values one by one. A value of a wrong type rejects its row; if none is of a right one, or no row can be rejected, it is an error."""
    clean: list[Any] = []
    reasons: dict[int, str] = {}
    others: dict[int, Any] = {}
    for row, value in enumerate(found):
        good = None
        if is_missing(value):
            reasons[row] = f"nothing in column {name!r} ({value})"
        else:
            try:
                good = convert(value, name)
            except TypeError:
                others[row] = value
                reasons[row] = wrong(type(value).__name__, value)
            except ValueError as error:
                reasons[row] = str(error)
        clean.append(good)
    if others and (not rejects or len(reasons) == len(clean)):
        raise TypeError(reasons[next(iter(others))])
    return Column(clean, reasons)


def _nulls(column: Any, reason: str) -> dict[int, str]:
    """The rows of an Arrow column that hold nothing."""
    if not column.null_count:
        return {}
    rows = np.flatnonzero(np.asarray(column.is_null()))
    return dict.fromkeys(rows.tolist(), reason)
