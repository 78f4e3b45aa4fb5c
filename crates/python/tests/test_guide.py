"""The guide runs as it stands."""

from __future__ import annotations

import re

import pytest
from conftest import TESTDATA

ROOT = TESTDATA.parent


def test_every_block_of_the_guide_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs/guide/python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) >= 5
    known: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/guide/python.md", "exec"), known)  # noqa: S102
