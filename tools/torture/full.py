"""A file system that is really full: an index keeps what it had, a deduplication ends with its remedy and goes on later. Needs the right to mount."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from kills import outputs, stored
from lab import check, folder, run, text


def mount(arguments: list[str], path: Path) -> bool:
    """Whether it could be mounted."""
    return subprocess.run(["mount", *arguments, str(path)], stderr=subprocess.DEVNULL).returncode == 0


def all_full() -> list[str]:
    """An index and a deduplication."""
    with folder() as home:
        small = home / "small"
        small.mkdir()
        if not mount(["-t", "tmpfs", "-o", "size=3m", "tmpfs"], small):
            return ["skipped: no file system can be mounted here, which takes root"]
        try:
            return [filled(home, small)]
        finally:
            subprocess.run(["umount", str(small)], check=False)


def filled(home: Path, small: Path) -> str:
    """Until there is no room, and on with more."""
    n = 12_000
    lines = (json.dumps({"id": f"{i:08}", "text": text(i // 2)}) + "\n" for i in range(n))
    (home / "in.jsonl").write_text("".join(lines))
    refused = run("index", "--db", small / "db", "c", home / "in.jsonl", "--text", "text", code=1)
    check("No space left" in refused.stderr and "make room" in refused.stderr, refused.stderr)
    held = stored(small)
    check(0 < held < n and held % 1000 == 0, f"{held} documents")
    check("c: whole" in run("verify", "--db", small / "db").stdout, "not whole")

    base = ["dedup", home / "in.jsonl", "--id-field", "id", "--checkpoint", "1"]
    run(*base, "-o", home / "right")
    refused = run(*base, "-o", small / "out", code=1)
    check("No space left" in refused.stderr, refused.stderr)
    check(not (small / "out/manifest.json").exists(), "a half-written output looks whole")

    check(mount(["-o", "remount,size=200m"], small), "it cannot be made larger")
    run("index", "--db", small / "db", "c", home / "in.jsonl", "--continue")
    check(stored(small) == n, f"{stored(small)} documents in the end")
    check("c: whole" in run("verify", "--db", small / "db").stdout, "not whole")
    run(*base, "-o", small / "out", *(["--resume"] if (small / "out").exists() else []))
    check(outputs(small / "out") == outputs(home / "right"), "other bytes than with room")
    return f"index ended at {held} of {n} documents and went on; dedup ended and resumed to the same bytes"
