"""A cluster of Spark on loopback: a master and two workers, each stopped by its pid."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pyspark
from loopback import below, listening

HOME = Path(pyspark.__file__).parent
#: Seconds for a server to start, on a machine with much else to do.
PATIENCE = 180


class Cluster:
    """The processes of a cluster, with folders of their own below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"spark://127.0.0.1:{self.port}"
        self.n_workers = 0
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._start("master", "master.Master", "--port", str(self.port))
        self._wait("master", "I have been elected leader")
        for _ in range(2):
            self.start_worker()

    def start_worker(self) -> None:
        """One more worker, of one core."""
        name = f"worker-{self.n_workers}"
        self.n_workers += 1
        self._start(name, "worker.Worker", "--cores", "1", "--memory", "1500m", "--work-dir", str(self.folder / name / "work"), self.url)
        self._wait(name, "Successfully registered")

    def workers(self) -> list[str]:
        """The workers that live."""
        return [name for name in self.processes if name != "master"]

    def _start(self, name: str, kind: str, *arguments: str) -> None:
        home = self.folder / name
        home.mkdir(parents=True)
        bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment = bare | {
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(home / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-Dspark.master.rest.enabled=false",
        }
        command = [str(HOME / "bin/spark-class"), f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1", "--webui-port", "0", *arguments]
        with (home / "log").open("wb") as log:
            self.processes[name] = subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    def _wait(self, name: str, words: str) -> None:
        deadline = time.monotonic() + PATIENCE
        log = self.folder / name / "log"
        while words not in log.read_text(errors="replace"):
            if time.monotonic() > deadline or self.processes[name].poll() is not None:
                raise RuntimeError(f"{name} did not start:\n{log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.1)

    def kill(self, name: str) -> None:
        """Ends a worker with its executors at once, and deletes what they wrote."""
        end(below(self.processes[name].pid))
        self.processes.pop(name).wait()
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def listening(self) -> list[str]:
        """The addresses on which the cluster listens."""
        return listening(pid for process in self.processes.values() for pid in below(process.pid))

    def stop(self) -> None:
        for name in list(self.processes):
            pids = below(self.processes[name].pid)
            self.processes[name].terminate()
            try:
                self.processes.pop(name).wait(10)
            except subprocess.TimeoutExpired:
                end(pids)


def end(pids: list[int]) -> None:
    """Ends processes at once; some may have ended with others."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
