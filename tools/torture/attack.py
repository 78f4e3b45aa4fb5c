"""Requests of somebody who means no good: keys, paths, headers, bodies, pages of other origins; and what the logs say of all that."""

from __future__ import annotations

import base64
import gzip
import json
import os
import random
import re
import select
import socket
import statistics
import struct
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from lab import SETTINGS, Server, check, folder, in_time, run

SECRET = "a-sentence-that-no-log-may-have"
SCRIPT = "<script>alert(1)</script>"
PATHS = ["..", "../..", "..%2f..%2fetc%2fpasswd", "%2e%2e%2f", "....//", "/etc/passwd", "%2fetc%2fpasswd", "a/../../b", "c%00", ".hidden", "a" * 300, "%ff%fe", "\\..\\..\\x", "c%0d%0aset-cookie:%20a=b", "c%0d%0a%0d%0a<html>", "%c4%8d%c4%8ax:y"]
# The headers that answers have; one more is one that somebody has brought in.
HEADERS = {"allow", "cache-control", "connection", "content-length", "content-security-policy", "content-type", "cross-origin-resource-policy", "date", "etag", "referrer-policy", "retry-after", "transfer-encoding", "www-authenticate", "x-content-type-options", "x-frame-options", "x-request-id"}
PRIZE = "what-stands-in-a-file-outside"


def all_attacks(is_long: bool, seed: int) -> Iterator[str]:
    """On one server with keys and the embedded store, then on some without keys."""
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
            yield keys_of_others(server, keys, bearer)
            yield paths(server, bearer["all"], home, db)
            yield headers(server, keys["all"])
            yield bodies(server, bearer["all"])
            yield secrets(server, bearer["all"])
            yield pages(server, bearer["all"])
            yield timing(server, keys["all"], 40_000 if is_long else 500, random.Random(seed))
            server.ok("GET", "/healthz")
            server.stop()
            log = server.said()
        for hidden in [*keys.values(), *(key[-20:] for key in keys.values()), SECRET, SCRIPT]:
            check(hidden not in log, f"the log has {hidden}")
        check(log.count("\n") > 1000, "the log is too short to say anything")
        check("panicked" not in log, log[-2000:])
        yield "no key and no text of a document or a request is in the log"
    yield pictures(16 if is_long else 8, 8)
    if is_long:
        yield pictures(16, 16)
    yield patience()
    yield hosts()
    yield cross_origin()


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


def files(place: Path, without: Path | None = None) -> dict[str, bytes]:
    """All files and folders of a folder, with what is in them."""
    found = (path for path in place.rglob("*") if without is None or not path.is_relative_to(without))
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in found}


def plain(what: str, told: list[tuple[str, str]]) -> None:
    """The headers of an answer are those that it has always."""
    check({name for name, _ in told} <= HEADERS and len({name for name, _ in told}) == len(told), f"{what}: headers {told}")


def parts(*all_parts: tuple[str, str, str]) -> tuple[bytes, dict[str, str]]:
    """A body in parts, of names, names of files and contents; and its header."""
    head = 'Content-Disposition: form-data; name="{}"; filename="{}"\r\n\r\n{}\r\n'
    body = "".join("--edge\r\n" + head.format(*part) for part in all_parts) + "--edge--\r\n"
    return body.encode(), {"content-type": "multipart/form-data; boundary=edge"}


