"""A Redis Cluster that falls apart: six nodes, each in a network namespace of its own, cut off from everybody or from the other nodes alone in the middle of batches. Needs root and `ip`."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from lab import ROOT, SETTINGS, Server, ask_redis, check, document, folder, run
from link import BATCH, PORT, documents, index, ip, numbered, under_way, whole

# Addresses that are meant for tests of networks, and never routed.
HERE, MASTERS = "198.18.78.1", 3
NODES = [f"198.18.78.{10 + i}" for i in range(2 * MASTERS)]
SLOTS = [(0, 5460), (5461, 10922), (10923, 16383)]
# Milliseconds after which the others take a silent node for dead, and let its replica take over.
SILENT = 1000
# Without waiting, what a replica had not got when it took over is lost.
LOOSE = f"redis+cluster://{','.join(f'{node}:{PORT}' for node in NODES)}/?timeout=2&retry=120"
# Every batch waits for a replica: then nothing that was acknowledged may be lost.
DB = f"{LOOSE}&wait=1"
NONE = "no cluster: no network namespaces can be made here, which takes root and `ip` (iproute2)"


def ask(node: str, *words: object) -> str:
    """What a node answers to a command."""
    return ask_redis(node, PORT, *words)


def until(holds, what: str) -> None:
    """Waits for something that may fail for a while."""
    end = time.monotonic() + 90
    while True:
        with contextlib.suppress(OSError, AssertionError):
            if holds():
                return
        check(time.monotonic() < end, f"it has not come to pass: {what}")
        time.sleep(0.05)


class Cluster:
    """Six namespaces at one bridge."""

    def __init__(self, number: int):
        self.bridge = f"bz{number}"
        self.names = [f"benzer{number}-{i}" for i in range(len(NODES))]
        self.links = [f"bz{number}{letter}" for letter in "abcdef"]
        self.children: list[subprocess.Popen] = []

    def make(self) -> None:
        """The bridge, and a link from it into each namespace."""
        ip("link", "add", self.bridge, "type", "bridge")
        ip("addr", "add", f"{HERE}/24", "dev", self.bridge)
        ip("link", "set", self.bridge, "up")
        for name, link, address in zip(self.names, self.links, NODES):
            ip("netns", "add", name)
            ip("link", "add", link, "type", "veth", "peer", "name", "node", "netns", name)
            ip("link", "set", link, "master", self.bridge, "up")
            for command in (["addr", "add", f"{address}/24", "dev", "node"], ["link", "set", "node", "up"], ["link", "set", "lo", "up"]):
                ip("-n", name, *command)

    def start(self, home: Path) -> None:
        """Three masters with a replica each."""
        binary = subprocess.run(["bash", str(ROOT / "tools/redis.sh")], capture_output=True, text=True, check=True).stdout.strip()
        flags = ["--port", str(PORT), "--protected-mode", "no", "--save", "", "--cluster-enabled", "yes", "--cluster-node-timeout", str(SILENT)]
        flags += ["--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0"]
        for name, address in zip(self.names, NODES):
            (home / name).mkdir()
            command = ["ip", "netns", "exec", name, binary, *flags, "--bind", address, "--dir", str(home / name)]
            self.children.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        for node, epoch in zip(NODES, range(1, 7)):
            until(lambda node=node: ask(node, "PING") == "PONG", f"{node} answers")
            ask(node, "CLUSTER", "SET-CONFIG-EPOCH", epoch)
        for node, slots in zip(NODES, SLOTS):
            ask(node, "CLUSTER", "ADDSLOTSRANGE", *slots)
        for node in NODES[1:]:
            ask(NODES[0], "CLUSTER", "MEET", node, PORT)
        until(lambda: all(ask(node, "CLUSTER", "NODES").count("\n") == len(NODES) for node in NODES), "all nodes know each other")
        for master, replica in zip(NODES, NODES[MASTERS:]):
            id_ = ask(master, "CLUSTER", "MYID")
            until(lambda replica=replica, id_=id_: ask(replica, "CLUSTER", "REPLICATE", id_) == "OK", f"{replica} follows {master}")
        self.healed()

    def healed(self) -> None:
        """Waits until all is well: every node sees all slots, and every replica follows its master."""
        until(lambda: all("cluster_state:ok" in ask(node, "CLUSTER", "INFO") for node in NODES), "the cluster is well")
        said = lambda node: ask(node, "INFO", "replication")
        until(lambda: all("role:master" in said(node) or "master_link_status:up" in said(node) for node in NODES), "replicas follow")
        until(lambda: len(self.masters()) == MASTERS, "there is a master for each part")

    def masters(self) -> list[int]:
        """The nodes that are masters now."""
        return [i for i, node in enumerate(NODES) if "role:master" in ask(node, "INFO", "replication")]

    def cut(self, node: int, from_all: bool, state: bool) -> None:
        """Takes a node off, or lets it come back: off from everybody by its link, off from the other nodes by routes into nothing."""
        if from_all:
            ip("link", "set", self.links[node], "down" if state else "up")
        else:
            for other in (address for i, address in enumerate(NODES) if i != node):
                ip("-n", self.names[node], "route", "add" if state else "del", "blackhole", f"{other}/32")

    def gone(self) -> None:
        """Nothing of it stays."""
        for child in self.children:
            child.kill()
            child.wait()
        for link in (*self.links, self.bridge):
            ip("link", "del", link, ok=True)
        for name in self.names:
            ip("netns", "del", name, ok=True)


@contextlib.contextmanager
def cluster() -> Iterator[Cluster | None]:
    """Started, and gone afterwards; nothing where that cannot be made."""
    made = Cluster(os.getpid() % 100_000)
    if os.geteuid() != 0 or shutil.which("ip") is None or not ip("link", "add", made.bridge, "type", "bridge", ok=True):
        yield None
        return
    ip("link", "del", made.bridge)
    with folder() as home:
        try:
            made.make()
            made.start(home)
            yield made
        finally:
            made.gone()


def all_partitions(is_long: bool, seed: int) -> Iterator[str]:
    """Many cuts, or two."""
    n = 20_000 if is_long else 4_000
    with folder() as home:
        numbered(home / "in.jsonl", n)
        rng = random.Random(seed)
        with cluster() as nodes:
            if nodes is None:
                yield NONE
                return
            yield partitions(nodes, home / "in.jsonl", n, 60 if is_long else 2, rng)
            yield loose(nodes, home / "in.jsonl", n, 20 if is_long else 1, rng)


def partitions(nodes: Cluster, source: Path, n: int, cuts: int, rng: random.Random) -> str:
    """Nodes are cut off while a load goes on, half of them for longer than the others wait. Afterwards every document is there with exactly its postings."""
    made, down, promoted, loads = 0, 0.0, 0, 0
    while made < cuts:
        name, loads = f"cluster{loads}", loads + 1
        child = index(name, source, DB)
        under_way(child, name, DB)
        while child.poll() is None and made < cuts:
            time.sleep(rng.random() * 0.3)
            before = nodes.masters()
            node, from_all = rng.choice(before if rng.random() < 0.7 else range(len(NODES))), rng.random() < 0.5
            long = rng.random() * 0.8 if made % 2 else SILENT / 1000 + 1 + rng.random() * 2
            nodes.cut(node, from_all, True)
            time.sleep(long)
            nodes.cut(node, from_all, False)
            nodes.healed()
            made, down, promoted = made + 1, down + long, promoted + (nodes.masters() != before)
        out, err = child.communicate(timeout=900)
        check(child.returncode == 0, f"the load ended: {out} {err}")
        whole(name, n, DB)
    check(promoted or cuts < 4, "no replica took over")
    return f"a cluster of {len(NODES)}: a node was cut off {made} times for {down:.0f} s in all during {loads} loads of {n} documents, {promoted} times its replica took over: all of them there, whole (wait=1)"


def loose(nodes: Cluster, source: Path, n: int, cuts: int, rng: random.Random) -> str:
    """Nobody waits for a replica, while a master that is still reached is cut off from the other nodes until it is replaced: what it took meanwhile is lost. What comes later is not, also of servers that
    were there before, and a load that is repaired and continued is whole."""
    lost = promoted = later = 0
    for round_ in range(cuts):
        name, late, before = f"loose{round_}", f"late{round_}", nodes.masters()
        with Server(LOOSE) as one, Server(LOOSE) as other:
            one.ok("PUT", f"/collections/{late}", SETTINGS)
            first = put(one, late, 0, 200) | put(other, late, 200, 200)
            child = index(name, source, LOOSE)
            under_way(child, name, LOOSE)
            time.sleep(rng.random() * 0.1)
            node = rng.choice(before)
            nodes.cut(node, False, True)
            for i, server in enumerate((one, other)):
                put(server, late, 400 + 200 * i, 200)
            time.sleep(SILENT / 1000 + 1.5 + rng.random())
            nodes.cut(node, False, False)
            nodes.healed()
            promoted += nodes.masters() != before
            # What these servers knew from the lost master must not harm what they write now.
            for i in range(20):
                first |= put((one, other)[i == 0 or i > 17], late, 1_000 + 100 * i, 100)
            there(one, late, first)
            later += 2_000
            out, err = child.communicate(timeout=900)
            check(child.returncode == 0, f"the load ended: {out} {err}")
            lost += n - documents(LOOSE, name)
            run("repair", late, name, "--db", LOOSE)
            check(f"{late}: whole" in run("verify", late, "--db", LOOSE).stdout, f"`{late}` is not whole after it was repaired")
            there(other, late, first)
        run("index", "--db", LOOSE, name, source, "--batch", BATCH, "--continue")
        whole(name, n, LOOSE)
    check(promoted, "no replica took over")
    return f"without `wait` {promoted} replicas took over in {cuts} loads, which lost {lost} acknowledged documents; after `repair` and `--continue` all {n} are there, whole, and so are {later} that were put in after it by servers that were there before"


def put(server: Server, name: str, start: int, n: int) -> dict[str, dict]:
    """Documents that were acknowledged."""
    batch = [document(i, 0) for i in range(start, start + n)]
    check(server.ok("POST", f"/collections/{name}/documents", batch)["inserted"] == n, "not all were taken")
    return {one["id"]: one["fields"] for one in batch}


def there(server: Server, name: str, expected: dict[str, dict]) -> None:
    """All these documents with their content, on pages and one by one."""
    pages = server.all(name)
    for id_, fields in expected.items():
        answer = server.ask("GET", f"/collections/{name}/documents/{id_}")
        check(answer == (200, {"id": id_, "fields": fields}) and pages.get(id_) == fields, f"`{name}`: {id_} is not what was acknowledged, but {answer}")
