"""A cluster of Spark on loopback: a master and two workers, each stopped by its pid."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pyspark

HOME = Path(pyspark.__file__).parent
PATIENCE = 60


class Cluster:
    """The processes of a cluster, with folders of their own below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"spark://127.0.0.1:{self.port}"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._start("master", "master.Master", "--port", str(self.port))
        self._wait("master", "I have been elected leader")
        for name in ("worker-0", "worker-1"):
            self._start(name, "worker.Worker", "--cores", "1", "--memory", "1500m", "--work-dir", str(folder / name / "work"), self.url)
            self._wait(name, "Successfully registered")

    def _start(self, name: str, kind: str, *arguments: str) -> None:
        home = self.folder / name
        home.mkdir(parents=True)
        environment = os.environ | {
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

    def pids(self, name: str) -> list[int]:
        """A process and all below it."""
        found = [self.processes[name].pid]
        for pid in found:
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                found += [int(child) for child in task.read_text().split()]
        return found

    def kill(self, name: str) -> None:
        """Ends a worker with its executors at once, and deletes what they wrote."""
        for pid in self.pids(name):
            os.kill(pid, signal.SIGKILL)
        self.processes.pop(name).wait()
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def listening(self) -> list[str]:
        """The addresses on which the cluster listens, as `ss` tells them."""
        pids = [pid for name in self.processes for pid in self.pids(name)]
        lines = subprocess.run(["ss", "-H", "-l", "-t", "-n", "-p"], capture_output=True, text=True, check=True).stdout.splitlines()
        return [line.split()[3] for line in lines if any(f"pid={pid}," in line for pid in pids)]

    def stop(self) -> None:
        for name in list(self.processes):
            pids = self.pids(name)
            self.processes[name].terminate()
            try:
                self.processes.pop(name).wait(10)
            except subprocess.TimeoutExpired:
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)
