"""The record: the one schema in which every question ends.

``graph.ainvoke`` returns it, ``kgqa ask --format json`` prints it.
"""

from typing import Annotated, Any, Literal, NotRequired, cast

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from kgqa.kg.terms import Term, Triple, plain_term

Outcome = Literal[
    "grounded",
    "grounded_inference",
    "grounded_unverified",
    "parametric",
    "none",
    "kg_unavailable",
    "model_unavailable",
]
FROM_GRAPH = frozenset({"grounded", "grounded_inference"})
"""Outcomes of answers that chains of the graph lead to, and that were judged."""

BY_SEARCH = FROM_GRAPH | {"grounded_unverified"}
"""These, and that of answers that were not judged, or not all of what they rest on."""

StoppedBy = Literal["llm_calls", "tokens", "kg_queries", "seconds", "depth"]


class Ref(TypedDict):
    """An entity or literal: its id (a literal's value; null for a variable or from memory) and name."""

    id: str | None
    name: str | None


class PathStep(TypedDict):
    """One hop of a path; ``forward`` is false against the relation's arrow.

    ``name`` is what the graph calls the relation, where its IRI does not say it.
    """

    head: Ref
    relation: str
    forward: bool
    tail: Ref
    name: NotRequired[str]


class Fact(TypedDict):
    """A triple of the graph that the answer rests on."""

    head: Ref
    relation: str
    tail: Ref


class RecordedCondition(TypedDict):
    """A condition of the question, and who has decided it.

    ``words`` are those in which it is said, ``query`` its part of the record's query; null where it has
    none: a topic that the search has left out is on no chain. ``by`` is ``graph``, ``model``, or null
    where it is not decided.
    """

    words: str
    query: str | None
    by: Literal["graph", "model"] | None


class OtherReading(TypedDict):
    """Another likely reading of the question: in words, what it is about, its answers and their query.

    ``sentence`` says its answers, ``truncated`` that the query gives further ones.
    """

    reading: str
    sentence: NotRequired[str | None]
    topics: list[Ref]
    answers: list[Ref]
    truncated: bool
    query: str
    confidence: Annotated[float, Field(ge=0, le=1)]


class Table(TypedDict):
    """An answer in several columns, or in an order; a cell is null where a row has no value.

    ``ordered`` says that the question asks for this order, ``truncated`` that there are further rows.
    """

    columns: list[str]
    rows: list[list[Ref | None]]
    ordered: bool
    truncated: bool


class Spend(TypedDict):
    """What a question has cost; seconds are of wall time.

    ``unknown_calls`` counts those among ``llm_calls`` whose tokens the server did
    not report: with any, the token counts are lower bounds. ``kg_queries`` are the method's;
    ``model_queries`` those that the offline model makes to interpret the question.
    """

    llm_calls: Annotated[int, Field(ge=0)]
    cached_calls: Annotated[int, Field(ge=0)]
    unknown_calls: Annotated[int, Field(ge=0)]
    input_tokens: Annotated[int, Field(ge=0)]
    output_tokens: Annotated[int, Field(ge=0)]
    kg_queries: Annotated[int, Field(ge=0)]
    model_queries: Annotated[int, Field(ge=0)]
    seconds: Annotated[float, Field(ge=0)]
    seconds_llm: Annotated[float, Field(ge=0)]
    seconds_kg: Annotated[float, Field(ge=0)]


@with_config(ConfigDict(use_attribute_docstrings=True))
class Record(TypedDict):
    """Question, answer, proof, trace, cost and configuration of one run."""

    id: str
    """What the record is filed under."""
    question: str
    """The question as it was asked."""
    method: str
    """The name of the method."""
    topics: list[Ref]
    """The entities that the question is about."""
    reading: str | None
    """How the question was understood: what ``query`` asks for, in words made from it; null without one."""
    answers: list[Ref]
    """The answers; an id is null only where the answer is from the model's memory."""
    sentence: str | None
    """The answers in a sentence of English, made from the query; null where none is sure to be right."""
    table: Table | None
    """The answers with what else is asked of each, or in the order that is asked for; else null.

    Its first column holds the answers.
    """
    outcome: Outcome
    """How far the answer is to be trusted, or why there is none."""
    confidence: Annotated[float, Field(ge=0, le=1)] | None
    """How likely the answers are right, also those that it was too low for; null where it cannot be told."""
    stopped_by: StoppedBy | None
    """The limit that ended the search, if one did."""
    paths: list[list[PathStep]]
    """The chains that lead to the answers."""
    evidence: list[Fact]
    """The facts along these chains, and those that meet the conditions."""
    query: str | None
    """The SPARQL that gives exactly the answers, by any client; null where there is none."""
    conditions: list[RecordedCondition]
    """What the question asks beside what its chains say, and who has decided it."""
    alternatives: list[OtherReading]
    """Other likely readings with other answers, likely and short ones first; none where it is surely read."""
    trace: list[dict[str, Any]]
    """What each step decided and why."""
    usage: Spend
    """What the question has cost."""
    config: dict[str, Any]
    """The method's options, with their hash."""


SUMMARY = tuple(key for key in Record.__annotations__ if key not in ("id", "trace", "usage", "config"))
"""The keys of a record that say what it answers and prove it."""

VARIABLE_REF: Ref = {"id": None, "name": None}  # a node of a chain that stays a variable


def ref(term: Term) -> Ref:
    """Return a term as a record shows it."""
    return {"id": term.id, "name": term.name}


def fact(triple: Triple) -> Fact:
    """Return a triple as a record shows it."""
    head, tail = ref(triple.head), ref(plain_term(triple.tail))
    return {"head": head, "relation": triple.relation, "tail": tail}


def summarise_record(record: Record) -> dict[str, Any]:
    """Return what a record answers and proves as plain JSON, without its trace, cost and options."""
    return {key: record[key] for key in SUMMARY}  # type: ignore[literal-required]


def zero_spend() -> Spend:
    """Return a spend of nothing."""
    return cast(Spend, dict.fromkeys(Spend.__annotations__, 0))


def add_spend(left: Spend | None, right: Spend | None) -> Spend:
    """Add two spends field by field; None counts as nothing."""
    a, b = left or zero_spend(), right or zero_spend()
    return cast(Spend, {key: a[key] + b[key] for key in a})  # type: ignore[literal-required]
