"""What is written never touches what is read, and what is there already is noticed before the work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ENGINE, Here
from corpora import frame, mixed

from benzer import errors
from benzer import spark as bs
from benzer.spark import __main__ as command
from benzer.spark import addresses
from benzer.spark.addresses import address


def contents(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file and a folder of inputs, in which the command runs. Nothing may ask for an engine."""
    from pyspark.sql import SparkSession

    folder = tmp_path / "corpus"
    (folder / "in.parquet").mkdir(parents=True)
    (folder / "in.parquet" / "part-0.parquet").write_text("a table")
    (folder / "p1.parquet").write_text("a table")
    (folder / "link").symlink_to(folder / "in.parquet")
    (folder / "linked.parquet").mkdir()
    (folder / "linked.parquet" / "part-0.parquet").symlink_to(tmp_path / "elsewhere" / "part-0.parquet")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(SparkSession, "builder", None)
    return folder


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("p1.parquet p1.parquet", "OUT"),
        ("p1.parquet ../corpus/p1.parquet", "OUT"),
        ("p1.parquet file:{corpus}/p1.parquet", "OUT"),
        ("p1.parquet file://{corpus}/./p1.parquet/", "OUT"),
        ("file://localhost{corpus}/p1.parquet p1.parquet", "OUT"),
        ("p1.parquet .", "OUT"),
        ("p1.parquet {corpus}", "OUT"),
        ("in.parquet in.parquet/clean", "OUT"),
        ("in.parquet link", "OUT"),
        ("link in.parquet/clean", "OUT"),
        ("linked.parquet ../elsewhere", "OUT"),
        ("*.parquet p1.parquet", "OUT"),
        ("{{p1,p2}}.parquet p1.parquet", "OUT"),
        ("p[0-9].parquet p7.parquet", "OUT"),
        ("in.parquet/*.parquet in.parquet", "OUT"),
        ("p1.parquet clean --evidence p1.parquet", "--evidence"),
        ("p1.parquet clean --pairs .", "--pairs"),
        ("p1.parquet clean --evidence clean", "--evidence"),
        ("p1.parquet clean --evidence why --pairs why/pairs", "--pairs"),
        ("p1.parquet clean --work clean/work", "intermediate"),
        ("in.parquet clean --work in.parquet", "intermediate"),
        ("s3a://bucket/corpus s3://bucket/corpus/clean", "OUT"),
        ("s3a://bucket/corpus/*.parquet s3a://BUCKET/corpus/x.parquet", "OUT"),
        ("s3a://bucket/a/../corpus s3a://bucket//corpus/", "OUT"),
        ("hdfs://name:8020/corpus /corpus", "OUT"),
        ("dbfs:/corpus /dbfs/corpus/clean", "OUT"),
    ],
)
def test_outputs_that_overlap_are_refused_before_anything_is_done(corpus: Path, capsys: pytest.CaptureFixture[str], arguments: str, named: str) -> None:
    before = contents(corpus)
    words = arguments.format(corpus=corpus).split()
    assert command.main([*words, "--format", "parquet", "--overwrite"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") and said.count("\n") == 1 and "overlaps" in said and "nothing was done" in said and named in said
    assert contents(corpus) == before


@pytest.mark.parametrize(
    "arguments",
    ["p1.parquet p2.parquet", "p1.parquet clean --work .", "in.parquet in.parquet-clean", "*.parquet clean", "s3a://a/corpus s3a://b/corpus", "s3a://a/x file:///x", "hdfs://a/x hdfs://b/x"],
)
def test_outputs_beside_the_input_are_not_refused(corpus: Path, arguments: str) -> None:
    given = command.parser().parse_args(arguments.split())
    addresses.refuse_overlaps({"IN": addresses.read(given.input)}, {"OUT": given.output}, given.work)


def test_addresses_are_resolved(corpus: Path) -> None:
    assert address("in.parquet") == address(f"file:{corpus}/link/") == address("../corpus/./link")
    assert address("s3a://b/x//y/") == address("s3://b/x/y") == address("S3N://B/x/z/../y")
    assert address("s3a://b/x") != address("s3a://b/X")


def test_what_is_there_is_noticed_before_the_work(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from pyspark.sql import SparkSession

    source, out, why = (str(tmp_path / name) for name in ("in.parquet", "out", "why"))
    frame(session, mixed(20)).write.parquet(source)
    monkeypatch.setattr(SparkSession, "builder", Here(session))

    def worked(*_: Any, **__: Any) -> None:
        raise AssertionError("the work has begun")

    monkeypatch.setattr(bs, "Deduplication", worked)
    for name, there, arguments in (("OUT", out, [source, out]), ("--evidence", why, [source, str(tmp_path / "other"), "--evidence", why])):
        Path(there).mkdir()
        assert command.main(arguments) == 2
        said = capsys.readouterr().err
        assert said == f"error: {name} `{there}` is there already: nothing was done; give --overwrite to replace it, or another name\n"
        with pytest.raises(AssertionError, match="the work has begun"):
            command.main([*arguments, "--overwrite"])
    assert addresses.exists(session, source) and addresses.exists(session, f"file:{source}") and not addresses.exists(session, f"{source}-none")


def test_intermediate_results_do_not_go_among_the_input(session: Any, tmp_path: Path) -> None:
    source = str(tmp_path / "in.parquet")
    frame(session, mixed(20)).write.parquet(source)
    df = session.read.parquet(source)
    if df.inputFiles():
        before = contents(tmp_path)
        with pytest.raises(errors.ParameterError, match="`work` is .*whose files are read"):
            bs.dedup(df, work=f"file:{source}/")
        assert contents(tmp_path) == before


def test_an_input_that_is_not_there_is_told(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from pyspark.sql import SparkSession

    monkeypatch.setattr(SparkSession, "builder", Here(session))
    assert command.main([str(tmp_path / "none.jsonl"), str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ") and said.count("\n") == 1 and ("does not exist" in said or "is there anything to read" in said)


@pytest.mark.skipif(ENGINE != "local", reason="it starts an engine of its own")
def test_the_command_says_what_is_wrong_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"id": id, "text": f"the text of {id}"}) + "\n" for id in "abca"))
    made = subprocess.run([sys.executable, "-m", "benzer.spark", "in.jsonl", "out", "--partitions", "1"], cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 1, made.stderr
    lines = [line for line in made.stderr.splitlines() if "error" in line.lower()]
    assert len(lines) == 1 and lines[0].startswith("error: 1 row has an id in 'id'"), made.stderr
    assert "Traceback" not in made.stderr and "\tat " not in made.stderr and len(made.stderr.splitlines()) < 12, made.stderr
    assert not (tmp_path / "out").exists()
