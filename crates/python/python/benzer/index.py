"""Collections of documents that can be searched for similar ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benzer import _benzer
from benzer.errors import SchemaError
from benzer.estimate import Estimate
from benzer.frames import records
from benzer.id_types import IdTypes
from benzer.pictures import encode

# An id that no document has by accident.
_NOBODY = "\x01"


@dataclass(frozen=True)
class Match:
    """A similar document."""

    id: Any
    """As it was inserted, as far as that is known: see `id_type` of :class:`Index`."""
    similarity: float
    exact: float | None
    estimate: Estimate | None
    fields: dict[str, dict[str, Any]] = field(default_factory=dict)


class Matches(list[Match]):
    """The matches of a search, the most similar first."""

    recall: float
    """The share of documents at the threshold that are found and compared; of a search for the best, the share of the best that comparing with all documents (or sketches, where only those are kept) would give."""
    shown: float
    """The share of documents exactly at the threshold that are shown: about half of them where estimates decide; of a search for the best, about the share of the truly best."""
    total: int
    """How many matches there are without limit and offset."""
    recall_by_ratio: list[tuple[float, float]]
    """Of a search for containment: (up to how many times as large, the recall there)."""
    warnings: list[str]
    """What to know about this answer."""


class Index:
    """A collection, opened or made.

    Args:
        url: ``memory:``, or the path of a folder; the engine says what else it opens.
        collection: The name of the collection.
        schema: The fields of documents, such as ``{"body": "text", "tags": "values", "photo": "image"}``, or a whole schema with options. It is needed to make a
            collection; of one that is there it must be the same.
        threshold, recall: What is found, and which share of it at least; for a new collection.
        keep_documents: Whether documents are kept, for exact similarities; for a new collection.
        containment: Whether containment can be searched for too, from which one on, and up to how many times as large one of two documents may be:
            ``True``, a threshold, or ``{"threshold": 0.8, "ratio": 16}``; for a new collection.
        read_only: Whether the collection is only searched, whoever writes to it.
        id_type: What makes an id of its text, such as ``int`` or ``uuid.UUID``. A collection keeps ids as texts, for all who use it. Answers give them back in the type of those
            that were inserted through this object, if that was one; in a collection that was filled before they are texts, unless `id_type` is given.

    >>> index = Index("memory:", "articles", {"body": {"kind": "text", "n": 2}})
    >>> index.insert([{"id": "fox", "body": "the quick brown fox jumps over the lazy dog"}])
    1
    >>> [(match.id, match.similarity) for match in index.search("the quick brown fox jumps over the lazy dog")]
    [('fox', 1.0)]
    >>> index.remove(["fox"])
    1
    """

    def __init__(
        self,
        url: str,
        collection: str,
        schema: Mapping[str, Any] | None = None,
        *,
        threshold: float | None = None,
        recall: float | None = None,
        keep_documents: bool = True,
        containment: bool | float | Mapping[str, float] = False,
        read_only: bool = False,
        id_type: Callable[[str], Any] | None = None,
    ) -> None:
        self._ids = IdTypes(id_type)
        self.url = str(url)
        self.name = collection
        wanted = None
        if schema is not None:
            options: dict[str, Any] = {"threshold": threshold, "recall": recall, "keep_documents": keep_documents}
            options["containment"] = _containment(containment)
            wanted = json.dumps({"schema": _schema(schema), **options})
        self._inner = _benzer.Collection(self.url, collection, wanted, read_only)
        self._fields: dict[str, Any] = json.loads(self._inner.settings())["schema"]["fields"]

    @property
    def settings(self) -> dict[str, Any]:
        """Schema, sketches and bands."""
        settings: dict[str, Any] = json.loads(self._inner.settings())
        return settings

    def insert(self, documents: Any, *, id: str = "id") -> int:  # noqa: A002
        """Adds documents in one durable commit and gives their number; one with the id of another replaces it.

        Documents are dictionaries, or the rows of a `Dataset`, a frame or an Arrow table; `id` names the column of ids. One that does
        not suit the schema is left out, and raises when the others are in. A field of pictures takes paths, bytes of files, PIL images and arrays.
        """
        made = [self._document(row, id) for row in records(documents)]
        problems = self._inner.insert(json.dumps(made))
        for document, problem in zip(made, problems, strict=True):
            if problem is not None:
                raise SchemaError(f"document `{document['id']}`: {problem}; the others were inserted")
        return len(made)

    def search(
        self,
        document: str | Mapping[str, Any] | None = None,
        *,
        id: str | None = None,  # noqa: A002
        threshold: float | None = None,
        limit: int = 10,
        offset: int = 0,
        fields: Sequence[str] = (),
        explain: bool = False,
        weights: Mapping[str, float] | None = None,
        thresholds: Mapping[str, float] | None = None,
        rule: str = "mean",
        measure: str = "jaccard",
        ratio: float | None = None,
        top: int | None = None,
        with_id: str | None = None,
    ) -> Matches:
        """The documents like a text, a document, or the one with an `id`.

        Args:
            threshold: The least similarity; that of the collection by default.
            weights, thresholds: Weights and least similarities of single fields.
            rule: Whether the weighted ``mean`` of the fields, ``any`` or ``all`` of them must reach the threshold.
            measure: ``jaccard``; ``containing`` for documents that contain this one, ``contained`` for those that it contains.
            ratio: Containment: up to how many times as large one of two documents may be.
            top: The most similar documents, so many, whatever their similarity.
            with_id: A second document of the collection: finds those that have most in common with both.
        """
        query = _query(
            threshold,
            limit,
            offset,
            fields,
            explain,
            weights=dict(weights or {}),
            thresholds=dict(thresholds or {}),
            rule=rule,
            measure=measure,
            ratio=ratio,
            top=top,
        )
        if (document is None) == (id is None):
            raise SchemaError("search for a document or for an id: give one of them")
        if with_id is not None:
            probe = None if document is None else json.dumps(self._probe(document))
            ids = (None if id is None else str(id), str(with_id))
            return _matches(json.loads(self._inner.search_third(probe, ids, query)), self._ids)
        if id is not None:
            return _matches(json.loads(self._inner.search_id(str(id), query)), self._ids)
        answers = self._inner.search(json.dumps([self._probe(document)]), query)
        return _matches(json.loads(answers)[0], self._ids)

    def search_many(
        self,
        documents: Iterable[str | Mapping[str, Any]],
        *,
        threshold: float | None = None,
        limit: int = 10,
        fields: Sequence[str] = (),
    ) -> list[Matches]:
        """The documents like each of many, in one go."""
        probes = json.dumps([self._probe(document) for document in documents])
        answers = self._inner.search(probes, _query(threshold, limit, 0, fields, False))
        return [_matches(answer, self._ids) for answer in json.loads(answers)]

    def remove(self, ids: Iterable[Any]) -> int:
        """Removes documents; how many there were."""
        return self._inner.remove([str(one) for one in ([ids] if isinstance(ids, str) else ids)])

    def get(self, id: Any) -> dict[str, Any] | None:  # noqa: A002
        """A document, if it is there and documents are kept."""
        found = self._inner.get(str(id))
        if found is None:
            return None
        document = json.loads(found)
        return {"id": self._ids.value(document["id"]), **document["fields"]}

    def duplicates(self, threshold: float | None = None) -> list[tuple[Any, Any, Estimate]]:
        """All pairs of similar documents, by their estimates."""
        pairs = json.loads(self._inner.duplicates(threshold))
        value = self._ids.value
        return [(value(a), value(b), bar) for a, b, estimate in pairs if (bar := _estimate(estimate)) is not None]

    def triples(self, threshold: float | None = None) -> list[tuple[tuple[Any, Any, Any], Estimate]]:
        """All triples of similar documents, by the estimate of what all three have in common."""
        triples = json.loads(self._inner.triples(threshold))
        value = self._ids.value
        return [((value(a), value(b), value(c)), bar) for (a, b, c), estimate in triples if (bar := _estimate(estimate)) is not None]

    def stats(self) -> dict[str, int]:
        """How large the collection is."""
        stats: dict[str, int] = json.loads(self._inner.stats())
        return stats

    def compact(self) -> None:
        """Brings the collection into the shape that is searched fastest."""
        self._inner.compact()

    def __len__(self) -> int:
        return self.stats()["documents"]

    def __contains__(self, id: Any) -> bool:  # noqa: A002
        return self._inner.get(str(id)) is not None

    def close(self) -> None:
        """Gives the collection back, so that another process may write to it."""
        self._inner.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _document(self, row: Mapping[str, Any], id: str) -> dict[str, Any]:  # noqa: A002
        if row.get(id) is None:
            raise SchemaError(f"a document without `{id}`: give every document an id, or name its column with id=")
        self._ids.note(row[id])
        return {"id": str(row[id]), "fields": self._contents(row)}

    def _contents(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that a document has; pictures as text."""
        found = {name: row[name] for name in self._fields if row.get(name) is not None}
        return {name: encode(content) if self._fields[name]["kind"] == "image" else content for name, content in found.items()}

    def _probe(self, document: str | Mapping[str, Any] | None) -> dict[str, Any]:
        if isinstance(document, Mapping):
            return {"id": str(document.get("id", _NOBODY)), "fields": self._contents(document)}
        texts = [name for name, spec in self._fields.items() if spec["kind"] == "text"]
        if len(texts) != 1:
            raise SchemaError(f"a text alone does not say which field it is; search for a dictionary of {sorted(self._fields)}")
        return {"id": _NOBODY, "fields": {texts[0]: document}}


