"""Parquet as people have it: `make DIR` writes it with PyArrow and DuckDB, `check DIR RESULTS` compares what Benzer made of it.

Every file is also written with an equal number of near-duplicates, so that every row group loses some rows, one loses all, and one none.
"""

from __future__ import annotations

import decimal
import datetime
import random
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROWS = 600
GROUP = 100
CODECS = ["NONE", "SNAPPY", "GZIP", "BROTLI", "LZ4", "ZSTD"]


def texts(seed: int) -> list[str]:
    """Distinct documents, except that the third group repeats the first, and every seventh row after it an earlier one."""
    chance = random.Random(seed)
    words = [f"w{number}" for number in range(5000)]
    fresh = lambda: " ".join(chance.choices(words, k=60))  # noqa: E731
    rows: list[str] = []
    for row in range(ROWS):
        if row // GROUP == 2:
            rows.append(rows[row - 2 * GROUP])
        elif row // GROUP > 2 and row % 7 == 0:
            rows.append(rows[row - 3 * GROUP] + " more")
        else:
            rows.append(fresh())
    return rows


def others() -> dict[str, pa.Array]:
    """Columns beside the text, of every kind, with nulls."""
    every = lambda n, value: [None if row % n == 0 else value(row) for row in range(ROWS)]  # noqa: E731
    day = datetime.date(2024, 1, 1)
    time = datetime.datetime(2024, 1, 1, 12, 30, 1, 123456)
    score = pa.struct([("name", pa.string()), ("marks", pa.list_(pa.struct([("at", pa.int64()), ("is", pa.string())])))])
    return {
        "number": pa.array(every(5, lambda row: row), pa.int32()),
        "tags": pa.array(every(3, lambda row: [f"t{i}" for i in range(row % 4)]), pa.list_(pa.string())),
        "attributes": pa.array(every(4, lambda row: [(f"k{i}", row) for i in range(row % 3)]), pa.map_(pa.string(), pa.int64())),
        "score": pa.array(every(6, lambda row: {"name": str(row), "marks": [{"at": row, "is": None}] * (row % 3)}), score),
        "day": pa.array(every(7, lambda row: day + datetime.timedelta(row)), pa.date32()),
        "time": pa.array(every(2, lambda row: time + datetime.timedelta(hours=row)), pa.timestamp("us", tz="UTC")),
        "nanos": pa.array(range(ROWS), pa.timestamp("ns")),
        "price": pa.array(every(8, lambda row: decimal.Decimal(row) / 100), pa.decimal128(20, 2)),
        "bytes": pa.array(every(9, lambda row: bytes([row % 256]) * (row % 5)), pa.binary()),
        "fixed": pa.array([bytes([row % 256]) * 16 for row in range(ROWS)], pa.binary(16)),
        "flag": pa.array(every(10, lambda row: row % 2 == 0)),
        "half": pa.array(every(11, lambda row: row / 3), pa.float32()),
        "nothing": pa.nulls(ROWS),
        "kind": pa.array(every(12, lambda row: f"kind {row % 5}")).dictionary_encode(),
        "small": pa.array(every(5, lambda row: row % 200), pa.uint8()),
        "big": pa.array(every(5, lambda row: 2**63 + row), pa.uint64()),
        "float16": pa.array(range(ROWS), pa.float32()).cast(pa.float16()),
        "took": pa.array(every(3, lambda row: row), pa.duration("us")),
        "clock": pa.array(every(3, lambda row: row), pa.time64("us")),
        "wide": pa.array(every(3, lambda row: decimal.Decimal(row) ** 5), pa.decimal256(50, 3)),
        "many": pa.array(every(3, lambda row: ["ü" * (row % 3)]), pa.large_list(pa.large_string())),
        "vector": pa.array([[row, row + 1.5] for row in range(ROWS)], pa.list_(pa.float32(), 2)),
        "uuid": pa.array([row.to_bytes(16, "big") for row in range(ROWS)], pa.uuid()),
        "json": pa.array(every(4, lambda row: f'{{"row": {row}}}'), pa.json_()),
        "none": pa.array([{}] * ROWS, pa.struct([("a", pa.null()), ("b", pa.struct([("c", pa.bool_())]))])),
        "deep": pa.array(every(13, lambda row: [[row], [], None, [None, row]]), pa.list_(pa.list_(pa.int64()))),
    }


