"""Redis behind a link that is cut and slowed: a server in a network namespace of its own, whose connection goes down in the middle of batches and comes back. Needs root and `ip`.
And a server on this machine that is killed, and one that stops for a while."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab import BENZER, ROOT, Redis, Server, ask_redis, check, folder, in_time, run, text

# Addresses that are meant for tests of networks, and never routed.
NETWORK, HERE, THERE, PORT = "198.18.77.0/30", "198.18.77.1", "198.18.77.2", 6379
BATCH = 20
# Seconds for one answer, and for what is tried again: the address states them.
ANSWER, AGAIN = 2, 6


def ip(*arguments: str, ok: bool = False) -> bool:
    """Whether `ip` did it; it must, unless `ok`."""
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    check(ok or done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}")
    return done.returncode == 0


class Link:
    """Two ends: `here` on this machine, `there` in the namespace of the server."""

    def __init__(self, number: int):
        self.name, self.here, self.there = f"benzer{number}", f"bz{number}a", f"bz{number}b"

    def make(self) -> None:
        """Both ends up, with addresses."""
        ip("link", "add", self.here, "type", "veth", "peer", "name", self.there)
        ip("link", "set", self.there, "netns", self.name)
        ip("addr", "add", f"{HERE}/30", "dev", self.here)
        ip("link", "set", self.here, "up")
        # Without the link, nobody else is asked: a gateway might answer in its place.
        ip("route", "add", "unreachable", NETWORK, "metric", "9999")
        for command in (["addr", "add", f"{THERE}/30", "dev", self.there], ["link", "set", self.there, "up"], ["link", "set", "lo", "up"]):
            ip("-n", self.name, *command)

    def set(self, state: str, at_server: bool) -> None:
        """Up or down, at one of its ends: without a route from here, or into nothing."""
        if at_server:
            ip("-n", self.name, "link", "set", self.there, state)
        else:
            ip("link", "set", self.here, state)

    def slow(self, rate: str) -> bool:
        """Whether it lets only so many bits pass."""
        command = ["tc", "qdisc", "replace", "dev", self.here, "root", "tbf", "rate", rate, "burst", "16kb", "latency", "400ms"]
        return shutil.which("tc") is not None and subprocess.run(command, capture_output=True).returncode == 0

    def fast(self) -> None:
        """As before."""
        subprocess.run(["tc", "qdisc", "del", "dev", self.here, "root"], capture_output=True)


@contextlib.contextmanager
def server():
    """A Redis server in a namespace, and the link to it; nothing where that cannot be made."""
    link = Link(os.getpid() % 100_000)
    if os.geteuid() != 0 or shutil.which("ip") is None or not ip("netns", "add", link.name, ok=True):
        yield None
        return
    child = None
    try:
        link.make()
        binary = subprocess.run(["bash", str(ROOT / "tools/redis.sh")], capture_output=True, text=True, check=True).stdout.strip()
        with folder() as home:
            flags = ["--port", str(PORT), "--bind", THERE, "--protected-mode", "no", "--save", "", "--dir", str(home)]
            child = subprocess.Popen(["ip", "netns", "exec", link.name, binary, *flags], stdout=subprocess.DEVNULL)
            yield link
    finally:
        if child:
            child.kill()
            child.wait()
        ip("route", "del", "unreachable", NETWORK, ok=True)
        ip("link", "del", link.here, ok=True)
        ip("netns", "del", link.name, ok=True)


def db(**more: float) -> str:
    """The address of the server, with what it states about waiting."""
    times = {"timeout": ANSWER, "retry": AGAIN, **more}
    return f"redis://{THERE}:{PORT}?" + "&".join(f"{name}={value}" for name, value in times.items())


def documents(address: str, name: str) -> int:
    """How many documents there are."""
    told = run("collections", "stats", name, "--db", address, "--format", "json", code=None)
    return json.loads(told.stdout)["documents"] if told.returncode == 0 else 0


def numbered(path: Path, n: int) -> None:
    """Writes so many documents."""
    path.write_text("".join(json.dumps({"id": f"{i:08}", "text": text(i)}) + "\n" for i in range(n)))


def index(name: str, source: Path, address: str, *more: str) -> subprocess.Popen:
    """`benzer index`, started."""
    command = [BENZER, "index", "--db", address, name, str(source), "--text", "text", "--batch", str(BATCH), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def under_way(child: subprocess.Popen, name: str, address: str) -> None:
    """Waits until the first documents of a load are there."""
    while documents(address, name) == 0 and child.poll() is None:
        time.sleep(0.02)


# Bytes of one posting, and a script that counts those of a collection at one node.
POSTING = 6
COUNT = """local n, at = 0, '0'
repeat
  local page = redis.call('SCAN', at, 'MATCH', ARGV[1], 'COUNT', 10000)
  at = page[1]
  for _, key in ipairs(page[2]) do n = n + redis.call('STRLEN', key) end
