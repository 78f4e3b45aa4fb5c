"""Bytes that change on the disk, and files that end early: told and named, or harmless. Never a crash, a wrong record, or a giant allocation."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from kills import outputs
from lab import BENZER, SETTINGS, Server, check, ended, folder, run, text

# More than any command needs here, and less than a length that was made up asks for.
ROOM = 3 << 30
# What a command may have touched of it.
MEMORY = 512 << 20
# Seconds, after which a command hangs.
PATIENCE = 600
N = 60


def limited() -> None:
    """For the child: an allocation beyond this fails, and the process with it; and so it does when it hangs."""
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    signal.alarm(PATIENCE)


def tried(*arguments: object) -> subprocess.CompletedProcess:
    """A command that may fail, but not crash, nor take much memory."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as said:
        command = [BENZER, *map(str, arguments)]
        child = subprocess.Popen(command, stdout=out, stderr=said, preexec_fn=limited)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said.seek(0)
        done = ended(subprocess.CompletedProcess(command, child.returncode, out.read(), said.read()), None)
    check(usage.ru_maxrss * 1024 < MEMORY, f"benzer {' '.join(command[1:])} took {usage.ru_maxrss >> 10} MiB")
    return done


def verify_tells(path: Path) -> None:
    """`benzer verify` of a file or folder that is damaged."""
    done = tried("verify", path)
    check(done.returncode == 1 and "  wrong: " in done.stdout, f"verify finds nothing: {done.stdout} {done.stderr}")


