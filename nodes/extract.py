"""Answer: which of its rows does a chain name in its answer?"""

import re

from kgqa.kg.terms import Entity, Term, local_name, one_line
from kgqa.nodes.closing import closed, failure, from_memory, unanswered
from kgqa.session.asking import Asking, has_asked
from kgqa.session.record import ref
from kgqa.session.state import Closing, Update
from kgqa.session.step import Run, step

LONGEST = 300
"""Characters of an answer that is nothing but text."""


@step("answer")
async def extract(state: Asking, run: Run) -> Closing:
    """Complete the record: the names of the rows that the text holds are the answers.

    A text that names none of them is from the model's memory. Where the budget left no turn to
    write one, the rows are the answer.
    """
    if state.get("outcome") or not has_asked(state) or not (state["said"] or _at_hand(state)):
        return closed(await unanswered(state, run), state, run)
    return closed(_extracted(state, run), state, run)


def _extracted(state: Asking, run: Run) -> Update:
    topics, said = set(state["topic_entities"]), state["said"]
    terms = [term for term in state["rows"] if term not in topics]
    named = terms if said is None else _named(terms, said)
    run.note["extracted"] = len(named)
    memory = from_memory([one_line(said, LONGEST)]) if said and state["rows"] and not named else []
    if not run.context.closed_book:
        memory = []
    outcome = "grounded" if named else "parametric" if memory else failure(state) or "none"
    return {
        "answers": [ref(term) for term in named] or memory,
        "outcome": outcome,
        "paths": [],
        "evidence": [],
    }


def _at_hand(state: Asking) -> bool:
    """Tell whether the budget has left rows and no turn to write an answer."""
    return bool(state["rows"] and state["stopped_by"])


def _named(terms: list[Term], text: str) -> list[Term]:
    """Give the terms that a text names by whole words, in its order; of names within names the longest."""
    found: dict[Term, int] = {}
    names = {term: _name(term) for term in terms}
    for term in sorted(terms, key=lambda term: -len(names[term])):
        pattern = re.compile(rf"(?<!\w){re.escape(names[term])}(?!\w)", re.IGNORECASE)
        if names[term] and (match := pattern.search(text)):
            same = [each for each in terms if names[each] == names[term]]
            found |= dict.fromkeys(same, match.start())
            text = pattern.sub(lambda met: "\0" * len(met[0]), text)
    return sorted(found, key=found.__getitem__)


def _name(term: Term) -> str:
    return term.name or (local_name(term.id) if isinstance(term, Entity) else "")
