"""Results never lie upon what is read, whatever door they go through."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import benzer
import pytest
from benzer import errors


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    lines = (json.dumps({"id": str(i), "text": f"the text number {i // 2} is here twice"}) for i in range(10))
    (folder / "a.jsonl").write_text("\n".join(lines) + "\n")
    os.symlink(folder, tmp_path / "link")
    return folder


@pytest.mark.parametrize(
    "given",
    [
        {"output": "corpus"},
        {"output": "corpus/a.jsonl"},
        {"output": "link"},
        {"output": "corpus/../corpus"},
        {"output": "out", "save": "corpus"},
        {"output": "out", "work_dir": "corpus"},
    ],
    ids=str,
)
def test_a_place_that_holds_an_input_is_refused_before_anything_is_done(
    given: dict[str, Any], corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in corpus.rglob("*") if path.is_file()}
    with pytest.raises(errors.BenzerError):
        benzer.dedup(Path("corpus"), id="id", overwrite=True, **given)
    assert {path: path.read_bytes() for path in corpus.rglob("*") if path.is_file()} == before


def test_a_folder_beside_the_inputs_is_fine(corpus: Path, tmp_path: Path) -> None:
    result = benzer.dedup(corpus, id="id", output=tmp_path / "out")
    assert result.counts["kept"] == 5 and all(path.exists() for path in result.kept)