until at == '0'
return n"""


def postings(name: str, address: str) -> int:
    """Bytes of all postings of a collection that the servers really have."""
    nodes = [(host, int(port)) for host, port in re.findall(r"([0-9.]+):([0-9]+)", address)]
    masters = [node for node in nodes if "role:master" in ask_redis(*node, "INFO", "replication")]
    return sum(int(ask_redis(*node, "EVAL", COUNT, 0, f"benzer:{{{name}/*}}:p*")) for node in masters)


def whole(name: str, n: int, address: str) -> None:
    """All documents once with their content, and of each exactly its postings: none is missing, and after compacting none is there that is not of a document, or twice."""
    counted = documents(address, name)
    check(counted == n, f"{counted} documents in `{name}`, expected {n}")
    check(f"{name}: whole" in run("verify", name, "--db", address).stdout, f"`{name}` is not whole")
    run("collections", "compact", name, "--db", address)
    told = json.loads(run("collections", "stats", name, "--db", address, "--format", "json").stdout)
    expected = n * POSTING * sum(field["banding"]["bands"] for field in told["settings"]["fields"])
    check((told["documents"], told["removed"], told["posting_bytes"]) == (n, 0, expected), f"`{name}`: {told}, expected {n} documents and {expected} bytes of postings")
    counted = postings(name, address)
    check(counted == expected, f"`{name}` has {counted} bytes of postings, expected {expected}")
    check(f"{name}: whole" in run("verify", name, "--db", address).stdout, f"`{name}` is not whole after it was compacted")
    with Server(address) as server:
        check(server.all(name) == {f"{i:08}": {"text": text(i)} for i in range(n)}, f"`{name}` has other documents than were written")


def cut(link: Link, source: Path, n: int, cuts: int, rng: random.Random) -> str:
    """The link goes down and comes back while a load goes on."""
    made, down = 0, 0.0
    rounds = 0
    while made < cuts:
        name, rounds = f"cut{rounds}", rounds + 1
        child = index(name, source, db(retry=600))
        # A server that does not answer at all when a collection is opened is told at once.
        under_way(child, name, db())
        while child.poll() is None and made < cuts:
            time.sleep(rng.random() * 0.3)
            if child.poll() is not None:
                break
            at_server, long = rng.random() < 0.5, rng.random() * 1.5
            link.set("down", at_server)
            time.sleep(long)
            link.set("up", at_server)
            made, down = made + 1, down + long
            time.sleep(rng.random() * 0.3)
        out, err = child.communicate(timeout=900)
        check(child.returncode == 0, f"the load ended: {out} {err}")
        whole(name, n, db())
    return f"the link was cut {made} times for {down:.0f} s in all during {rounds} loads of {n} documents: all of them there, whole"


def given_up(link: Link, source: Path, n: int, rng: random.Random) -> str:
    """A link that stays down: the load ends after the stated time, and goes on later."""
    waits: list[float] = []
    for round_ in range(20):
        at_server, name = len(waits) == 1, f"up{round_}"
        child = index(name, source, db())
        under_way(child, name, db())
        time.sleep(rng.random() * 0.1)
        link.set("down", at_server)
        start = time.monotonic()
        try:
            _, err = child.communicate(timeout=300)
            waited = time.monotonic() - start
        finally:
            link.set("up", at_server)
        if child.returncode == 0:
            continue  # It was over before the link was down.
        waits.append(waited)
        check(child.returncode == 1 and THERE in err, f"{child.returncode}: {err}")
        # One answer is waited for, then it is tried again for as long as stated, and the last try may wait for its answer.
        in_time(waits[-1] < AGAIN + 2 * ANSWER + 2, f"it waited {waits[-1]:.1f} s, {AGAIN} are stated")
        run("index", "--db", db(retry=60), name, source, "--batch", BATCH, "--continue")
        whole(name, n, db())
        if len(waits) == 2:
            break
    check(len(waits) == 2, "every load was over before the link was down")
    return f"a link that stays down is given up after {max(waits):.1f} s (timeout={ANSWER}, retry={AGAIN}); with --continue all {n} documents are there, whole"


def slowed(link: Link, source: Path, n: int) -> str:
    """A link of 2 Mbit/s."""
    if not link.slow("2mbit"):
        return "no slow link: `tc` cannot limit it here"
    start = time.monotonic()
    child = index("slow", source, db(retry=60))
    out, err = child.communicate(timeout=900)
    took = time.monotonic() - start
    check(child.returncode == 0, f"the load ended: {out} {err}")
    link.fast()
    whole("slow", n, db())
    return f"over 2 Mbit/s {n} documents took {took:.1f} s, whole"


def killed(source: Path, n: int, kills: int, rng: random.Random) -> str:
    """A server that writes everything to its disk before it answers is killed and started again while a load goes on."""
    made = loads = 0
    with folder() as home, Redis(home, "--appendonly", "yes", "--appendfsync", "always") as server:
        address = f"{server.address}?timeout={ANSWER}&retry=600"
        while made < kills:
            name, loads = f"killed{loads}", loads + 1
            child = index(name, source, address)
            under_way(child, name, address)
            while child.poll() is None and made < kills:
                time.sleep(rng.random() * 0.3)
                if child.poll() is not None:
                    break
                server.kill()
                time.sleep(rng.random() * 0.3)
                server.start()
                made += 1
            out, err = child.communicate(timeout=900)
            check(child.returncode == 0, f"the load ended: {out} {err}")
            whole(name, n, address)
    return f"a server with `appendfsync always` was killed {made} times during {loads} loads of {n} documents: all of them there, whole"


def stalled(source: Path, n: int, small: Path, stops: int, rng: random.Random) -> str:
    """A server that stops for longer than one answer may take: a load goes on if it may try again for long enough, all else ends in time, and goes on later."""
    answer, again, margin = 1, 2, 4
    waits: list[float] = []
    with folder() as home, Redis(home) as redis, ThreadPoolExecutor() as threads:
        short, long = (f"{redis.address}?timeout={answer}&retry={retry}" for retry in (again, 600))
        run("index", "--db", long, "small", small, "--text", "text")
        like, again_in = {"document": {"fields": {"text": text(1)}}}, [{"id": "00000001", "fields": {"text": text(1)}}]
        for round_ in range(stops):
            with Server(short) as server:
                server.ok("POST", "/collections/small/search", like)
                hasty, patient = f"hasty{round_}", f"patient{round_}"
                loads = [index(hasty, source, short), index(patient, source, long)]
                for load, name in zip(loads, (hasty, patient)):
                    under_way(load, name, long)
                time.sleep(rng.random() * 0.1)
                works = {
                    "a load": lambda: loads[0].communicate(timeout=300) and loads[0].returncode == 1,
                    "benzer search": lambda: run("search", "small", "--text", text(1), "--db", short, code=None).returncode == 1,
                    "benzer index": lambda: run("index", "small", small, "--db", short, code=None).returncode == 1,
                    "POST search": lambda: server.ask("POST", "/collections/small/search", like)[0] >= 500,
                    "POST documents": lambda: server.ask("POST", "/collections/small/documents", again_in)[0] >= 500,
                }
                with redis.stopped():
                    check([load.poll() for load in loads] == [None, None], "a load was over before the server stopped")
                    start = time.monotonic()
                    ends = {name: threads.submit(lambda work=work: (work(), time.monotonic() - start)) for name, work in works.items()}
                    for name, end in ends.items():
                        failed, waited = end.result(timeout=300)
                        check(failed, f"{name} did not fail while the server was stopped")
                        # One answer is waited for, then it is tried again for as long as stated, and the last try may wait for its answer.
                        check(waited < again + 2 * answer + margin, f"{name} waited {waited:.1f} s, timeout={answer} and retry={again} are stated")
                        waits.append(waited)
                check(server.ok("POST", "/collections/small/search", like)["matches"][0]["id"] == "00000001", "what was there is not found")
                out, err = loads[1].communicate(timeout=900)
                check(loads[1].returncode == 0, f"the load ended: {out} {err}")
            run("index", "--db", long, hasty, source, "--batch", BATCH, "--continue")
            for name, all_ in ((hasty, n), (patient, n), ("small", 1_000)):
                whole(name, all_, long)
    return f"a server that stopped {stops} times: {len(waits)} searches and inserts ended after {min(waits):.1f} to {max(waits):.1f} s (timeout={answer}, retry={again}), a load that may try again for longer went on; all {n} documents are there, whole"


def all_links(is_long: bool, seed: int) -> Iterator[str]:
    """Killed, stopped; cut, given up, slowed."""
    rng, n = random.Random(seed), 20_000 if is_long else 10_000
    with folder() as home:
        source, half, small = home / "in.jsonl", home / "half.jsonl", home / "small.jsonl"
        for path, many in ((source, n), (half, n // 2), (small, 1_000)):
            numbered(path, many)
        yield killed(half, n // 2, 60 if is_long else 3, rng)
        yield stalled(half, n // 2, small, 10 if is_long else 1, rng)
        yield from linked(source, n, small, 60 if is_long else 3, rng)


def linked(source: Path, n: int, small: Path, cuts: int, rng: random.Random) -> Iterator[str]:
    """Cut, given up, slowed."""
    with server() as link:
        if link is None:
            yield "no link: no network namespace can be made here, which takes root and `ip` (iproute2)"
            return
        for _ in range(500):
            if run("collections", "list", "--db", db(), code=None).returncode == 0:
                break
            time.sleep(0.05)
        yield cut(link, source, n, cuts, rng)
        yield given_up(link, source, n, rng)
        yield slowed(link, small, 1_000)
