"""A file system that is really full: an index keeps what it had, a deduplication ends with its remedy and goes on later, a server answers what it can. Needs the right to mount."""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path

from kills import outputs, stored
from lab import SETTINGS, Server, check, document, folder, run, text


def mount(arguments: list[str], path: Path) -> bool:
    """Whether it could be mounted."""
    return subprocess.run(["mount", *arguments, str(path)], stderr=subprocess.DEVNULL).returncode == 0


@contextlib.contextmanager
def small_disk():
    """A folder, and in it one on a file system of 3 MB; none where nothing can be mounted."""
    with folder() as home:
        small = home / "small"
        small.mkdir()
        is_mounted = mount(["-t", "tmpfs", "-o", "size=3m", "tmpfs"], small)
        try:
            yield home, small if is_mounted else None
        finally:
            if is_mounted:
                subprocess.run(["umount", str(small)], check=False)


def all_full() -> list[str]:
    """An index and a deduplication, then a server."""
    lines = []
    for work in [filled, served]:
        with small_disk() as (home, small):
            if small is None:
                return ["skipped: no file system can be mounted here, which takes root"]
            lines.append(work(home, small))
    return lines


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


def served(_: Path, small: Path) -> str:
    """A server that is filled up, asked, started again, and given more room."""
    db, held, refusals = small / "db", {}, 0

    def insert(server: Server, n: int) -> bool:
        """Whether a batch has room."""
        batch = [document(number, 1) for number in range(len(held), len(held) + n)]
        status, answer = server.ask("POST", "/collections/c/documents", batch)
        if status == 200:
            held.update((one["id"], one["fields"]) for one in batch)
            return True
        refused(status, answer)
        return False

    def refused(status: int, answer: dict) -> None:
        """Told that there is no room, without a path of the machine."""
        check(status == 507 and answer["error"]["code"] == "storage_full", f"no room: {status} {answer}")
        check(str(small) not in str(answer) and "/" not in answer["error"]["message"], f"a path of the machine: {answer}")

    def is_well(server: Server) -> None:
        """It answers, and has what was acknowledged."""
        check(server.ask("GET", "/healthz")[0] == 200, "it is not healthy")
        check(server.all("c") == held, "other documents than were acknowledged")
        for id_ in list(held)[:: max(len(held) // 20, 1)]:
            matches = server.ok("POST", "/collections/c/search", {"document": {"fields": held[id_]}})["matches"]
            check(matches and matches[0]["id"] == id_ and matches[0]["similarity"] == 1, f"{id_} is not found: {matches}")

    with Server(db, log="off") as server:
        server.ok("PUT", "/collections/c", SETTINGS)
        for size in [150, 20, 1]:
            while insert(server, size):
                check(len(held) < 100_000, "the file system is never full")
            refusals += 1
        refused(*server.ask("PUT", "/collections/d", SETTINGS))
        check([one["name"] for one in server.ok("GET", "/collections")["collections"]] == ["c"], "half a collection")
        is_well(server)
        n = len(held)
        check(n > 0, "there was no room at all")
        server.stop()
    check("c: whole" in run("verify", "--db", db).stdout, "not whole")
    with Server(db, log="off") as server:
        is_well(server)
        check(not insert(server, 200), "there is room after a start")
        check(mount(["-o", "remount,size=200m"], small), "it cannot be made larger")
        for _ in range(5):
            check(insert(server, 200), "there is room, and it is not used")
        server.ok("PUT", "/collections/d", SETTINGS)
        is_well(server)
        server.stop()
    with Server(db) as server:
        is_well(server)
        server.stop()
    check("c: whole" in run("verify", "--db", db).stdout, "not whole")
    return f"a server took {n} documents, refused {refusals + 1} batches with 507, was healthy and searched, started again, and took {len(held) - n} more with more room"
