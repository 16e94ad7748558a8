"""The rows of a draft as an answer, and how far they can be trusted."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TypeVar, cast

from kgqa.kg.pages import Table as Rows
from kgqa.kg.terms import Entity, Literal, Term, Triple, plain_term
from kgqa.nodes.coverage import can_compare
from kgqa.nodes.draft.run import is_nothing
from kgqa.nodes.draft.state import Described, DraftState, RunDraft
from kgqa.nodes.mentioned import is_term_said
from kgqa.nodes.modifiers import unasked_function, unmet_kind
from kgqa.nodes.record import NO, YES, read_back, trace_evidence
from kgqa.prompts.candidates import XSD_INTEGER
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.record import Outcome, RecordedCondition, Ref, Table, fact, ref
from kgqa.runtime.state import State, Update
from kgqa.tools.drafts import CheckedDraft
from kgqa.tools.select import QueryConstants, read_constants

T = TypeVar("T", bound=Term | None)

UNCOMPARED = "the words of the question are not compared with those of the graph"

MAX_TRACED_ROWS = 10  # rows whose facts a record carries at most


async def drafted_answer(given: State, runtime: NodeRuntime) -> Update | None:
    """Return what a record says of the draft that stands; None where none has given answers.

    It is grounded where the graph says all that the question says: no constant or bound of the query is the
    model's, no word is left unsaid, its writer has been left in no doubt, and no LIMIT cuts between equals.
    """
    state = cast(DraftState, given)
    standing, described = state.get("standing"), state.get("described")
    if state.get("outcome") or standing is None or described is None:
        return None
    query, question = standing.checked.text, state["question"]
    rows = await _named(standing.table.rows, runtime)
    ran = replace(standing, table=replace(standing.table, rows=rows))
    first = ran.first_column
    asks = ran.table.columns == ("ask",) and [each.id for each in first] in (["true"], ["false"])
    read = await asyncio.to_thread(read_constants, query)
    conditions = [
        *_written(read, described, state),
        *_factors(ran.checked, question),
        *await _bounds(ran.checked, question, runtime),
    ]
    unmet = [*dict.fromkeys([*ran.unmet, *_unmet(ran, question, asks=asks)])]
    if not can_compare(question):
        conditions.append(RecordedCondition(words=UNCOMPARED, query=None, by="model"))
    by_graph = all(each["by"] == "graph" for each in conditions)
    outcome: Outcome = "grounded" if by_graph else "grounded_inference"
    if unmet or read is None or any(each["by"] is None for each in conditions):
        outcome = "grounded_unverified"
    conditions += [RecordedCondition(words=words, query=None, by=None) for words in unmet]
    facts = await _facts(query, ran.table, runtime)
    names = {**described.names, **{each.id: each.name for each in state["topic_entities"] if each.name}}
    answers = [YES if first[0].id == "true" else NO] if asks else [*map(ref, first)]
    return {
        **await read_back(query, names, answers, runtime, cut=ran.table.truncated),
        "answers": answers,
        "table": None if asks else _table(ran),
        "outcome": outcome,
        "confidence": None,  # a model's is of the chains that it would have gone
        "paths": [],
        "evidence": [fact(each) for each in facts],
        "query": query,
        "conditions": conditions,
    }


async def _named(
    rows: Sequence[Sequence[Term | None]], runtime: NodeRuntime
) -> tuple[tuple[Term | None, ...], ...]:
    """Return rows with the names of their entities; without those that the budget no longer gives."""
    ids = dict.fromkeys(cell.id for row in rows for cell in row if isinstance(cell, Entity))
    names = await trace_evidence(runtime, "name_entities", ids=[*ids]) or {} if ids else {}
    return tuple(tuple(_with_name(cell, names) for cell in row) for row in rows)


def _with_name(cell: T, names: Mapping[str, str | None]) -> T:
    return replace(cell, name=names.get(cell.id)) if isinstance(cell, Entity) else cell


def _table(ran: RunDraft) -> Table | None:
    """Return the rows as the record has them; None for a plain list of one column."""
    columns, rows = [*ran.table.columns], ran.table.rows
    ordered = ran.checked.ordered and len(rows) > 1
    if len(columns) < 2 and not ordered:
        return None
    headings = ran.drafted.columns if len(ran.drafted.columns) == len(columns) else columns
    cells: list[list[Ref | None]] = [[None if cell is None else ref(cell) for cell in row] for row in rows]
    return {"columns": headings, "rows": cells, "ordered": ordered, "truncated": ran.table.truncated}


async def _facts(query: str, table: Rows, runtime: NodeRuntime) -> list[Triple]:
    """Return the facts behind the first rows, with names; none where the graph does not tell."""
    some = [dict(zip(table.columns, row, strict=True)) for row in table.rows[:MAX_TRACED_ROWS]]
    facts: list[Triple] = await trace_evidence(runtime, "trace_rows", query=query, rows=some) or []
    ids = dict.fromkeys(end.id for each in facts for end in (each.head, each.tail) if isinstance(end, Entity))
    names = await trace_evidence(runtime, "name_entities", ids=[*ids]) or {} if ids else {}
    return [
        replace(each, head=_with_name(each.head, names), tail=_with_name(each.tail, names)) for each in facts
    ]


def _written(
    read: QueryConstants | None, described: Described, state: DraftState
) -> Iterator[RecordedCondition]:
    """Yield what the query names: the model's, where the question does not say it and nobody has shown it.

    Values that are shown as examples, and members of a class, are the model's choice; values of an
    enumeration, and what was found, are the graph's.
    """
    names = {each.id: each for each in described.members}
    topics = {*map(plain_term, state["topic_entities"])}
    shown, listed = {*described.ids}, {*described.enumerated}
    for each in read.written if read else ():
        if each in topics or (isinstance(each, Entity) and each.id in shown):
            continue
        known = isinstance(each, Literal) and (
            each.value in listed or any(f'"{each.value}"' in line for line in described.found)
        )
        yield RecordedCondition(
            words=str(each),
            query=f"<{each.id}>" if isinstance(each, Entity) else each.id,
            by="graph" if known or is_term_said(names.get(each.id, each), state["question"]) else "model",
        )


def _factors(checked: CheckedDraft, question: str) -> Iterator[RecordedCondition]:
    """Yield the numbers that it computes with and the question does not say: the model's, but for units."""
    for each in checked.factors:
        is_unit = Decimal(each.value).normalize().as_tuple().digits in {
            (0,),
            (1,),
        }  # tens, hundreds, thousandths
        if not is_unit and not is_term_said(each, question):
            yield RecordedCondition(words=each.value, query=each.value, by="model")


