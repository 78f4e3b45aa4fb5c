"""Requests of somebody who means no good: keys, paths, headers, bodies, pages of other origins; and what the logs say of all that."""

from __future__ import annotations

import base64
import gzip
import json
import random
import socket
import statistics
import struct
import time
import zlib

from lab import SETTINGS, Server, check, folder, in_time, run

SECRET = "a-sentence-that-no-log-may-have"
SCRIPT = "<script>alert(1)</script>"
PATHS = ["..", "../..", "..%2f..%2fetc%2fpasswd", "%2e%2e%2f", "....//", "/etc/passwd", "%2fetc%2fpasswd", "a/../../b", "c%00", ".hidden", "a" * 300, "%ff%fe", "\\..\\..\\x", "c%0d%0aset-cookie:%20a=b"]


def all_attacks(is_long: bool, seed: int) -> list[str]:
    """On one server with keys and the embedded store."""
    with folder() as home:
        db = home / "data" / "db"
        db.parent.mkdir()
        keys = {}
        for label, flags in {"all": ["--scope", "read,write"], "reader": ["--scope", "read"], "mine": ["--scope", "read,write", "--collections", "mine"]}.items():
            keys[label] = run("key", "create", label, "--db", db, *flags).stdout.strip()
        with Server(db, log="info") as server:
            bearer = {label: {"authorization": f"Bearer {key}"} for label, key in keys.items()}
            for name in ("mine", "other"):
                server.ok("PUT", f"/collections/{name}", SETTINGS, bearer["all"])
            done = [keys_of_others(server, keys, bearer), paths(server, bearer["all"], home), headers(server, keys["all"]), bodies(server, bearer["all"]), pages(server, bearer["all"]), timing(server, keys["all"], 40_000 if is_long else 500, random.Random(seed))]
            server.ok("GET", "/healthz")
            server.stop()
            log = server.said()
        for hidden in [*keys.values(), *(key[-20:] for key in keys.values()), SECRET, SCRIPT]:
            check(hidden not in log, f"the log has {hidden}")
        check(log.count("\n") > 50, "the log is too short to say anything")
        check("panicked" not in log, log[-2000:])
        return [*done, "no key and no text of a document is in the log"]


