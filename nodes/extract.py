"""Answer: which of its rows does a chain name in its answer?"""

import re
from collections.abc import Sequence

from kgqa.kg.terms import Entity, Term, local_name, one_line
from kgqa.nodes.closing import closed, failure, from_memory, unanswered
from kgqa.prompts.base import LABEL_LIMIT
from kgqa.session.asking import Asking
from kgqa.session.record import ref
from kgqa.session.state import Closing, Update, has_run
from kgqa.session.step import Run, step

LONGEST = 300
"""Characters of an answer that is nothing but text."""


@step("answer")
async def extract(state: Asking, run: Run) -> Closing:
    """Complete the record: the names of the rows that the text holds are the answers.

    What the query itself has brought into its rows is from the model's memory, and so is a text
    that names nothing of them; where there are no rows, a text is no answer. Where the budget
    left no turn to write one, what the graph has of the rows is the answer.
    """
    if state.get("outcome") or not has_run(state, "write_sparql") or not (state["said"] or _at_hand(state)):
        return closed(await unanswered(state, run), state, run)
    return closed(_extracted(state, run), state, run)


def _extracted(state: Asking, run: Run) -> Update:
    topics, known, said = set(state["topic_entities"]), set(state["proved"]), state["said"]
    terms = [term for term in state["rows"] if term not in topics]
    named = terms if said is None else _named(terms, said)
    proved = [term for term in named if term in known]
    run.note["extracted"] = len(named)
    unseen = _unseen(named, known) if said and run.context.closed_book else []
    if said and run.context.closed_book and state["rows"] and not named:
        unseen = [one_line(said, LONGEST)]
    memory = from_memory(unseen)
    return {
        "answers": [*map(ref, proved), *memory],
        "outcome": "parametric" if memory else "grounded" if proved else failure(state) or "none",
        "paths": [],
        "evidence": [],
    }


def _at_hand(state: Asking) -> bool:
    """Tell whether the budget has left rows and no turn to write an answer."""
    return bool(state["rows"] and state["stopped_by"])


def _unseen(named: Sequence[Term], known: set[Term]) -> list[str]:
    """Give the names that are of no term that is known."""
    seen = {_folded(_name(term)) for term in named if term in known}
    return [_name(term) for term in named if _folded(_name(term)) not in seen]


def _named(terms: Sequence[Term], text: str) -> list[Term]:
    """Give the terms that a text names by whole words, in its order; of names at one place the longest."""
    groups: dict[str, list[Term]] = {}
    for term in terms:
        groups.setdefault(_folded(_name(term)), []).append(term)
    names = sorted(filter(None, groups), key=lambda name: (-len(name), name))
    if not names:
        return []
    pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)"
    met = dict.fromkeys(re.findall(pattern, _folded(text)))
    return [term for name in met for term in groups[name]]


def _name(term: Term) -> str:
    """Give the name as the model was shown it."""
    return one_line(term.name or (local_name(term.id) if isinstance(term, Entity) else ""), LABEL_LIMIT)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
