"""Bytes that change on the disk, and files that end early: told and named, or harmless. Never a crash, a wrong record, or a giant allocation."""

from __future__ import annotations

import json
import random
import resource
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from kills import outputs
from lab import BENZER, Server, check, folder, run, text

# More than any command needs here, and less than a length that was made up asks for.
ROOM = 3 << 30
N = 60


def limited() -> None:
    """For the child: an allocation beyond this fails, and the process with it."""
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))


def tried(*arguments: object):
    """A command that may fail, but not crash."""
    return run(*arguments, code=None, preexec_fn=limited)


def verify_tells(path: Path) -> None:
    """`benzer verify` of a file or folder that is damaged."""
    done = tried("verify", path)
    check(done.returncode == 1 and "  wrong: " in done.stdout, f"verify finds nothing: {done.stdout} {done.stderr}")


class Kind:
    """A file that is kept: how it is read, and whether what was said is enough."""

    def __init__(self, name: str, path: Path, judge: Callable[[], bool]):
        self.name, self.path, self.judge = name, path, judge
        self.whole = path.read_bytes()

    def harmed(self, size: int, rng: random.Random) -> str:
        """Changes single bytes, then cuts the end off; each is judged by itself."""
        length = len(self.whole)
        flips = range(length) if length <= size else sorted(rng.sample(range(length), size))
        cuts = range(length) if length <= size // 2 else sorted(rng.sample(range(length), size // 2))
        told = 0
        for place in flips:
            bytes_ = bytearray(self.whole)
            bytes_[place] ^= 1 << rng.randrange(8)
            told += self.one(bytes(bytes_), f"byte {place}")
        for end in cuts:
            told += self.one(self.whole[:end], f"cut at {end}")
        n = len(flips) + len(cuts)
        return f"{self.name} ({length} bytes): {len(flips)} bytes changed, {len(cuts)} cuts: {told} told, {n - told} harmless"

    def one(self, content: bytes, what: str) -> bool:
        """Whether it was told; the file is whole again afterwards."""
        self.path.write_bytes(content)
        try:
            return self.judge()
        except AssertionError as error:
            raise AssertionError(f"{self.name}, {what}: {error}") from error
        finally:
            self.path.write_bytes(self.whole)


def all_damage(is_long: bool, seed: int) -> list[str]:
    """Every kind of file."""
    rng, size = random.Random(seed), 1000 if is_long else 6
    with folder() as home:
        lines = [json.dumps({"id": f"d{i}", "text": text(i // 2)}) + "\n" for i in range(N)]
        (home / "in.jsonl").write_text("".join(lines))
        kinds = [*collection(home), *segments(home), export(home), sketches(home), *archive(home), *results(home), *checkpoints(home)]
        return [kind.harmed(size, rng) for kind in kinds]


def collection(home: Path) -> list[Kind]:
    """The four files of a collection. What verify calls whole has all documents as they were; after a repair it is whole, and what is left is right."""
    db = home / "db"
    run("index", "--db", db, "c", home / "in.jsonl", "--text", "text")
    run("collections", "compact", "c", "--db", db)
    with Server(db) as server:
        before = server.all("c")
        server.stop()
    check(len(before) == N, f"{len(before)} documents")
    shutil.copytree(db, home / "kept")

    def judge() -> bool:
        verified = tried("verify", "--db", db)
        searched = tried("search", "--db", db, "c", "--id", "d1", "--format", "json")
        if verified.returncode == 0:
            check(searched.returncode == 0 and "d0" in searched.stdout, f"whole, but {searched.stdout} {searched.stderr}")
        else:
            said = verified.stdout + verified.stderr
            check("c" in said and len(said) > 20, f"nothing is named: {said}")
        repaired = tried("repair", "--db", db)
        if tried("verify", "--db", db).returncode == 0:
            with Server(db) as server:
                found = server.all("c")
                server.stop()
            check(all(before.get(id_) == fields for id_, fields in found.items()), "a document is another one")
            lost = N - len(found)
            check(lost == 0 or verified.returncode != 0 or repaired.returncode != 0, f"{lost} documents are gone, and nobody says so")
        shutil.rmtree(db)
        shutil.copytree(home / "kept", db)
        return verified.returncode != 0

    return [Kind(f"collection, {path.name}", path, judge) for path in sorted((db / "c").iterdir()) if path.suffix in {".json", ".log", ".seg"}]


def segments(home: Path) -> list[Kind]:
    """Segments, which larger collections have: told by verify or made again at once, and after a repair every search finds what it did."""
    db = home / "large"
    lines = (json.dumps({"id": f"d{i}", "text": text(i // 2)}) + "\n" for i in range(10_000))
    (home / "many.jsonl").write_text("".join(lines))
    run("index", "--db", db, "c", home / "many.jsonl", "--text", "text", "--sketches-only")
    shutil.copytree(db, home / "large-kept")

    def judge() -> bool:
        verified = tried("verify", "--db", db)
        tried("search", "--db", db, "c", "--id", "d1")
        run("repair", "--db", db)
        check("c: whole, 10,000 documents" in run("verify", "--db", db).stdout, "not whole after the repair")
        searched = run("search", "--db", db, "c", "--id", "d1", "--format", "json")
        check("d0" in searched.stdout, f"what is there is not found: {searched.stdout}")
        shutil.rmtree(db)
        shutil.copytree(home / "large-kept", db)
        return verified.returncode != 0

    found = [Kind(f"collection, {path.name}", path, judge) for path in sorted((db / "c").glob("*.seg"))]
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
    """Starts a run and kills it as soon as its last checkpoint is there; whether it was not over by then."""
    child = subprocess.Popen([BENZER, *map(str, base)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while child.poll() is None and not list(work.rglob("stage-verify.json")):
        time.sleep(0.0002)
    child.kill()
    if child.wait() == 0:
        shutil.rmtree(base[-1])
        return False
    return True


def checkpoints(home: Path) -> list[Kind]:
    """What a killed run left to go on from: a resumed run has the right output, whatever happened to it."""
    lines = (json.dumps({"id": f"d{i}", "text": text(i // 2)}) + "\n" for i in range(3000))
    (home / "more.jsonl").write_text("".join(lines))
    base = ["dedup", home / "more.jsonl", "--id-field", "id", "--checkpoint", "1", "--work-dir", home / "work", "-o", home / "run"]
    run(*base)
    right = outputs(home / "run")
    shutil.rmtree(home / "run")
    check(any(killed(base, home / "work") for _ in range(100)), "every run was over before it could be killed")
    shutil.copytree(home / "work", home / "work-kept")

    def judge() -> bool:
        shutil.rmtree(home / "run", ignore_errors=True)
        done = tried(*base, "--resume")
        check(done.returncode == 0, f"it does not go on: {done.stderr}")
        check(outputs(home / "run") == right, "another result from a damaged checkpoint")
        shutil.rmtree(home / "work", ignore_errors=True)
        shutil.copytree(home / "work-kept", home / "work")
        return False

    files = (path for path in sorted((home / "work").rglob("*")) if path.is_file() and path.stat().st_size and path.name != "lock")
    return [Kind(f"checkpoint, {path.name}", path, judge) for path in files]