async def _bounds(checked: CheckedDraft, question: str, runtime: NodeRuntime) -> list[RecordedCondition]:
    """Return the conditions that LIMIT and OFFSET are, and what is computed where no word asks for it."""
    limit, offset = checked.limit, checked.offset
    within = [
        RecordedCondition(words="not all rows", query=f"LIMIT {n}", by="model" if ordered else None)
        for n, _, ordered in checked.inner_limits
    ]
    if limit is None and not offset:
        return within
    bounds = (f"LIMIT {limit}" if limit is not None else "", f"OFFSET {offset}" if offset else "")
    written = " ".join(filter(None, bounds))
    if not checked.ordered:
        return [*within, RecordedCondition(words="not all rows", query=written, by=None)]
    said = [*filter(None, [limit if offset == 0 else None, offset + 1 if offset else None])]
    if offset and limit and limit > 1:
        said.append(offset + limit)
    asked = all(_is_said(n, question) for n in said if n > 1) and unasked_function("argmax", question) is None
    conditions = [*within, RecordedCondition(words=written, query=written, by="graph" if asked else "model")]
    clear = await trace_evidence(runtime, "compare_at_limit", query=checked.text)
    if not clear:
        equals = "others are equal to those that are shown last"
        conditions.append(RecordedCondition(words=equals, query=None, by="model"))
    return conditions


def _is_said(number: int, question: str) -> bool:
    return is_term_said(Literal(str(number), XSD_INTEGER), question)


def _unmet(ran: RunDraft, question: str, *, asks: bool) -> Iterator[str]:
    """Yield what the question says and the query does not, as its writer has it, and what is in doubt."""
    yield from ran.drafted.left_out
    yield from ran.doubts
    if ran.table.truncated:
        yield "not all rows"
    if len(ran.table.columns) == 1 and not asks:
        yield from unmet_kind(ran.first_column, question)
    if is_nothing(ran.table.rows):
        yield "nothing was found"
    if asks and [each.id for each in ran.first_column] == ["false"]:
        yield from ran.checked.told("hint")