def table(seed: int, kind: pa.DataType | None = None) -> pa.Table:
    """A table with metadata of its own and of a column."""
    text = pa.array(texts(seed), kind or pa.string())
    columns = {"id": pa.array(range(ROWS), pa.int64()), "text": text} | others()
    made = pa.table(columns)
    fields = [field.with_metadata({"note": "of " + field.name}) if field.name == "text" else field for field in made.schema]
    return made.cast(pa.schema(fields, metadata={"origin": "tests", "ünï": "cödé"}))


def make(folder: Path) -> None:
    """Writes the files; those below `nested` have their text in a struct."""
    plain, nested = folder / "plain", folder / "nested"
    for part in ("arrow/year=2024/month=01", "duckdb"):
        (plain / part).mkdir(parents=True)
    nested.mkdir()
    write = lambda made, name, **how: pq.write_table(made, plain / "arrow" / name, row_group_size=GROUP, **how)  # noqa: E731
    for seed, codec in enumerate(CODECS):
        write(table(seed), f"codec-{codec.lower()}.parquet", compression=codec)
    write(table(10), "year=2024/month=01/part-0.parquet")
    write(table(11, pa.large_string()), "large.parquet")
    write(table(12, pa.string_view()), "view.parquet")
    coded = table(13)
    coded = coded.set_column(1, "text", coded["text"].combine_chunks().dictionary_encode())
    write(coded, "dictionary.parquet")
    write(table(14), "fallback.parquet", dictionary_pagesize_limit=2000, data_page_size=4000)
    write(table(15), "plain-encoding.parquet", use_dictionary=False, data_page_version="2.0", write_page_index=True)
    encodings = {"number": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY", "half": "BYTE_STREAM_SPLIT"}
    write(table(16), "encodings.parquet", use_dictionary=["kind"], column_encoding=encodings)
    write(table(17).drop_columns("nanos"), "old.parquet", version="1.0", use_compliant_nested_type=False, store_schema=False)
    write(table(22), "int96.parquet", use_deprecated_int96_timestamps=True, data_page_version="2.0", data_page_size=1000)
    write(table(23, pa.binary()), "bytes.parquet")
    write(table(18), "checked.parquet", write_page_checksum=True, compression={"text": "ZSTD", "id": "GZIP"})
    write(table(19).slice(0, 0), "empty.parquet")
    pq.write_table(table(20), plain / "arrow/one-group.parquet")
    inner = table(21)
    meta = pa.StructArray.from_arrays([inner["text"].combine_chunks(), inner["number"].combine_chunks()], ["text", "n"])
    pq.write_table(pa.table({"id": inner["id"], "meta": meta, "tags": inner["tags"]}), nested / "arrow.parquet", row_group_size=GROUP)
    by_duckdb(plain / "duckdb", nested)


def by_duckdb(plain: Path, nested: Path) -> None:
    """The same by another writer."""
    source = table(30).select(["id", "text", "number", "tags", "attributes", "score", "day", "time", "price", "bytes", "flag", "deep"])
    database = duckdb.connect()
    database.register("plain", source)
    database.execute(
        "CREATE VIEW source AS SELECT *, id::HUGEINT AS huge, id::UBIGINT AS unsigned, to_days(id::INTEGER) AS period, "
        "uuid() AS uuid, ('k' || id % 3)::ENUM ('k0', 'k1', 'k2') AS kind, TIME '12:00:01' AS clock, "
        "make_timestamp_ns(id) AS nanos, [{'a': [id]}, NULL] AS list FROM plain"
    )
    for codec in ("uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"):
        database.execute(f"COPY (SELECT * FROM source) TO '{plain}/{codec}.parquet' (FORMAT parquet, CODEC {codec}, ROW_GROUP_SIZE {GROUP})")
    database.execute(f"COPY (SELECT * FROM source) TO '{plain}/v2.parquet' (FORMAT parquet, PARQUET_VERSION v2, KV_METADATA {{origin: 'tests'}})")
    database.execute(f"COPY (SELECT id, {{text: text, n: number}} AS meta, score FROM source) TO '{nested}/duckdb.parquet' (FORMAT parquet)")
    database.execute(f"COPY (SELECT *, id % 3 AS part FROM source) TO '{plain}/parts' (FORMAT parquet, PARTITION_BY (part))")


def check(folder: Path, results: Path) -> None:
    """Compares every output with the input without the rows that the evidence names; and annotated ones with all rows."""
    for part in ("plain", "nested"):
        evidence = pq.read_table(results / part / "evidence.parquet").to_pylist()
        inputs = sorted((folder / part).rglob("*.parquet"))
        assert inputs, folder
        rejects = (results / part / "rejects.jsonl").read_text()
        assert not rejects, rejects[:500]
        for path in inputs:
            name = str(path.relative_to(folder / part))
            removed = {row["removed_row"] - 1 for row in evidence if row["removed_file"] == name}
            compare(path, results / part / "documents" / name, removed)
            print(f"{part}/{name}: {len(removed)} rows fewer")
            if part == "plain":
                compare_annotated(path, results / "marked/documents" / name, removed)
                print(f"{part}/{name}: {len(removed)} rows marked")


def compare_annotated(before: Path, after: Path, removed: set[int]) -> None:
    """One file with marks: everything that was there, and five columns more."""
    old, new = pq.read_table(before, partitioning=None), pq.read_table(after, partitioning=None)
    assert new.column_names[-5:] == ["dup_cluster_id", "dup_cluster_size", "dup_of", "dup_similarity", "is_duplicate"], new.schema
    rest = new.select(range(old.num_columns))
    assert rest.schema.equals(old.schema), f"{after}: {old.schema} became {rest.schema}"
    for name in old.column_names:
        assert values(old[name]).equals(values(rest[name])), f"{after}: column {name}"
    marked = {row for row, mark in enumerate(new["is_duplicate"].to_pylist()) if mark}
    assert marked == removed, f"{after}: other rows are marked"
    ((n,),) = duckdb.sql(f"SELECT count(*) FROM read_parquet('{after}', hive_partitioning = false) WHERE is_duplicate").fetchall()
    assert n == len(removed), f"{after}: DuckDB sees {n} marks"


def compare(before: Path, after: Path, removed: set[int]) -> None:
    """One file: what PyArrow and DuckDB see of it."""
    old, new = pq.ParquetFile(before), pq.ParquetFile(after)
    assert old.schema_arrow.equals(new.schema_arrow, check_metadata=True), f"{after}: {old.schema_arrow} became {new.schema_arrow}"
    assert old.schema.equals(new.schema), f"{after}: {old.schema} became {new.schema}"
    assert old.metadata.metadata == new.metadata.metadata, f"{after}: {old.metadata.metadata} became {new.metadata.metadata}"
    everything = without_views(old.read())
    mask = pa.array([row not in removed for row in range(everything.num_rows)], pa.bool_())
    expected = everything.filter(mask)
    new.read().validate(full=True)
    got = without_views(new.read())
    for name in expected.column_names:
        assert values(expected[name]).equals(values(got[name])), f"{after}: column {name}"
    groups = kept_of_groups(old, mask)
    assert groups == [new.metadata.row_group(i).num_rows for i in range(new.num_row_groups)], f"{after}: row groups {groups}"
    for column in range(old.metadata.num_columns if groups else 0):
        codecs = {file.metadata.row_group(0).column(column).compression for file in (old, new)}
        assert len(codecs) == 1, f"{after}: column {column} is compressed by {codecs}"
    left = duckdb.sql(
        f"SELECT * EXCLUDE (file_row_number) FROM read_parquet('{before}', file_row_number = true, hive_partitioning = false) "
        f"WHERE NOT list_contains({sorted(removed)}::BIGINT[], file_row_number) ORDER BY file_row_number"
    ).to_arrow_table()
    right = duckdb.sql(f"SELECT * FROM read_parquet('{after}', hive_partitioning = false)").to_arrow_table()
    assert left.equals(right), f"{after}: DuckDB reads other rows"


def without_views(table: pa.Table) -> pa.Table:
    """PyArrow cannot filter columns of views."""
    for i, field in enumerate(table.schema):
        if field.type == pa.string_view():
            table = table.set_column(i, field.name, table[field.name].cast(pa.string()))
    return table


def values(column: pa.ChunkedArray) -> pa.Array:
    """A column without its chunks and dictionaries, which may be others."""
    coded = pa.types.is_dictionary(column.type)
    return (column.cast(column.type.value_type) if coded else column).combine_chunks()


def kept_of_groups(file: pq.ParquetFile, mask: pa.Array) -> list[int]:
    """How many rows are left of each row group that has some left."""
    kept, first = [], 0
    for i in range(file.num_row_groups):
        n = file.metadata.row_group(i).num_rows
        kept.append(pc.sum(mask.slice(first, n)).as_py() or 0)
        first += n
    return [n for n in kept if n]


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](*map(Path, sys.argv[2:]))
