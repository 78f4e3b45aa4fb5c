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
# Pairs that are compared at a time: their registers fit the cache.
PIECE = 1000
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
    # Of a signature with others, of which there may be none.
    similarities: Callable[[Any, list[Any]], Iterable[float]] | None = None
    # What `bulk_query` gives to where the numbers of each query begin, and all numbers.
    numbers: Callable[[Any], tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] | None = None


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
    return result | scored(peer, index, registers, options)


def scored(peer: Peer, index: Any, registers: Registers, options: argparse.Namespace) -> dict[str, Any]:
    """Queries per second whose answers are numbers and similarities of what reaches the threshold, where the package itself gives numbers of candidates only."""
    first, result = max(0, len(registers) - options.queries), {}
    if peer.similarities:
        signatures, rates, ask, similarities = peer.signatures(registers), [], peer.query, peer.similarities
        for _ in range(options.runs):
            start = time.perf_counter()
            for wanted in signatures[first:]:
                numbers = list(ask(index, wanted))
                scores = similarities(wanted, [signatures[number] for number in numbers])
                found = [(number, score) for number, score in zip(numbers, scores, strict=True) if score >= THRESHOLD]
            rates.append((len(signatures) - first) / (time.perf_counter() - start))
            del found
        result["scored_query"] = rates
        del signatures
    if peer.bulk_query and peer.bulk_signatures and peer.numbers:
        wanted, rates, kept = peer.bulk_signatures(registers[first:]), [], np.array(registers)
        for _ in range(options.runs):
            start = time.perf_counter()
            starts, numbers = peer.numbers(peer.bulk_query(index, wanted))
            askers = np.repeat(np.arange(first, len(registers)), np.diff(starts))
            scores = np.concatenate([(kept[numbers[i : i + PIECE]] == kept[askers[i : i + PIECE]]).mean(axis=1) for i in range(0, len(numbers), PIECE)])
            is_found = scores >= THRESHOLD
            found = askers[is_found], numbers[is_found], scores[is_found]
            rates.append((len(registers) - first) / (time.perf_counter() - start))
            del found
        result["scored_bulk_query"] = rates
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
