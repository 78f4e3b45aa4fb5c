"""Running a contestant: how long, how much memory, or why not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prepare import last_line


@dataclass
class Run:
    """One process from start to exit."""

    seconds: float
    cpu_seconds: float
    # Of the largest process of the tree; never less than this driver has itself.
    peak_mib: float
    failed: str | None


def bring(corpus: Path) -> None:
    """Has the corpus in the page cache as reading a file brings it there, not in the small pages that its writing left."""
    with corpus.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 20):
            pass


def timed(command: list[str], log: Path, environment: dict[str, str], limit_s: float) -> Run:
    """Runs a command to its end, or kills it and its children at the limit. What it says goes to the log."""
    expired = threading.Event()
    with log.open("wb") as output:
        start = time.perf_counter()
        try:
            child = subprocess.Popen(command, env=environment, stdout=output, stderr=output, start_new_session=True)
        except OSError as error:
            return Run(0.0, 0.0, 0.0, f"cannot be started: {error.strerror}")
        watchdog = threading.Timer(limit_s, kill, (child.pid, expired))
        watchdog.start()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        watchdog.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    failed = None
    if expired.is_set():
        failed = f"took longer than {limit_s:.0f} s"
    elif child.returncode:
        failed = last_line(log.read_text(errors="replace")) or f"exit status {child.returncode}"
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, failed)


def kill(group: int, expired: threading.Event) -> None:
    expired.set()
    os.killpg(group, signal.SIGKILL)


def json_line(command: list[str]) -> tuple[dict[str, Any] | None, str]:
    """The JSON object that a command prints last, or the reason why there is none."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        return None, f"cannot be started: {error.strerror}"
    if done.returncode:
        return None, last_line(done.stderr) or f"exit status {done.returncode}"
    try:
        return json.loads(done.stdout.strip().splitlines()[-1]), ""
    except (IndexError, json.JSONDecodeError):
        return None, "printed no JSON line"