def keys_of_others(server: Server, keys: dict[str, str], bearer: dict[str, dict]) -> str:
    """Guessed, cut, longer, and used where they do not belong."""
    key = keys["all"]
    wrong = ["", "bz_", key[:-1], key[:len(key) // 2], key + "0", key.upper(), key[:-1] + ("0" if key[-1] != "0" else "1"), key.replace("_", "-"), f"{key} {key}", keys["mine"][:12] + key[12:], "\x7f" * 40]
    for shown in wrong:
        for scheme in ("Bearer", "bearer  ", "Basic"):
            if scheme != "Basic" or shown:
                status, answer = server.ask("GET", "/collections", headers={"authorization": f"{scheme} {shown}"})
                check(status in (400, 401), f"`{scheme} {shown}` is answered with {status}: {answer}")
                check(shown not in json.dumps(answer) or len(shown) < 5, "the answer repeats the key")
    check(server.ask("GET", f"/collections?key={key}")[0] in (400, 401), "a key in the address is taken")
    check(server.ask("PUT", "/collections/new", SETTINGS, bearer["reader"])[0] == 403, "a reader writes")
    check(server.ask("DELETE", "/collections/mine", None, bearer["reader"])[0] == 403, "a reader removes")
    for path in ("/collections/other", "/collections/%6fther", "/collections/other/stats", "/collections/other/documents/x"):
        check(server.ask("GET", path, headers=bearer["mine"])[0] == 404, f"{path} is seen with the key of another collection")
    return f"{len(wrong)} wrong keys refused; scopes and collections kept apart"


def timing(server: Server, key: str, n: int, rng: random.Random) -> str:
    """Wrong keys that share all but their end with a real one take no longer than those that share nothing but its name: Welch's t over requests in random order, without the slowest tenth."""
    near = key[:-1] + ("0" if key[-1] != "0" else "1")
    far = key[:12] + "".join("0" if letter != "0" else "1" for letter in key[12:])
    times: dict[str, list[int]] = {near: [], far: []}
    with socket.create_connection(server.address, 20) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(n):
            shown = rng.choice((near, far))
            request = f"GET /collections HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {shown}\r\n\r\n".encode()
            start = time.perf_counter_ns()
            connection.sendall(request)
            answer = connection.recv(65536)
            took = time.perf_counter_ns() - start
            check(answer.startswith(b"HTTP/1.1 401"), f"{answer[:100]!r}")
            times[shown].append(took)
    kept = [sorted(one)[: len(one) * 9 // 10] for one in times.values()]
    means = [statistics.fmean(one) for one in kept]
    error = sum(statistics.variance(one) / len(one) for one in kept) ** 0.5
    # 4.5 is what tests of leaks by time ask for.
    in_time(abs(means[0] - means[1]) < 4.5 * error, f"near keys take {means[0] - means[1]:.0f} ns longer than far ones, with a standard error of {error:.0f} ns")
    return f"{n} wrong keys: those near a real one took {means[0] / 1000:.2f} us, far ones {means[1] / 1000:.2f} us; difference {means[0] - means[1]:+.0f} ns, standard error {error:.0f} ns"


def paths(server: Server, key: dict, home) -> str:
    """Names that are paths: refused, and nothing outside of the folder is made or read."""
    before = sorted(str(path) for path in home.rglob("*") if "data/db" not in str(path))
    n = 0
    for name in PATHS:
        for method, path, body in [
            ("PUT", f"/collections/{name}", SETTINGS),
            ("GET", f"/collections/{name}", None),
            ("DELETE", f"/collections/{name}", None),
            ("GET", f"/ui/{name}", None),
            ("GET", f"/collections/mine/documents/{name}", None),
            ("POST", "/compare", {"collection": name, "ids": ["a", "b"]}),
        ]:
            try:
                status, answer = server.ask(method, path, body, key)
            except ValueError:
                continue  # The client refuses to send it.
            n += 1
            check(400 <= status < 500, f"{method} {path}: {status} {answer}")
            check(str(home) not in str(answer) and "root:" not in str(answer) and "No such file" not in str(answer), f"{path} tells: {answer}")
    ids = ["../../x", "\u0000", "a\r\nb", "/etc/passwd", SCRIPT]
    answer = server.ok("POST", "/collections/mine/documents", [{"id": id_, "fields": {"body": SECRET}} for id_ in ids], key)
    check(answer["inserted"] + answer["rejected"] == len(ids), str(answer))
    check(sorted(str(path) for path in home.rglob("*") if "data/db" not in str(path)) == before, "a file was made outside of the folder")
    return f"{n} requests with paths for names refused"


def raw(server: Server, request: bytes) -> bytes:
    """The beginning of the answer to bytes as they are."""
    with socket.create_connection(server.address, 20) as connection:
        connection.sendall(request)
        connection.settimeout(20)
        try:
            return connection.recv(65536)
        except OSError:
            return b""


def headers(server: Server, key: str) -> str:
    """Requests that are none, smuggled ones, and other hosts."""
    host = b"host: localhost\r\n"
    auth = f"authorization: Bearer {key}\r\n".encode()
    cases = {
        "a line end in a path": b"GET /collections\r\nset-cookie: a=b HTTP/1.1\r\n" + host + b"\r\n",
        "two lengths": b"POST /plan HTTP/1.1\r\n" + host + auth + b"content-length: 2\r\ncontent-length: 40\r\n\r\n{}",
        "length and chunks": b"POST /plan HTTP/1.1\r\n" + host + auth + b"content-length: 60\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\n" + host + b"\r\n",
        "a bad chunk": b"POST /plan HTTP/1.1\r\n" + host + auth + b"transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "no host": b"GET /collections HTTP/1.1\r\n\r\n",
        "another protocol": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "a huge header": b"GET / HTTP/1.1\r\n" + host + b"x: " + b"y" * 2_000_000 + b"\r\n\r\n",
        "many headers": b"GET / HTTP/1.1\r\n" + host + b"x: y\r\n" * 20_000 + b"\r\n",
    }
    for what, request in cases.items():
        try:
            answer = raw(server, request)
        except OSError:
            answer = b""
        check(not answer.startswith(b"HTTP/1.1 200") and b"set-cookie" not in answer.lower(), f"{what}: {answer[:200]!r}")
        check(answer.count(b"HTTP/1.1 ") <= 1, f"{what}: two answers: {answer[:500]!r}")
    preflight = b"OPTIONS /collections HTTP/1.1\r\n" + host + b"origin: https://elsewhere.example\r\naccess-control-request-method: GET\r\nconnection: close\r\n\r\n"
    check(b"access-control-allow-origin" not in raw(server, preflight).lower(), "a page of another origin may ask")
    return f"{len(cases)} malformed requests refused, another origin too"


def png(width: int, height: int) -> bytes:
    """A small file that says it is a large picture."""
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 10_000_000, 9)) + chunk(b"IEND", b"")


def bodies(server: Server, key: dict) -> str:
    """Huge, deep, endless, lying and bursting ones; the memory stays what it was."""
    server.ok("PUT", "/collections/pictures", {"fields": {"p": {"kind": "image"}}}, key)
    before = server.memory()
    documents = "/collections/mine/documents"
    bomb = gzip.compress(b"[" + b" " * (300 << 20) + b"]", 9)
    cases = [
        ("a deep body", documents, b"[" * 1_000_000, {}, {400}),
        ("a deep object", "/compare", b'{"a":' * 100_000, {}, {400}),
        ("a bursting body", documents, bomb, {"content-encoding": "gzip"}, {413}),
        ("a body that is not gzip", documents, b"[]", {"content-encoding": "gzip"}, {400}),
        ("an unknown encoding", documents, b"[]", {"content-encoding": "br"}, {400, 415}),
        ("too many documents", documents, b"[" + b'{"id":"a"},' * 20_000 + b'{"id":"b"}]', {}, {413}),
        ("a number that is none", "/plan", b'{"threshold": 1e400}', {}, {400, 422}),
        ("a picture as a bomb", "/collections/pictures/documents", json.dumps([{"id": "x", "fields": {"p": base64.b64encode(png(60_000, 60_000)).decode()}}]).encode(), {}, {200}),
    ]
    for what, path, body, more, allowed in cases:
        status, answer = server.ask("POST", path, body, {**key, **more})
        check(status in allowed, f"{what}: {status} {str(answer)[:300]}")
        check(status != 200 or answer["rejected"] == 1, f"{what} was taken: {answer}")
    lying = b"POST /plan HTTP/1.1\r\nhost: localhost\r\nauthorization: " + key["authorization"].encode() + b"\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n{}"
    check(b" 413 " in raw(server, lying)[:40], "a body that says it is 100 GB is waited for")
    grown = (server.memory() - before) >> 20
    check(grown < 200, f"the memory has grown by {grown} MB")
    return f"{len(cases) + 1} bad bodies refused, memory grew by {grown} MB"


def pages(server: Server, key: dict) -> str:
    """Markup in ids and texts comes back as data, and the page lets no script but its own run."""
    server.ok("POST", "/collections/mine/documents", [{"id": SCRIPT, "fields": {"body": SCRIPT}}], key)
    connection = raw(server, b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").decode(errors="replace")
    policy = next((line for line in connection.splitlines() if line.lower().startswith("content-security-policy")), "")
    check("default-src 'none'" in policy and "unsafe-inline" not in policy.replace("style-src", ""), f"the policy is `{policy}`")
    listed = b"GET /collections/mine/documents HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: " + key["authorization"].encode() + b"\r\n\r\n"
    answer = raw(server, listed).decode(errors="replace").lower()
    check("content-type: application/json" in answer and "nosniff" in answer, answer[:500])
    with folder() as home:
        line = json.dumps({"id": SCRIPT, "text": f"{SCRIPT} one two three four five six"})
        (home / f"{'a' * 20}<b>.jsonl").write_text(f"{line}\n{line.replace('alert(1)', 'alert(2)')}\n{line}\n")
        run("dedup", home, "-o", home / "out", "--id-field", "id")
        report = (home / "out/report.html").read_text()
        check(SCRIPT not in report and "<script" not in report.lower(), "the report has a script")
        check("&lt;script&gt;" in report, "the report does not show the text")
    return "markup is shown as text by the report, and sent as JSON to the page"
