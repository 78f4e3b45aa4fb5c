"""The client that openapi-python-client makes, against a running server: `python client.py URL`, with the client as the package `made`."""

import json
import sys

from made import Client
from made.api.collections import (
    collection_stats,
    create_collection,
    list_collections,
    read_collection,
    remove_collection,
)
from made.api.documents import document_sketch, insert_documents, list_documents, read_document, remove_document
from made.api.service import healthz
from made.api.similarity import compare, duplicates, plan, search
from made.models import (
    AdHoc,
    Comparand,
    CompareRequest,
    Contents,
    DocumentBody,
    DuplicatesAs,
    ErrorBody,
    EstimatedValue,
    Fields,
    ImageField,
    ImageKind,
    Inserted,
    NewCollection,
    PlanRequest,
    Rejected,
    SearchRequest,
    TextField,
    TextKind,
    ValuesField,
    ValuesKind,
)

NAME = "by-python"
client = Client(base_url=sys.argv[1], raise_on_unexpected_status=True)


def contents(**fields: object) -> Contents:
    """What the fields of a document hold."""
    made = Contents()
    made.additional_properties.update(fields)
    return made


fields = Fields()
fields.additional_properties.update(
    body=TextField(kind=TextKind.TEXT, n=2),
    tags=ValuesField(kind=ValuesKind.VALUES, weight=0.2),
    photo=ImageField(kind=ImageKind.IMAGE),
)
made = create_collection.sync(NAME, client=client, body=NewCollection(fields=fields))
kinds = {name: field.kind.value for name, field in made.fields.additional_properties.items()}
assert kinds == {"body": "text", "tags": "values", "photo": "image"} and made.threshold == 0.8, made

texts = {"1": "one text that two of them have, word by word", "2": "one text that two of them have, word by word", "3": "another"}
batch = [DocumentBody(id=id, fields=contents(body=text, tags=["a", 5])) for id, text in texts.items()]
told = insert_documents.sync(NAME, client=client, body=[*batch, DocumentBody(id="", fields=contents(body="x"))])
assert (told.inserted, told.rejected) == (3, 1), told
assert isinstance(told.results[0], Inserted) and isinstance(told.results[3], Rejected), told
assert "`id` must be" in told.results[3].error.message, told

found = search.sync(NAME, client=client, body=SearchRequest(id="1", explain=True))
assert [one.id for one in found.matches] == ["2"] and found.matches[0].exact == 1.0, found
assert isinstance(found.matches[0].estimate, EstimatedValue) and found.matches[0].estimate.value.high <= 1.0, found
assert found.matches[0].fields[0].explanation.n_shared > 0, found
asked = SearchRequest(document=AdHoc(fields=contents(body=texts["1"], tags=["a", "5"])), top=3)
assert len(search.sync(NAME, client=client, body=asked).matches) == 3

assert [one.name for one in list_collections.sync(client=client).collections if one.name == NAME] == [NAME]
assert read_collection.sync(NAME, client=client).documents == 3
assert collection_stats.sync(NAME, client=client).documents == 3
page = list_documents.sync(NAME, client=client, limit=2)
assert [one.id for one in page.documents] == ["1", "2"] and page.next_ is not None, page
read = read_document.sync(NAME, "3", client=client)
assert read.fields.additional_properties == {"body": "another", "tags": ["a", 5]}, read
assert document_sketch.sync(NAME, "3", client=client).fields[0].registers

lines = duplicates.sync(NAME, client=client).splitlines()
assert [(pair["a"], pair["b"]) for pair in map(json.loads, lines)] == [("1", "2")], lines
lines = duplicates.sync(NAME, client=client, as_=DuplicatesAs.CLUSTERS).splitlines()
assert [json.loads(line)["leader"] for line in lines] == ["1"], lines

two = CompareRequest(documents=[Comparand(id="1"), Comparand(id="3")], collection=NAME)
assert 0 < compare.sync(client=client, body=two).pairs[0].exact < 0.5
assert plan.sync(client=client, body=PlanRequest(threshold=0.8)).met
assert healthz.sync(client=client).status == "ok"

assert remove_document.sync_detailed(NAME, "3", client=client).status_code == 204
missing = read_document.sync(NAME, "3", client=client)
assert isinstance(missing, ErrorBody) and missing.error.code == "document_not_found", missing
assert remove_collection.sync_detailed(NAME, client=client).status_code == 204
