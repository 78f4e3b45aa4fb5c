"""What every peer of the race of indexes does the same way: read the signatures, time each part, look up the planted pairs, print one JSON line.

    python lsh_PEER.py --input bench/data/inputs/lsh-uniform --runs 3
    python lsh_PEER.py --input bench/data/inputs/lsh-uniform --memory

INPUT.registers.u32 holds 128 registers a document (little-endian), INPUT.pairs.tsv the planted pairs. Only inserting and querying are timed; signatures are
brought into the form that the peer's fastest public call takes before. Documents are numbered from 0; the last QUERIES are looked for.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

REGISTERS, BANDS, ROWS, THRESHOLD = 128, 16, 8, 0.8
Registers = npt.NDArray[np.uint32]


@dataclass
class Peer:
    """An index of a package: how it is made, filled and asked. What a package cannot do is None."""

    name: str
    package: str
    api: str
    empty: Callable[[], Any]
    # Registers to what `insert` and `query` take, one for each document.
    signatures: Callable[[Registers], Sequence[Any]]
    insert: Callable[[Any, int, Any], None]
    query: Callable[[Any, Any], Iterable[int]]
    # Registers to what `bulk_insert` and `bulk_query` take.
    bulk_signatures: Callable[[Registers], Any] | None = None
    bulk_insert: Callable[[Any, Any], None] | None = None
    bulk_query: Callable[[Any, Any], Any] | None = None


def main(peer: Peer) -> None:
    """Runs all parts, or measures the memory."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--queries", type=int, default=200_000)
    parser.add_argument("--memory", action="store_true")
    options = parser.parse_args()
    registers = np.memmap(f"{options.input}.registers.u32", dtype="<u4", mode="r").reshape(-1, REGISTERS)
    result: dict[str, Any] = {"peer": peer.name, "version": version(peer.package), "api": peer.api}
    # The collector of cycles would walk over a million objects again and again.
    gc.disable()
    if options.memory:
        result["bytes_per_document"] = memory(peer, registers)
    else:
        result |= bulk_insert(peer, registers, options.runs)
        result |= queries(peer, registers, options)
        result |= insert(peer, registers, options.runs)
    print(json.dumps(result))


def memory(peer: Peer, registers: Registers) -> float:
    """Resident bytes for each document of a filled index; signatures that the index does not keep are gone by then."""
    before = resident()
    index = peer.empty()
    for start in range(0, len(registers), 1000):
        if peer.bulk_insert and peer.name == "FastSketchLSH":
            peer.bulk_insert(index, peer.bulk_signatures(registers[start : start + 1000]))
            continue
        for number, signature in enumerate(peer.signatures(registers[start : start + 1000]), start):
            peer.insert(index, number, signature)
    gc.collect()
    return (resident() - before) / len(registers)


def insert(peer: Peer, registers: Registers, runs: int) -> dict[str, Any]:
    """Documents per second, one in a call."""
    signatures, rates = peer.signatures(registers), []
    for _ in range(runs):
        index, add = peer.empty(), peer.insert
        start = time.perf_counter()
        for number, signature in enumerate(signatures):
            add(index, number, signature)
        rates.append(len(signatures) / (time.perf_counter() - start))
        del index
    return {"insert": rates}


def bulk_insert(peer: Peer, registers: Registers, runs: int) -> dict[str, Any]:
    """Documents per second, all in one call."""
    if not peer.bulk_insert or not peer.bulk_signatures:
        return {}
    signatures, rates = peer.bulk_signatures(registers), []
    for _ in range(runs):
        index = peer.empty()
        start = time.perf_counter()
        peer.bulk_insert(index, signatures)
        rates.append(len(registers) / (time.perf_counter() - start))
        del index
    return {"bulk_insert": rates}


def queries(peer: Peer, registers: Registers, options: argparse.Namespace) -> dict[str, Any]:
    """Queries per second, one in a call and all in a call, and the share of the planted pairs that were found."""
    index, first = peer.empty(), max(0, len(registers) - options.queries)
    if peer.bulk_insert and peer.bulk_signatures:
        peer.bulk_insert(index, peer.bulk_signatures(registers))
    else:
        for number, signature in enumerate(peer.signatures(registers)):
            peer.insert(index, number, signature)
    wanted, rates, ask, found = peer.signatures(registers[first:]), [], peer.query, []
    for _ in range(options.runs):
        found = []
        start = time.perf_counter()
        for signature in wanted:
            found.append(ask(index, signature))
        rates.append(len(wanted) / (time.perf_counter() - start))
    result: dict[str, Any] = {"query": rates} | recall(options.input, found, first)
    if peer.bulk_query and peer.bulk_signatures:
        wanted, rates = peer.bulk_signatures(registers[first:]), []
        for _ in range(options.runs):
            start = time.perf_counter()
            answers = peer.bulk_query(index, wanted)
            rates.append(len(wanted) / (time.perf_counter() - start))
            del answers
        result["bulk_query"] = rates
    return result


def recall(stem: Path, found: list[Iterable[int]], first: int) -> dict[str, float]:
    """The share of planted pairs at the threshold or above it that were found, and how many documents a query finds."""
    sets = [set(numbers) for numbers in found]
    copies, originals, equal = np.loadtxt(f"{stem}.pairs.tsv", dtype=np.int64, skiprows=1, unpack=True, ndmin=2)
    planted = [(c - first, o) for c, o, e in zip(copies.tolist(), originals.tolist(), equal.tolist(), strict=True) if c >= first and e >= THRESHOLD * REGISTERS]
    n_found = sum(original in sets[copy] for copy, original in planted)
    return {"recall": n_found / len(planted), "found_per_query": sum(map(len, sets)) / len(sets)}


def resident() -> int:
    """Anonymous memory of this process, in bytes."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon:")) * 1024
