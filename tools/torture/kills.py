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
# Beside the text of a document: inputs above 16 MiB are looked at as memory.
PADDING = "x" * 6000


class Ledger:
    """What is known of the documents of a writer, across all servers: `BATCH` numbers belong to each of its places."""

    def __init__(self, writer: int):
        self.writer, self.places, self.version = writer, 0, 0
        # The versions of living documents, and the last ones of those that were removed.
        self.held: dict[int, int] = {}
        self.gone: dict[int, int] = {}
        # The change that is under way: versions by number, none for what is removed. It happens as a whole or not at all.
        self.open: dict[int, int | None] = {}

    def next(self, rng: random.Random) -> dict[int, int | None]:
        """A new batch, one that replaces an earlier one, or a removal."""
        draw = rng.random()
        if self.held and draw < 0.4:
            self.open = {rng.choice(list(self.held)): None}
            return self.open
        is_new = self.places == 0 or draw < 0.8
        place = self.places if is_new else rng.randrange(self.places)
        self.places += is_new
        self.version += 1
        self.open = dict.fromkeys(numbers(self.writer, place), self.version)
        return self.open

    def done(self) -> None:
        """The change has happened."""
        for number, version in self.open.items():
            if version is None:
                self.gone[number] = self.held.pop(number)
            else:
                self.held[number] = version
                self.gone.pop(number, None)
        self.open = {}


class Writer(threading.Thread):
    """Sends batches and removals, one after the other, until the server is gone."""

    def __init__(self, server: Server, ledger: Ledger, rng: random.Random):
        super().__init__()
        self.server, self.ledger, self.rng = server, ledger, rng
        self.wrong: str | None = None

    def run(self) -> None:
        while True:
            change = self.ledger.next(self.rng)
            batch = [document(number, version) for number, version in change.items() if version is not None]
            try:
                if batch:
                    status, answer = self.server.ask("POST", "/collections/c/documents", batch)
                else:
                    status, answer = self.server.ask("DELETE", f"/collections/c/documents/d{min(change)}")
            except (OSError, http.client.HTTPException):
                return
            if status != 200 or answer["inserted"] != BATCH if batch else status != 204:
                self.wrong = f"{status} {answer}"
                return
            self.ledger.done()


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
    done, documents, removed, verified = 0, 0, 0, 0
    while done < kills:
        with folder() as home:
            ledgers = [Ledger(i) for i in range(WRITERS)]
            with Server(home / "db") as server:
                server.ok("PUT", "/collections/c", SETTINGS)
                server.stop()
            for _ in range(min(IN_A_ROW, kills - done)):
                with Server(home / "db") as server:
                    settle(server.all("c"), ledgers)
                    writers = [Writer(server, ledger, random.Random(rng.random())) for ledger in ledgers]
                    for writer in writers:
                        writer.start()
                    time.sleep(rng.random() ** 2 * 0.25)
                    server.kill()
                    for writer in writers:
                        writer.join()
                        check(writer.wrong is None, f"a change was refused: {writer.wrong}")
                done += 1
                progress("servers", done, kills)
                if done % 10 == 0:
                    check("c: whole" in run("verify", "--db", home / "db").stdout, "not whole")
                    verified += 1
            with Server(home / "db") as server:
                settle(server.all("c"), ledgers)
                documents += sum(len(ledger.held) for ledger in ledgers)
                removed += sum(len(ledger.gone) for ledger in ledgers)
                sketches(server, ledgers, min(kills, 200), rng)
            check("c: whole" in run("verify", "--db", home / "db").stdout, "not whole")
            verified += 1
    return f"{done} kills of a server, {documents} documents acknowledged and found, {removed} removed and gone, {verified} times verified"


def settle(found: dict[str, dict], ledgers: list[Ledger]) -> None:
    """Compares what is there with what was acknowledged. A change that was under way may have happened or not, as a whole; what it is becomes part of the ledger."""
    versions = {int(id_[1:]): version_of(fields) for id_, fields in found.items()}
    for ledger in ledgers:
        now = {number: versions.get(number) for number in ledger.open}
        old = {number: ledger.held.get(number) for number in ledger.open}
        check(now in (ledger.open, old), f"half a change: {now}, which was {old} and was to be {ledger.open}")
        if now == ledger.open:
            ledger.done()
        ledger.open = {}
        for number, version in ledger.held.items():
            check(number in versions, f"d{number} was acknowledged and is lost")
            right = document(number, version)["fields"]
            check(found[f"d{number}"] == right, f"d{number}: expected {right}, got {found[f'd{number}']}")
        back = [number for number in ledger.gone if number in versions]
        check(not back, f"removed and acknowledged, and there again: {back}")
    n = sum(len(ledger.held) for ledger in ledgers)
    check(len(found) == n, f"expected {n} documents, got {len(found)}")


def sketches(server: Server, ledgers: list[Ledger], n: int, rng: random.Random) -> None:
    """So many documents have the sketch that another store makes of them, and are found by it; those that were removed are not."""

    def drawn(versions: list[tuple[int, int]]) -> list[dict]:
        return [document(*one) for one in rng.sample(versions, min(n, len(versions)))]

    some = drawn([one for ledger in ledgers for one in ledger.held.items()])
    with Server("memory:") as fresh:
        fresh.ok("PUT", "/collections/c", SETTINGS)
        fresh.ok("POST", "/collections/c/documents", some)
        for right in some:
            id_ = right["id"]
            check(server.sketch("c", id_[1:]) == fresh.sketch("c", id_[1:]), f"{id_} has another sketch")
            matches = server.ok("POST", "/collections/c/search", {"document": {"fields": right["fields"]}})["matches"]
            check(matches and matches[0]["id"] == id_, f"{id_} is not found: {matches}")
    for gone in drawn([one for ledger in ledgers for one in ledger.gone.items()]):
        matches = server.ok("POST", "/collections/c/search", {"document": {"fields": gone["fields"]}})["matches"]
        check(all(match["id"] != gone["id"] for match in matches), f"{gone['id']} is removed and found: {matches}")


def index(kills: int, rng: random.Random) -> str:
    """`benzer index`, which goes on after every kill with `--continue`, to the content of a run that nobody disturbed."""
    done, runs, all_documents, batch = 0, 0, 4000, 100
    lines = "".join(json.dumps({"id": f"{i:08}", "text": text(i)}) + "\n" for i in range(all_documents))
    with folder() as home:
        (home / "in.jsonl").write_text(lines)
        run("index", "--db", home / "db", "c", home / "in.jsonl", "--batch", batch, "--text", "text")
        right = exported(home)
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
            check(exported(home) == right, "other documents or sketches than without kills")
            runs += 1
    return f"{done} kills of `benzer index` in {runs} collections, each whole in the end with the {all_documents} documents and sketches of a run without kills"


def exported(home: Path) -> bytes:
    """Documents and sketches in their order, as an export has them; batches and times leave no trace in it."""
    run("collections", "export", "c", "--db", home / "db", "-o", home / "export")
    return (home / "export").read_bytes()


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
                out.write(json.dumps({"id": str(i), "text": body, "padding": PADDING}) + "\n")
        usual = ["dedup", str(home / "in.jsonl"), "--id-field", "id", "--threads", "2", "--save"]
        # With checkpoints a run goes on where it was, without them it begins again.
        ways = [[*usual, "--checkpoint", "1"], usual]
        start = time.monotonic()
        run(*ways[0], "-o", home / "right")
        took, right = time.monotonic() - start, outputs(home / "right")
        while done < kills:
            base, out, resume = ways[runs % 2], home / f"out{runs}", []
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
