"""Answer: which of the agent's answers have its tools shown, and by which way?"""

from collections.abc import Iterable, Sequence

from kgqa.kg.errors import KGError
from kgqa.kg.terms import Literal, Path, Term
from kgqa.nodes.closing import EVIDENCE, closed, failure, from_memory, proved, unanswered
from kgqa.nodes.ways import arguments_of, path_of
from kgqa.priors.agreement import answer_key
from kgqa.prompts.act import Named
from kgqa.prompts.candidates import XSD_INTEGER, number_of
from kgqa.session.acting import Acting, Way
from kgqa.session.record import ref
from kgqa.session.state import Closing, Update, has_run
from kgqa.session.step import BudgetExceeded, Run, step

TRACED = 8
"""Ways whose facts are looked up at most."""


@step("answer")
async def attest(state: Acting, run: Run) -> Closing:
    """Complete the record: what a tool has shown proves an answer, the others are from the model's memory.

    Where the budget ended the work, what was followed last is the answer. With ``closed_book``
    off only proved answers are given. After a time-out there is no answer: the agent may have
    taken another way, to something else.
    """
    if failure(state) or not has_run(state, "act") or (state["said"] is None and not _at_hand(state)):
        return closed(await unanswered(state, run), state, run)
    return closed(await _attested(state, run), state, run)


async def _attested(state: Acting, run: Run) -> Update:
    ways, said = state["ways"], state["said"]
    if said is None:
        terms, unseen = list(_at_hand(state)), []
    elif counted := _counted(said, ways):
        proof = proved(await _paths(counted.ends, [counted], run))
        return {**proof, "answers": [ref(Literal(said[0].name, XSD_INTEGER))], "outcome": "grounded"}
    else:
        found = [(each, _shown(each, ways)) for each in said]
        terms = list(dict.fromkeys(term for _, shown in found for term in shown))
        unseen = [each.name for each, shown in found if not shown]
    memory = from_memory(unseen) if run.context.closed_book else []
    run.note["proved"] = len(terms)
    return {
        **proved(await _paths(terms, ways, run)),
        "answers": [*map(ref, terms), *memory],
        "outcome": "parametric" if memory else "grounded" if terms else "none",
    }


def _at_hand(state: Acting) -> tuple[Term, ...]:
    """Give what was followed last, where the budget left no turn to judge it."""
    ways = state["ways"] if state["stopped_by"] else []
    return tuple(end for end in ways[-1].ends if end.name) if ways else ()


def _shown(said: Named, ways: Sequence[Way]) -> list[Term]:
    """Give what the tools have shown under an answer's id, else under its name, the last call first."""
    id = (said.id or "").strip().removeprefix("<").removesuffix(">")
    for way in reversed(ways):
        if same := [end for end in way.ends if id and end.id == id]:
            return same[:1]
    keys = (lambda name: name, lambda name: answer_key([name]))
    for key in keys:
        for way in reversed(ways):
            if same := [end for end in way.ends if end.name and key(end.name) == key(said.name)]:
                return same
    return []


def _counted(said: Sequence[Named], ways: Sequence[Way]) -> Way | None:
    """Give the way whose ends a lone number counts: the last that was followed, if nothing of it was cut."""
    last = ways[-1] if ways else None
    if last is None or last.truncated or len(said) != 1 or len(last.ends) < 2:
        return None
    things = all(end.name and number_of(end) is None for end in last.ends)
    return last if things and said[0].name == str(len(last.ends)) else None


async def _paths(terms: Iterable[Term], ways: Sequence[Way], run: Run) -> list[Path]:
    """Give the paths to answers: from each topic by the last way that has led there."""
    wanted, found = list(terms)[:EVIDENCE], []
    for way, ends in _leading(wanted, ways)[:TRACED]:
        try:
            traced = await run.use("trace_chain", ends=ends, **arguments_of(way))
        except (BudgetExceeded, KGError) as error:
            run.note["evidence"] = f"left out: {error}"
            if isinstance(error, BudgetExceeded):
                run.note["limit"] = error.limit
            break
        found += [path_of(way, triples) for triples in traced if triples]
    return found


def _leading(terms: Sequence[Term], ways: Sequence[Way]) -> list[tuple[Way, list[Term]]]:
    leading, have = [], set()
    for way in reversed(ways):
        fresh = [term for term in terms if term in way.ends and (way.topic, term) not in have]
        have |= {(way.topic, term) for term in fresh}
        if fresh:
            leading.append((way, fresh))
    return leading
