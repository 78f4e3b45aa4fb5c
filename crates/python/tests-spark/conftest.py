"""The engine that tests run on: BENZER_ENGINE is `local` (classic Spark), `connect` (a server of Spark Connect), `sail` or `cluster`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ENGINE = os.environ.get("BENZER_ENGINE", "local")
#: Whether the long chain and the large template are tested in their full sizes.
FULL = os.environ.get("BENZER_SIZES") == "full"
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

#: Of every session of Spark here: nothing listens beyond loopback.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.connect.grpc.binding.address": "127.0.0.1",
}


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    """A session on the engine."""
    from pyspark.sql import SparkSession

    if ENGINE == "sail":
        from pysail.spark import SparkConnectServer

        server = SparkConnectServer("127.0.0.1", 0)
        server.start(background=True)
        port = server.listening_address[1]
        made = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
        yield made
        made.stop()
        server.stop()
        return
    builder: Any = SparkSession.builder
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    made = (builder.remote("local[2]") if ENGINE == "connect" else builder.master("local[2]")).getOrCreate()
    yield made
    made.stop()


@pytest.fixture
def work(tmp_path: Path) -> str:
    """A folder for intermediate results."""
    return str(tmp_path / "work")


class Here:
    """The session of a test, where a command would make one."""

    def __init__(self, session: Any) -> None:
        self.session = session

    def appName(self, _: str) -> Here:  # noqa: N802
        return self

    def config(self, *_: str) -> Here:
        return self

    def getOrCreate(self) -> Any:  # noqa: N802
        return self.session
