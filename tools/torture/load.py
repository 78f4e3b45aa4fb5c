"""More connections and requests than a server wants: health stays green, memory and file descriptors come back, and so does the speed."""

from __future__ import annotations

import resource
import select
import socket
import threading
import time
from collections.abc import Callable

from lab import SETTINGS, Server, check, document, in_time

IDLE, SLOW = 10_000, 1_000
# Seconds that the server waits for the head of a request (`HEAD` in crates/server/src/serve/connections.rs), between two as before the first.
HEAD = 10.0


def all_load(is_long: bool, minutes: float) -> list[str]:
    """Connections first, then requests."""
    lines = [connections(IDLE if is_long else 2_000, SLOW if is_long else 200, is_long)]
    for times in (1, 4):
        lines.append(requests(minutes * 60 if is_long else 3.0, times))
    return lines


def healthy(server: Server, where: str) -> float:
    """Seconds until the server says that it is well."""
    start = time.monotonic()
    status, _ = server.ask("GET", "/healthz", timeout=120)
    took = time.monotonic() - start
    check(status == 200, f"{where}: health is {status}")
    in_time(took < 2, f"{where}: health after {took:.1f} s")
    return took


def allow_files(n: int) -> int:
    """How many files this process and its children may have open, at most so many."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = n if hard == resource.RLIM_INFINITY else min(n, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed


def settled(server: Server) -> int:
    """Descriptors, without those of connections that are just being closed."""
    counts = []
    for _ in range(10):
        counts.append(server.descriptors())
        time.sleep(0.02)
    return min(counts)


def until(server: Server, holds: Callable[[int], bool], seconds: float, what: str) -> float:
    """Seconds until the number of descriptors is as wanted."""
    start = time.monotonic()
    while not holds(now := server.descriptors()):
        check(time.monotonic() - start < seconds, f"{now} descriptors after {seconds:.0f} s: {what}")
        time.sleep(0.002)
    return time.monotonic() - start


def connect(server: Server, n: int) -> list[socket.socket]:
    """So many connections that the server has: a connection counts when the server has it, not when the system has taken it. A hundred at a time, because what its queue has no room for is tried again after a second."""
    made = []
    while len(made) < n:
        before = server.descriptors()
        some = [socket.create_connection(server.address, 30) for _ in range(min(100, n - len(made)))]
        until(server, lambda now: now >= before + len(some), HEAD, f"{before} before, and {len(some)} connections are not all open at the server")
        made += some
    return made


def connections(idle: int, slow: int, is_long: bool) -> str:
    """Idle ones, half of which have sent nothing and half of which have asked once, and slow ones that send a byte now and then."""
    # Where the system allows less (`ulimit -Hn`), there are fewer idle ones.
    idle = min(idle, allow_files(idle + slow + 1000) - slow - 1000)
    check(idle > 0, "raise the limit of open files (ulimit -Hn)")
    with Server("memory:", "--max-connections", str(idle + slow + 100)) as server:
        server.ok("PUT", "/collections/c", SETTINGS)
        healthy(server, "before")
        files, memory = settled(server), server.memory()
        # Those that are to wait come last, so that none of them has waited long when all are there.
        start = time.monotonic()
        asked = connect(server, idle // 2)
        for connection in asked:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        for connection in asked:
            check(connection.recv(65536).startswith(b"HTTP/1.1 200 "), "a connection is not served")
        dribbling, silent = connect(server, slow), connect(server, idle - len(asked))
        now, passed = server.descriptors(), time.monotonic() - start
        check(now >= files + idle + slow, f"{now} descriptors after {passed:.1f} s: {files} before, {idle} idle and {slow} slow connections are not all open at the server")
        request = b"POST /plan HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n" + b" " * 1000
        worst = 0.0
        for at in range(8):
            for connection in dribbling:
                try:
                    connection.send(request[at : at + 1])
                except OSError:
                    pass  # The server does not wait for ever.
            worst = max(worst, healthy(server, f"with {idle} idle and {slow} slow connections"))
            server.ok("POST", "/collections/c/documents", [document(at, 1)])
        now, passed = server.descriptors(), time.monotonic() - start
        check(now >= files + idle + slow or passed > HEAD / 2, f"{now} descriptors after {passed:.1f} s: {files} before, {idle} idle and {slow} slow connections are not open any more")
        grown = (server.memory() - memory) / (idle + slow)
        check(grown < 64 << 10, f"a connection takes {grown:.0f} bytes")
        if is_long:
            until(server, lambda now: now <= files + 8, 3 * HEAD, f"{files} before, the server waits for idle and slow connections for ever")
        for connection in asked + silent + dribbling:
            connection.close()
        back = until(server, lambda now: now <= files + 8, 120, f"{files} before")
        healthy(server, "after")
        server.stop()
    return f"{idle} idle and {slow} slow connections, all of them open at the server: {grown / 1024:.1f} KiB each, health in {worst * 1000:.0f} ms at most, descriptors back after {back:.1f} s"


def requests(seconds: float, times: int) -> str:
    """So many times as many requests at a time as there are places: memory and descriptors do not grow after the first quarter, and the speed comes back."""
    places = 8
    with Server("memory:", "--max-requests", str(places)) as server:
        server.ok("PUT", "/collections/c", SETTINGS)
        server.ok("POST", "/collections/c/documents", [document(i, 1) for i in range(2000)])
        counts: dict[int, int] = {}
        guard, end = threading.Lock(), time.monotonic() + seconds
        quarter, memory, files = time.monotonic() + seconds / 4, 0, 0

        def ask() -> None:
            while time.monotonic() < end:
                status, _ = server.ask("POST", "/collections/c/search", {"document": {"fields": document(7, 1)["fields"]}, "threshold": 0.1})
                with guard:
                    counts[status] = counts.get(status, 0) + 1

        clients = [threading.Thread(target=ask) for _ in range(times * places)]
        for client in clients:
            client.start()
        worst = 0.0
        while time.monotonic() < end:
            worst = max(worst, healthy(server, "under load"))
            if not memory and time.monotonic() > quarter:
                memory, files = server.memory(), server.descriptors()
            select.select([], [], [], 0.1)
        for client in clients:
            client.join()
        check(set(counts) <= {200, 503, 429} and counts.get(200), f"answers {counts}")
        check(times > 1 or counts.get(503, 0) < counts[200], f"refused at the limit: {counts}")
        grown = server.memory() - (memory or server.memory())
        more = server.descriptors() - (files or server.descriptors())
        check(more <= times * places, f"{more} more descriptors than after the first quarter")
        check(grown < 32 << 20, f"the memory has grown by {grown} bytes after the first quarter")
        start = time.monotonic()
        server.ok("POST", "/collections/c/search", {"id": "d7"})
        took = time.monotonic() - start
        in_time(took < 2, f"a search takes {took:.1f} s after the load")
        server.stop()
    return f"{seconds:.0f} s with {times * places} clients on {places} places: {counts}, health in {worst * 1000:.0f} ms at most, memory {grown / 2**20:+.1f} MB and descriptors {more:+d} after the first quarter, a search afterwards in {took * 1000:.0f} ms"