def paths(server: Server, key: dict, home: Path, db: Path) -> str:
    """Names that are paths, at every place of every route: refused where they name something, data where they are data, and nothing outside of the folder is read, made, changed or removed."""
    with folder() as outside:
        (outside / "prize").write_text(PRIZE)
        wanted = [str(outside / "prize"), str(outside / "made"), *(os.path.relpath(outside / name, start) for name in ("prize", "made") for start in (db, db / "mine", os.getcwd()))]
        names = [*PATHS, *(quote(name, safe="") for name in wanted), *wanted]
        before = files(home, db), files(outside)
        n = 0

        def ask(method: str, path: str, body: object = None, more: dict | None = None, refused: bool = True):
            nonlocal n
            n += 1
            status, answer, told = server.whole(method, path, body, {**key, **(more or {})})
            what = f"{method} {path} {str(body)[:200]}"
            check(400 <= status < 500 if refused else status < 500, f"{what}: {status} {str(answer)[:500]}")
            check(not any(one in str(answer) for one in (str(home), PRIZE, "root:", "No such file", "os error")), f"{what} tells: {str(answer)[:500]}")
            plain(what, told)
            return status, answer

        good = {"put": SETTINGS, "/collections/{name}/documents": [{"id": "p", "fields": {"body": "a b"}}], "/collections/{name}/search": {"id": "p"}, "/compare": {"documents": [{"id": "p"}, {"id": "p"}]}, "/plan": {}}
        routes = [(method, path, one.get("parameters", [])) for path, methods in server.ok("GET", "/openapi.json")["paths"].items() for method, one in methods.items()]
        check(len(routes) >= 17, f"only {len(routes)} routes are described")
        for method, route, parameters in routes:
            body = good["put"] if method == "put" else good[route] if method == "post" else None
            for parameter in parameters:
                for name in names:
                    path = route
                    for other in parameters:
                        if other["in"] == "path":
                            path = path.replace("{" + other["name"] + "}", name if other is parameter else "mine")
                    ask(method.upper(), path + (f"?{parameter['name']}={name}" if parameter["in"] == "query" else ""), body)
            for name in names:
                # What a route does not know it may pass over, as long as it reads nothing.
                if method == "get":
                    ask("GET", f"{route.replace('{name}', 'mine').replace('{id}', 'p')}?file={name}&path={name}", refused=False)
        for name in names:
            ask("GET", f"/ui/{name}")
            ask("GET", f"/{name}")
        for name in {unquote(name) for name in names}:
            for body in [{"id": name}, {"id": "p", "with": name}, {"id": "p", "fields": [name]}, {"id": "p", "weights": {name: 1.0}}, {"id": "p", "thresholds": {name: 0.5}}, {"document": {"fields": {"body": [name], "tags": name}}}, {name: 1}]:
                ask("POST", "/collections/mine/search", body)
            ask("POST", "/collections/mine/search", {"document": {"fields": {name: "a b", "body": name}}}, refused=False)
            for body in [{"collection": name, "documents": [{"id": "a"}, {"id": "b"}]}, {"collection": "mine", "documents": [{"id": name}, {"id": name}]}, {"fields": {name: {"kind": name}}, "documents": []}]:
                ask("POST", "/compare", body)
            ask("POST", "/plan", {name: name})
            for field, file in [(name, "a.png"), ("body", name), (name, name)]:
                if '"' not in name and "\n" not in name:
                    ask("POST", "/collections/mine/documents", *parts(("document", name, '{"id": "in parts"}'), (field, file, "content")), refused=False)
        # Names of fields and ids are data: what is taken comes back as it was.
        fields = sorted({unquote(name) for name in names})
        status, answer = ask("PUT", "/collections/named", {"fields": {name: {"kind": "values"} for name in fields}, "keeps": "documents"}, refused=False)
        check(status == 201 and sorted(answer["fields"]) == fields, f"{status} {answer}")
        ids = [*fields, "../../x", "\u0000", "a\r\nb", SCRIPT]
        batch = [{"id": id_, "fields": {field: [field, SECRET] for field in fields}} for id_ in ids]
        answer = server.ok("POST", "/collections/named/documents", batch, key)
        kept = [id_ for id_, result in zip(ids, answer["results"]) if result["status"] == "inserted"]
        check(len(kept) >= len(ids) - 1, str(answer)[:1000])
        listed = {one["id"]: one["fields"] for one in server.ok("GET", "/collections/named/documents?limit=1000", None, key)["documents"]}
        check(listed == {id_: batch[0]["fields"] for id_ in kept}, f"other documents came back: {str(listed)[:1000]}")
        for id_ in kept:
            if len(id_) < 200:
                check(server.ok("GET", f"/collections/named/documents/{quote(id_, safe='')}", None, key)["id"] == id_, f"{id_} is another")
        for path in db.rglob("*"):
            inside = path.relative_to(db).parts
            check(len(inside) <= 2 and (inside[0] in ("mine", "other", "named") or len(inside) == 1 and inside[0].startswith(".")) and all(re.fullmatch(r"[\w.-]+", part) for part in inside), f"{path} was made")
        server.ok("DELETE", "/collections/named", None, key)
        check(server.ok("DELETE", "/collections/mine/documents/in%20parts", None, key) == "", "it was not there")
        check((files(home, db), files(outside)) == before, "something outside of the folder was changed")
    return f"{n} requests with paths for names: {len(routes)} routes, {len(names)} names, no file but the collections' touched"


