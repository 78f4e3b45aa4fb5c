"""SIGKILL at random moments: what was acknowledged is there with the right sketch, nothing is half there, a deduplication resumes to the same bytes."""

from __future__ import annotations

import http.client
import json
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

from lab import BENZER, SETTINGS, Server, check, document, folder, run, text, version_of

BATCH = 20
WRITERS = 2
# After so many kills it goes on with an empty collection.
IN_A_ROW = 40


class Writer(threading.Thread):
    """Sends batches, one after the other, until the server is gone. Batch `i` of a writer is `BATCH` documents of its own; every third one replaces an earlier one."""

    def __init__(self, server: Server, number: int, history: dict[int, int], rng: random.Random):
        super().__init__()
        self.server, self.number, self.history, self.rng = server, number, history, rng
        # The batch that was under way: its place and version.
        self.open: tuple[int, int] | None = None
        self.wrong: str | None = None

    def run(self) -> None:
        version = max(self.history.values(), default=0)
        while True:
            version += 1
            old = self.history and self.rng.random() < 0.3
            place = self.rng.choice(list(self.history)) if old else len(self.history)
            self.open = (place, version)
            batch = [document(number, version) for number in numbers(self.number, place)]
            try:
                status, answer = self.server.ask("POST", "/collections/c/documents", batch)
            except (OSError, http.client.HTTPException):
                return
            if status != 200 or answer["inserted"] != BATCH:
                self.wrong = f"{status} {answer}"
                return
            self.history[place] = version


def progress(what: str, done: int, kills: int) -> None:
    """Says now and then how far a long run is."""
    if done and done % 100 == 0:
        print(f"  {done} of {kills} kills of {what}", file=sys.stderr, flush=True)


def numbers(writer: int, place: int) -> range:
    """The documents of a batch."""
    start = (writer * 1_000_000) + place * BATCH
    return range(start, start + BATCH)


def serve(kills: int, rng: random.Random) -> str:
    """A server on the embedded store."""
    done, documents, verified = 0, 0, 0
    while done < kills:
        with folder() as home:
            histories: list[dict[int, int]] = [{} for _ in range(WRITERS)]
            underway: list[tuple[int, int] | None] = [None] * WRITERS
            with Server(home / "db") as server:
                server.ok("PUT", "/collections/c", SETTINGS)
                server.stop()
            for _ in range(min(IN_A_ROW, kills - done)):
                with Server(home / "db") as server:
                    settle(server.all("c"), histories, underway)
                    writers = [Writer(server, i, histories[i], random.Random(rng.random())) for i in range(WRITERS)]
                    for writer in writers:
                        writer.start()
                    time.sleep(rng.random() ** 2 * 0.25)
                    server.kill()
                    for writer in writers:
                        writer.join()
                        check(writer.wrong is None, f"a batch was refused: {writer.wrong}")
                    underway = [writer.open for writer in writers]
                done += 1
                progress("servers", done, kills)
                if done % 10 == 0:
                    check("c: whole" in run("verify", "--db", home / "db").stdout, "not whole")
                    verified += 1
            with Server(home / "db") as server:
                settle(server.all("c"), histories, underway)
                documents += sum(map(len, histories)) * BATCH
                sketches(server, histories, rng)
            check("c: whole" in run("verify", "--db", home / "db").stdout, "not whole")
            verified += 1
    return f"{done} kills of a server, {documents} documents acknowledged and found, {verified} times verified"


def settle(found: dict[str, dict], histories: list[dict[int, int]], underway: list[tuple[int, int] | None]) -> None:
    """Compares what is there with what was acknowledged. A batch that was under way may be there or not, as a whole; what it is becomes part of the history."""
    for writer, (history, open_batch) in enumerate(zip(histories, underway)):
        if open_batch:
            place, version = open_batch
            versions = {version_of(found[f"d{n}"]) if f"d{n}" in found else 0 for n in numbers(writer, place)}
            check(len(versions) == 1, f"half a batch: {versions}")
            if versions == {version}:
                history[place] = version
        for place, version in history.items():
            for number in numbers(writer, place):
                check(f"d{number}" in found, f"d{number} was acknowledged and is lost")
                right = document(number, version)["fields"]
                check(found[f"d{number}"] == right, f"d{number}: expected {right}, got {found[f'd{number}']}")
    n = sum(map(len, histories)) * BATCH
    check(len(found) == n, f"expected {n} documents, got {len(found)}")


