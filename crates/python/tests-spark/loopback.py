"""Processes and the addresses on which they listen."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path


def below(pid: int) -> list[int]:
    """A process and all below it. One that ends meanwhile has none."""
    found = [pid]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += [int(child) for child in task.read_text().split()]
            except OSError:
                continue
    return found


def listening(pids: Iterable[int]) -> list[str]:
    """The addresses on which processes listen, as `ss` tells them."""
    lines = subprocess.run(["ss", "-H", "-l", "-t", "-n", "-p"], capture_output=True, text=True, check=True).stdout.splitlines()
    wanted = [f"pid={pid}," for pid in pids]
    return [line.split()[3] for line in lines if any(pid in line for pid in wanted)]


def is_loopback(address: str) -> bool:
    return address.startswith(("127.", "[::ffff:127.", "[::1]"))
