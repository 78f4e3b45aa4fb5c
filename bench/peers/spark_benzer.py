"""`benzer.spark` on local[2] or on Sail: spark_benzer.py IN FOLDER ENGINE."""

from __future__ import annotations

import os
import sys
from typing import Any

from spark_session import PARTITIONS, Clock, local

from benzer import spark as bs


def main(source: str, folder: str, engine: str) -> None:
    clock = Clock(folder)
    # The server lives as long as it is held.
    session, _server = sail() if engine == "sail" else (local(folder), None)
    clock.ready(session)
    df = session.read.schema("id string, text string").json(source)
    run = bs.Deduplication(df, work=f"{folder}/work", partitions=PARTITIONS)
    run.kept.write.parquet(f"{folder}/kept")
    run.pairs.write.parquet(f"{folder}/pairs")
    clock.done()


def sail() -> tuple[Any, Any]:
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    return SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate(), server


if __name__ == "__main__":
    main(*sys.argv[1:])
    # A server in the background does not end by itself.
    os._exit(0)
