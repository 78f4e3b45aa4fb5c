"""What all tests share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

TESTDATA = Path(__file__).resolve().parents[3] / "testdata"


def read(name: str) -> Any:
    """A file of known answers."""
    return json.loads((TESTDATA / name).read_text(encoding="utf-8"))


@pytest.fixture
def articles() -> list[dict[str, str]]:
    """The example corpus."""
    path = TESTDATA.parent / "examples" / "articles.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
