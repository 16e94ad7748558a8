"""Run: what does the graph give for the draft?"""

from collections.abc import Sequence
from dataclasses import replace

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Table
from kgqa.kg.terms import Entity, Term, is_blank
from kgqa.nodes.coverage import MAX_ANSWERS_READ
from kgqa.nodes.draft.rivals import likelier_properties, other_kind
from kgqa.nodes.draft.state import Described, DraftState, DraftUpdate, RunDraft, fail, refine_or_fail
from kgqa.nodes.draft.unmet import unmet_words, without_names
from kgqa.prompts.base import quoted
from kgqa.runtime.node import NodeRuntime, node
from kgqa.tools.drafts import CheckedDraft


@node("run")
async def run(state: DraftState, runtime: NodeRuntime) -> DraftUpdate:
    """Run the draft; where it takes too long, gives nothing, or fails to compute, say why and draft anew.

    What stands is the last draft that has given answers, whatever becomes of those after it.
    """
    described, drafted, checked = state["described"], state["drafted"], state["checked"]
    standing = state["standing"]
    if described is None or drafted is None or checked is None:
        return {"decision": "refine"}
    try:
        table: Table = await runtime.call_tool("run_query", query=checked.text)
    except (KGTimeout, KGRejected) as error:
        runtime.record_failure(error)
        return refine_or_fail(state, [f"the graph does not answer it: {error}"], runtime, standing)
    runtime.trace |= {"query": checked.text, "rows": len(table.rows)}
    objections = await _objections(table, checked, runtime)
    rows = tuple(tuple(None if cell and is_blank(cell) else cell for cell in row) for row in table.rows)
    doubts = [*checked.told("doubtful"), *([] if is_nothing(table.rows) else objections)]
    ran = RunDraft(drafted, checked, replace(table, rows=rows), doubts)
    if not is_nothing(table.rows):
        question = without_names(state["question"], state["topic_entities"], described)
        rivals = await likelier_properties(checked, described, question, runtime)
        first = await _named(ran.first_column, runtime)
        rivals += [
            *_given_back(first, checked, described),
            *await other_kind(first, checked, described, state, runtime),
        ]
        ran, objections = replace(ran, doubts=[*doubts, *rivals]), [*objections, *rivals]
        unmet, unsayable = await unmet_words(checked, first, described, state, runtime)
        ran = replace(ran, unmet=[*unmet, *unsayable])
        unsaid = (each for each in unmet if each.casefold() in state["question"].casefold())
        objections += _tell([each for each in unsaid if each not in drafted.left_out])
    new = [text for text in objections if text not in state["told"]]
    stands = not new or (standing is not None and standing.checked.text == checked.text)
    standing = ran if ran.has_answers else standing
    if not stands:
        runtime.trace["objections"] = new
        if state["refinements"] < runtime.context.refines:
            return refine_or_fail(state, new, runtime, standing)
    return {"standing": ran, "objections": []} if ran.has_answers else fail(standing)


async def _named(first: Sequence[Term], runtime: NodeRuntime) -> list[Term]:
    """Return answers, the first entities among them with their names."""
    ids = [each.id for each in first[:MAX_ANSWERS_READ] if isinstance(each, Entity)]
    names = await runtime.try_tool("name_entities", ids=ids) or {} if ids else {}
    return [replace(each, name=names.get(each.id)) if isinstance(each, Entity) else each for each in first]


def _given_back(first: Sequence[Term], checked: CheckedDraft, described: Described) -> list[str]:
    """Return why answers may not be what is asked for: they are all that the query names."""
    named = {*checked.ids} - {*checked.relations, *(each.id for each in described.classes)}
    same = named and {each.id for each in first} == named
    return [f"it gives back what it names: {', '.join(map(str, first))}"] if same else []


def _tell(unmet: Sequence[str]) -> list[str]:
    said = ", ".join(map(quoted, unmet))
    lacking = f"no name in it says {said} of the question: say it; or send the same query where it says so"
    return [f'{lacking} otherwise, with "unsaid" for what is not there'] if unmet else []


async def _objections(table: Table, checked: CheckedDraft, runtime: NodeRuntime) -> list[str]:
    """Return why rows may not be what is meant: there are none, some have no name, or a computation fails."""
    if is_nothing(table.rows):
        hints = checked.told("hint")
        part = await runtime.try_tool("explain_empty", query=checked.text)
        if part:
            return [f"it gives nothing: in the graph there is nothing for: {part}", *hints]
        if table.rows:  # as a count of none, which may be right
            return hints
        no_rows = "it gives nothing: its patterns have rows, but its filters, or what it joins, leave none"
        return [no_rows, *hints]
    unnamed = [
        f"?{column} is a node without a name, which is shown to nobody: select what it has"
        for at, column in enumerate(table.columns)
        if any(cell is not None and is_blank(cell) for cell in (row[at] for row in table.rows))
    ]
    return unnamed + [
        f"?{column} has no value in {empty} of {len(table.rows)} rows: a cast or a computation fails there"
        for at, column in enumerate(table.columns)
        if column in checked.computed and (empty := sum(row[at] is None for row in table.rows))
    ]


def is_nothing(rows: Sequence[Sequence[Term | None]]) -> bool:
    """Return whether rows say nothing: there are none, or only the number 0 or nothing is in them."""
    cells = [cell for row in rows for cell in row]
    counted = len(rows) == 1 and all(cell is None or cell.id in {"0", "0.0"} for cell in cells)
    return counted or all(cell is None for cell in cells)