class Kind:
    """A file that is kept: how it is read, and whether what was said is enough. Places that are `near` what is read are changed as often as all others together; those that are `idle` nothing reads, all others have to be told. Without `idle` the judge alone knows."""

    def __init__(self, name: str, path: Path, judge: Callable[[], bool], near: Iterable[int] = (), idle: Iterable[int] | None = None):
        self.name, self.path, self.judge, self.near = name, path, judge, list(near)
        self.idle = None if idle is None else set(idle)
        self.whole = path.read_bytes()

    def harmed(self, size: int, rng: random.Random) -> str:
        """Changes single bytes, then cuts the end off; each is judged by itself."""
        length = len(self.whole)
        flips = drawn(range(length), size, rng) + drawn(self.near, size, rng) + drawn(sorted(self.idle or ()), 1, rng)
        cuts = drawn(range(length), size // 2, rng)
        told = 0
        for place in flips:
            bytes_ = bytearray(self.whole)
            bytes_[place] ^= 1 << rng.randrange(8)
            told += self.one(bytes(bytes_), f"byte {place}", self.idle is not None and place not in self.idle)
        for end in cuts:
            told += self.one(self.whole[:end], f"cut at {end}", self.idle is not None)
        n = len(flips) + len(cuts)
        return f"{self.name} ({length} bytes): {len(flips)} bytes changed, {len(cuts)} cuts: {told} told, {n - told} harmless"

    def one(self, content: bytes, what: str, is_to_tell: bool) -> bool:
        """Whether it was told; the file is whole again afterwards."""
        self.path.write_bytes(content)
        try:
            is_told = self.judge()
            check(is_told or not is_to_tell, "verify calls it whole")
            return is_told
        except AssertionError as error:
            raise AssertionError(f"{self.name}, {what}: {error}") from error
        finally:
            self.path.write_bytes(self.whole)


def drawn(places: range | list[int], n: int, rng: random.Random) -> list[int]:
    """So many of some places, or all of them."""
    return list(places) if len(places) <= n else sorted(rng.sample(places, n))


def all_damage(is_long: bool, seed: int, places: int | None = None) -> Iterator[str]:
    """Every kind of file."""
    rng, size = random.Random(seed), places or (1000 if is_long else 6)
    with folder() as home:
        (home / "in.jsonl").write_text(families(N))
        kinds = [*collection(home), *segments(home), export(home), sketches(home), *archive(home), *results(home), keys(home)]
        for kind in kinds:
            yield kind.harmed(size, rng)
        # A run that resumes takes longer than all other commands.
        for kind in checkpoints(home):
            yield kind.harmed(size if is_long else 3, rng)


def families(n: int) -> str:
    """Documents of which four at a time are similar, each to a different degree."""
    bodies = (text(i // 4) + "".join(f" x{i}y{k}" for k in range(i % 4)) for i in range(n))
    return "".join(json.dumps({"id": f"d{i}", "text": body}) + "\n" for i, body in enumerate(bodies))


QUERIES = [("--id", "d1"), ("--id", "d2"), ("--text", text(0)), ("--text", text(5))]


def answers(db: Path) -> list[dict[str, float] | None]:
    """Similarities by id, for each query; nothing where it ends with an error."""
    found = []
    for query in QUERIES:
        done = tried("search", "--db", db, "c", *query, "--limit", 50, "--format", "json")
        check(done.returncode == 0 or "error:" in done.stderr, f"search {query}: {done.stderr}")
        matches = json.loads(done.stdout)["matches"] if done.returncode == 0 else None
        found.append(matches if matches is None else {one["id"]: one["similarity"] for one in matches})
        check(matches is None or len(matches) == len(found[-1]), f"a match is there twice: {matches}")
    return found


def are_among(found: list[dict[str, float] | None], right: list[dict[str, float]]) -> None:
    """Matches are some of the right ones, with their similarities, unless there is an error."""
    for query, some, all_ in zip(QUERIES, found, right):
        check(some is None or some.items() <= all_.items(), f"search {query}: expected {all_}, got {some}")


class Held:
    """A collection that is damaged, looked at, repaired, and put back as it was."""

    def __init__(self, db: Path, n: int):
        self.db, self.n, self.kept = db, n, db.with_name(f"{db.name}-kept")
        shutil.copytree(db, self.kept)
        self.right = answers(db)
        check(all(map(bool, self.right)), f"nothing is similar: {self.right}")
        self.content = self.exported()
        self.before = self.all()
        check(len(self.before) == n, f"{len(self.before)} documents")

    def all(self) -> dict[str, dict]:
        """Every document; the collection is as it was afterwards, because a server writes."""
        with Server(self.db) as server:
            found = server.all("c")
            server.stop()
        self.put_back()
        return found

    def exported(self) -> bytes:
        """Documents and sketches in their order."""
        path = self.db.with_suffix(".export")
        run("collections", "export", "c", "--db", self.db, "-o", path)
        content = path.read_bytes()
        path.unlink()
        return content

    def put_back(self) -> None:
        """As it was before the damage."""
        shutil.rmtree(self.db)
        shutil.copytree(self.kept, self.db)

    def is_told(self, name: str) -> bool:
        """Whether verify tells it, with the name of what is damaged; what is whole gives all answers, what is not gives right ones."""
        verified = tried("verify", "--db", self.db)
        found = answers(self.db)
        are_among(found, self.right)
        said = verified.stdout + verified.stderr
        if verified.returncode == 0:
            check(found == self.right and f"c: whole, {self.n:,} documents" in said, f"whole, but {said} {found}")
        else:
            check(name in said, f"`{name}` is not named: {said}")
        return verified.returncode != 0

    def derived(self, name: str) -> Callable[[], bool]:
        """For what is made from the records: after a repair everything is there."""

        def judge() -> bool:
            is_told = self.is_told(name)
            check(tried("repair", "--db", self.db).returncode == 0, "it is not repaired")
            verified = tried("verify", "--db", self.db)
            check(verified.returncode == 0 and f"c: whole, {self.n:,} documents" in verified.stdout, f"not whole after the repair: {verified.stdout} {verified.stderr}")
            found = answers(self.db)
            check(found == self.right, f"expected {self.right} after the repair, got {found}")
            check(self.exported() == self.content, "other documents or sketches after the repair")
            self.put_back()
            return is_told

        return judge

    def records(self) -> bool:
        """For the records: after a repair it is whole, what is left is right, and what is lost was told twice."""
        is_told = self.is_told("c")
        repaired = tried("repair", "--db", self.db)
        verified = tried("verify", "--db", self.db)
        check(verified.returncode == 0 and "c: whole" in verified.stdout, f"not whole after the repair: {verified.stdout} {verified.stderr}")
        answered = answers(self.db)
        found = self.all()
        check(all(self.before.get(id_) == fields for id_, fields in found.items()), "a document is another one")
        lost = self.n - len(found)
        check(lost == 0 or is_told and repaired.returncode != 0, f"{lost} documents are gone, and nobody says so")
        for (kind, asked), some, all_ in zip(QUERIES, answered, self.right):
            left = {id_: similarity for id_, similarity in all_.items() if id_ in found}
            is_there = kind != "--id" or asked in found
            check(some == (left if is_there else None), f"search {asked}: expected {left} after the repair, got {some}")
        return is_told

    def settings(self) -> bool:
        """For the settings, without which nothing can be read: everything is refused, and nothing is changed."""
        held = files(self.db)
        for command in ["verify", "repair", "search"]:
            more = ["c", "--id", "d1"] if command == "search" else []
            done = tried(command, "--db", self.db, *more)
            check(done.returncode == 1 and "collection.json" in done.stderr, f"{command}: {done.returncode} {done.stdout} {done.stderr}")
        check(files(self.db) == held, "what was refused is changed")
        return True


def files(path: Path) -> dict[str, bytes]:
    """Every file of a folder but the locks."""
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file() and file.name != "lock"}


def collection(home: Path) -> list[Kind]:
    """The three files of a small collection."""
    db = home / "db"
    run("index", "--db", db, "c", home / "in.jsonl", "--text", "text")
    run("collections", "compact", "c", "--db", db)
    held = Held(db, N)
    (log,) = (db / "c").glob("*.log")
    # The first rows, which the searches look at.
    near = range(48, log.stat().st_size // N * 6)
    return [
        Kind("collection, collection.json", db / "c/collection.json", held.settings, idle=()),
        Kind("collection, current.json", db / "c/current.json", held.derived("current.json"), idle=()),
        # Bytes that fill up a row have no checksum of their own.
        Kind(f"collection, {log.name}", log, held.records, near),
    ]


def segments(home: Path) -> list[Kind]:
    """Segments, which larger collections have."""
    db = home / "large"
    (home / "many.jsonl").write_text(families(10_000))
    run("index", "--db", db, "c", home / "many.jsonl", "--text", "text", "--sketches-only")
    held = Held(db, 10_000)
    found = []
    for path in sorted((db / "c").glob("*.seg")):
        content = path.read_bytes()
        n = int.from_bytes(content[-16:-8], "little")
        filled = len(content) - 16 - -n % 8
        places = 8 * json.loads(content[len(content) - 16 - (n + 7) // 8 * 8 : filled])["places"]
        # Zeros fill up the footer to eight bytes; nothing reads them. Where the first rows are is read by the searches.
        found.append(Kind(f"collection, {path.name}", path, held.derived(path.name), range(places, places + 32), range(filled, len(content) - 16)))
    check(found, "there is no segment")
    return found


def export(home: Path) -> Kind:
    """An exported collection is taken in as it was, or not at all."""
    path = home / "c.benzer"
    run("collections", "export", "c", "--db", home / "db", "-o", path)

    def judge() -> bool:
        done = tried("collections", "import", "copy", path, "--db", home / "copies")
        shutil.rmtree(home / "copies", ignore_errors=True)
        check(done.returncode == 0 or "error:" in done.stderr, done.stderr)
        check(done.returncode != 0, "a changed export was taken in")
        verify_tells(path)
        return True

    return Kind("export", path, judge)


def sketches(home: Path) -> Kind:
    """A file of sketches."""
    path = home / "in.bsk"
    run("sketch", home / "in.jsonl", "-o", path)

    def judge() -> bool:
        done = tried("sketch", "--show", path, "--format", "json")
        check(done.returncode != 0 and "in.bsk" in done.stderr, f"{done.returncode}: {done.stderr}")
        verify_tells(path)
        return True

    return Kind("sketches", path, judge)


def archive(home: Path) -> list[Kind]:
    """The files of an archive: a run against it ends with the name of the damage, or has the right output; verify finds all damage."""
    run("dedup", home / "in.jsonl", "--id-field", "id", "-o", home / "first", "--archive", home / "archive")
    base = ["dedup", home / "in.jsonl", "--id-field", "id", "--against", home / "archive"]
    run(*base, "-o", home / "against")
    right = outputs(home / "against")

    def judge() -> bool:
        done = tried(*base, "-o", home / "again")
        if done.returncode == 0:
            check(outputs(home / "again") == right, "another result from a damaged archive")
        else:
            check("archive" in done.stderr, done.stderr)
        verify_tells(home / "archive")
        shutil.rmtree(home / "again", ignore_errors=True)
        return done.returncode != 0

    return [Kind(f"archive, {path.name}", path, judge) for path in sorted((home / "archive").iterdir()) if path.is_file() and path.name != "lock"]


def results(home: Path) -> list[Kind]:
    """All files of a finished run: verify finds every damage, and the commands that go on from them give the right answer or none."""
    out = home / "out"
    run("dedup", home / "in.jsonl", "--id-field", "id", "-o", out)
    run("rethreshold", out, "0.9", "-o", home / "higher")
    right = outputs(home / "higher")
    shutil.rmtree(home / "higher")

    def judge() -> bool:
        tried("explain", out, "d1", "--format", "json")
        done = tried("rethreshold", out, "0.9", "-o", home / "higher")
        is_same = done.returncode != 0 or outputs(home / "higher") == right
        shutil.rmtree(home / "higher", ignore_errors=True)
        check(is_same, "another result from a damaged table")
        verify_tells(out)
        return True

    return [Kind(f"results, {path.relative_to(out)}", path, judge) for path in sorted(out.rglob("*")) if path.is_file()]


def killed(base: list, work: Path) -> bool:
    """Starts a run and kills it as soon as its checkpoints are there, which are written beside it; whether it was not over by then."""
    child = subprocess.Popen([BENZER, *map(str, base)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def are_there() -> bool:
        return all((work / f"stage-{stage}.json").exists() for stage in ("read", "verify"))

    while child.poll() is None and not are_there():
        time.sleep(0.0002)
    child.kill()
    if child.wait() == 0 or not are_there():
        shutil.rmtree(base[-1], ignore_errors=True)
        shutil.rmtree(work, ignore_errors=True)
        return False
    return True


def checkpoints(home: Path) -> list[Kind]:
    """What a killed run left to go on from: verify tells, and a resumed run has the right output, whatever happened to it."""
    (home / "more.jsonl").write_text(families(3000))
    base = ["dedup", home / "more.jsonl", "--id-field", "id", "--checkpoint", "1", "--work-dir", home / "work", "-o", home / "run"]
    run(*base)
    right = outputs(home / "run")
    shutil.rmtree(home / "run")
    check(any(killed(base, home / "work") for _ in range(100)), "every run was over before it could be killed")
    shutil.copytree(home / "work", home / "work-kept")

    def judge() -> bool:
        verify_tells(home / "work")
        shutil.rmtree(home / "run", ignore_errors=True)
        done = tried(*base, "--resume")
        check(done.returncode == 0, f"it does not go on: {done.stderr}")
        check(outputs(home / "run") == right, "another result from a damaged checkpoint")
        shutil.rmtree(home / "work", ignore_errors=True)
        shutil.copytree(home / "work-kept", home / "work")
        return True

    files = (path for path in sorted((home / "work").rglob("*")) if path.is_file() and path.stat().st_size and path.name != "lock" and path.suffix != ".tmp")
    return [Kind(f"checkpoint, {path.name}", path, judge) for path in files]


def keys(home: Path) -> Kind:
    """The keys of a server, which refuses damaged ones; one that runs goes on with those it had."""
    path = home / "keys.json"
    key = run("key", "create", "mine", "--scope", "read", "--collections", "c", "--keys", path).stdout.strip()
    writer = run("key", "create", "other", "--scope", "read,write", "--keys", path).stdout.strip()
    whole = path.read_bytes()
    with Server("memory:", "--keys", str(path), log="off") as server:
        server.ok("PUT", "/collections/c", SETTINGS, headers={"authorization": f"Bearer {writer}"})
        for content in [whole.replace(b'"c"', b'"d"'), whole[: len(whole) // 2]]:
            path.write_bytes(content)
            time.sleep(1.2)
            for shown, right in [(key, 200), (key[:-1], 401)]:
                status, answer = server.ask("GET", "/collections/c", headers={"authorization": f"Bearer {shown}"})
                check(status == right, f"with damaged keys: {status} {answer}")
        path.write_bytes(whole)
        server.stop()

    def judge() -> bool:
        for command in [["key", "list"], ["serve", "--check", "--db", "memory:"]]:
            done = tried(*command, "--keys", path)
            check(done.returncode == 1 and "keys.json" in done.stderr, f"{command}: {done.returncode} {done.stdout} {done.stderr}")
        verify_tells(path)
        return True

    return Kind("keys", path, judge, idle=())
