"""Random inserts, replacements, removals, searches and reopenings from many threads, against memory, disk, Redis and Redis Cluster, and a simple model.

Each thread has documents of its own, so its model is a dictionary: what it was told is what it must read, at any time. One thread writes batches of which all
documents carry one version; readers look at pages, each of which is the collection at one moment, and must never see two versions in one (on Redis, where a
batch is not atomic, never two versions in one document).

Four more threads, on Redis at two servers and while it is compacted, write, remove, read and search the same five documents. When each request began and ended and
what it told is kept, and checked afterwards: for each document there must be one order of all requests, in which none comes before one that had ended when it
began, and in which every one tells what the one document had then."""

from __future__ import annotations

import contextlib
import itertools
import random
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

import partition
from lab import SETTINGS, Server, check, document, folder, redis, run, version_of

THREADS = 6
SHARED = 12
RIVALS, IDS = 4, 5


class Request(NamedTuple):
    """What one thread did with one document, from when to when (ns). Version 0 is no document."""

    start: int
    end: int
    kind: str
    version: int

    def after(self, before: int) -> int | None:
        """The version that is there after it, if it may tell what it told where `before` is there."""
        if self.kind == "write":
            return self.version
        if self.kind == "remove":  # `version` is whether there was one.
            return 0 if (before != 0) == bool(self.version) else None
        return before if (before == self.version) == (self.kind == "read") else None


def first_wrong(log: list[Request]) -> Request | None:
    """The first request with whose end there is no order left in which all requests tell the truth: every order is followed from event to event (Wing and Gong, Lowe)."""
    events = sorted([(one.start, 0, i) for i, one in enumerate(log)] + [(one.end, 1, i) for i, one in enumerate(log)])
    # What may be there, and which of those that are under way have happened already.
    states: set[tuple[int, frozenset[int]]] = {(0, frozenset())}
    under_way: set[int] = set()
    for _, is_end, i in events:
        if not is_end:
            under_way.add(i)
            continue
        reached, todo = set(states), [state for state in states if i not in state[1]]
        while todo:
            there, happened = todo.pop()
            for j in under_way - happened:
                after = log[j].after(there)
                state = (after, happened | {j})
                if after is not None and state not in reached:
                    reached.add(state)
                    if j != i:
                        todo.append(state)
        states = {(there, happened - {i}) for there, happened in reached if i in happened}
        under_way.remove(i)
        if not states:
            return log[i]
    return None


def not_found(log: list[Request]) -> Request | None:
    """On Redis a document may be found by some of its bands before others until its batch is answered: a search that wrongly missed one that was there before and after."""
    changes = [one for one in log if one.kind in ("write", "remove")]
    for miss in (one for one in log if one.kind == "miss"):
        for write in (one for one in changes if one.kind == "write" and one.version == miss.version and one.end < miss.start):
            if not any(other is not write and other.end > write.start and other.start < miss.end for other in changes):
                return miss
    return None


def check_histories(logs: list[list[Request]], is_atomic: bool) -> int:
    """How many requests were checked: all of them in one order, but on Redis those that have missed something, of which less is promised."""
    for i, log in enumerate(logs):
        wrong = first_wrong([one for one in log if is_atomic or one.kind != "miss"]) or not_found(log)
        if wrong:
            near = sorted(one for one in log if one.end > wrong.start - 50_000_000 and one.start < wrong.end)[-40:]
            told = "\n".join(f"{one.start - wrong.start:>12} {one.end - wrong.start:>12} {one.kind} {one.version}" for one in near)
            raise AssertionError(f"no order explains `{wrong.kind} {wrong.version}` of d{i}, ns from its start:\n{told}")
    return sum(map(len, logs))


def check_checker() -> None:
    """Histories that are right and wrong, as the checker must tell."""
    write, again = Request(0, 1, "write", 1), Request(2, 5, "write", 2)
    for is_right, *more in (
        (True, Request(3, 4, "read", 1), Request(3, 4, "read", 2)),
        (True, Request(3, 4, "read", 1), Request(6, 7, "remove", 1), Request(8, 9, "read", 0)),
        (False, Request(6, 7, "read", 1)),  # It was replaced.
        (False, Request(3, 4, "read", 0)),  # It was never removed.
        (False, Request(3, 4, "read", 2), Request(4, 5, "read", 1), Request(5, 6, "read", 2), Request(6, 7, "read", 1)),  # It goes back.
        (False, Request(2, 3, "read", 2), Request(4, 5, "read", 1)),  # It goes back while it is being replaced.
        (False, Request(0, 1, "read", 2)),  # It has not begun.
        (False, Request(6, 7, "remove", 1), Request(8, 9, "remove", 1)),  # Removed twice.
        (False, Request(6, 7, "miss", 2)),  # It is there.
    ):
        check((first_wrong([write, again, *more]) is None) == is_right, f"the checker is wrong about {more}")
    check(not_found([write, Request(2, 3, "miss", 1)]) and not not_found([write, again, Request(3, 4, "miss", 1)]), "the checker is wrong about what was missed")


