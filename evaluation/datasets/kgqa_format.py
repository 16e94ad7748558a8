"""The project's own question files, and questions as people list them: lines of text, a table, JSON.

In a table, and wherever else they are text, several topics or answers are apart by ``|``; each is a name, or
an id of Freebase or Wikidata, or an IRI. A question without an id has the one that `kgqa.ask` gives it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Required

from pydantic import BeforeValidator, TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import (
    ENTITY_ID,
    Format,
    FormatMismatch,
    Hops,
    Id,
    Item,
    Text,
    Value,
    gold_readings,
    has_fields,
    item_ref,
    unique_refs,
)
from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.kg.proof.query import AnswerQuery
from kgqa.kg.terms import is_iri, local_name
from kgqa.runtime.state import question_id


class OwnItem(Item, total=False):
    """A topic entity or an answer; ``mid`` is a short id that gold paths may use."""

    mid: Value | None


def _as_items(value: object) -> object:
    """Make items of texts, each an id or a name.

    >>> _as_items("Lima | Q419")
    [{'name': 'Lima'}, {'id': 'Q419'}]
    """
    found = [part for part in map(str.strip, value.split("|")) if part] if isinstance(value, str) else value
    if not isinstance(found, list):
        return found
    return [_as_item(each.strip()) if isinstance(each, str) else each for each in found]


def _as_item(text: str) -> dict[str, str]:
    is_id = ENTITY_ID.fullmatch(text) or ("://" in text and is_iri(text))
    return {"id" if is_id else "name": text}


Items = Annotated[list[OwnItem] | None, BeforeValidator(_as_items)]
Relations = list[Text]


class _Branch(TypedDict, total=False):
    topic: Value | None
    path: Required[Relations]


class Record(TypedDict, total=False):
    """A record; what is not named here is ignored."""

    id: Id | None
    question: Required[Text]
    topic_entities: Items
    topics: Items
    topic: Items
    answers: Items
    answer: Items
    gold_path: Relations | None
    gold_paths: list[_Branch] | dict[str, Relations] | None
    sparql: str | None
    query: AnswerQuery | None
    hops: Hops | None
    min_hops_gold: Hops | None
    kind: str | None
    qtype: str | None
    level: str | None


def _to_question(record: Record) -> Question:
    topics, topic_refs = _read_items(record, "topic_entities", "topics", "topic")
    _, answer_refs = _read_items(record, "answers", "answer")
    paths = tuple(_paths(record, topics))
    longest = max((len(path.relations) for path in paths), default=None)
    hops = (record.get("hops"), record.get("min_hops_gold"), longest)
    return Question(
        id=record.get("id") or "",
        text=record["question"],
        topics=unique_refs(topic_refs),
        readings=gold_readings(answer_refs),
        paths=paths,
        sparql=record.get("sparql"),
        query=record.get("query"),
        hops=next((number for number in hops if number is not None), None),
        kind=record.get("kind") or record.get("qtype"),
        level=record.get("level"),
    )


def _to_scored(record: Record) -> Question:
    """Make a question of a record with answers; one with nothing but a text is of another format."""
    if not record.get("id") and record.keys().isdisjoint({"answers", "answer", "topic_entities", "topics"}):
        raise FormatMismatch("field id: is missing")
    return _to_question(record)


def _read_items(record: Record, *fields: str) -> tuple[Sequence[OwnItem], list[EntityRef | None]]:
    """Return the items of the first of some fields that has any, and what they refer to."""
    values: Mapping[str, Any] = record
    field = next((field for field in fields if values.get(field)), fields[0])
    items = values.get(field) or []
    found = list(map(item_ref, items))
    if not all(found):
        raise FormatMismatch(f"field {field}.{found.index(None)}: needs an id or a name")
    return items, found


def _paths(record: Record, topics: Sequence[OwnItem]) -> Iterator[GoldPath]:
    """Return the branches, or else the one path, which begins at the first topic."""
    if given := record.get("gold_paths"):
        ids = _topic_ids(topics)
        if isinstance(given, list):
            branches = [(branch.get("topic"), branch["path"]) for branch in given]
        else:
            branches = list(given.items())
        for topic, relations in branches:
            if relations:
                yield GoldPath(ids.get(topic, topic) if topic else None, tuple(relations))
    elif path := record.get("gold_path"):
        yield GoldPath((topics[0].get("id") or None) if topics else None, tuple(path))


def _topic_ids(topics: Sequence[OwnItem]) -> dict[str, str]:
    """Find a topic's id by itself, by the end of its IRI, or by its mid; the first topic wins."""
    ids = [(id, topic.get("mid")) for topic in reversed(topics) if (id := topic.get("id"))]
    found = {short: id for id, mid in ids for short in (local_name(id), mid) if short}
    found.update((id, id) for id, _ in ids)
    return found


def _recognises(record: Any) -> bool:
    if not has_fields("question")(record):
        return False
    return not record.keys().isdisjoint({"answers", "topic_entities"}) or (
        "answer" in record and record.keys() <= _FIELDS
    )


def _is_listed(record: Any) -> bool:
    if isinstance(record, str):
        return True
    return has_fields("question")(record) and record.keys() <= _FIELDS - {"answer", "answers"}


def _as_record(value: object) -> object:
    return {"question": value} if isinstance(value, str) else value


_FIELDS = Record.__annotations__.keys() | {"split"}

FORMAT = Format("kgqa", _recognises, TypeAdapter(Record), _to_scored, unique=True, make_id=question_id)

LIST_FORMAT = Format(
    "list",
    _is_listed,
    TypeAdapter(Annotated[Record, BeforeValidator(_as_record)]),
    _to_question,
    unique=True,
    make_id=question_id,
)
