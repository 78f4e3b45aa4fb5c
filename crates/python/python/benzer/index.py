"""Collections of documents that can be searched for similar ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benzer import _benzer, arguments
from benzer.arguments import maybe
from benzer.documents import Inserted, Rejected, contents, identity
from benzer.errors import ParameterError, RejectedWarning, SchemaError, warn
from benzer.estimate import Estimate
from benzer.frames import records
from benzer.id_types import IdTypes

# An id that no document has by accident.
_NOBODY = "\x01"
# What the engine advises that has no argument here, and what has.
_NO_BANDS = ("use more registers or more bits", "use a higher `threshold` or a lower `recall`")
# Rejected documents that a message names.
_TOLD = 3
_MAX = 2**63 - 1
_RULES = ("mean", "any", "all")
_MEASURES = ("jaccard", "containing", "contained")


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
        self.url = _url(url)
        self.name = arguments.string("collection", collection)
        options: dict[str, Any] = {
            "threshold": maybe(arguments.number, "threshold", threshold, above=0, maximum=1),
            "recall": maybe(arguments.number, "recall", recall, above=0, below=1),
            "keep_documents": arguments.flag("keep_documents", keep_documents),
            "containment": _containment(containment),
        }
        wanted = None if schema is None else json.dumps({"schema": _schema(schema), **options})
        try:
            self._inner = _benzer.Collection(self.url, self.name, wanted, arguments.flag("read_only", read_only))
        except ParameterError as error:
            raise ParameterError(str(error).replace(*_NO_BANDS)) from None
        self._fields: dict[str, Any] = json.loads(self._inner.settings())["schema"]["fields"]

    @property
    def settings(self) -> dict[str, Any]:
        """Schema, sketches and bands."""
        settings: dict[str, Any] = json.loads(self._inner.settings())
        return settings

    def insert(self, documents: Any, *, id: str = "id", strict: bool = False) -> Inserted:  # noqa: A002
        """Adds documents in one durable commit and gives their number; one with the id of another replaces it.

        Documents are dictionaries, or the rows of a `Dataset`, a frame or an Arrow table; `id` names the column of ids. A field that is missing (None, NaN) is
        empty. A field of pictures takes paths, bytes of files, PIL images and arrays.

        A document that cannot be taken (no id, nothing in any field, content of a wrong type) is left out: a :class:`benzer.errors.RejectedWarning` says so, and
        ``rejected`` of the answer lists position, id and reason of all. With `strict`, or if none can be taken, it raises instead, and nothing is inserted. Nothing is inserted
        either if Ctrl-C ends the call before its commit.

        >>> index = Index("memory:", "articles", {"body": "text"})
        >>> index.insert([{"id": 1, "body": "a text"}, {"id": 2, "body": "another"}]).rejected
        []
        """
        column, strict = arguments.string("id", id), arguments.flag("strict", strict)
        rejected: list[Rejected] = []
        good: list[tuple[int, Any]] = []
        made: list[tuple[str, dict[str, Any]]] = []
        position = -1
        for position, row in enumerate(_rows([documents] if isinstance(documents, Mapping) else documents)):
            try:
                made.append(self._document(row, column))
                good.append((position, row[column]))
            except ParameterError as error:
                rejected.append(Rejected(position, row.get(column) if isinstance(row, Mapping) else None, str(error)))
        reasons = [] if strict and rejected else self._inner.insert(made, strict)
        rejected += [Rejected(*place, reason) for place, reason in zip(good, reasons, strict=False) if reason is not None]
        rejected.sort()
        inserted = Inserted(sum(reason is None for reason in reasons), rejected)
        if rejected and strict:
            raise SchemaError(f"{_told(rejected, position + 1, 'cannot be inserted')} Nothing was inserted; leave out `strict` to insert the others")
        if rejected and not inserted:
            raise SchemaError(f"{_told(rejected, position + 1, 'cannot be inserted')} Nothing was inserted")
        if rejected:
            warn(f"{_told(rejected, position + 1, 'were left out')} The others were inserted.", RejectedWarning)
        return inserted

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
            weights=arguments.numbers("weights", weights or {}),
            thresholds=arguments.numbers("thresholds", thresholds or {}),
            rule=arguments.one_of("rule", rule, _RULES),
            measure=arguments.one_of("measure", measure, _MEASURES),
            ratio=maybe(arguments.number, "ratio", ratio, minimum=1),
            top=maybe(arguments.whole, "top", top, minimum=1, maximum=_MAX),
        )
        if (document is None) == (id is None):
            raise SchemaError("`search` takes a document or an `id`: give one of them")
        if with_id is not None:
            probe = None if document is None else self._probe("document", document)
            first, other = maybe(lambda name, value: identity(name, value), "id", id), identity("with_id", with_id)
            return _matches(json.loads(self._inner.three_way_search(probe, first, other, query)), self._ids)
        if id is not None:
            return _matches(json.loads(self._inner.search_id(identity("id", id), query)), self._ids)
        (answer,) = self._inner.search([self._probe("document", document)], query)
        return _matches(json.loads(answer), self._ids)

    def search_many(
        self,
        documents: Iterable[str | Mapping[str, Any]],
        *,
        threshold: float | None = None,
        limit: int = 10,
        fields: Sequence[str] = (),
    ) -> list[Matches]:
        """The documents like each of many, in one go: texts, dictionaries, or the rows of a table."""
        query = _query(threshold, limit, 0, fields, False)
        probes = [self._probe(f"documents[{i}]", document) for i, document in enumerate(_rows(documents))]
        return [_matches(json.loads(answer), self._ids) for answer in self._inner.search(probes, query)]

    def remove(self, ids: Iterable[Any]) -> int:
        """Removes documents; how many there were."""
        many = [ids] if isinstance(ids, str | int | np.generic) else arguments.items("ids", ids, "ids")
        return self._inner.remove([identity(f"ids[{i}]", one) for i, one in enumerate(many)])

    def get(self, id: Any) -> dict[str, Any] | None:  # noqa: A002
        """A document, if it is there and documents are kept."""
        found = self._inner.get(identity("id", id))
        if found is None:
            return None
        document = json.loads(found)
        return {"id": self._ids.value(document["id"]), **document["fields"]}

    def duplicates(self, threshold: float | None = None) -> list[tuple[Any, Any, Estimate]]:
        """All pairs of similar documents, by their estimates."""
        pairs = json.loads(self._inner.duplicates(maybe(arguments.number, "threshold", threshold, above=0, maximum=1)))
        value = self._ids.value
        return [(value(a), value(b), bar) for a, b, estimate in pairs if (bar := _estimate(estimate)) is not None]

    def triples(self, threshold: float | None = None) -> list[tuple[tuple[Any, Any, Any], Estimate]]:
        """All triples of similar documents, by the estimate of what all three have in common."""
        triples = json.loads(self._inner.triples(maybe(arguments.number, "threshold", threshold, above=0, maximum=1)))
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
        return self._inner.get(identity("id", id)) is not None

    def close(self) -> None:
        """Gives the collection back, so that another process may write to it."""
        self._inner.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _document(self, row: Any, id: str) -> tuple[str, dict[str, Any]]:  # noqa: A002
        if not isinstance(row, Mapping):
            raise arguments.wrong("a document", "a dictionary with an id and fields", row)
        if arguments.is_missing(row.get(id)):
            got = arguments.shown(row[id]) if id in row else f"only {', '.join(map(repr, row))}"
            raise ParameterError(f"there is no `{id}`: give every document an id, or name its column with id=; got {got}")
        document = identity(id, row[id]), contents(self._fields, row)
        self._ids.note(row[id])
        return document

    def _probe(self, name: str, document: Any) -> tuple[str, dict[str, Any]]:
        """Id and contents of a document to search for."""
        if isinstance(document, Mapping):
            given = document.get("id")
            return _NOBODY if arguments.is_missing(given) else identity(f"id of {name}", given), self._of_probe(name, document)
        if not isinstance(document, str):
            raise arguments.wrong(name, f"a text or a dictionary of {sorted(self._fields)}", document)
        texts = [field for field, spec in self._fields.items() if spec["kind"] == "text"]
        if len(texts) != 1:
            raise SchemaError(f"a text alone does not say which field it is; search for a dictionary of {sorted(self._fields)}")
        return _NOBODY, {texts[0]: arguments.unicode(name, document)}

    def _of_probe(self, name: str, document: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return contents(self._fields, document)
        except ParameterError as error:
            raise SchemaError(f"`{name}` cannot be searched for: {error}") from None


def collections(url: str) -> list[str]:
    """The names of all collections."""
    return _benzer.collections(_url(url))


def drop_collection(url: str, name: str) -> None:
    """Removes a collection with all its documents."""
    _benzer.drop_collection(_url(url), arguments.string("name", name))


def _url(url: Any) -> str:
    if not isinstance(url, str | Path):
        raise arguments.wrong("url", "'memory:', the path of a folder, or an address", url)
    return arguments.string("url", str(url))


def _rows(documents: Any) -> Iterable[Any]:
    """Documents one by one, whatever holds them."""
    if isinstance(documents, list | tuple):
        return documents
    if hasattr(documents, "collect") or hasattr(documents, "read_all"):
        documents = documents.collect() if hasattr(documents, "collect") else documents.read_all()
    if hasattr(documents, "columns") or hasattr(documents, "column_names"):
        return records(documents)
    return arguments.items("documents", documents, "dictionaries, or a table")


def _told(rejected: list[Rejected], n: int, what: str) -> str:
    """The first rejected documents in a sentence."""
    first = "; ".join(f"{_named(one)}: {one.reason}" for one in rejected[:_TOLD])
    more = "" if len(rejected) <= _TOLD else f"; and {len(rejected) - _TOLD:,} more, which `rejected` of the answer lists"
    return f"{len(rejected):,} of {n:,} documents {what}: {first}{more}."


def _named(rejected: Rejected) -> str:
    at = f"at {rejected.position}"
    return f"the document {at}" if arguments.is_missing(rejected.id) else f"document {rejected.id!r} {at}"


def _schema(schema: Any) -> dict[str, Any]:
    expected = "a dictionary from names of fields to 'text', 'values' or 'image', or to dictionaries of options"
    if not isinstance(schema, Mapping):
        raise arguments.wrong("schema", expected, schema)
    whole = isinstance(schema.get("fields"), Mapping)
    fields = schema["fields"] if whole else schema
    made: dict[str, Any] = {}
    for name, kind in fields.items():
        if not isinstance(name, str) or not isinstance(kind, str | Mapping):
            raise arguments.wrong(f"schema[{name!r}]", expected, name if not isinstance(name, str) else kind)
        made[name] = {"kind": kind} if isinstance(kind, str) else {option: _plain(f"schema[{name!r}]", option, value) for option, value in kind.items()}
    return {**schema, "fields": made} if whole else {"fields": made}


def _plain(name: str, option: Any, value: Any) -> Any:
    """An option as JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(f"{name}[{option!r}]", i, one) for i, one in enumerate(value)]
    if not isinstance(option, str | int) or not (value is None or isinstance(value, str | int | float)) or value != value:
        raise arguments.wrong(f"{name}[{option!r}]", "a string, a number, True or False, or a list of strings", value)
    return value


def _query(threshold: Any, limit: Any, offset: Any, fields: Any, explain: Any, **rest: Any) -> str:
    query = {
        "threshold": maybe(arguments.number, "threshold", threshold, minimum=0, maximum=1),
        "limit": arguments.whole("limit", limit, minimum=0, maximum=_MAX),
        "offset": arguments.whole("offset", offset, minimum=0, maximum=_MAX),
        "fields": arguments.strings("fields", fields),
        "explain": arguments.flag("explain", explain),
    }
    return json.dumps({**query, **rest})


def _containment(containment: Any) -> dict[str, float] | None:
    if isinstance(containment, Mapping):
        return arguments.numbers("containment", containment)
    if isinstance(containment, bool | np.bool_):
        return {} if containment else None
    return {"threshold": arguments.number("containment", containment, above=0, maximum=1)}


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
