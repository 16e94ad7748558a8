"""The project's own question files."""

from collections.abc import Iterator, Sequence
from typing import Any, Required

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import (
    Format,
    FormatMismatch,
    Hops,
    Id,
    Text,
    Value,
    entity_ref,
    gold_readings,
    has_fields,
    unique_refs,
)
from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.kg.proof.query import AnswerQuery
from kgqa.kg.terms import local_name


class Item(TypedDict, total=False):
    """A topic entity or an answer; ``mid`` is a short id that gold paths may use."""

    id: Value | None
    name: Value | None
    mid: Value | None
    aliases: list[Value] | None


Relations = list[Text]


class _Branch(TypedDict, total=False):
    topic: Value | None
    path: Required[Relations]


class Record(TypedDict, total=False):
    """A record; what is not named here is ignored."""

    id: Required[Id]
    question: Required[Text]
    topic_entities: list[Item] | None
    answers: list[Item] | None
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
    topics = record.get("topic_entities") or []
    paths = tuple(_paths(record, topics))
    longest = max((len(path.relations) for path in paths), default=None)
    hops = (record.get("hops"), record.get("min_hops_gold"), longest)
    return Question(
        id=record["id"],
        text=record["question"],
        topics=unique_refs(_item_refs("topic_entities", topics)),
        readings=gold_readings(_item_refs("answers", record.get("answers") or [])),
        paths=paths,
        sparql=record.get("sparql"),
        query=record.get("query"),
        hops=next((number for number in hops if number is not None), None),
        kind=record.get("kind") or record.get("qtype"),
        level=record.get("level"),
    )


def _item_refs(field: str, items: Sequence[Item]) -> list[EntityRef | None]:
    found = [entity_ref(item.get("id"), item.get("name"), item.get("aliases") or ()) for item in items]
    if not all(found):
        raise FormatMismatch(f"field {field}.{found.index(None)}: needs an id or a name")
    return found


def _paths(record: Record, topics: Sequence[Item]) -> Iterator[GoldPath]:
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


def _topic_ids(topics: Sequence[Item]) -> dict[str, str]:
    """Find a topic's id by itself, by the end of its IRI, or by its mid; the first topic wins."""
    ids = [(id, topic.get("mid")) for topic in reversed(topics) if (id := topic.get("id"))]
    found = {short: id for id, mid in ids for short in (local_name(id), mid) if short}
    found.update((id, id) for id, _ in ids)
    return found


def _recognises(record: Any) -> bool:
    return has_fields("question")(record) and not record.keys().isdisjoint({"answers", "topic_entities"})


FORMAT = Format("kgqa", _recognises, TypeAdapter(Record), _to_question, unique=True)
