"""What both races build and install, and how they read their command lines."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
PYTHON = BENCH / ".venv/bin/python"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
GAOYA_TARGET = BENCH / "data/gaoya"
CARGO = ["cargo", "build", "--release", "--quiet"]
ONE_THREAD = {
    name: "1" for name in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_NUM_THREADS")
} | {"DAFT_RUNNER": "native", "DAFT_PROGRESS_BAR": "0", "DO_NOT_TRACK": "true", "DAFT_ANALYTICS_ENABLED": "0"}


def gaoya() -> str | None:
    """Builds the peer that is a Rust crate, for the native CPU; the reason if that fails."""
    native = os.environ | {"RUSTFLAGS": "-C target-cpu=native", "CARGO_TARGET_DIR": str(GAOYA_TARGET)}
    reason = attempt(CARGO, cwd=BENCH / "peers/gaoya", env=native)
    return reason and f"does not build: {reason}"


def virtual_environment(*requirements: str) -> str | None:
    """Installs the pinned peers, one by one so that one failure does not take the others along."""
    if not PYTHON.exists() and (reason := attempt([sys.executable, "-m", "venv", str(BENCH / ".venv")])):
        return f"no virtual environment: {reason}"
    lines = [line for name in requirements for line in (BENCH / "peers" / name).read_text().splitlines()]
    for pin in (line for line in lines if not line.startswith("#")):
        if not installed(pin) and (reason := attempt([str(PYTHON), "-m", "pip", "install", "-q", pin])):
            print(f"warning: {pin} cannot be installed: {reason}", file=sys.stderr)
    return None


def installed(requirement: str) -> bool:
    """Whether exactly the pinned version is there."""
    name, version = requirement.split("==")
    test = f"import importlib.metadata as m, sys; sys.exit(m.version({name!r}) != {version!r})"
    return attempt([str(PYTHON), "-c", test]) is None


def attempt(command: list[str], **settings: Any) -> str | None:
    """Nothing if the command succeeds, otherwise the reason."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, **settings)
    except OSError as error:
        return str(error.strerror)
    return None if done.returncode == 0 else last_line(done.stderr) or f"exit status {done.returncode}"


def last_line(text: str) -> str:
    """The line of an error that says most: clap's and cargo's first `error:`, otherwise Python's last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("error")), lines[-1] if lines else "")


def names(known: list[str]) -> Callable[[str], list[str]]:
    """A parser of lists of known names."""

    def parse(value: str) -> list[str]:
        chosen = [name.strip() for name in value.split(",")]
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"expected some of {', '.join(known)}, got {', '.join(unknown)}")
        return chosen

    return parse
