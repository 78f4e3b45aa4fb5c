"""Writes testdata/sketches/v1.json: what must be the same in Rust, on the command line and in Python. Existing lines must not change."""

from __future__ import annotations

import json
from typing import Any

from conftest import TESTDATA

from benzer import Sketcher

TEXTS = [
    "The quick brown fox jumps over the lazy dog, and the dog does not mind.",
    "Ünïcödé, ﬁne — naïve café; 東京都は日本の首都です。 Ещё раз!",
    "short",
    "",
]
VALUES = ["red", "green", "blue", 7, -12, 2**40]
SKETCHES = ["b8", "fast", "b1", "b4", "xor2", "odd", "permutations", "permutations:b2", "one_permutation", "bottom_k", "odd_set"]
OPTIONS: list[dict[str, Any]] = [{}, {"ngram": 2}, {"ngram": 7, "unit": "characters"}, {"ngram": 3, "unit": "bytes"}]


def main() -> None:
    answers = []
    for sketch in SKETCHES:
        for options in OPTIONS if sketch == "b8" else OPTIONS[1:2]:
            sketcher = Sketcher(sketch, 64, 42, **options)
            named = {"n": options.get("ngram", 5), "unit": options.get("unit", "words")}
            for text in TEXTS:
                encoded = sketcher.sketch_text(text).encode().hex()
                answers.append({"sketch": sketch, "registers": 64, "seed": 42, "text_options": named, "text": text, "encoded": encoded})
        encoded = Sketcher(sketch, 64, 42).sketch(VALUES).encode().hex()
        answers.append({"sketch": sketch, "registers": 64, "seed": 42, "values": VALUES, "encoded": encoded})
    lines = ",\n".join(json.dumps(answer, ensure_ascii=False) for answer in answers)
    (TESTDATA / "sketches/v1.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
