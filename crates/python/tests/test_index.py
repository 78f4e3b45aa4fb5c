"""Collections: which documents go in, what is told of the others, and what an id may be."""

from __future__ import annotations

import datetime
import pickle
import uuid
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import benzer
from benzer import errors

TEXT = "the quick brown fox jumps over the lazy dog"


def made(**options: Any) -> benzer.Index:
    return benzer.Index("memory:", "news", {"text": "text"}, **options)


ROWS = {"id": [1, 2, 3], "text": [TEXT, None, TEXT + " again"]}


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS).astype({"text": object}).replace({None: np.nan}),
        pd.DataFrame(ROWS, dtype="string[pyarrow]"),
        pl.DataFrame(ROWS),
        pa.table(ROWS),
        [{"id": i, "text": text} for i, text in zip(*ROWS.values(), strict=True)],
    ],
    ids=["pandas", "nan", "arrow-backed", "polars", "arrow", "dictionaries"],
)
def test_a_missing_text_is_told_and_the_others_go_in(table: Any) -> None:
    index = made()
    with pytest.warns(errors.RejectedWarning, match="1 of 3 documents were left out: document .* at 1: there is nothing to compare: `text` is"):
        inserted = index.insert(table)
    assert inserted == 2 and len(index) == 2 and 1 in index and 2 not in index and "3" in index
    (rejected,) = inserted.rejected
    assert rejected.position == 1 and str(rejected.id) == "2" and "`text` is" in rejected.reason
    assert pickle.loads(pickle.dumps(inserted)).rejected == inserted.rejected


def test_strict_inserts_all_or_nothing_and_names_what_is_wrong() -> None:
    rows = [{"id": "a", "text": TEXT}, {"id": "b", "text": 5}, {"id": "c"}, {"text": TEXT}, {"id": "d", "text": "fine"}]
    index = made()
    with pytest.raises(errors.SchemaError) as told:
        index.insert(rows, strict=True)
    for part in ("3 of 5", "document 'b' at 1", "5 (int)", "document 'c' at 2", "Nothing was inserted", "`strict`"):
        assert part in str(told.value)
    assert len(index) == 0
    with pytest.warns(errors.RejectedWarning, match="The others were inserted"):
        inserted = index.insert(rows)
    assert (inserted, len(index)) == (2, 2) and [one.position for one in inserted.rejected] == [1, 2, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert index.insert([{"id": "b", "text": TEXT}], strict=True) == 1


def test_a_document_may_lack_fields_as_long_as_it_has_one() -> None:
    index = benzer.Index("memory:", "parts", {"title": "text", "tags": "values"})
    frame = pd.DataFrame({"id": [1, 2, 3], "title": ["a title of some words here", np.nan, None], "tags": [["x", 1], ["y"], None]})
    with pytest.warns(errors.RejectedWarning, match="1 of 3"):
        assert index.insert(frame) == 2
    found = index.get(2)
    assert found is not None and str(found.pop("id")) == "2" and found == {"tags": ["y"]}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"text": 5}, "field `text` must be a string, got 5 (int)"),
        ({"text": b"bytes"}, "decode it"),
        ({"text": ["a", "list"]}, "join its words"),
        ({"text": "half \ud800"}, "Unicode"),
        ({"tags": [1.5]}, "1.5 (float)"),
        ({"tags": [None]}, "value 0: None"),
        ({"tags": [True]}, "True (bool)"),
        ({"tags": 7}, "7 (int)"),
        ({"tags": "one string"}, "a list of values"),
        ({"tags": {"milk": "two"}}, "'two' (str)"),
        ({"photo": "no such file.png"}, "photo"),
        ({"photo": 5}, "5 (int)"),
        ({"photo": np.array(["x"])}, "numbers"),
    ],
)
def test_wrong_contents_are_told_of_their_document(wrong: dict[str, Any], told: str) -> None:
    index = benzer.Index("memory:", "all", {"text": "text", "tags": "values", "photo": "image"})
    with pytest.warns(errors.RejectedWarning):
        inserted = index.insert([{"id": "good", "text": TEXT}, {"id": "bad", **wrong}])
    assert inserted == 1 and inserted.rejected[0][:2] == (1, "bad") and told in inserted.rejected[0].reason
    with pytest.raises(errors.BenzerError) as error:
        index.search(wrong)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (7, "7"),
        (np.int64(7), "7"),
        (7.0, "7"),
        ("7", "7"),
        (np.str_("seven"), "seven"),
        (b"seven", "seven"),
        (uuid.UUID(int=7), str(uuid.UUID(int=7))),
        (datetime.date(2026, 11, 19), "2026-11-19"),
        (1.5, "1.5"),
    ],
)
def test_ids_are_the_same_in_every_call(given: Any, kept: str) -> None:
    index = made()
    assert index.insert([{"id": given, "text": TEXT}, {"id": "other", "text": TEXT}]) == 2
    found = index.get(given)
    assert given in index and found is not None and found["id"] == kept
    assert [one.id for one in index.search(id=given)] == ["other"]
    assert index.remove([given]) == 1 and len(index) == 1


@pytest.mark.parametrize("wrong", [None, float("nan"), pd.NaT, pd.NA, True, b"\xff", [1], object()])
def test_what_is_no_id_is_told(wrong: Any) -> None:
    index = made()
    with pytest.warns(errors.RejectedWarning):
        assert index.insert([{"id": wrong, "text": TEXT}, {"id": 1, "text": TEXT}]) == 1
    with pytest.raises(errors.SchemaError, match="1 of 1 documents cannot be inserted: .* Nothing was inserted"):
        index.insert([{"id": wrong, "text": TEXT}])
    with pytest.raises(errors.ParameterError, match="id"):
        index.get(wrong)


def test_what_no_bands_reach_is_told_with_a_remedy_that_there_is() -> None:
    with pytest.raises(errors.ParameterError, match="higher `threshold` or a lower `recall`"):
        made(threshold=0.3)


def test_tables_are_searched_for_in_one_go() -> None:
    index = made()
    index.insert(pd.DataFrame({"id": [1, 2], "text": [TEXT, "something else that is not like it"]}))
    probes = pd.DataFrame({"id": [8, 9], "text": [TEXT, TEXT]})
    for documents in (probes, pl.from_pandas(probes).lazy(), pa.table(probes).to_reader(), probes.text, list(probes.text), pl.Series(list(probes.text)), (text for text in probes.text)):
        assert [[str(match.id) for match in matches] for matches in index.search_many(documents)] == [["1"], ["1"]]
    with pytest.raises(errors.ParameterError, match=r"documents\[1\].*None"):
        index.search_many([TEXT, None])
