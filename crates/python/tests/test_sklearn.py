"""The transformer: scikit-learn's own checks, texts, sets and matrices, and the example."""

from __future__ import annotations

import runpy
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sparse
from conftest import TESTDATA
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from benzer import errors
from benzer.sklearn import BBitMinHashVectorizer

TEXTS = ["red green blue", "green blue yellow", "", "red"]
SETS = [["a", "b"], ["b", "c"], [], ["a"]]
FRAME = pd.DataFrame({"text": TEXTS, "n": [1.0, 2.0, 3.0, 4.0], "topic": [0, 1, 0, 1]}, index=[7, 8, 9, 10])


def small(**options: Any) -> BBitMinHashVectorizer:
    return BBitMinHashVectorizer(num_perm=16, b=2, **options)


@parametrize_with_checks([BBitMinHashVectorizer(num_perm=16, b=2)])
def test_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_inner_product_counts_equal_registers() -> None:
    texts = ["red green blue", "green blue yellow", ""]
    vectors = BBitMinHashVectorizer(num_perm=256, b=8).fit_transform(texts)
    assert vectors.shape == (3, 256 << 8) and sparse.issparse(vectors)
    assert vectors.sum(axis=1).ravel().tolist()[0] == [256.0, 256.0, 0.0]
    products = (vectors @ vectors.T).toarray()
    assert products[0, 0] == 256 and abs(products[0, 1] / 256 - 0.5) < 0.15
    unit = BBitMinHashVectorizer(num_perm=256, b=8, normalize=True, dtype=np.float32).fit_transform(texts)
    assert unit.dtype == np.float32 and (unit @ unit.T).toarray()[0, 0] == pytest.approx(1.0)


def test_texts_sets_and_matrices() -> None:
    sets = [["a", "b"], {"b", "c"}, []]
    vectors = BBitMinHashVectorizer(num_perm=32, b=4).fit_transform(sets)
    assert vectors.sum(axis=1).ravel().tolist()[0] == [32.0, 32.0, 0.0]
    matrix = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 1.0]])
    dense = BBitMinHashVectorizer(num_perm=32, b=4).fit_transform(matrix)
    thin = BBitMinHashVectorizer(num_perm=32, b=4).fit_transform(sparse.csr_matrix(matrix))
    assert (dense != thin).nnz == 0
    names = BBitMinHashVectorizer(num_perm=2, b=1).fit(sets).get_feature_names_out()
    assert names.tolist() == ["r0=0", "r0=1", "r1=0", "r1=1"]
    texts = BBitMinHashVectorizer(num_perm=16, b=2, ngram=3, unit="characters")
    assert clone(texts).fit_transform(["abcdef"]).nnz == 16
    for wrong in (0, 17):
        with pytest.raises(ValueError, match="`b` must be a whole number of at least 1 and at most 16"):
            BBitMinHashVectorizer(b=wrong).fit(["a"])
    with pytest.raises(ValueError, match="string object"):
        BBitMinHashVectorizer().fit("text")


COLUMNS = {
    "list": list,
    "tuple": tuple,
    "objects": lambda rows: pd.Series(rows).to_numpy(dtype=object),
    "column of objects": lambda rows: pd.Series(rows).to_numpy(dtype=object).reshape(-1, 1),
    "pandas series": pd.Series,
    "pandas frame": lambda rows: pd.DataFrame({"x": rows}),
    "polars series": pl.Series,
    "polars frame": lambda rows: pl.DataFrame({"x": rows}),
    "polars lazy frame": lambda rows: pl.LazyFrame({"x": rows}),
    "arrow array": pa.array,
    "arrow chunks": lambda rows: pa.chunked_array([rows[:1], rows[1:]]),
    "arrow table": lambda rows: pa.table({"x": rows}),
    "arrow batch": lambda rows: pa.record_batch({"x": pa.array(rows)}),
    "generator": lambda rows: (row for row in rows),
}


