"""A real cluster: several workers, a worker that is killed during the map stage and after it, the wheel sent to executors."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster import Cluster
from conftest import ENGINE, SETTINGS
from corpora import distributed, frame, local, mixed
from loopback import is_loopback

from benzer import spark as bs

pytestmark = pytest.mark.skipif(ENGINE != "cluster", reason="the cluster needs a process of its own")
PARTS = 4
PATIENCE = 120


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path / "cluster")
    yield made
    made.stop()


@pytest.fixture
def remote(cluster: Cluster, tmp_path: Path) -> Iterator[Any]:
    """A session on the cluster. Executors have the package from the wheel that the session sends them."""
    from pyspark.sql import SparkSession

    wheel = tmp_path / "benzer.zip"
    shutil.copy(os.environ["BENZER_WHEEL"], wheel)
    settings = SETTINGS | {
        "spark.archives": f"{wheel}#benzer-wheel",
        "spark.executorEnv.PYTHONPATH": "benzer-wheel",
        "spark.executor.memory": "512m",
        "spark.network.timeout": "60s",
        "spark.task.maxFailures": "8",
    }
    builder: Any = SparkSession.builder.master(cluster.url)
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


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
        import pyarrow as pa

        import benzer

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"path": [benzer.__file__]})

    paths = {row["path"] for row in remote.range(4).mapInArrow(where, "path string").collect()}
    assert paths and all("benzer-wheel" in path for path in paths), paths
    listening = cluster.listening()
    assert len(listening) >= 5 and all(map(is_loopback, listening)), listening

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
