"""Run: what does the graph give for the draft?"""

from collections.abc import Sequence
from dataclasses import replace

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Table
from kgqa.kg.terms import Entity, Term, is_blank
from kgqa.nodes.coverage import MAX_ANSWERS_READ
from kgqa.nodes.draft.state import FAILED, DraftState, DraftUpdate, has_answers, refine_or
from kgqa.nodes.draft.unmet import unmet_words
from kgqa.prompts.base import quoted
from kgqa.runtime.node import NodeRuntime, node


@node("run")
async def run(state: DraftState, runtime: NodeRuntime) -> DraftUpdate:
    """Run the draft; where it takes too long, gives nothing, or fails to compute, say why and draft anew."""
    query = state["sparql"]
    try:
        table: Table = await runtime.call_tool("run_query", query=query)
    except (KGTimeout, KGRejected) as error:
        runtime.record_failure(error)
        said = [f"the graph does not answer it: {error}"]
        return refine_or(state, {}, said, runtime.context.refines) or FAILED
    runtime.trace |= {"query": query, "rows": len(table.rows)}
    update: DraftUpdate = {
        "ran": query,
        "row_columns": [*table.columns],
        "rows": [[None if cell and is_blank(cell) else cell for cell in row] for row in table.rows],
        "cut": table.truncated,
        "unmet": [],
        "objections": [],
    }
    objections = await _objections(table, state, runtime)
    if not is_nothing(table.rows):
        update["doubts"] = [*state["doubts"], *objections]
        update["unmet"] = await unmet_words(await _first(table, runtime), state, runtime)
        unsaid = (each for each in update["unmet"] if each.casefold() in state["question"].casefold())
        objections += _tell([each for each in unsaid if each not in state["unsaid"]])
    new = [text for text in objections if text not in state["told"]]
    stands = query == state["ran"] or not new
    if not stands:
        runtime.trace["objections"] = new
        if (again := refine_or(state, update, new, runtime.context.refines)) is not None:
            return again
    return update if has_answers(update["rows"]) else {**update, **FAILED}


async def _first(table: Table, runtime: NodeRuntime) -> list[Term]:
    """Return the first column, with the names of its first entities."""
    first = list(dict.fromkeys(row[0] for row in table.rows if row and row[0] is not None))
    ids = [each.id for each in first[:MAX_ANSWERS_READ] if isinstance(each, Entity) and not is_blank(each)]
    names = await runtime.try_tool("name_entities", ids=ids) or {} if ids else {}
    return [replace(each, name=names.get(each.id)) if isinstance(each, Entity) else each for each in first]


def _tell(unmet: Sequence[str]) -> list[str]:
    said = ", ".join(map(quoted, unmet))
    lacking = f"no name in it says {said} of the question: say it; or send the same query where it says so"
    return [f'{lacking} otherwise, with "unsaid" for what is not there'] if unmet else []


async def _objections(table: Table, state: DraftState, runtime: NodeRuntime) -> list[str]:
    """Return why rows may not be what is meant: there are none, some have no name, or a computation fails."""
    if is_nothing(table.rows):
        part = await runtime.try_tool("explain_empty", query=state["sparql"])
        if part:
            return [f"it gives nothing: in the graph there is nothing for: {part}", *state["hints"]]
        if table.rows:  # as a count of none, which may be right
            return state["hints"]
        no_rows = "it gives nothing: its patterns have rows, but its filters, or what it joins, leave none"
        return [no_rows, *state["hints"]]
    unnamed = [
        f"?{column} is a node without a name, which is shown to nobody: select what it has"
        for at, column in enumerate(table.columns)
        if any(cell is not None and is_blank(cell) for cell in (row[at] for row in table.rows))
    ]
    return unnamed + [
        f"?{column} has no value in {empty} of {len(table.rows)} rows: a cast or a computation fails there"
        for at, column in enumerate(table.columns)
        if column in state["computed_columns"] and (empty := sum(row[at] is None for row in table.rows))
    ]


def is_nothing(rows: Sequence[Sequence[Term | None]]) -> bool:
    """Return whether rows say nothing: there are none, or only the number 0 or nothing is in them."""
    cells = [cell for row in rows for cell in row]
    counted = len(rows) == 1 and all(cell is None or cell.id in {"0", "0.0"} for cell in cells)
    return counted or all(cell is None for cell in cells)
