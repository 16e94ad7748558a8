"""The state of a drafted query: what its writer is shown, the draft, what is wrong with it, its rows."""

from collections.abc import Sequence

from pydantic import ConfigDict, with_config

from kgqa.kg.terms import Entity, Term
from kgqa.runtime.state import State, Update
from kgqa.tools.drafts import DescribedClass, FoundTerm


class DraftUpdate(Update, total=False):
    """What a node may change."""

    prefixes: list[str]
    """The prefixes that are shown, each with the beginning of IRIs that it stands for."""
    cards: list[str]
    """The lines that describe classes and their properties."""
    found: list[str]
    """The lines that say what words of the question are called in the graph."""
    described: list[DescribedClass]
    """The classes and properties of the lines."""
    terms: list[FoundTerm]
    """What was found, the entities and values themselves."""
    enumerated: list[str]
    """All texts that a property in these lines can have, of those properties that have few."""
    alternatives: list[list[Entity]]
    """What each mention of the question may mean."""
    parts: dict[str, list[Entity]]
    """What the words of a topic's mention name each for itself, by its id, where all do."""
    shown_ids: list[str]
    """The ids in these lines, but for those of members."""
    words: dict[str, str]
    """What classes and relations in these lines are called, by their ids."""
    members: list[Entity]
    """The members of classes that are listed."""
    sparql: str
    """The draft."""
    reading: str
    """What it computes, in a sentence."""
    headings: list[str]
    """A heading for each of its columns."""
    unsaid: list[str]
    """Words of the question that it does not say, and what nothing shown says, as its writer has it."""
    objections: list[str]
    """Why it is not taken."""
    told: list[str]
    """All objections so far: its writer has been told."""
    doubts: list[str]
    """Objections that its writer has not heeded."""
    hints: list[str]
    """What may explain that it gives nothing."""
    ids: list[str]
    """The IRIs that it names, and the classes that its nodes are of."""
    relations: list[str]
    """The relations among these IRIs."""
    ordered: bool
    """Whether its rows have an order."""
    ordered_by_hidden: bool
    """Whether they are ordered by what is not shown."""
    grouped: bool
    """Whether rows are grouped."""
    limit: int | None
    """How many rows it lets out at most."""
    offset: int
    """How many rows it leaves out before."""
    inner_limits: list[tuple[int, bool]]
    """Those of the SELECTs within it, and whether their rows have an order."""
    computed_columns: list[str]
    """The columns that are computed of what every row has."""
    refinements: int
    """How often it was drafted anew."""
    ran: str | None
    """The draft that was run last."""
    row_columns: list[str]
    """The columns of its rows."""
    rows: list[list[Term | None]]
    """Its rows."""
    cut: bool
    """Whether there are more."""
    unmet: list[str]
    """Words of the question that the draft which gave them does not say."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class DraftState(State, DraftUpdate):
    """The record in the making, and a draft on its way to rows."""


UNDRAFTED: DraftUpdate = {
    "objections": [],
    "told": [],
    "doubts": [],
    "hints": [],
    "refinements": 0,
    "ran": None,
    "sparql": "",
    "rows": [],
    "row_columns": [],
    "cut": False,
}
"""What there is before anything is drafted."""

FAILED: DraftUpdate = {"rows": [], "ran": None, "decision": "backtrack"}
"""What a draft comes to that has no answer."""


def has_answers(rows: Sequence[Sequence[Term | None]]) -> bool:
    """Return whether any of some rows begins with an answer."""
    return any(row[0] for row in rows if row)


def refine_or(state: DraftState, update: DraftUpdate, objections: list[str], most: int) -> DraftUpdate | None:
    """Return the update by which a draft is written anew; None where that was done as often as it may be."""
    if state["refinements"] >= most:
        return None
    told = [*dict.fromkeys([*state["told"], *objections])]
    return {
        **update,
        "objections": objections,
        "told": told,
        "refinements": state["refinements"] + 1,
        "decision": "refine",
    }
