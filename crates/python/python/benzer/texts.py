"""Texts as the engine takes them: strings where they lie, or the buffers of Arrow without a copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benzer import frames
from benzer.arguments import items, shown, wrong
from benzer.errors import ArgumentTypeError, ParameterError


class Buffers(NamedTuple):
    """Strings of an Arrow array: their bytes, and where each begins and the last ends."""

    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]


def as_texts(texts: Any) -> Sequence[list[str] | Buffers]:
    """The parts of a column of texts: Arrow's chunks as they lie in memory, everything else as a list of strings."""
    if isinstance(texts, str | bytes):
        raise ArgumentTypeError(f"`texts` must be a list or a column of strings, not one string: give [{shown(texts)}]")
    if isinstance(texts, list):
        return [texts]
    if isinstance(texts, Mapping | Set):
        raise wrong("texts", "a list or a column of strings, whose order the rows have", texts)
    column = _arrow(texts)
    if column is None:
        return [list(items("texts", texts, "strings"))]
    chunks = column.chunks if hasattr(column, "chunks") else [column]
    return [_buffers(chunk) for chunk in chunks] or [[]]


def _arrow(texts: Any) -> Any:
    """An Arrow array of strings without nulls, if the texts are one or can be seen as one."""
    try:
        import pyarrow as pa
    except ImportError:
        return None
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        column = texts
    elif frames.is_dataset_column(texts):
        column = frames.columns(texts.source, [texts.column_name]).column(0)
    elif hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__"):
        try:
            column = pa.chunked_array(texts)
        except (TypeError, ValueError, pa.ArrowException):
            # A table, or objects of several types, which are looked at one by one.
            return None
    else:
        return None
    if column.null_count:
        first = column.is_null().to_pylist().index(True)
        raise ParameterError(f"`texts[{first}]` is missing (null), {column.null_count:,} are; fill them with empty strings, or leave them out")
    kind = column.type
    if pa.types.is_dictionary(kind) or pa.types.is_string_view(kind):
        column = column.cast(pa.large_string())
    elif not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        got = f"a table of {[field.name for field in kind]}; give one of its columns" if pa.types.is_struct(kind) else f"a column of {kind}"
        raise ArgumentTypeError(f"`texts` must be strings, got {got}")
    return column


def _buffers(array: Any) -> Buffers:
    import pyarrow as pa

    wide = pa.types.is_large_string(array.type)
    _, places, data = array.buffers()
    if len(array) == 0 or places is None:
        return Buffers(np.empty(0, dtype=np.uint8), np.zeros(1, dtype=np.int64))
    offsets = np.frombuffer(places, dtype=np.int64 if wide else np.int32)
    offsets = offsets[array.offset : array.offset + len(array) + 1].astype(np.int64, copy=False)
    raw = np.empty(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    return Buffers(raw, np.ascontiguousarray(offsets))
