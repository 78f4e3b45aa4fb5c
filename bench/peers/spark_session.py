"""A session of classic Spark on two cores, the same for all peers."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


#: Tasks of a shuffle, and the memory of the JVM.
PARTITIONS = 8
MEMORY = "6g"


class Clock:
    """Seconds until the session can work, and from there to the end, in `times.json`."""

    def __init__(self, folder: str) -> None:
        self.path, self.begun = Path(folder, "times.json"), time.monotonic()

    def ready(self, session: Any) -> None:
        """The session answers."""
        session.range(1).count()
        self.start = time.monotonic() - self.begun

    def done(self) -> None:
        """All is written."""
        self.path.write_text(json.dumps({"start": self.start, "work": time.monotonic() - self.begun - self.start}))


def local(folder: str) -> Any:
    """local[2], loopback only, and a log of events in the folder."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    Path(folder, "events").mkdir()
    builder: Any = SparkSession.builder.master("local[2]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": MEMORY,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{folder}/events",
        "spark.local.dir": folder,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
