"""Shingles as a Python user writes them. Without NumPy: a peer that does not need it does not pay for its import."""

from __future__ import annotations

import re

WORD = re.compile(r"[^\W_]+")
ASCII_WORD = re.compile(r"[a-z0-9]+")
# The words of UAX #29 (`don't`, `3.14`, `e.g`), as far as one fast expression can say it.
UAX29_WORD = re.compile(r"\w+(?:['’.:]\w+|,\d+)*")
SHINGLE = 5


def shingles(text: str) -> list[str]:
    """Word 5-grams, lower-cased; words are runs of letters and digits."""
    return windows((ASCII_WORD if text.isascii() else WORD).findall(text.lower()))


def uax29_shingles(text: str) -> list[str]:
    """Word 5-grams, lower-cased; words are those of the truth that the dedup race is judged by, but for one pair in sixty."""
    return windows(UAX29_WORD.findall(text.lower()))


def windows(words: list[str]) -> list[str]:
    """Fewer than five words are one shingle."""
    if len(words) < SHINGLE:
        return [" ".join(words)] if words else []
    return [" ".join(words[i : i + SHINGLE]) for i in range(len(words) - SHINGLE + 1)]
