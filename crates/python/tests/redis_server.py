"""A Redis server for the tests: started on a free port when it is first asked for, and stopped at the end."""

from __future__ import annotations

import atexit
import functools
import shutil
import socket
import subprocess
import tempfile
import time


@functools.cache
def redis_port() -> int:
    """The port of the server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    folder = tempfile.mkdtemp(prefix="benzer-redis-")
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def stop() -> None:
        server.terminate()
        server.wait(timeout=10)
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return port
        time.sleep(0.05)
    raise RuntimeError("redis-server does not answer")
