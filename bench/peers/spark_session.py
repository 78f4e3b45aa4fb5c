"""A session of classic Spark on two cores, the same for all peers."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any


def local(folder: str) -> Any:
    """local[2] with 6 GB, loopback only, and a log of events in the folder."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    Path(folder, "events").mkdir()
    builder: Any = SparkSession.builder.master("local[2]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "6g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "8",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{folder}/events",
        "spark.local.dir": folder,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
