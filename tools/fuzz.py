"""Runs fuzz targets for so many seconds of processor time each, whatever else the machine does, and keeps the totals.

    python3 tools/fuzz.py SECONDS [NAME...]

Called by tools/fuzz.sh, which builds the targets. As many run at a time as BENZER_FUZZ_JOBS says (one for each processor without it). A target is asked to end (SIGUSR1) when its processor time is over; time in which it waits or is stopped does not count.
What is new goes to fuzz/target/found, what breaks a target to fuzz/artifacts, the totals of all runs to fuzz/target/totals.json.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FUZZ = Path(__file__).resolve().parent.parent / "fuzz"
BUILT = FUZZ / "target/x86_64-unknown-linux-gnu/release"
# Seconds of processor time after which an input that does not end is a finding. The limit of libFuzzer itself counts time in which a busy machine does not let it run.
HANGS = 60
FLAGS = ["-timeout=86400", "-report_slow_units=86400", "-rss_limit_mb=3000", "-max_len=65536", "-print_final_stats=1"]


def used(pid: int) -> float:
    """Seconds of processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fuzz(name: str, seconds: float) -> dict:
    """One target; what it did."""
    found, broken = FUZZ / f"target/found/{name}", FUZZ / f"artifacts/{name}"
    for folder in (found, broken):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(broken.iterdir())
    log = FUZZ / f"target/{name}.log"
    command = [BUILT / name, *FLAGS, f"-artifact_prefix={broken}/", found, FUZZ / f"corpus/{name}"]
    with open(log, "w", encoding="utf-8") as out:
        child = subprocess.Popen(command, stdout=out, stderr=out, cwd=FUZZ, env={**os.environ, "ASAN_OPTIONS": "detect_odr_violation=0"})
        took = 0.0
        while child.poll() is None:
            took = used(child.pid)
            if took >= seconds + HANGS:
                child.send_signal(signal.SIGABRT)  # It keeps the input that it hangs on.
            elif took >= seconds:
                child.send_signal(signal.SIGUSR1)
            time.sleep(0.5)
    said = log.read_text(errors="replace")
    runs = [int(n) for n in re.findall(r"stat::number_of_executed_units: (\d+)", said)] or [int(n) for n in re.findall(r"^#(\d+)", said, re.M)]
    cover = re.findall(r"cov: (\d+)", said)
    findings = sorted(path.name for path in set(broken.iterdir()) - before)
    if child.returncode and not findings:
        findings = [f"it ended with {child.returncode}, see {log.relative_to(FUZZ)}"]
    return {"seconds": took, "runs": max(runs, default=0), "places": int(cover[-1]) if cover else 0, "findings": findings}


def main() -> int:
    """All targets; 1 if one broke."""
    seconds = float(sys.argv[1])
    names = sys.argv[2:] or sorted(path.stem for path in (FUZZ / "fuzz_targets").glob("*.rs"))
    kept = FUZZ / "target/totals.json"
    totals = json.loads(kept.read_text()) if kept.exists() else {}
    guard = threading.Lock()

    def one(name: str) -> int:
        did = fuzz(name, seconds)
        with guard:
            old = totals.get(name, {"seconds": 0, "runs": 0, "findings": []})
            totals[name] = {"seconds": old["seconds"] + did["seconds"], "runs": old["runs"] + did["runs"], "places": did["places"], "findings": old["findings"] + did["findings"]}
            kept.write_text(json.dumps(totals, indent=1) + "\n")
            print(f"{name}: {did['seconds']:.0f} s of processor time, {did['runs']} executions, {did['places']} places covered, found: {', '.join(did['findings']) or 'nothing'}", flush=True)
        return len(did["findings"])

    with ThreadPoolExecutor(int(os.environ.get("BENZER_FUZZ_JOBS") or os.cpu_count() or 1)) as jobs:
        broken = sum(jobs.map(one, names))
    minutes, runs = sum(one["seconds"] for one in totals.values()) / 60, sum(one["runs"] for one in totals.values())
    print(f"in all runs: {len(totals)} targets, {minutes:.1f} minutes of processor time, {runs} executions, {sum(len(one['findings']) for one in totals.values())} findings")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
