"""The rows of a draft as an answer, and how far they can be trusted."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from kgqa.kg.terms import Entity, Literal, Term, Triple, local_name, plain_term
from kgqa.nodes.coverage import Said, unsaid_phrases
from kgqa.nodes.cues import unasked_function, unmet_kind, unused_cues_of_sparql
from kgqa.nodes.draft.run import is_nothing
from kgqa.nodes.draft.state import DraftState, has_answers
from kgqa.nodes.record import NO, YES, trace_evidence
from kgqa.nodes.said import is_term_said
from kgqa.prompts.candidates import XSD_INTEGER
from kgqa.retrieval.wording import relation_phrase
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.record import Outcome, RecordedCondition, Ref, Table, fact, ref
from kgqa.runtime.state import State, Update
from kgqa.tools.select import QueryConstants, read_constants

T = TypeVar("T", bound=Term | None)

WORD = r"[^\W_]+"

MAX_TRACED_ROWS = 10
"""Rows whose facts a record carries at most."""


async def drafted_answer(given: State, runtime: NodeRuntime) -> Update | None:
    """Return what a record says of the rows of a draft; None where no draft has given any.

    It is grounded where the graph says all that the question says: no constant or bound of the query is the
    model's, no word is left unsaid, its writer has been left in no doubt, and no LIMIT cuts between equals.
    """
    state = cast(DraftState, given)
    if state.get("outcome") or not (query := state.get("ran")) or not has_answers(state["rows"]):
        return None
    rows = await _named(state["rows"], runtime)
    first = list(dict.fromkeys(row[0] for row in rows if row and row[0] is not None))
    asks = state["row_columns"] == ["ask"] and [each.id for each in first] in (["true"], ["false"])
    read = await asyncio.to_thread(read_constants, query)
    conditions = [*_written(read, state), *await _bounds(state, runtime)]
    unsaid = await unsaid_phrases(_said(read, state), first, state, runtime)
    unmet = [*dict.fromkeys([*_unmet(read, first, state, asks=asks), *unsaid])]
    by_graph = all(each["by"] == "graph" for each in conditions)
    outcome: Outcome = "grounded" if by_graph else "grounded_inference"
    if unmet or read is None or any(each["by"] is None for each in conditions):
        outcome = "grounded_unverified"
    facts = await _facts(query, rows, state, runtime)
    answers = [YES if first[0].id == "true" else NO] if asks else [*map(ref, first)]
    return {
        "answers": answers,
        "table": None if asks else _table(rows, state),
        "outcome": outcome,
        "paths": [],
        "evidence": [fact(each) for each in facts],
        "query": query,
        "conditions": [
            *conditions,
            *(RecordedCondition(words=words, query=None, by=None) for words in unmet),
        ],
    }


async def _named(rows: Sequence[Sequence[Term | None]], runtime: NodeRuntime) -> list[list[Term | None]]:
    """Return rows with the names of their entities; without those that the budget no longer gives."""
    ids = dict.fromkeys(cell.id for row in rows for cell in row if isinstance(cell, Entity))
    names = await trace_evidence(runtime, "name_entities", ids=[*ids]) or {} if ids else {}
    return [[_with_name(cell, names) for cell in row] for row in rows]


def _with_name(cell: T, names: Mapping[str, str | None]) -> T:
    return replace(cell, name=names.get(cell.id)) if isinstance(cell, Entity) else cell


def _table(rows: Sequence[Sequence[Term | None]], state: DraftState) -> Table | None:
    """Return the rows as the record has them; None for a plain list of one column."""
    columns, ordered = state["row_columns"], state["ordered"] and len(rows) > 1
    if len(columns) < 2 and not ordered:
        return None
    headings = state["headings"] if len(state["headings"]) == len(columns) else columns
    cells: list[list[Ref | None]] = [[None if cell is None else ref(cell) for cell in row] for row in rows]
    return {"columns": headings, "rows": cells, "ordered": ordered, "truncated": state["cut"]}


async def _facts(
    query: str, rows: Sequence[Sequence[Term | None]], state: DraftState, runtime: NodeRuntime
) -> list[Triple]:
    """Return the facts behind the first rows, with names; none where the graph does not tell."""
    some = [dict(zip(state["row_columns"], row, strict=True)) for row in rows[:MAX_TRACED_ROWS]]
    facts: list[Triple] = await trace_evidence(runtime, "trace_rows", query=query, rows=some) or []
    ids = dict.fromkeys(end.id for each in facts for end in (each.head, each.tail) if isinstance(end, Entity))
    names = await trace_evidence(runtime, "name_entities", ids=[*ids]) or {} if ids else {}
    return [
        replace(each, head=_with_name(each.head, names), tail=_with_name(each.tail, names)) for each in facts
    ]


def _written(read: QueryConstants | None, state: DraftState) -> Iterator[RecordedCondition]:
    """Yield what the query names: the model's, where the question does not say it and nobody has shown it.

    Values that are shown as examples, and members of a class, are the model's choice; values of an
    enumeration, and what was found, are the graph's.
    """
    names = {each.id: each for each in state["members"]}
    topics = {*map(plain_term, state["topic_entities"])}
    shown, listed = {*state["shown_ids"]}, {*state["enumerated"]}
    for each in read.written if read else ():
        if each in topics or (isinstance(each, Entity) and each.id in shown):
            continue
        known = isinstance(each, Literal) and (
            each.value in listed or any(f'"{each.value}"' in line for line in state["found"])
        )
        yield RecordedCondition(
            words=str(each),
            query=f"<{each.id}>" if isinstance(each, Entity) else each.id,
            by="graph" if known or is_term_said(names.get(each.id, each), state["question"]) else "model",
        )


async def _bounds(state: DraftState, runtime: NodeRuntime) -> list[RecordedCondition]:
    """Return the conditions that LIMIT and OFFSET are, and what is computed where no word asks for it."""
    question, limit, offset = state["question"], state["limit"], state["offset"]
    within = [
        RecordedCondition(words="not all rows", query=f"LIMIT {n}", by="model" if ordered else None)
        for n, ordered in state["inner_limits"]
    ]
    if limit is None and not offset:
        return within
    bounds = (f"LIMIT {limit}" if limit is not None else "", f"OFFSET {offset}" if offset else "")
    written = " ".join(filter(None, bounds))
    if not state["ordered"]:
        return [*within, RecordedCondition(words="not all rows", query=written, by=None)]
    said = [*filter(None, [limit if offset == 0 else None, offset + 1 if offset else None])]
    if offset and limit and limit > 1:
        said.append(offset + limit)
    asked = all(_is_said(n, question) for n in said if n > 1) and unasked_function("argmax", question) is None
    conditions = [*within, RecordedCondition(words=written, query=written, by="graph" if asked else "model")]
    clear = await trace_evidence(runtime, "compare_at_limit", query=state["ran"])
    if not clear:
        equals = "others are equal to those that are shown last"
        conditions.append(RecordedCondition(words=equals, query=None, by="model"))
    return conditions


def _is_said(number: int, question: str) -> bool:
    return is_term_said(Literal(str(number), XSD_INTEGER), question)


def _unmet(
    read: QueryConstants | None, first: Sequence[Term], state: DraftState, *, asks: bool
) -> Iterator[str]:
    """Yield what the question says and the query does not, as far as it is known, and what is in doubt."""
    question, topics, query = state["question"], state["topic_entities"], state["ran"] or ""
    yield from (str(topic) for topic in topics if not _is_met(topic, read, state))
    yield from _unused_values(read, state)
    yield from state["unsaid"]
    yield from state["doubts"]
    if state["cut"]:
        yield "not all rows"
    if len(state["row_columns"]) == 1 and not asks:
        yield from unmet_kind(first, question)
    yield from unused_cues_of_sparql(query, first, question, topics)
    if is_nothing(state["rows"]):
        yield "nothing was found"
    if asks and [cell.id for row in state["rows"] for cell in row if cell] == ["false"]:
        yield from state["hints"]


def _said(read: QueryConstants | None, state: DraftState) -> Said:
    """Return what a draft says: its terms, classes and relations by their names, and how much it computes."""
    known = {each.id: each for some in (*state["alternatives"], state["members"]) for each in some}
    written = [*read.written, *map(Entity, read.binding)] if read else []
    terms = (known.get(each.id, each) if isinstance(each, Entity) else each for each in written)
    words = (state["words"].get(id) or relation_phrase(local_name(id)) for id in state["ids"])
    computed = state["ordered"] + len(state["computed_columns"])
    return Said(tuple(terms), (), tuple(words), (), computed)


def _unused_values(read: QueryConstants | None, state: DraftState) -> Iterator[str]:
    """Yield the values that a property has few of, which the question says and the query does not."""
    written = [term.name or "" for term in (read.written if read else ())]
    said = _words(" ".join([*written, *_called(state)]))
    asked = _words(state["question"])
    for value in state["enumerated"]:
        text = _words(value)
        if text.strip() and text in asked and text not in said:
            yield value


def _called(state: DraftState) -> list[str]:
    """Return in words what the query names."""
    return [relation_phrase(local_name(id)) for id in state["ids"]]


def _words(text: str) -> str:
    """Return the words of a text in lower case, with a space at either end of each."""
    return f" {' '.join(re.findall(WORD, text.casefold()))} "


def _is_met(topic: Entity, read: QueryConstants | None, state: DraftState) -> bool:
    """Return whether a query is about a topic, or about what its mention may mean otherwise."""
    meant = [topic, *(each for some in state["alternatives"] if topic in some for each in some)]
    parts = state["parts"].get(topic.id)
    return any(_is_part(each, read, state) for each in meant) or (
        parts is not None and all(_is_part(each, read, state) for each in parts)
    )


def _is_part(topic: Entity, read: QueryConstants | None, state: DraftState) -> bool:
    """Return whether a query has a topic: an entity that binds it, a value, a class or what says its name."""
    meant = plain_term(topic)
    written = {term.name.casefold() for term in (read.written if read else ()) if isinstance(term, Literal)}
    named = [*map(_words, _called(state))]
    if (topic.name or "").casefold() in written:
        return True
    if isinstance(meant, Literal):
        return any(_words(meant.value) in words for words in named)
    if read is not None and meant.id in read.binding:
        return True
    is_class = any(plain_term(Entity(id)) == meant for id in state["classes"])
    says = any(_words(relation_phrase(str(topic))) in words for words in named)
    return is_class and (meant.id in state["ids"] or says)