def rest(connection: socket.socket) -> tuple[bytes, bool]:
    """All that comes up to the end of a connection, and whether it was cut off."""
    answer = b""
    try:
        while more := connection.recv(65536):
            answer += more
    except ConnectionError:
        return answer, True
    except TimeoutError as error:
        raise AssertionError(f"the server neither answers nor closes: {answer[:200]!r}") from error
    return answer, False


def raw(server: Server, request: bytes) -> bytes:
    """The answer to bytes as they are, up to the end of the connection. There is none only where the server closes while it is still sent to."""
    is_cut = False
    with socket.create_connection(server.address, 20) as connection:
        try:
            connection.sendall(request)
        except ConnectionError:
            is_cut = True  # What the server said before may still be there.
        answer, is_reset = rest(connection)
    check(answer or is_cut or is_reset, f"an end without an answer to {request[:100]!r}")
    if answer:
        parsed(answer)
    return answer


def parsed(answer: bytes) -> tuple[int, bytes]:
    """Status and body of one answer that is whole, with nothing behind it and no header of somebody else."""
    check(answer.startswith(b"HTTP/1.1 ") and b"\r\n\r\n" in answer, f"no answer: {answer[:200]!r}")
    head, body = answer.split(b"\r\n\r\n", 1)
    first, *lines = head.decode("latin-1").split("\r\n")
    told = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    plain(first, told)
    check(int(dict(told).get("content-length", -1)) == len(body), f"not one whole answer: {answer[-500:]!r}")
    return int(first.split(" ")[1]), body


def headers(server: Server, key: str) -> str:
    """Requests that are none, smuggled ones, and other hosts."""
    host = b"host: localhost\r\n"
    auth = f"authorization: Bearer {key}\r\n".encode()
    post = b"POST /plan HTTP/1.1\r\n" + host + auth + b"content-type: application/json\r\n"
    get = b"GET /collections HTTP/1.1\r\n" + host + auth
    second = b"GET /metrics HTTP/1.1\r\n" + host + auth + b"\r\n"
    cases = {
        "a line end in a path": b"GET /collections\r\nset-cookie: a=b HTTP/1.1\r\n" + host + auth + b"\r\n",
        "a line end in a query": b"GET /collections?a=\r\nset-cookie: a=b HTTP/1.1\r\n" + host + auth + b"\r\n",
        "half a line end in a query": b"GET /collections?a=\rset-cookie:a=b HTTP/1.1\r\n" + host + auth + b"\r\n",
        "a folded header": get + b"x: a\r\n set-cookie: a=b\r\n\r\n",
        "a zero in a header": get + b"x: a\0b\r\n\r\n",
        "two lengths": post + b"content-length: 2\r\ncontent-length: 40\r\n\r\n{}",
        "a length with a sign": post + b"content-length: +2\r\n\r\n{}",
        "a space behind a name": post + b"content-length : 2\r\n\r\n{}",
        "length and chunks": post + b"content-length: 60\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n" + second,
        "chunks and length": post + b"transfer-encoding: chunked\r\ncontent-length: 6\r\n\r\n0\r\n\r\n" + second,
        "chunks that are none": post + b"transfer-encoding: xchunked\r\n\r\n0\r\n\r\n" + second,
        "a bad chunk": post + b"transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "no host and no key": b"GET /collections HTTP/1.1\r\nconnection: close\r\n\r\n",
        "another protocol": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "a huge header": get + b"x: " + b"y" * 2_000_000 + b"\r\n\r\n",
        "many headers": get + b"x: y\r\n" * 20_000 + b"\r\n",
    }
    # These are long enough to be cut off before they are sent.
    may_cut = {"a huge header", "many headers"}
    for what, request in cases.items():
        answer = raw(server, request)
        check(answer or what in may_cut, f"{what}: closed without an answer")
        check(not answer or 400 <= parsed(answer)[0] < 500, f"{what}: {answer[:500]!r}")
    for query in ("a=%0d%0aset-cookie:%20a=b", "from=%0d%0aset-cookie:%20a=b", "%0d%0aset-cookie:%20a=b", "limit=1%0d%0a%0d%0a<html>"):
        for path in ("/collections", "/collections/mine/documents", "/collections/mine/duplicates", "/", "/ui/app.js", "/nothing%0d%0aset-cookie:a=b", "/openapi.json", "/reference"):
            plain(f"{path}?{query}", server.whole("GET", f"{path}?{query}", None, {"authorization": f"Bearer {key}"})[2])
    preflight = b"OPTIONS /collections HTTP/1.1\r\n" + host + b"origin: https://elsewhere.example\r\naccess-control-request-method: GET\r\nconnection: close\r\n\r\n"
    check(b"access-control-allow-origin" not in raw(server, preflight).lower(), "a page of another origin may ask")
    return f"{len(cases)} malformed requests refused with one whole answer each, another origin too"


