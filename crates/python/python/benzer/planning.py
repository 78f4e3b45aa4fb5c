"""From what is wanted to the sketch that gives it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benzer import _benzer, arguments
from benzer.arguments import maybe

_MAX = 2**63 - 1


@dataclass(frozen=True)
class Choice:
    """One way to keep the sketches of a collection."""

    sketch: str
    num_perm: int
    bits_per_document: int
    std_error: float
    bands: int | None
    rows: int | None
    recall: float | None
    ram_bytes: int
    details: dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """The choice for a goal, what else could be kept at the same error, and the recall curve of the choice."""

    chosen: Choice
    alternatives: tuple[Choice, ...]
    std_error: float
    curve: npt.NDArray[np.float64]
    details: dict[str, Any]


def plan(
    threshold: float = 0.8,
    recall: float = 0.95,
    documents: int = 1_000_000,
    set_size: float = 500.0,
    memory: int | None = None,
    error: float | None = None,
) -> Plan:
    """The sketch, bands and memory for a threshold, the recall at it, and a number of documents.

    Args:
        threshold: The similarity from which on pairs should be found.
        recall: The share of pairs at the threshold that must be found.
        documents: How many there are.
        set_size: Mean number of elements of a document.
        memory: Most bytes for sketches and postings.
        error: Largest standard error at the threshold; that of the default sketch if there is none.

    A goal that cannot be met raises :class:`benzer.errors.PlanError`, which says what would have to give.

    >>> chosen = plan(threshold=0.8, recall=0.95, documents=1_000_000).chosen
    >>> chosen.sketch, chosen.num_perm, chosen.bands, chosen.rows
    ('b8', 128, 18, 7)
    """
    goal = {
        "threshold": arguments.number("threshold", threshold, above=0, maximum=1),
        "recall": arguments.number("recall", recall, above=0, below=1),
        "documents": arguments.whole("documents", documents, minimum=1, maximum=_MAX),
        "set_size": arguments.number("set_size", set_size, minimum=1, below=math.inf),
    }
    limits = {
        "memory": maybe(arguments.whole, "memory", memory, minimum=1, maximum=_MAX),
        "error": maybe(arguments.number, "error", error, above=0, below=1),
    }
    answer = json.loads(_benzer.plan(json.dumps(goal | limits)))
    curve = np.array([[point["jaccard"], point["recall"]] for point in answer["curve"]])
    alternatives = tuple(_choice(choice) for choice in answer["alternatives"])
    return Plan(_choice(answer["chosen"]), alternatives, answer["error"], curve, answer)


def _choice(choice: dict[str, Any]) -> Choice:
    ((kind, value),) = choice["packing"].items()
    if kind == "bits":
        name = "fast" if value == 64 else f"b{value}"
    else:
        name = f"{kind}{value['samples' if kind == 'xor' else 'bits']}"
    banded = choice["banded"]
    shape = banded["banding"] if banded else {}
    return Choice(
        sketch=name,
        num_perm=choice["registers"],
        bits_per_document=choice["bits_per_document"],
        std_error=choice["standard_error"],
        bands=shape.get("bands"),
        rows=shape.get("rows"),
        recall=banded["recall"] if banded else None,
        ram_bytes=choice["footprint"]["ram"],
        details=choice,
    )