def collections(url: str) -> list[str]:
    """The names of all collections."""
    return _benzer.collections(str(url))


def drop_collection(url: str, name: str) -> None:
    """Removes a collection with all its documents."""
    _benzer.drop_collection(str(url), name)


def _schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    fields = schema["fields"] if "fields" in schema and not isinstance(schema["fields"], str) else schema
    whole = {name: {"kind": kind} if isinstance(kind, str) else kind for name, kind in fields.items()}
    return {**schema, "fields": whole} if fields is not schema else {"fields": whole}


def _query(threshold: float | None, limit: int, offset: int, fields: Sequence[str], explain: bool, **rest: Any) -> str:
    query = {"threshold": threshold, "limit": limit, "offset": offset, "fields": list(fields), "explain": explain}
    return json.dumps({**query, **rest})


def _containment(containment: bool | float | Mapping[str, float]) -> dict[str, float] | None:
    if isinstance(containment, Mapping):
        return dict(containment)
    if isinstance(containment, bool):
        return {} if containment else None
    return {"threshold": float(containment)}


def _estimate(estimate: dict[str, Any]) -> Estimate | None:
    value = estimate.get("value")
    if value is None:
        return None
    return Estimate(value["value"], value["standard_error"], value["low"], value["high"])


def _matches(answer: dict[str, Any], ids: IdTypes) -> Matches:
    matches = Matches(
        Match(
            ids.value(found["id"]),
            found["similarity"],
            found.get("exact"),
            _estimate(found["estimate"]),
            {one["field"]: one for one in found["fields"]},
        )
        for found in answer["matches"]
    )
    matches.recall, matches.shown, matches.total = answer["recall"], answer["shown"], answer["n_matches"]
    matches.recall_by_ratio = [(one["ratio"], one["recall"]) for one in answer.get("recall_by_ratio", [])]
    matches.warnings = answer.get("warnings", [])
    return matches
