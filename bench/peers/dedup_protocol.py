"""What every peer of the dedup race does the same way: read the corpus, remove near-duplicates, write `removed.tsv`.

    python dedup_PEER.py --input corpus.jsonl --out DIR             # the timed run, process start to exit
    python dedup_PEER.py --input corpus.jsonl --out DIR --collect   # afterwards, for a tool that writes its own format
    python dedup_PEER.py --about                                    # version and calls, as one JSON line

`removed.tsv` has a line for each removed document: its id, a tab, and the id of the document that was kept instead, or nothing where the
peer does not say. The first of several similar documents in file order stays.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

THRESHOLD = 0.8
REGISTERS = 128
BANDS, ROWS = 16, 8
SEED = 42

# Id of a removed document, and of the one kept instead if it is known.
Removal = tuple[str, str | None]
# Gets the corpus and the folder to write to.
Run = Callable[[Path, Path], Iterable[Removal]]
RunOnly = Callable[[Path, Path], None]


def main(package: str, api: str, dedup: Run | RunOnly, collect: Run | None = None) -> None:
    """Runs one peer as the command line says. With `collect`, `dedup` is a tool that leaves files of its own in the folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--input", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--collect", action="store_true")
    parser.add_argument("--about", action="store_true")
    options = parser.parse_args()
    if options.about:
        # Imported here, because it takes time that the timed run need not spend.
        from importlib.metadata import version

        print(json.dumps({"version": version(package), "api": api}))
        return
    if not (options.input and options.out):
        parser.error("--input and --out are needed, or --about")
    options.out.mkdir(parents=True, exist_ok=True)
    removals = (collect if collect and options.collect else dedup)(options.input, options.out)
    if removals is not None:
        write(options.out, removals)


def write(out: Path, removals: Iterable[Removal]) -> None:
    """Writes `removed.tsv`."""
    with (out / "removed.tsv").open("w") as file:
        file.writelines(f"{removed}\t{kept or ''}\n" for removed, kept in removals)


def documents(corpus: Path) -> tuple[list[str], list[str]]:
    """Ids and texts in file order, by the fastest JSON reader there is for Python."""
    import orjson

    ids, texts = [], []
    with corpus.open("rb") as lines:
        for line in lines:
            document = orjson.loads(line)
            ids.append(document["id"])
            texts.append(document["text"])
    return ids, texts


def row_ids(corpus: Path) -> list[str]:
    """The ids in file order."""
    return documents(corpus)[0]


def later_members(clusters: Iterable[tuple[int, int]], ids: list[str]) -> Iterator[Removal]:
    """All but the first of each cluster, from rows in file order with the number of their cluster."""
    first: dict[int, int] = {}
    for row, cluster in clusters:
        kept = first.setdefault(cluster, row)
        if kept != row:
            yield ids[row], ids[kept]