class Worker(threading.Thread):
    """A thread whose failures are kept for the end."""

    def __init__(self, work):
        super().__init__()
        self.work, self.error, self.steps = work, None, 0

    def run(self) -> None:
        try:
            self.steps = self.work()
        except BaseException as error:  # noqa: BLE001: it is raised again by the one who waits
            self.error = error


def own(server: Server, number: int, model: dict[str, dict], end: float, rng: random.Random) -> int:
    """Changes documents that nobody else has, and reads what it wrote."""
    steps = version = 0
    while time.monotonic() < end:
        steps += 1
        some = [rng.randrange(40) + 1000 * (number + 1) for _ in range(rng.randrange(1, 6))]
        action = rng.random()
        if action < 0.5:
            version += 1
            batch = [document(one, version) for one in dict.fromkeys(some)]
            check(server.ok("POST", "/collections/c/documents", batch)["inserted"] == len(batch), "not all were taken")
            model.update((one["id"], one["fields"]) for one in batch)
        elif action < 0.65:
            name = f"d{some[0]}"
            status, _ = server.ask("DELETE", f"/collections/c/documents/{name}")
            check(status == (204 if name in model else 404) or status in (200, 204) and name in model, f"removing {name}: {status}")
            model.pop(name, None)
        elif action < 0.85:
            name = f"d{some[0]}"
            status, answer = server.ask("GET", f"/collections/c/documents/{name}")
            if name in model:
                check(status == 200 and answer["fields"] == model[name], f"{name}: {status} {answer}, expected {model[name]}")
            else:
                check(status == 404, f"{name} was removed, and is there: {answer}")
        elif model:
            name = rng.choice(list(model))
            found = server.ok("POST", "/collections/c/search", {"document": {"fields": model[name]}, "threshold": 0.9})["matches"]
            check(any(match["id"] == name for match in found), f"{name} is not found by its own content: {found}")
    return steps


def shared_writer(server: Server, end: float, last: list[int]) -> int:
    """Batches of which every document has the same version."""
    steps = 0
    while time.monotonic() < end:
        server.ok("POST", "/collections/shared/documents", [document(i, last[0] + 1) for i in range(SHARED)])
        last[0] += 1
        steps += 1
    return steps


def shared_reader(server: Server, end: float, is_atomic: bool) -> int:
    """Versions never go back, and a page has one version."""
    steps = seen = 0
    while time.monotonic() < end:
        page = server.ok("GET", "/collections/shared/documents?limit=1000")["documents"]
        versions = {version_of(one["fields"]) for one in page}
        if is_atomic:
            check(len(page) in (0, SHARED) and len(versions) <= 1, f"half a batch: {len(page)} documents of versions {versions}")
            check(not versions or max(versions) >= seen, f"version {versions} after {seen}")
            seen = max(versions, default=0)
        steps += 1
    return steps


def rival(server: Server, logs: list[list[Request]], begun: list[list[int]], versions: Iterator[int], end: float, rng: random.Random) -> int:
    """Changes, reads and searches documents that others change too, and keeps what it was told."""
    steps = 0
    while time.monotonic() < end:
        steps += 1
        number, action, start = rng.randrange(IDS), rng.random(), time.monotonic_ns()
        if action < 0.35:
            batch = {one: next(versions) for one in {number, *rng.sample(range(IDS), rng.randrange(3))}}
            for one, version in batch.items():
                begun[one].append(version)
            server.ok("POST", "/collections/rivals/documents", [document(*one) for one in batch.items()])
            stop = time.monotonic_ns()
            for one, version in batch.items():
                logs[one].append(Request(start, stop, "write", version))
        elif action < 0.5:
            status, answer = server.ask("DELETE", f"/collections/rivals/documents/d{number}")
            stop = time.monotonic_ns()
            check(status in (204, 404), f"removing d{number}: {status} {answer}")
            logs[number].append(Request(start, stop, "remove", int(status == 204)))
        elif action < 0.8:
            logs[number].append(read(server, number))
        else:
            logs[number].append(search(server, number, rng.choice(begun[number][-3:] or [next(versions)])))
    return steps