def png(width: int, height: int, bits: int = 8) -> bytes:
    """A small file of a large black picture; it has no more than 25 million pixels of what it says. Of 8 bits it is RGB, of 16 also transparent."""
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, bits, 2 if bits == 8 else 6, 0, 0, 0)
    content = bytes(min(height, 25_000_000 // width) * (width * (3 if bits == 8 else 8) + 1))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(content, 9)) + chunk(b"IEND", b"")


def endless(server: Server, head: bytes, piece: bytes, most: int) -> tuple[int, int]:
    """Sends a head, and a piece over and over again until the server answers or closes. The status, 0 if there is none, and the bytes that were sent."""
    sent = 0
    with socket.create_connection(server.address, 20) as connection:
        try:
            connection.sendall(head)
            while not select.select([connection], [], [], 0)[0]:
                check(sent <= most, f"{head[:60]!r} {piece[:20]!r}: {sent} bytes are taken without an answer")
                connection.sendall(piece)
                sent += len(piece)
        except ConnectionError:
            pass
        answer, _ = rest(connection)
    return parsed(answer)[0] if answer else 0, sent


def bodies(server: Server, key: dict) -> str:
    """Huge, deep, endless, lying and bursting ones; the memory is at no moment much more than before."""
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
    auth = b"host: localhost\r\nauthorization: " + key["authorization"].encode() + b"\r\ncontent-type: application/json\r\n"
    lying = raw(server, b"POST /plan HTTP/1.1\r\n" + auth + b"content-length: 99999999999\r\n\r\n{}")
    check(b" 413 " in lying[:40], "a body that says it is 100 GB is waited for")
    chunked = auth + b"transfer-encoding: chunked\r\n\r\n"
    insert, plan = b"POST " + documents.encode() + b" HTTP/1.1\r\n" + chunked, b"POST /plan HTTP/1.1\r\n" + chunked
    chunk, room = b"10000\r\n" + b" " * 65536 + b"\r\n", 16 << 20  # What buffers of the system may hold beyond the limit.
    without_end = [
        ("a body", insert, chunk, (64 << 20) + room, {0, 413}),
        ("a small body", plan, chunk, (5 << 20) + room, {0, 413}),
        ("a body in small pieces", plan, b"8\r\n        \r\n" * 5_000, 2 * (5 << 20) + room, {0, 413}),
        ("the name of a chunk", plan + b"1;", b"a" * 65536, room, {0, 400}),
        ("a list of trailers", plan + b"0\r\n", b"a: b\r\n" * 10_000, room, {0, 400, 431}),
        ("a list of headers", b"GET / HTTP/1.1\r\n", b"a: b\r\n" * 10_000, room, {0, 431}),
        ("a header", b"GET / HTTP/1.1\r\na: ", b"b" * 65536, room, {0, 431}),
        ("a path", b"GET /", b"b" * 65536, room, {0, 400, 414, 431}),
        ("empty lines", b"", b"\r\n" * 32768, room, {0, 400, 431}),
    ]
    sent = 0
    for what, head, piece, most, allowed in without_end:
        status, bytes_ = endless(server, head, piece, most)
        check(status in allowed, f"{what} without an end: {status} after {bytes_} bytes")
        sent = max(sent, bytes_)
    grown = (server.peak() - before) >> 20
    check(grown < 200, f"the memory has grown by {grown} MB")
    return f"{len(cases) + 1} bad bodies refused, {len(without_end)} without an end after {sent >> 20} MB at most; the memory grew by {grown} MB at most"


def patience() -> str:
    """A chunk whose size is zeros without an end, which no number of bytes ends, and a body that does not go on: the time of a request ends them."""
    head = b"POST /plan HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    with Server("memory:", "--timeout", "1") as server:
        before, start = server.memory(), time.monotonic()
        with socket.create_connection(server.address, 20) as still:
            still.sendall(head + b"2\r\n")
            zeros, sent = endless(server, head, b"0" * 65536, 1 << 40)
            stalled = parsed(rest(still)[0])[0]
        took = time.monotonic() - start
        check(zeros in (0, 400, 503) and stalled == 503 and took < 10, f"{zeros} and {stalled} after {took:.1f} s and {sent} bytes")
        grown = (server.peak() - before) >> 20
        check(grown < 16, f"the memory has grown by {grown} MB")
        server.stop()
    return f"requests that do not end were ended after {took:.1f} s"


def pictures(n: int, bits: int) -> str:
    """So many requests at a time with pictures that are just not too large, all of them taken: no more are decoded at a time than there are threads."""
    bytes_, pixels = png(5000, 5000, bits), 25_000_000
    fields = {"p": base64.b64encode(bytes_).decode()}
    with Server("memory:", "--threads", "2") as server:
        server.ok("PUT", "/collections/c", {"fields": {"p": {"kind": "image"}}})
        check(server.ok("POST", "/collections/c/documents", [{"id": "over", "fields": {"p": base64.b64encode(png(5000, 5001, bits)).decode()}}])["rejected"] == 1, "a picture beyond the limit is taken")
        before, answers = server.memory(), []

        def ask(i: int) -> None:
            if i % 4 == 0:
                answers.append(server.ask("POST", "/collections/c/documents", [{"id": f"{i}", "fields": fields}]))
            elif i % 4 == 1:
                edge = b'--x\r\nContent-Disposition: form-data; name="document"\r\n\r\n{"id": "%d"}\r\n--x\r\nContent-Disposition: form-data; name="p"; filename="p.png"\r\n\r\n%b\r\n--x--\r\n' % (i, bytes_)
                answers.append(server.ask("POST", "/collections/c/documents", edge, {"content-type": "multipart/form-data; boundary=x"}))
            elif i % 4 == 2:
                answers.append(server.ask("POST", "/collections/c/search", {"document": {"fields": fields}}))
            else:
                answers.append(server.ask("POST", "/compare", {"collection": "c", "documents": [{"document": {"fields": fields}}] * 2}))

        clients = [threading.Thread(target=ask, args=(i,)) for i in range(n)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        check(len(answers) == n and all(status == 200 and answer.get("rejected", 0) == 0 for status, answer in answers), f"not all pictures are taken: {str(answers)[:1000]}")
        check(server.ok("GET", "/collections/c")["documents"] == n // 2, "not all pictures are there")
        grown = (server.peak() - before) >> 20
        # Two threads read and one writes: eight bytes for each pixel of a byte for each colour, sixteen for one of two.
        most = 3 * pixels * bits + (64 << 20) >> 20
        check(grown < most, f"{n} pictures of {bits} bits at a time take {grown} MB, more than {most}")
        server.stop()
    return f"{n} pictures of {pixels // 1_000_000} megapixels and {bits} bits at a time, all taken: the memory grew by {grown} MB at most"


def secrets(server: Server, key: dict) -> str:
    """A text that no log may have, in everything that has a body: taken, refused, malformed, in parts, compressed, of the wrong kind."""
    mine, text = "/collections/mine", {"fields": {"body": f"{SECRET} one two three"}}
    value, word = json.dumps(SECRET).encode(), SECRET.encode()
    one = [{"id": SECRET, **text}]
    sent = [
        ("POST", f"{mine}/documents", one, {}, {200}),
        ("POST", f"{mine}/documents", [{"id": SECRET, "fields": {"tags": SECRET}}, {"id": "a", "fields": {SECRET: SECRET}}, {"id": "b", SECRET: 1}, SECRET, {"id": [SECRET]}, {"id": "c", "ttl": SECRET, **text}], {}, {200}),
        ("POST", f"{mine}/documents", b"\n".join([json.dumps(one[0]).encode(), word, b"{" + value]), {"content-type": "application/x-ndjson"}, {200}),
        ("POST", f"{mine}/documents", gzip.compress(json.dumps(one).encode()), {"content-encoding": "gzip"}, {200}),
        ("POST", f"{mine}/documents", word, {"content-encoding": "zstd"}, {400}),
        ("POST", f"{mine}/documents", word, {"content-type": SECRET}, {415}),
        ("POST", f"{mine}/documents", word, {"content-encoding": SECRET}, {415}),
        ("POST", f"{mine}/documents", word, {"content-type": f"multipart/form-data; boundary={SECRET}"}, {400}),
        ("POST", "/collections/pictures/documents", [{"id": SECRET, "fields": {"p": SECRET}}, {"id": "x", "fields": {"p": base64.b64encode(word).decode()}}], {}, {200}),
        ("POST", f"{mine}/search", {"document": text, "explain": True}, {}, {200}),
        ("POST", f"{mine}/search", {"id": SECRET}, {}, {200}),
        ("POST", f"{mine}/search", {"id": f"{SECRET} of nobody"}, {}, {404}),
        ("POST", f"{mine}/search", {"id": SECRET, "fields": [SECRET]}, {}, {400}),
        ("POST", f"{mine}/search", {"id": SECRET, "measure": SECRET}, {}, {400}),
        ("POST", f"{mine}/search", {"document": {"fields": {"tags": SECRET}}}, {}, {400}),
        ("POST", "/compare", {"collection": "mine", "documents": [{"document": text}, {"id": SECRET}], "passages": True}, {}, {200}),
        ("POST", "/compare", {"collection": SECRET, "documents": [{"document": text}] * 2}, {}, {404}),
        ("POST", "/compare", {"fields": {SECRET: {"kind": SECRET}}, "documents": [{"document": text}] * 2}, {}, {400}),
        ("POST", "/plan", {SECRET: SECRET}, {}, {400}),
        ("PUT", "/collections/new", {"fields": {SECRET: {"kind": SECRET}}}, {}, {400}),
        ("PUT", "/collections/new", {"fields": {"a": {"kind": "text", "stop_words": SECRET}}}, {}, {400}),
        ("GET", f"{mine}/documents?from={SECRET}", None, {}, {400}),
        ("GET", f"{mine}/duplicates?as={SECRET}&{SECRET}={SECRET}", None, {}, {400}),
        ("GET", f"/collections?text={SECRET}", None, {"x-text": SECRET, "cookie": SECRET, "user-agent": SECRET, "referer": f"http://localhost/{SECRET}"}, {400}),
    ]
    for file, content in [(SECRET, "a b"), ("a.txt", SECRET)]:
        sent += [("POST", f"{mine}/documents", *parts(("document", file, json.dumps(one[0])), (field, file, content)), {200}) for field in ("body", "tags", SECRET)]
        sent.append(("POST", f"{mine}/documents", *parts((SECRET, file, content)), {400}))
        sent.append(("POST", f"{mine}/documents", *parts(("document", file, SECRET)), {400}))
    for path in (f"{mine}/documents", f"{mine}/search", "/compare", "/plan"):
        sent += [("POST", path, body, {}, {400}) for body in (word, value, b"{" + value, b"[" + value, b"{" + value + b": " + value + b"}", b"[" * 99 + value, value + b"\xff")]
    for method, path, body, more, allowed in sent:
        status, answer, told = server.whole(method, path, body, {**key, **more})
        check(status in allowed, f"{method} {path} {str(body)[:200]}: {status} {str(answer)[:500]}")
        plain(path, told)
    # One that breaks off, and one without a key.
    head = f"POST {mine}/documents HTTP/1.1\r\nhost: localhost\r\nauthorization: {key['authorization']}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n"
    with socket.create_connection(server.address, 20) as connection:
        connection.sendall(head.encode() + word)
        connection.shutdown(socket.SHUT_WR)
        rest(connection)
    check(server.ask("POST", f"{mine}/documents", one)[0] == 401, "without a key")
    check(server.ask("GET", "/collections", None, {"authorization": f"Bearer {SECRET}"})[0] == 401, "a wrong key")
    return f"{len(sent) + 3} requests that have a secret text"


def hosts() -> str:
    """A server without keys goes by its own name alone, so a request has to say one, and one only. Browsers always say one: a request without any is no page's."""
    with Server("memory:") as server:
        own = f"host: {server.address[0]}:{server.address[1]}\r\n"
        ask = lambda lines: parsed(raw(server, f"GET /collections HTTP/1.1\r\n{lines}connection: close\r\n\r\n".encode()))[0]
        others = {"an empty one": "host:\r\n", "two": own + "host: evil.example\r\n", "two, its own last": "host: evil.example\r\n" + own, "another": "host: evil.example\r\n", "one that begins like its own": "host: 127.0.0.1.evil.example\r\n", "one that ends so": "host: evil.example@127.0.0.1\r\n"}
        taken = {what: status for what, status in ((what, ask(lines)) for what, lines in others.items()) if status not in (400, 421)}
        check(not taken, f"hosts that are taken without keys: {taken}")
        check(ask(own) == 200, "its own host is refused")
        server.stop()
    return f"without keys, {len(others)} requests for another host or two refused"


def cross_origin() -> str:
    """A page of another origin, which a browser lets send forms and plain texts without asking: a server without keys refuses it, and nothing is changed."""
    form = parts(("document", "a", '{"id": "form", "fields": {"body": "a b c"}}'))
    lines = b'[{"id": "plain", "fields": {"body": "a b c"}}]'
    with Server("memory:", "--cors", "https://friend.example") as friendly, Server("memory:") as server:
        own = f"http://{server.address[0]}:{server.address[1]}"
        for one in (server, friendly):
            one.ok("PUT", "/collections/x", SETTINGS)
            one.ok("POST", "/collections/x/documents", [{"id": "old", "fields": {"body": "a b c"}}])
        count = lambda one: one.ok("GET", "/collections/x")["documents"]
        origins = ["https://evil.example", "null", "http://127.0.0.1.evil.example", f"{own}.evil.example", f"http://{server.address[0]}:1", f"http://evil.example:{server.address[1]}", "file://"]
        requests = [
            ("POST", "/collections/x/documents", form[0], form[1]),
            ("POST", "/collections/x/documents", lines, {"content-type": "text/plain"}),
            ("POST", "/collections/x/documents", lines, {}),
            ("POST", "/collections/x/search", {"id": "old"}, {}),
            ("POST", "/compare", {"collection": "x", "documents": [{"id": "old"}] * 2}, {}),
            ("GET", "/collections/x/documents", None, {}),
            ("GET", "/collections/x/duplicates", None, {}),
            ("GET", "/metrics", None, {}),
            ("PUT", "/collections/y", SETTINGS, {}),
            ("DELETE", "/collections/x/documents/old", None, {}),
            ("DELETE", "/collections/x", None, {}),
        ]
        for one in (server, friendly):
            for origin in origins:
                for method, path, body, more in requests:
                    status, answer = one.ask(method, path, body, {**more, "origin": origin})
                    check(status == 403, f"{method} {path} ({more.get('content-type', 'JSON')}) of the origin `{origin}`: {status} {str(answer)[:300]}")
                check(count(one) == 1, f"a page of `{origin}` has changed the collection")
            check([one["name"] for one in one.ok("GET", "/collections")["collections"]] == ["x"], "a page has made or removed a collection")
        taken = server.ok("POST", "/collections/x/documents", form[0], {**form[1], "origin": own})
        check(taken["inserted"] == 1 and count(server) == 2, f"its own page cannot insert: {taken}")
        taken = server.ok("POST", "/collections/x/documents", lines)
        check(taken["inserted"] == 1 and count(server) == 3, f"without an origin nothing is inserted: {taken}")
        taken = friendly.ok("POST", "/collections/x/documents", lines, {"origin": "https://friend.example"})
        check(taken["inserted"] == 1 and count(friendly) == 2, f"a page that --cors allows cannot insert: {taken}")
        server.stop()
        friendly.stop()
    return f"without keys, {len(requests)} requests of each of {len(origins)} other origins refused, those of the own page and of --cors taken"


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
