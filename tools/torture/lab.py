"""What all parts share: the real binary, servers that are started and killed, texts that are known beforehand."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BENZER = os.environ.get("BENZER", str(ROOT / "target/release/benzer"))
SETTINGS = {"fields": {"body": {"kind": "text", "n": 1}, "tags": {"kind": "values"}}, "keeps": "documents"}


def check(holds: object, message: str) -> None:
    """An assertion that no option of Python turns off."""
    if not holds:
        raise AssertionError(message)


# Whether times count: in long runs on a machine of their own, never in `make test`.
TIMED = [False]


def in_time(holds: object, message: str) -> None:
    """An assertion about times and sizes that depend on the machine: of long runs alone."""
    check(holds or not TIMED[0], message)


@contextlib.contextmanager
def folder():
    """A folder that is gone afterwards, where `BENZER_TORTURE_DIR` or the system says."""
    path = tempfile.mkdtemp(prefix="benzer-torture-", dir=os.environ.get("BENZER_TORTURE_DIR"))
    try:
        yield Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def text(number: int, version: int = 0) -> str:
    """A text of 25 words that depends on its number and version only."""
    rng = random.Random(number * 1_000_003 + version)
    return " ".join(f"w{rng.randrange(50_000)}" for _ in range(25))


def document(number: int, version: int) -> dict:
    """A document whose fields carry the same version, so that half of one can be told."""
    return {"id": f"d{number}", "fields": {"body": f"v{version} {text(number, version)}", "tags": [f"v{version}"]}}


def version_of(fields: dict) -> int:
    """The version of a document; both fields have the same."""
    body, tag = fields["body"].split(" ")[0], fields["tags"][0]
    check(body == tag, f"half a document: {body} and {tag}")
    return int(body[1:])


def run(*arguments: object, code: int | None = 0, timeout: float = 600, **more) -> subprocess.CompletedProcess:
    """Runs the binary to its end."""
    done = subprocess.run([BENZER, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, **more)
    return ended(done, code)


def ended(done: subprocess.CompletedProcess, code: int | None) -> subprocess.CompletedProcess:
    """What a command did, which was no crash."""
    said = f"benzer {' '.join(map(str, done.args[1:]))}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    check(done.returncode >= 0 and "panicked" not in done.stderr, f"it crashed: {said}")
    check(code is None or done.returncode == code, said)
    return done


class Server:
    """`benzer serve` at a free port."""

    def __init__(self, db: object, *more: str, log: str = "warn"):
        command = [BENZER, "serve", "--listen", "127.0.0.1:0", "--db", str(db), "--format", "json", "--log-level", log, *more]
        self.log = tempfile.TemporaryFile("w+")
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        first = self.child.stdout.readline()
        if not first:
            self.child.wait()
            raise AssertionError(f"the server does not start: {self.said()}")
        host, port = json.loads(first)["url"].split("://")[1].split(":")
        self.address = (host, int(port))

    def said(self) -> str:
        """Its log."""
        self.log.seek(0)
        return self.log.read()

    def ask(self, method: str, path: str, body: object = None, headers: dict | None = None, timeout: float = 60):
        """Status and JSON (or text) of an answer."""
        return self.whole(method, path, body, headers, timeout)[:2]

    def whole(self, method: str, path: str, body: object = None, headers: dict | None = None, timeout: float = 60):
        """Status, JSON (or text) and headers of an answer, their names in small letters. A reader asks again where a connection was closed for being too slow, which a machine that is busy elsewhere makes happen."""
        for _ in range(3 if method == "GET" else 0):
            try:
                return self.ask_once(method, path, body, headers, timeout)
            except http.client.RemoteDisconnected:
                if self.child.poll() is not None:
                    raise
        return self.ask_once(method, path, body, headers, timeout)

    def ask_once(self, method: str, path: str, body: object, headers: dict | None, timeout: float):
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection(*self.address, timeout=timeout)
        try:
            content = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
            connection.request(method, path, content, {"content-type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            raw = answer.read()
        finally:
            connection.close()
        told = [(name.lower(), value) for name, value in answer.getheaders()]
        try:
            return answer.status, json.loads(raw), told
        except ValueError:
            return answer.status, raw.decode(errors="replace"), told

    def ok(self, *arguments, **more):
        """The answer of a success."""
        status, answer = self.ask(*arguments, **more)
        check(200 <= status < 300, f"{arguments[:2]}: {status} {str(answer)[:500]}")
        return answer

    def all(self, collection: str) -> dict[str, dict]:
        """Every document with its fields."""
        found, start = {}, 0
        while start is not None:
            page = self.ok("GET", f"/collections/{collection}/documents?limit=1000&from={start}")
            for one in page["documents"]:
                check(one["id"] not in found, f"{one['id']} is there twice")
                found[one["id"]] = one["fields"]
            start = page["next"]
        return found

    def sketch(self, collection: str, number: object) -> list:
        """The sketches of a document, encoded."""
        fields = self.ok("GET", f"/collections/{collection}/documents/d{number}/sketch")["fields"]
        return [(field["field"], field["encoded"]) for field in fields]

    def memory(self, kind: str = "VmRSS") -> int:
        """Resident bytes."""
        with open(f"/proc/{self.child.pid}/status", encoding="utf-8") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(kind))

    def peak(self) -> int:
        """The most bytes that were ever resident."""
        return self.memory("VmHWM")

    def descriptors(self) -> int:
        """Open files and connections."""
        return len(os.listdir(f"/proc/{self.child.pid}/fd"))

    def kill(self) -> None:
        """SIGKILL, at once."""
        self.child.kill()
        self.child.wait()
        self.child.stdout.close()

    def stop(self) -> None:
        """SIGTERM: it ends by itself."""
        self.child.terminate()
        check(self.child.wait(timeout=60) == 0, f"it did not end well: {self.said()}")
        self.child.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.kill()
        self.log.close()


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Redis:
    """A Redis server with nothing in it at a free port, which may be killed and started again."""

    def __init__(self, home: Path, *more: str):
        binary = subprocess.run(["bash", str(ROOT / "tools/redis.sh")], capture_output=True, text=True, check=True).stdout.strip()
        self.port = free_port()
        self.address = f"redis://127.0.0.1:{self.port}"
        self.command = [binary, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(home), *more]
        self.start()

    def start(self) -> None:
        """With what it has on disk."""
        self.child = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        for _ in range(500):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                break
            time.sleep(0.02)

    def kill(self) -> None:
        """SIGKILL, at once."""
        self.child.kill()
        self.child.wait()

    @contextlib.contextmanager
    def stopped(self):
        """It takes connections, and answers nothing meanwhile."""
        self.child.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.child.send_signal(signal.SIGCONT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


@contextlib.contextmanager
def redis(*more: str):
    """A Redis server; its address."""
    with folder() as home, Redis(home, *more) as server:
        yield server.address


def ask_redis(node: str, port: int, *words: object) -> str:
    """What a node of Redis answers to a command, without the marks of the protocol."""
    with socket.create_connection((node, port), 5) as connection:
        command = b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in (str(word).encode() for word in words))
        connection.sendall(b"*%d\r\n%s" % (len(words), command))
        with connection.makefile("rb") as lines:
            first = lines.readline().decode().strip()
            check(first[:1] != "-", f"{node}: {words}: {first}")
            return lines.read(int(first[1:])).decode() if first[:1] == "$" else first[1:]