@pytest.mark.parametrize("rows", [TEXTS, SETS], ids=["texts", "sets"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_every_kind_of_column_gives_its_rows(kind: str, rows: list[Any]) -> None:
    expected = small().fit_transform(rows)
    assert expected.shape == (4, 64) and expected.sum() == 3 * 16
    assert (small().fit_transform(COLUMNS[kind](rows)) != expected).nnz == 0
    assert (small().fit(rows).transform(COLUMNS[kind](rows)) != expected).nnz == 0


@pytest.mark.parametrize(
    "column",
    [
        np.array(TEXTS),
        np.array(TEXTS).reshape(-1, 1),
        np.array(TEXTS, dtype=np.dtypes.StringDType()),
        pd.Series(TEXTS, dtype="string"),
        pd.Series(TEXTS, dtype="string[pyarrow]"),
        pd.Series(TEXTS, dtype="category"),
        pd.Series(TEXTS, index=[5, 0, 7, 9]),
        pa.array(TEXTS).dictionary_encode(),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', '')}",
)
def test_texts_of_every_type(column: Any) -> None:
    assert (small().fit_transform(column) != small().fit_transform(TEXTS)).nnz == 0


def test_an_iterator_that_is_gone_is_told() -> None:
    rows = iter(TEXTS)
    vectorizer = small().fit(rows)
    with pytest.raises(ValueError, match="gone through once"):
        vectorizer.transform(rows)
    assert vectorizer.transform([]).shape == (0, 64)


@pytest.mark.parametrize("chosen", ["text", ["text"]])
@pytest.mark.parametrize("frame", [FRAME, pl.from_pandas(FRAME)], ids=["pandas", "polars"])
def test_a_column_transformer_takes_a_name_or_a_list(frame: Any, chosen: Any) -> None:
    both = ColumnTransformer([("text", small(), chosen), ("n", StandardScaler(), ["n"])], sparse_threshold=1.0)
    vectors = both.fit_transform(frame)
    assert vectors.shape == (4, 65)
    assert (sparse.csr_matrix(vectors)[:, :64] != small().fit_transform(TEXTS)).nnz == 0
    assert both.get_feature_names_out().tolist()[:2] + both.get_feature_names_out().tolist()[-1:] == ["text__r0=0", "text__r0=1", "n__n"]
    assert (clone(both).fit(frame).transform(frame[1:]) != vectors[1:]).nnz <= 4
    model = make_pipeline(both, LogisticRegression()).fit(frame, FRAME.topic)
    assert len(model.predict(frame)) == 4
    by_place = make_column_transformer((small(), [0])).fit_transform(FRAME[["text"]].to_numpy())
    assert by_place.shape == (4, 64)


def test_a_frame_comes_out_if_it_is_asked_for() -> None:
    vectorizer = small(sparse_output=False).set_output(transform="pandas")
    vectors = vectorizer.fit_transform(FRAME["text"])
    assert isinstance(vectors, pd.DataFrame) and list(vectors.index) == [7, 8, 9, 10]
    assert vectors.columns[0] == "r0=0" and vectors.to_numpy().sum() == 48
    assert small(sparse_output=False).set_output(transform="polars").fit_transform(FRAME[["text"]]).shape == (4, 64)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (["a", None], r"`X\[1\]` must be a string, got None; fill"),
        (pd.Series(["a", np.nan]), r"`X\[1\]` must be a string, got nan"),
        (["a", 5], r"`X\[1\]` must be a string, got 5 \(int\)"),
        ([["a"], "b"], r"`X\[1\]` must be a list or a set of values, got 'b'"),
        ([b"a"], r"`X\[0\]` must be a string"),
        (pd.DataFrame({"a": TEXTS, "b": TEXTS}), "one column of texts, got 2: .*'a', 'b'"),
        (pa.table({"a": TEXTS, "b": TEXTS}), "one column of texts, got 2"),
        ({"a", "b"}, "whose order the rows have"),
        ({"text": TEXTS}, "whose order the rows have"),
    ],
)
def test_wrong_columns_are_told(wrong: Any, told: str) -> None:
    with pytest.raises(errors.ParameterError, match=told):
        small().fit_transform(wrong)


def test_a_linear_model_learns_topics(articles: list[dict[str, str]]) -> None:
    texts = [row["text"] for row in articles]
    topics = [row["id"].rsplit("-", 1)[0] for row in articles]
    model = make_pipeline(BBitMinHashVectorizer(num_perm=200, b=8), LogisticRegression())
    model.fit(texts[::2], topics[::2])
    assert model.score(texts[1::2], topics[1::2]) > 0.8


def test_the_example_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    root = TESTDATA.parent
    monkeypatch.setattr(sys, "argv", ["learn.py", str(root / "examples/articles.jsonl"), "--label", "id"])
    runpy.run_path(str(root / "examples/learn.py"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "raw n-grams" in shown and "b-bit" in shown and "accuracy" in shown
