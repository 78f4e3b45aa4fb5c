#!/usr/bin/env python3
"""Makes the corpus of the race: fetches Debian packages, cleans their text, and lets `benzer-bench corpus` compose documents.

    bench/corpus/make.py [--docs 100000] [--accept-new]

Needs apt and dpkg-deb with Debian's stable release as a source, and cargo. Writes below `bench/data/`. Every step's result is compared
with `checksums.txt`; what is there and right is not made again. `--accept-new` takes what the archive has now when a pinned
version is gone, goes on when a checksum differs, and writes the new versions and checksums down.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import prose

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DATA = HERE.parent / "data"
PACKAGES = HERE / "packages.txt"
CHECKSUMS = HERE / "checksums.txt"


class Mismatch(Exception):
    """What was made is not what the repository says it should be."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the corpus of the race.")
    parser.add_argument("--docs", type=int, default=100_000, help="number of documents (100000 and 1000000 have checksums)")
    parser.add_argument("--accept-new", action="store_true", help="take changed packages and record new checksums")
    options = parser.parse_args()
    try:
        make(options.docs, Checksums(options.accept_new))
    except (Mismatch, subprocess.CalledProcessError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def make(docs: int, checksums: Checksums) -> Path:
    """The path of a corpus of `docs` documents, made unless it is there and right."""
    DATA.mkdir(exist_ok=True)
    corpus, english, foreign = corpus_path(docs), DATA / "prose-english.txt", DATA / "prose-foreign.txt"
    if checksums.is_right(corpus):
        return corpus
    if not (checksums.is_right(english) and checksums.is_right(foreign)):
        packages = fetch(checksums.accept_new)
        write_prose(english, prose.english(packages["english"]))
        write_prose(foreign, prose.foreign(packages["foreign"]))
        checksums.check(english)
        checksums.check(foreign)
    command = ["cargo", "run", "--release", "--quiet", "--package", "benzer-bench", "--", "corpus"]
    command += ["--docs", str(docs), "--english", str(english), "--foreign", str(foreign), "--out", str(corpus)]
    subprocess.run(command, cwd=ROOT, check=True)
    checksums.check(corpus)
    return corpus


def corpus_path(docs: int) -> Path:
    """Where the corpus of a size lies: `corpus-100k.jsonl`, `corpus-1m.jsonl`, or the plain number."""
    for unit, letter in ((1_000_000, "m"), (1_000, "k")):
        if docs % unit == 0:
            return DATA / f"corpus-{docs // unit}{letter}.jsonl"
    return DATA / f"corpus-{docs}.jsonl"


def fetch(accept_new: bool) -> dict[str, list[Path]]:
    """Downloads the packages that are not there yet; their paths by language, in the order of the list."""
    folder = DATA / "packages"
    folder.mkdir(exist_ok=True)
    pinned = [line.split() for line in PACKAGES.read_text().splitlines() if not line.startswith("#")]
    missing = [pin for _, pin in pinned if not package_path(folder, pin)]
    if missing:
        gone = changed(missing)
        if gone:
            # The lists of a fresh machine are empty or old.
            subprocess.run(["apt-get", "update", "--quiet"], check=False, stdout=sys.stderr)
            gone = changed(missing)
        if gone and not accept_new:
            changes = "\n".join(f"  expected {pin}, got {now or 'no such package'}" for pin, now in gone.items())
            raise Mismatch(f"packages changed in the archive (--accept-new takes the new ones):\n{changes}")
        text = PACKAGES.read_text()
        for pin, now in gone.items():
            text = text.replace(pin, f"{pin.split('=')[0]}={now}")
        PACKAGES.write_text(text)
        pinned = [line.split() for line in text.splitlines() if not line.startswith("#")]
        wanted = [pin for _, pin in pinned if not package_path(folder, pin)]
        subprocess.run(["apt-get", "download", "--quiet", *wanted], cwd=folder, check=True, stdout=sys.stderr)
    paths: dict[str, list[Path]] = {"english": [], "foreign": []}
    for language, pin in pinned:
        path = package_path(folder, pin)
        if path is None:
            raise Mismatch(f"apt-get did not download {pin}")
        paths[language].append(path)
    return paths


def changed(pins: list[str]) -> dict[str, str]:
    """The pinned packages of which the archive has another version, with that version."""
    available = {pin: candidate(pin.split("=")[0]) for pin in pins}
    return {pin: now for pin, now in available.items() if pin.split("=")[1] != now}


def candidate(name: str) -> str:
    """The version the archive has now."""
    environment = os.environ | {"LC_ALL": "C"}
    policy = subprocess.run(["apt-cache", "policy", name], capture_output=True, text=True, check=True, env=environment)
    versions = [line.split()[1] for line in policy.stdout.splitlines() if line.strip().startswith("Candidate:")]
    return versions[0] if versions else ""


def package_path(folder: Path, pin: str) -> Path | None:
    """The downloaded file of `name=version`; apt writes the colon of an epoch as %3a."""
    name, version = pin.split("=")
    found = sorted(folder.glob(f"{name}_{version.replace(':', '%3a')}_*.deb"))
    return found[0] if found else None


def write_prose(path: Path, paragraphs: Iterable[list[str]]) -> None:
    """One sentence per line, an empty line after each paragraph."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for paragraph in paragraphs:
            out.write("\n".join(paragraph) + "\n\n")


class Checksums:
    """The committed SHA-256 sums of what is made."""

    def __init__(self, accept_new: bool) -> None:
        lines = CHECKSUMS.read_text().splitlines() if CHECKSUMS.exists() else []
        self.expected: dict[str, str] = {name: value for value, name in (line.split() for line in lines)}
        self.accept_new = accept_new

    def is_right(self, path: Path) -> bool:
        """Whether a file is there with the committed sum; without one, or when new sums are wanted, it is made again."""
        return not self.accept_new and path.exists() and path.name in self.expected and sha256(path) == self.expected[path.name]

    def check(self, path: Path) -> None:
        """Compares a file just made with its committed sum."""
        got, expected = sha256(path), self.expected.get(path.name)
        if got == expected or (expected is None and not self.accept_new):
            print(f"{path.name}: {got}" + ("" if expected else " (no committed checksum for it)"), file=sys.stderr)
            return
        message = f"{path.name}: expected {expected}, got {got}"
        if not self.accept_new:
            raise Mismatch(f"{message}; a package or the generator changed (--accept-new goes on and records it)")
        print(f"{message}; recorded in {CHECKSUMS.name}", file=sys.stderr)
        self.expected[path.name] = got
        CHECKSUMS.write_text("".join(f"{value}  {name}\n" for name, value in sorted(self.expected.items())))


def sha256(path: Path) -> str:
    """The SHA-256 sum of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main())
