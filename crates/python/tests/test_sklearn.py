"""The transformer: scikit-learn's own checks, texts, sets and matrices, and the example."""

from __future__ import annotations

import runpy
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from conftest import TESTDATA
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from benzer.sklearn import BBitMinHashVectorizer


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
        with pytest.raises(ValueError, match="between 1 and 16"):
            BBitMinHashVectorizer(b=wrong).fit(["a"])
    with pytest.raises(ValueError, match="string object"):
        BBitMinHashVectorizer().fit("text")


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
