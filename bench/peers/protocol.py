"""What every peer of the race does the same way: read the input, warm up, time the kernel, measure the error, print one JSON line.

    python PEER.py sketch --input bench/data/inputs/sets-122 --registers 128 --runs 7
    python PEER.py text   --input bench/data/inputs/text-english --registers 128 --runs 7

`sketch` reads INPUT.elements.u64 and INPUT.offsets.u64 (little-endian), `text` reads INPUT.jsonl; both read pairs of known J from
INPUT.pairs.tsv where there is one. Only `Kernel.run` is timed; the input is brought into the form that the peer's fastest public
call takes before.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

# One run longer than this is repeated only MIN_RUNS times.
LONG_RUN_S = 1.5
MIN_RUNS = 5


@dataclass
class Sets:
    """Pre-hashed sets, one after the other; set i is `elements[offsets[i]:offsets[i + 1]]`."""

    elements: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.uint64]

    def split(self) -> list[npt.NDArray[np.uint64]]:
        """One array per set."""
        return np.split(self.elements, self.offsets[1:-1].astype(np.int64))


@dataclass
class Pairs:
    """Rows whose exact similarity is known."""

    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]
    jaccard: npt.NDArray[np.float64]


@dataclass
class Kernel:
    """The peer's fastest public bulk call: what it is, how to run it, and the similarity it estimates for pairs of rows."""

    api: str
    run: Callable[[], Any]
    estimates: Callable[[Any, Pairs], npt.NDArray[np.float64]]


SketchTask = Callable[[Sets, int], Kernel]
TextTask = Callable[[list[str], int], Kernel]


def main(peer: str, package: str, *, sketch: SketchTask | None = None, text: TextTask | None = None) -> None:
    """Runs one task of one peer as the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("task", choices=["sketch", "text"])
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--registers", type=int, default=128)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    result: dict[str, Any] = {"peer": peer, "version": version(package), "task": options.task}
    result |= {"input": options.input.name, "registers": options.registers}
    pairs = read_pairs(Path(f"{options.input}.pairs.tsv"))
    if options.task == "sketch" and sketch:
        sets = read_sets(options.input)
        kernel = sketch(sets, options.registers)
        amount = {"n_sets": len(sets.offsets) - 1, "n_elements": len(sets.elements)}
    elif options.task == "text" and text:
        texts = read_texts(options.input)
        kernel = text(texts, options.registers)
        amount = {"n_sets": len(texts), "n_bytes": sum(len(t.encode()) for t in texts)}
    else:
        raise SystemExit(f"{peer} has no task `{options.task}`")
    seconds, on_cpu, output = timed(kernel.run, options.runs)
    result |= amount | {"api": kernel.api, "seconds": seconds, "on_cpu": on_cpu}
    median = float(np.median(seconds))
    if "n_elements" in amount:
        result["elements_per_s"] = amount["n_elements"] / median
    else:
        result["mb_per_s"] = amount["n_bytes"] / median / 1e6
    result["error"] = error(kernel.estimates(output, pairs), pairs, options.registers) if pairs else None
    print(json.dumps(result))


def timed(run: Callable[[], Any], runs: int) -> tuple[list[float], float, Any]:
    """Wall-clock seconds of each run after one that warms up, the share of them spent on the CPU, and the last output."""
    start = time.perf_counter()
    output = run()
    if time.perf_counter() - start > LONG_RUN_S:
        runs = min(runs, MIN_RUNS)
    seconds = []
    cpu = time.process_time()
    for _ in range(runs):
        del output
        start = time.perf_counter()
        output = run()
        seconds.append(time.perf_counter() - start)
    on_cpu = (time.process_time() - cpu) / sum(seconds)
    return seconds, on_cpu, output


def error(estimates: npt.NDArray[np.float64], pairs: Pairs, registers: int) -> dict[str, float]:
    """Error against exact J; the variance ratio is to J (1 - J) / registers, the variance of k independent permutations."""
    difference = estimates - pairs.jaccard
    theory = pairs.jaccard * (1 - pairs.jaccard) / registers
    return {
        "n_pairs": len(difference),
        "bias": float(difference.mean()),
        "mean_abs": float(np.abs(difference).mean()),
        "rms": float(np.sqrt((difference**2).mean())),
        "variance_ratio": float((difference**2).mean() / theory.mean()),
    }


def equal_registers(matrix: npt.NDArray[Any], pairs: Pairs) -> npt.NDArray[np.float64]:
    """The usual estimate from a matrix with one sketch per row: the share of equal registers."""
    return (matrix[pairs.a] == matrix[pairs.b]).mean(axis=1)


def read_sets(stem: Path) -> Sets:
    """The flat arrays of the sketch task."""
    elements = np.fromfile(f"{stem}.elements.u64", dtype="<u8")
    offsets = np.fromfile(f"{stem}.offsets.u64", dtype="<u8")
    return Sets(elements, offsets)


def read_texts(stem: Path) -> list[str]:
    """The texts of the text task."""
    with open(f"{stem}.jsonl", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def read_pairs(path: Path) -> Pairs | None:
    """Pairs of known J, or nothing where the input has none."""
    if not path.exists():
        return None
    a, b, intersection, union = np.loadtxt(path, dtype=np.int64, skiprows=1, unpack=True, ndmin=2)
    return Pairs(a, b, intersection / union)
