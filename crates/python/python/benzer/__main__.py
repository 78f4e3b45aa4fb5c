"""``python -m benzer`` is the command line."""

from __future__ import annotations

import signal
import sys

from benzer import _benzer


def main() -> int:
    """Runs the command line and gives its exit code."""
    # Ctrl-C ends the command, unless that handles it itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _benzer.cli(["benzer", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
