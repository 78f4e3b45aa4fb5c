"""Writes a corpus in every format into the folder that is named: documents, near-duplicates within and between the files."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 9000


def rows() -> list[dict[str, object]]:
    """Documents of which every tenth is almost an earlier one. The first third is larger than what is sent at once."""
    chance = random.Random(7)
    words = [f"word{number}" for number in range(4000)]
    made: list[dict[str, object]] = []
    for row in range(ROWS):
        copy = made[chance.randrange(row)]["text"] + " again" if row % 10 == 9 else None
        made.append({"id": row, "text": copy or " ".join(chance.choices(words, k=500 if row < ROWS // 3 else 60))})
    return made


def main(folder: Path) -> None:
    (folder / "year=2024/month=01").mkdir(parents=True)
    made = rows()
    part = lambda n: made[n * ROWS // 6 : (n + 1) * ROWS // 6]  # noqa: E731
    lines = lambda rows: "".join(json.dumps(row) + "\n" for row in rows).encode()  # noqa: E731
    (folder / "large.jsonl").write_bytes(lines(made[: ROWS // 3]))
    for name, codec, n in (("lines.jsonl.gz", "gzip", 2), ("year=2024/lines.jsonl.zst", "zstd", 3)):
        with pa.CompressedOutputStream(str(folder / name), codec) as out:
            out.write(lines(part(n)))
    pq.write_table(pa.Table.from_pylist(part(4)), folder / "year=2024/month=01/part 0.parquet", row_group_size=400)
    table = pa.Table.from_pylist(part(5))
    with pa.ipc.new_file(str(folder / "table.arrow"), table.schema) as out:
        out.write_table(table, max_chunksize=300)
    (folder / "_SUCCESS").touch()
    (folder / "notes.pdf").write_bytes(b"not read")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