def read(server: Server, number: int) -> Request:
    """Which version of a document there is."""
    start = time.monotonic_ns()
    status, answer = server.ask("GET", f"/collections/rivals/documents/d{number}")
    stop = time.monotonic_ns()
    check(status in (200, 404), f"reading d{number}: {status} {answer}")
    version = version_of(answer["fields"]) if status == 200 else 0
    check(status == 404 or answer == document(number, version), f"not what was written as version {version}: {answer}")
    return Request(start, stop, "read", version)


def search(server: Server, number: int, version: int) -> Request:
    """Whether a document is found by the content of one of its versions."""
    start = time.monotonic_ns()
    found = server.ok("POST", "/collections/rivals/search", {"document": {"fields": document(number, version)["fields"]}, "threshold": 0.9})["matches"]
    stop = time.monotonic_ns()
    check([match["id"] for match in found] in ([], [f"d{number}"]), f"version {version} of d{number} finds {found}")
    return Request(start, stop, "read" if found else "miss", version)


def quiet(server: Server, logs: list[list[Request]], begun: list[list[int]]) -> None:
    """Nobody writes: every document is found by its content, and not by what it had before it was replaced or removed."""
    there = {}
    for number, log in enumerate(logs):
        log.append(read(server, number))
        now = log[-1].version
        there |= {f"d{number}": document(number, now)["fields"]} if now else {}
        for version in begun[number][-6:]:
            log.append(search(server, number, version))
            check((log[-1].kind == "read") == (version == now), f"d{number} has version {now}: {log[-1].kind} by the content of {version}")
    check(server.all("rivals") == there, "the pages are not what was read")


def compactor(db: str, end: float) -> int:
    """Compacts what others write."""
    steps = 0
    while time.monotonic() < end:
        run("collections", "compact", "rivals", "--db", db)
        steps += 1
        time.sleep(0.2)
    return steps


def one(db: str, seconds: float, rng: random.Random, is_atomic: bool, reopens: int) -> str:
    """A store: some rounds, with the server started again between them where the store outlives it."""
    models: list[dict[str, dict]] = [{} for _ in range(THREADS)]
    logs: list[list[Request]] = [[] for _ in range(IDS)]
    begun: list[list[int]] = [[] for _ in range(IDS)]
    last, steps, versions = [0], 0, itertools.count(1)
    for round_ in range(reopens + 1):
        # A collection on Redis may be open in many processes.
        with Server(db) as server, contextlib.nullcontext(server) if is_atomic else Server(db) as other:
            if round_ == 0:
                for name in ("c", "shared", "rivals"):
                    server.ok("PUT", f"/collections/{name}", SETTINGS)
            end = time.monotonic() + seconds / (reopens + 1)
            draws = [random.Random(rng.random()) for _ in models]
            works = [lambda i=i: own(server, i, models[i], end, draws[i]) for i in range(THREADS)]
            works.append(lambda: shared_writer(server, end, last))
            works += [lambda: shared_reader(server, end, is_atomic)] * 2
            seeds = [random.Random(rng.random()) for _ in range(RIVALS)]
            works += [lambda i=i: rival((server, other)[i % 2], logs, begun, versions, end, seeds[i]) for i in range(RIVALS)]
            works += [] if is_atomic else [lambda: compactor(db, end)]
            workers = [Worker(work) for work in works]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            for worker in workers:
                if worker.error:
                    raise worker.error
                steps += worker.steps
            everything = {name: fields for model in models for name, fields in model.items()}
            check(server.all("c") == everything, "the collection is not what the models say")
            found = server.all("shared")
            check({version_of(fields) for fields in found.values()} == {last[0]}, "the last batch is not there")
            for each in dict.fromkeys((server, other)):
                quiet(each, logs, begun)
                each.stop()
    checked = check_histories(logs, is_atomic)
    return f"{steps} steps of {len(works)} threads, {len(everything)} documents in the end as the models say, {checked} requests for {IDS} shared documents in one order, {reopens} reopenings"


def all_models(is_long: bool, seed: int) -> Iterator[str]:
    """Every store; a cluster takes too long to start for `make test`."""
    check_checker()
    rng, seconds = random.Random(seed), 60.0 if is_long else 4.0
    yield f"memory: {one('memory:', seconds, rng, True, 0)}"
    with folder() as home:
        yield f"disk: {one(str(home / 'db'), seconds, rng, True, 3)}"
    with redis() as address:
        yield f"redis: {one(address, seconds, rng, False, 3)}"
    if is_long:
        with partition.cluster() as nodes:
            yield f"cluster: {one(partition.DB, seconds, rng, False, 3)}" if nodes else partition.NONE
