"""The race's inputs below `bench/data/inputs/`, made from the corpus: flat sets of several sizes, and texts by script."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

BENCH = Path(__file__).resolve().parent
DATA = BENCH / "data"
INPUTS = DATA / "inputs"

SET_SIZES = (10, 30, 45, 122, 500, 5000)
TEXTS = ("english", "accents", "cyrillic", "cjk")
N_TEXTS = 20_000
FOREIGN_BYTES = 2_000_000
DOCUMENT_BYTES = 800

CYRILLIC = re.compile("[\u0400-\u04ff]")
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


def make(bench_binary: Path, corpus: Path) -> None:
    """Writes the inputs that are missing or older than the corpus."""
    INPUTS.mkdir(parents=True, exist_ok=True)
    stamp = INPUTS / "made"
    if stamp.exists() and stamp.stat().st_mtime >= corpus.stat().st_mtime:
        return
    sizes = ",".join(map(str, SET_SIZES))
    subprocess.run([bench_binary, "sets", "--sizes", sizes, "--out", INPUTS], check=True)
    english(corpus)
    sentences = [line for line in (DATA / "prose-foreign.txt").read_text(encoding="utf-8").splitlines() if line]
    for name in TEXTS[1:]:
        write_texts(name, documents(line for line in sentences if script(line) == name))
    stamp.touch()


def english(corpus: Path) -> None:
    """All planted pairs of the corpus, with their exact overlap, and other documents of any kind up to `N_TEXTS`."""
    rows: dict[int, int] = {}
    pairs = []
    with corpus.with_suffix(".planted.tsv").open() as planted:
        for line in planted:
            later, kind, _, base, intersection, union = line.rstrip("\n").split("\t")
            if kind == "pair" and base != "-":
                a, b = (rows.setdefault(int(r), len(rows)) for r in (base, later))
                pairs.append(f"{a}\t{b}\t{intersection}\t{union}\n")
    texts = [""] * len(rows)
    with corpus.open(encoding="utf-8") as lines:
        for row, line in enumerate(lines):
            if row in rows:
                texts[rows[row]] = json.loads(line)["text"]
            elif len(texts) < N_TEXTS:
                texts.append(json.loads(line)["text"])
    write_texts("english", texts)
    (INPUTS / "text-english.pairs.tsv").write_text("a\tb\tintersection\tunion\n" + "".join(pairs))


def script(sentence: str) -> str:
    """Which of the texts a foreign sentence belongs to."""
    if CJK.search(sentence):
        return "cjk"
    return "cyrillic" if CYRILLIC.search(sentence) else "accents"


def documents(sentences: Iterable[str]) -> Iterator[str]:
    """Documents of about `DOCUMENT_BYTES` bytes, `FOREIGN_BYTES` in all."""
    text, total = "", 0
    for sentence in sentences:
        text = f"{text} {sentence}" if text else sentence
        size = len(text.encode())
        if size >= DOCUMENT_BYTES:
            yield text
            text, total = "", total + size
        if total >= FOREIGN_BYTES:
            return


def write_texts(name: str, texts: Iterable[str]) -> None:
    """One JSON object per line, as in the corpus."""
    with (INPUTS / f"text-{name}.jsonl").open("w", encoding="utf-8") as out:
        for row, text in enumerate(texts):
            out.write(json.dumps({"id": f"{row:07}", "text": text}, ensure_ascii=False) + "\n")
