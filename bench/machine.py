"""What the race ran on, as results must say."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

# Instruction sets that decide which kernels a peer can run.
FLAGS = (
    "sse4_2",
    "avx2",
    "bmi2",
    "fma",
    "aes",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512vbmi",
    "avx512_vbmi2",
    "avx512_vpopcntdq",
    "gfni",
)


def describe() -> dict[str, Any]:
    """CPU, cores, memory, operating system."""
    cpu = Path("/proc/cpuinfo").read_text()
    memory = Path("/proc/meminfo").read_text()
    flags = field(cpu, "flags").split()
    return {
        "cpu": field(cpu, "model name"),
        "flags": [flag for flag in FLAGS if flag in flags],
        "cores": os.cpu_count(),
        "memory_gib": round(int(field(memory, "MemTotal").split()[0]) / 2**20, 1),
        "l2": field(cpu, "cache size"),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "load_at_start": round(os.getloadavg()[0], 2),
    }


def host_class(machine: dict[str, Any]) -> str:
    """A short name for machines like this one: `amd-epyc-avx512-2cpu`."""
    name = re.sub(r"\(.*?\)|\d+-Core.*|CPU.*|Processor.*", "", machine["cpu"])
    width = next((w for f, w in (("avx512f", "avx512"), ("avx2", "avx2")) if f in machine["flags"]), "sse")
    return f"{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')}-{width}-{machine['cores']}cpu"


def commit(root: Path) -> str:
    """The commit the race ran at, marked if the tree had changes."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout.strip()

    return git("rev-parse", "--short=12", "HEAD") + ("+changes" if git("status", "--porcelain") else "")


def field(text: str, name: str) -> str:
    """The first value of `name : value`."""
    match = re.search(rf"^{name}\s*:\s*(.*)$", text, re.M)
    return match[1] if match else "unknown"
