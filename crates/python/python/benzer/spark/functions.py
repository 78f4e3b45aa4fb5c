"""Functions for SQL users, on columns: one value for each row, computed by the engine batch by batch."""

from __future__ import annotations

from typing import Any

from benzer import _benzer
from benzer.spark.plan import settings


def register(spark: Any, **options: Any) -> None:
    """Makes the functions known to a session.

    - ``benzer_sketch(text)``: the sketch of a text, as bytes that carry their spec;
    - ``benzer_jaccard(a, b)``: the estimated similarity of two sketches, and ``benzer_jaccard_bar(a, b)`` with its standard error and 95% interval;
    - ``benzer_bands(sketch)``: the keys of its bands. Use ``posexplode``: keys of different bands are not comparable.

    Args:
        spark: The session.
        options: `threshold`, `recall`, `preset`, `ngram`, `unit` and `text_settings` as in :func:`benzer.spark.dedup`.
    """
    from pyspark.sql.functions import pandas_udf

    wanted = settings(spark, **options).request

    def sketch(texts: Any) -> Any:
        return called("sketch", wanted, text=texts)["sketch"]

    def jaccard(a: Any, b: Any) -> Any:
        return called("jaccard", wanted, a=a, b=b)["value"]

    def jaccard_bar(a: Any, b: Any) -> Any:
        return called("jaccard", wanted, a=a, b=b)

    def bands(sketches: Any) -> Any:
        return called("band_keys", wanted, sketch=sketches)["keys"]

    import pandas as pd

    # The kind of a function is read from its annotations, which must be the classes themselves.
    for function in (sketch, jaccard, jaccard_bar, bands):
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        returned = pd.DataFrame if function is jaccard_bar else pd.Series
        function.__annotations__ = {**dict.fromkeys(names, pd.Series), "return": returned}
    spark.udf.register("benzer_sketch", pandas_udf(sketch, "binary"))
    spark.udf.register("benzer_jaccard", pandas_udf(jaccard, "double"))
    spark.udf.register("benzer_jaccard_bar", pandas_udf(jaccard_bar, "value double, error double, low double, high double"))
    spark.udf.register("benzer_bands", pandas_udf(bands, "array<bigint>"))


def called(name: str, request: str, **columns: Any) -> Any:
    """A table of the results of a function, for columns of pandas."""
    import pyarrow as pa

    kind = pa.string() if name == "sketch" else pa.binary()
    arrays = {column: pa.array(list(values), type=kind, from_pandas=True) for column, values in columns.items()}
    batch = pa.RecordBatch.from_pydict(arrays)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    made = _benzer.Stage(name, request, 1, 1).push(sink.getvalue().to_pybytes())
    return pa.ipc.open_stream(made).read_pandas()
