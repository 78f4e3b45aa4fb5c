"""Redis behind a link that is cut and slowed: a server in a network namespace of its own, whose connection goes down in the middle of batches and comes back. Needs root and `ip`."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import subprocess
import time
from pathlib import Path

from lab import BENZER, ROOT, check, folder, in_time, run, text

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


def whole(name: str, n: int, address: str) -> None:
    """All documents once, and of each exactly its postings."""
    check(documents(address, name) == n, f"{documents(address, name)} documents in `{name}`, expected {n}")
    check(f"{name}: whole" in run("verify", name, "--db", address).stdout, f"`{name}` is not whole")


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


def all_links(is_long: bool, seed: int) -> list[str]:
    """Cut, given up, slowed."""
    rng, n = random.Random(seed), 20_000 if is_long else 10_000
    with server() as link:
        if link is None:
            return ["skipped: no network namespace can be made here, which takes root and `ip` (iproute2)"]
        for _ in range(500):
            if run("collections", "list", "--db", db(), code=None).returncode == 0:
                break
            time.sleep(0.05)
        with folder() as home:
            source, small = home / "in.jsonl", home / "small.jsonl"
            numbered(source, n)
            numbered(small, 1_000)
            return [cut(link, source, n, 60 if is_long else 3, rng), given_up(link, source, n, rng), slowed(link, small, 1_000)]
