"""A real cluster: several workers, a worker that is killed during the map stage and after it, the wheel sent to executors."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster import HOME, Cluster, end
from conftest import ENGINE, SETTINGS
from corpora import distributed, frame, local, mixed
from loopback import below, is_loopback, listening

from benzer import spark as bs

pytestmark = pytest.mark.skipif(ENGINE != "cluster", reason="the cluster needs a process of its own")
PARTS = 4
PATIENCE = 300


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.stop()


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of an application on the cluster. Executors have the package from the wheel that is sent to them, and from nowhere else."""
    wheel = tmp_path_factory.mktemp("wheel") / "benzer.zip"
    shutil.copy(os.environ["BENZER_WHEEL"], wheel)
    return SETTINGS | {
        "spark.archives": f"{wheel}#benzer-wheel",
        "spark.executorEnv.PYTHONPATH": "benzer-wheel",
        "spark.executor.memory": "512m",
        "spark.task.maxFailures": "8",
    }


@pytest.fixture
def remote(cluster: Cluster, settings: dict[str, str]) -> Iterator[Any]:
    """A session on the cluster."""
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.master(cluster.url)
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def test_the_command_is_submitted_with_the_wheel_as_an_archive(cluster: Cluster, settings: dict[str, str], tmp_path: Path) -> None:
    rows = mixed(60, seed=9)
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"id": id, "text": text}) + "\n" for id, text, _ in rows))
    options = {name: value for name, value in settings.items() if name != "spark.archives"}
    command = [str(HOME / "bin/spark-submit"), "--master", cluster.url, "--archives", settings["spark.archives"]]
    command += [word for option in options.items() for word in ("--conf", "=".join(option))]
    command += [str(Path(bs.__file__).parent / "__main__.py"), str(tmp_path / "in.jsonl"), str(tmp_path / "out")]
    command += ["--evidence", str(tmp_path / "why"), "--work", str(tmp_path / "work"), "--partitions", "2"]
    seen: set[str] = set()
    with (tmp_path / "log").open("wb") as log:
        driver = subprocess.Popen(command, env=os.environ | {"SPARK_HOME": str(HOME)}, stdout=log, stderr=log)
    deadline = time.monotonic() + PATIENCE
    while driver.poll() is None and time.monotonic() < deadline:
        seen.update(listening(below(driver.pid)))
        time.sleep(0.5)
    if driver.poll() is None:
        end(below(driver.pid))
    assert driver.wait() == 0, (tmp_path / "log").read_text(errors="replace")[-3000:]
    assert seen and all(map(is_loopback, seen)), seen
    import pyarrow.parquet as pq

    kept, _, why = local(rows)
    parts = (tmp_path / "out").glob("part-*")
    assert {json.loads(line)["id"] for part in parts for line in part.read_text().splitlines()} == kept
    table = pq.read_table(tmp_path / "why").to_pylist()
    assert sorted(tuple(row.values()) for row in table) == why


def slowly(folder: Path) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Passes rows on, and leaves a file when a task begins and when it ends. The file says in which folder, which is one of its worker."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        import os
        import time
        import uuid
        from pathlib import Path

        name = uuid.uuid4().hex
        Path(folder, f"begun-{name}").write_text(os.getcwd())
        yield from batches
        time.sleep(1)
        Path(folder, f"ended-{name}").write_text(os.getcwd())

    return work


def test_the_same_answer_with_two_workers_and_with_one_killed(cluster: Cluster, remote: Any, tmp_path: Path) -> None:
    rows = mixed(150, seed=11)
    expected = local(rows)
    source = str(tmp_path / "source")
    frame(remote, rows, PARTS).write.parquet(source)

    def where(batches: Iterable[Any]) -> Iterator[Any]:
        import importlib.machinery as importing
        import sys

        import pyarrow as pa

        for _ in batches:
            found = [path for path in sys.path if importing.PathFinder.find_spec("benzer", [path])]
            yield pa.RecordBatch.from_pydict({"path": found})

    paths = {row["path"] for row in remote.range(4).mapInArrow(where, "path string").collect()}
    assert paths and all(path.endswith("benzer-wheel") for path in paths), paths
    addresses = cluster.listening()
    assert len(addresses) >= 5 and all(map(is_loopback, addresses)), addresses

    for moment in ("begun", "ended"):
        if len(cluster.workers()) < 2:
            cluster.start_worker()
        marks = tmp_path / f"marks-{moment}"
        marks.mkdir()
        df = remote.read.parquet(source).mapInArrow(slowly(marks), "id string, text string, score int")
        found: list[Any] = []
        run = bs.Deduplication(df, work=str(tmp_path / f"work-{moment}"), partitions=4)
        thread = threading.Thread(target=lambda: found.append(distributed(run)), daemon=True)
        thread.start()
        deadline = time.monotonic() + PATIENCE
        wanted = 1 if moment == "begun" else PARTS
        # A file is there before its text is.
        while len(folders := list(filter(None, (mark.read_text() for mark in marks.glob(f"{moment}-*"))))) < wanted:
            assert time.monotonic() < deadline, f"no task has {moment}"
            time.sleep(0.05)
        # The worker that has this task, or its result.
        victim = next(name for name in cluster.workers() if f"/{name}/" in folders[0])
        cluster.kill(victim)
        thread.join(PATIENCE)
        assert found == [expected], moment
