"""What a format is, what formats have in common, and how a record that does not fit is reported."""

import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    AliasChoices,
    BeforeValidator,
    Field,
    Strict,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import ErrorDetails
from typing_extensions import TypedDict

from kgqa.evaluation.question import EntityRef, Question
from kgqa.kg.terms import one_line

MISSING_NAMES = frozenset({"", "null", "UnName_Entity"})  # what the files write where an entity has no name
ENTITY_ID = re.compile(r"[mg]\.\w+|[QPL]\d+")  # whatever else stands in place of an id is a literal


def _as_text(value: object) -> object:
    """Write a truth value or a number as text: answers may be any of them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return str(value)
    return value


Text = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1)
]  # it must be there, and not be blank
Id = Annotated[Text, BeforeValidator(_as_text)]  # an id that must be there
Value = Annotated[str, Strict()] | Annotated[str, BeforeValidator(_as_text)]
"""An id, a name or a literal, maybe empty. Text, by far the most, is taken without a call of Python."""

Hops = Annotated[int, Field(ge=0, le=100)]


def named(*names: str) -> Any:
    """Return what says of a field that it may have any of some names."""
    return Field(validation_alias=AliasChoices(*names))


class Item(TypedDict, total=False):
    """A topic or an answer, its parts under any of the names that files have for them."""

    kind: Annotated[str | None, named("AnswerType", "answer_type", "node_type")]
    id: Annotated[Value | None, named("id", "AnswerArgument", "answer_argument", "answer_id")]
    name: Annotated[Value | None, named("name", "EntityName", "entity_name", "friendly_name", "answer")]
    aliases: list[Value] | None


def entity_ref(id: str | None, name: str | None, aliases: Iterable[str] = ()) -> EntityRef | None:
    """Make a topic or an answer; a literal is its own id. None where the file gives neither id nor name.

    >>> entity_ref("m.012k66rv", "UnName_Entity")
    EntityRef(id='m.012k66rv', name=None, aliases=())
    >>> entity_ref("Q42", "Q42")
    EntityRef(id='Q42', name=None, aliases=())
    >>> entity_ref("+100", "+100")
    EntityRef(id='+100', name='+100', aliases=())
    """
    if name is not None and (name in MISSING_NAMES or (name == id and ENTITY_ID.fullmatch(name))):
        name = None
    if not id and name is None:
        return None
    if not aliases:
        return EntityRef(id or None, name)
    others = dict.fromkeys(alias for alias in aliases if alias != name and alias not in MISSING_NAMES)
    return EntityRef(id or None, name, tuple(others))


def item_ref(item: Item) -> EntityRef | None:
    """Make a topic or an answer of an item; None where it has neither id nor name."""
    return entity_ref(item.get("id"), item.get("name"), item.get("aliases") or ())


def answer_ref(item: Item) -> EntityRef | None:
    """Make an answer of an item that may be a literal: by its kind, else by an id that is none."""
    kind, id = item.get("kind"), item.get("id")
    is_value = kind == "Value" or (kind is None and bool(id) and not ENTITY_ID.fullmatch(id or ""))
    return item_ref({**item, "name": item.get("name") or id} if is_value else item)


def unique_refs(found: Iterable[EntityRef | None]) -> tuple[EntityRef, ...]:
    """Keep what has an id or a name, each id and, without one, each name once: the first of it."""
    first: dict[object, EntityRef] = {}
    for one in found:
        if one is not None:
            first.setdefault(one.id or (one.name,), one)
    return tuple(first.values())


def gold_readings(*parses: Iterable[EntityRef | None]) -> tuple[tuple[EntityRef, ...], ...]:
    """Make the readings of the answers of each parse; an empty parse and a repeated one make none."""
    found = [reading for parse in parses if (reading := unique_refs(parse))]
    return tuple(found if len(found) < 2 else dict.fromkeys(found))


class WithTopics(TypedDict, total=False):
    """What PoG's and ToG's lists add to a record: names of topics by id, also as Wikidata knows them."""

    topic_entity: dict[str, str | None] | None
    qid_topic_entity: dict[str, str | None] | None


def with_topics(question: Question, record: WithTopics) -> Question:
    """Add the topics that a list names, in place of those that a question has, and as Wikidata knows them."""
    named, others = (
        None if names is None else unique_refs(entity_ref(id, name) for id, name in names.items())
        for names in (record.get("topic_entity"), record.get("qid_topic_entity"))
    )
    if named is None:
        named = question.topics or None
    if named is None:
        return replace(question, topics=others or ())
    return replace(question, topics=named, other_topics=(others,) if others else ())


def has_fields(*names: str, **kinds: type) -> Callable[[Any], bool]:
    """Return what recognises JSON objects with all of some fields, those of ``kinds`` of a type."""
    return lambda record: (
        isinstance(record, dict)
        and record.keys() >= {*names, *kinds}
        and all(isinstance(record[name], kind) for name, kind in kinds.items())
    )


Record = TypeVar("Record")

KINDS: dict[type, str] = {tuple: "tab-separated text", dict: "an object", list: "a list"}
"""What a value is called that is too long to be shown."""

OBJECT = re.compile(r"a (valid )?dictionary( or an instance of \w+)?")  # what pydantic calls an object
PYDANTIC_PREFIX = re.compile(r"^(Value error, |Input |String )")  # how pydantic begins a complaint


class DatasetError(ValueError):
    """Questions that cannot be used or had; its text is one line that names the place."""


class FormatMismatch(ValueError):
    """A record that is not as its format has it; the text names the field."""


@dataclass(frozen=True, slots=True)
class Format(Generic[Record]):
    """One way in which questions are published.

    ``recognises`` tells it by a file's first record; ``columns`` name the fields of a line of
    text; ``schema`` checks a record, and ``question`` makes a question of it, with an
    empty id where the record has none. Where ``unique`` holds, two records with one id
    are a mistake; elsewhere the second is given another.
    """

    name: str
    recognises: Callable[[Any], bool]
    schema: TypeAdapter[Record]
    question: Callable[[Record], Question]
    columns: tuple[str, ...] = ()
    unique: bool = False
    make_id: Callable[[str], str] | None = None  # of a question's text; None goes by the place in the file

    def read(self, record: Any) -> Question:
        """Make a question of a record; a mismatch names the field that is wrong."""
        if self.columns and isinstance(record, tuple):
            record = dict(zip(self.columns, record, strict=False))
        try:
            return self.question(self.schema.validate_python(record))
        except ValidationError as error:
            raise FormatMismatch(describe_error(error, record)) from None


def describe_error(error: ValidationError, record: Any) -> str:
    """Describe the mistake that lies deepest: of a field with alternatives, it is the nearest miss."""
    details = error.errors(include_url=False, include_context=False)
    path, mistake = max(((_field_path(each, record), each) for each in details), key=_nearness)
    place = f"field {one_line('.'.join(map(str, path)), 80)}:" if path else "the record"
    return f"{place} {_describe_mistake(mistake)}"


def _nearness(found: tuple[list[str | int], ErrorDetails]) -> tuple[int, bool]:
    """Return how deep a mistake lies: of what is missing, where it should be."""
    path, mistake = found
    is_missing = mistake["type"] == "missing"
    return len(path) - is_missing, not is_missing


def _field_path(mistake: ErrorDetails, record: Any) -> list[str | int]:
    """Return the path to the mistake, without the names that pydantic gives to alternatives."""
    path: list[str | int] = []
    for part in mistake["loc"]:
        missing = mistake["loc"][-1] if mistake["type"] == "missing" else None
        if isinstance(record, dict) and (part in record or part == missing):
            record = record.get(part)
        elif isinstance(record, list) and isinstance(part, int) and part < len(record):
            record = record[part]
        else:
            continue
        path.append(part)
    return path


def _describe_mistake(mistake: ErrorDetails) -> str:
    if mistake["type"] == "missing":
        return "is missing"
    found, kind = mistake["input"], KINDS.get(type(mistake["input"]))
    message = PYDANTIC_PREFIX.sub("", OBJECT.sub("an object", mistake["msg"]))
    if kind and mistake["type"] == "value_error":  # it says itself what it is about
        return one_line(message)
    return f"{message}, not {kind or one_line(json.dumps(found, ensure_ascii=False, default=str), 40)}"
