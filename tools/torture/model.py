"""Random inserts, replacements, removals, searches and reopenings from many threads, against memory, disk and Redis, and a simple model.

Each thread has documents of its own, so its model is a dictionary: what it was told is what it must read, at any time. One thread writes batches of which all
documents carry one version; readers look at pages, each of which is the collection at one moment, and must never see two versions in one (on Redis, where a
batch is not atomic, never two versions in one document)."""

from __future__ import annotations

import random
import threading
import time

from lab import SETTINGS, Server, check, document, folder, redis, version_of

THREADS = 6
SHARED = 12


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


def one(db: str, seconds: float, rng: random.Random, is_atomic: bool, reopens: int) -> str:
    """A store: some rounds, with the server started again between them where the store outlives it."""
    models: list[dict[str, dict]] = [{} for _ in range(THREADS)]
    last, steps = [0], 0
    for round_ in range(reopens + 1):
        with Server(db) as server:
            if round_ == 0:
                for name in ("c", "shared"):
                    server.ok("PUT", f"/collections/{name}", SETTINGS)
            end = time.monotonic() + seconds / (reopens + 1)
            draws = [random.Random(rng.random()) for _ in models]
            works = [lambda i=i: own(server, i, models[i], end, draws[i]) for i in range(THREADS)]
            works.append(lambda: shared_writer(server, end, last))
            works += [lambda: shared_reader(server, end, is_atomic)] * 2
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
            server.stop()
    return f"{steps} steps of {len(works)} threads, {len(everything)} documents in the end as the models say, {reopens} reopenings"


def all_models(seconds: float, seed: int) -> list[str]:
    """Every store."""
    rng = random.Random(seed)
    lines = [f"memory: {one('memory:', seconds, rng, True, 0)}"]
    with folder() as home:
        lines.append(f"disk: {one(str(home / 'db'), seconds, rng, True, 3)}")
    with redis() as address:
        lines.append(f"redis: {one(address, seconds, rng, False, 3)}")
    return lines
