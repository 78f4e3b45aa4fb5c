"""Trains linear models on b-bit MinHash features and on raw n-grams, and shows accuracy, time and size side by side.

    python examples/learn.py examples/articles.jsonl --label id
    python examples/learn.py messages.jsonl --text text --label label --ngram 1

A label that ends with a number, such as `trains-16`, is taken without it.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from typing import Any

from benzer.sklearn import BBitMinHashVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path")
    parser.add_argument("--text", default="text")
    parser.add_argument("--label", default="label")
    parser.add_argument("--ngram", type=int, default=1)
    options = parser.parse_args()
    with open(options.path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    texts = [row[options.text] for row in rows]
    labels = [re.sub(r"-\d+$", "", str(row[options.label])) for row in rows]
    parts = train_test_split(texts, labels, test_size=0.3, random_state=0)
    n = (options.ngram, options.ngram)
    features: dict[str, Any] = {"raw n-grams": CountVectorizer(ngram_range=n, binary=True)}
    for registers, bits in ((30, 8), (100, 4), (200, 8), (500, 8)):
        name = f"b-bit, k = {registers}, b = {bits}"
        features[name] = BBitMinHashVectorizer(registers, bits, ngram=options.ngram)
    print(f"{len(rows)} texts, {len(set(labels))} labels\n")
    print(f"{'features':<24} {'model':<20} {'accuracy':>8} {'features s':>10} {'training s':>10} {'ones/text':>10}")
    for name, vectorizer in features.items():
        for model in (LinearSVC(C=1.0, max_iter=5000), LogisticRegression(C=1.0, max_iter=1000)):
            show(name, vectorizer, model, parts)


def show(name: str, vectorizer: Any, model: Any, parts: list[Any]) -> None:
    """A line of the table."""
    texts, test_texts, labels, test_labels = parts
    start = time.perf_counter()
    vectors = vectorizer.fit_transform(texts)
    test_vectors = vectorizer.transform(test_texts)
    made = time.perf_counter()
    model.fit(vectors, labels)
    trained = time.perf_counter()
    accuracy = model.score(test_vectors, test_labels)
    ones = vectors.nnz / vectors.shape[0]
    times = f"{made - start:>10.2f} {trained - made:>10.2f}"
    print(f"{name:<24} {type(model).__name__:<20} {accuracy:>8.3f} {times} {ones:>10.0f}")


if __name__ == "__main__":
    main()