def sketches(server: Server, histories: list[dict[int, int]], rng: random.Random) -> None:
    """Some documents have the sketch that another store makes of them, and are found by it."""
    some = [(writer, place) for writer, history in enumerate(histories) for place in history]
    with Server("memory:") as fresh:
        fresh.ok("PUT", "/collections/c", SETTINGS)
        for writer, place in rng.sample(some, min(5, len(some))):
            version, number = histories[writer][place], rng.choice(numbers(writer, place))
            right = document(number, version)
            fresh.ok("POST", "/collections/c/documents", [right])
            check(server.sketch("c", number) == fresh.sketch("c", number), f"d{number} has another sketch")
            matches = server.ok("POST", "/collections/c/search", {"document": {"fields": right["fields"]}})["matches"]
            check(matches and matches[0]["id"] == right["id"], f"d{number} is not found: {matches}")


def index(kills: int, rng: random.Random) -> str:
    """`benzer index`, which goes on after every kill with `--continue`."""
    done, runs, all_documents, batch = 0, 0, 4000, 100
    lines = "".join(json.dumps({"id": f"{i:08}", "text": text(i)}) + "\n" for i in range(all_documents))
    while done < kills:
        with folder() as home:
            (home / "in.jsonl").write_text(lines)
            command = ["index", "--db", str(home / "db"), "c", str(home / "in.jsonl"), "--batch", str(batch)]
            seen = 0
            for _ in range(12):
                more = ["--continue"] if (home / "db/c/collection.json").exists() else ["--text", "text"]
                child = subprocess.Popen([BENZER, *command, *more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(rng.random() * 0.08)
                child.kill()
                ended = child.wait()
                done += ended < 0
                progress("`benzer index`", done, kills)
                n = stored(home)
                check(n >= seen and n % batch == 0, f"{n} documents after {seen}")
                seen = n
                if ended == 0 or done >= kills:
                    break
            more = ["--continue"] if (home / "db/c/collection.json").exists() else ["--text", "text"]
            run(*command, *more)
            check(stored(home) == all_documents, f"{stored(home)} documents in the end")
            check("c: whole" in run("verify", "--db", home / "db").stdout, "not whole")
            runs += 1
    return f"{done} kills of `benzer index` in {runs} collections, each whole in the end with {all_documents} documents"


def stored(home: Path) -> int:
    """How many documents there are; none before the collection is made."""
    told = run("collections", "stats", "c", "--db", home / "db", "--format", "json", code=None)
    return json.loads(told.stdout)["documents"] if told.returncode == 0 else 0


def outputs(path: Path) -> dict[str, bytes]:
    """Every file of a run but the one with its times."""
    return {str(f.relative_to(path)): f.read_bytes() for f in sorted(path.rglob("*")) if f.is_file() and f.name != "run.json"}


def dedup(kills: int, rng: random.Random) -> str:
    """`benzer dedup`, whose resumed runs give the same bytes."""
    done = runs = 0
    with folder() as home:
        with open(home / "in.jsonl", "w", encoding="utf-8") as out:
            for i in range(3000):
                body = text(i - i % 3) + (f" x{i}" if i % 3 == 2 else "")
                out.write(json.dumps({"id": str(i), "text": body}) + "\n")
        base = ["dedup", str(home / "in.jsonl"), "--id-field", "id", "--checkpoint", "1", "--threads", "2", "--save"]
        start = time.monotonic()
        run(*base, "-o", home / "right")
        took, right = time.monotonic() - start, outputs(home / "right")
        while done < kills:
            out, resume = home / f"out{runs}", []
            for _ in range(4):
                child = subprocess.Popen([BENZER, *base, "-o", str(out), *resume], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(rng.random() * took)
                child.kill()
                if child.wait() == 0:
                    break
                done += 1
                progress("`benzer dedup`", done, kills)
                resume = ["--resume"] if out.exists() else []
            run(*base, "-o", out, *(["--resume"] if out.exists() else []))
            found = outputs(out)
            check(found.keys() == right.keys(), f"other files: {sorted(found.keys() ^ right.keys())}")
            check(found == right, f"other bytes: {[name for name in right if found[name] != right[name]]}")
            subprocess.run(["rm", "-rf", str(out)], check=True)
            runs += 1
    return f"{done} kills of `benzer dedup` in {runs} runs, all resumed to the same bytes"


def all_kills(kills: int, seed: int) -> list[str]:
    """All three, half of the kills on servers."""
    rng = random.Random(seed)
    return [serve(kills // 2, rng), index(kills // 4, rng), dedup(kills // 4, rng)]
