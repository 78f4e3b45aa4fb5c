"""Documents inserted, replaced and removed in random order for a long time: size, memory and times stay within bounds, and the answers are those of a fresh collection."""

from __future__ import annotations

import random
import time
from pathlib import Path

from lab import Server, check, document, folder, in_time, run

# Sketches only, as large collections are kept.
SETTINGS = {"fields": {"body": {"kind": "text", "n": 1}, "tags": {"kind": "values"}}, "keeps": "sketches"}
BATCH = 500
# Documents that are removed after each batch.
REMOVED = 10
# The bounds, as reliability.md states them.
DISK, MEMORY, SLACK = 3.0, 1.5, 64 << 20
SLOWEST = 10.0


def all_churn(is_long: bool, minutes: float, seed: int) -> list[str]:
    """A million documents for an hour, or some thousand for a moment."""
    return [churn(1_000_000 if is_long else 12_000, minutes * 60 if is_long else 8.0, random.Random(seed))]


def disk_bytes(path: Path) -> int:
    """What the files of a folder take."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def churn(n: int, seconds: float, rng: random.Random) -> str:
    """Begins with most of the documents in a segment on disk and goes on until the time is over, then compares."""
    with folder() as home:
        live, gone = dict.fromkeys(range(n * 4 // 5), 1), {}
        made(home / "db", live)
        check(list((home / "db/c").glob("*.seg")), "no segment is on disk")
        times, sizes, memories = [], [], []
        changes = {"inserted": 0, "replaced": 0, "removed": 0}
        with Server(home / "db") as server:
            start = look = time.monotonic()
            version = 1
            while time.monotonic() - start < seconds:
                version += 1
                batch = {rng.randrange(n) for _ in range(BATCH)}
                begun = time.monotonic()
                server.ok("POST", "/collections/c/documents", [document(one, version) for one in batch])
                times.append(time.monotonic() - begun)
                replaced = sum(one in live for one in batch)
                changes["replaced"] += replaced
                changes["inserted"] += len(batch) - replaced
                live.update((one, version) for one in batch)
                for _ in range(REMOVED):
                    one = rng.randrange(n)
                    while one not in live:
                        one = rng.randrange(n)
                    status, answer = server.ask("DELETE", f"/collections/c/documents/d{one}")
                    check(status == 204, f"removing d{one}: {status} {answer}")
                    gone[one] = live.pop(one)
                    changes["removed"] += 1
                if time.monotonic() - look > seconds / 20:
                    look = time.monotonic()
                    sizes.append((disk_bytes(home / "db"), len(live)))
                    memories.append((server.memory(), len(live)))
            sizes.append((disk_bytes(home / "db"), len(live)))
            memories.append((server.memory(), len(live)))
            gone = {one: version for one, version in gone.items() if one not in live}
            made(home / "fresh", live)
            fresh = disk_bytes(home / "fresh")
            compare(server, home / "fresh", live, gone, rng)
            server.stop()
        check("c: whole" in run("verify", "--db", home / "db").stdout, "not whole")
        run("collections", "compact", "c", "--db", home / "db")
        check("c: whole" in run("verify", "--db", home / "db").stdout, "not whole after it was compacted")
        with Server(home / "db") as server:
            compare(server, home / "fresh", live, gone, rng)
            server.stop()
        most, slowest = max(size / max(count, 1) for size, count in sizes[len(sizes) // 4 :]), max(times)
        bound = DISK * fresh / len(live) + SLACK / len(live)
        in_time(most < bound, f"{most:.0f} bytes a document on disk, a fresh collection has {fresh / len(live):.0f}")
        early, late = memories[len(memories) // 2], memories[-1]
        in_time(late[0] < MEMORY * early[0] * late[1] / early[1] + SLACK, f"memory went from {early} to {late}")
        in_time(slowest < SLOWEST, f"a batch took {slowest:.1f} s")
        times.sort()
        return (
            f"{seconds:.0f} s, {changes}, {len(live)} documents in the end; at most {most:.0f} bytes a document on disk (fresh: {fresh / len(live):.0f}), {late[0] >> 20} MB of memory, "
            f"a batch of {BATCH} in {times[len(times) // 2] * 1000:.0f} ms, p99 {times[int(len(times) * 0.99)] * 1000:.0f} ms, slowest {slowest * 1000:.0f} ms; answers equal a fresh collection's, before and after it is compacted"
        )


def made(db: Path, documents: dict[int, int]) -> None:
    """A collection of documents that come at once."""
    everything = list(documents.items())
    with Server(db) as server:
        server.ok("PUT", "/collections/c", SETTINGS)
        for at in range(0, len(everything), 5000):
            server.ok("POST", "/collections/c/documents", [document(*one) for one in everything[at : at + 5000]])
        server.stop()


def compare(server: Server, db: Path, live: dict[int, int], gone: dict[int, int], rng: random.Random) -> None:
    """Compares answers with those of the fresh collection, for documents that are there and some that were removed."""
    with Server(db) as fresh:
        check(server.ok("GET", "/collections/c/stats")["documents"] == len(live), "another number of documents")
        asked = [(*one, True) for one in rng.sample(list(live.items()), min(200, len(live)))]
        asked += [(*one, False) for one in rng.sample(list(gone.items()), min(50, len(gone)))]
        for number, version, is_there in asked:
            query = {"document": {"fields": document(number, version)["fields"]}, "threshold": 0.1, "limit": 50}
            answers = [one.ok("POST", "/collections/c/search", query)["matches"] for one in (server, fresh)]
            check(answers[0] == answers[1], f"d{number}: {answers}")
            if is_there:
                check(answers[0] and answers[0][0]["id"] == f"d{number}", f"d{number} is not found: {answers[0]}")
                check(server.sketch("c", number) == fresh.sketch("c", number), f"d{number} has another sketch")
            else:
                check(server.ask("GET", f"/collections/c/documents/d{number}")[0] == 404, f"d{number} was removed and is there")
        fresh.stop()
