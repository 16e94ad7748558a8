"""The state of a drafted query: what its writer is shown, the draft, what is wrong with it, what stands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

from pydantic import ConfigDict, with_config

from kgqa.kg.pages import Table
from kgqa.kg.terms import Entity, Term, local_name
from kgqa.prompts.draft_query import DraftedQuery
from kgqa.retrieval.wording import relation_phrase
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.state import OF_TOPICS, State, Update
from kgqa.tools.drafts import CheckedDraft, DescribedClass, FoundTerm


@dataclass(frozen=True)
class Described:
    """What a query about the question can be made of.

    Attributes:
        classes: The classes that are shown, with their properties.
        prefixes: The prefixes that are shown, each with the beginning of IRIs that it stands for.
        found: The lines that say what words of the question are called in the graph.
        terms: What was found, the entities and values themselves.
        alternatives: What each mention of the question may mean.
        parts: What the words of a topic's mention name each for itself, by its id, where all do.
        members: The members of classes that are listed.
        beyond: What relations are called that no line has, and a draft follows.
    """

    classes: Sequence[DescribedClass]
    prefixes: Sequence[str] = ()
    found: Sequence[str] = ()
    terms: Sequence[FoundTerm] = ()
    alternatives: Sequence[Sequence[Entity]] = ()
    parts: Mapping[str, Sequence[Entity]] = field(default_factory=dict)
    members: Sequence[Entity] = ()
    beyond: Mapping[str, str] = field(default_factory=dict)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that describe classes and their properties."""
        return tuple(
            line for each in self.classes for line in (each.line, *(part.line for part in each.properties))
        )

    @property
    def ids(self) -> list[str]:
        """The ids in its lines, but for those of members."""
        found = (each.term.id for each in self.terms if isinstance(each.term, Entity))
        return [*dict.fromkeys([*filter(None, (each.id for each in self.classes)), *self.relations, *found])]

    @property
    def relations(self) -> list[str]:
        """The properties in its lines."""
        return [*dict.fromkeys(part.relation for each in self.classes for part in each.properties)]

    @property
    def enumerated(self) -> list[str]:
        """All texts that a property can have, of those properties that have few."""
        return sorted({text for each in self.classes for part in each.properties for text in part.values})

    @cached_property
    def _words(self) -> dict[str, str]:
        words = {part.relation: part.words for each in self.classes for part in each.properties}
        return {**self.beyond, **words, **{each.id: each.words for each in self.classes}}

    @property
    def names(self) -> dict[str, str]:
        """What classes, relations and entities are called, in the graph's words."""
        parts = {part.relation: part.words for each in self.classes for part in each.properties}
        entities = [*self.members, *(each.term for each in self.terms if isinstance(each.term, Entity))]
        return {
            **self.beyond,
            **parts,
            **{each.id: each.name for each in self.classes},
            **{each.id: each.name for each in entities if each.name},
        }

    def called(self, id: str) -> str:
        """Return what a class or relation is called, in words."""
        return self._words.get(id) or relation_phrase(local_name(id))


@dataclass(frozen=True)
class RunDraft:
    """A draft that ran, and what it gave.

    Attributes:
        drafted: What its writer says.
        checked: What the checks say.
        table: Its rows, without nodes that have no name.
        doubts: Objections that its writer has not answered.
        unmet: Words of the question that it does not say.
    """

    drafted: DraftedQuery
    checked: CheckedDraft
    table: Table
    doubts: Sequence[str] = ()
    unmet: Sequence[str] = ()

    @property
    def has_answers(self) -> bool:
        """Whether any of its rows begins with an answer."""
        return any(row[0] for row in self.table.rows if row)

    @property
    def first_column(self) -> list[Term]:
        """What its rows begin with, each once."""
        return list(dict.fromkeys(row[0] for row in self.table.rows if row and row[0] is not None))


class DraftUpdate(Update, total=False):
    """What a node may change."""

    described: Annotated[Described | None, OF_TOPICS]
    """What a query can be made of; null where nothing was drafted."""
    drafted: Annotated[DraftedQuery | None, OF_TOPICS]
    """The newest draft, as its writer has it."""
    checked: Annotated[CheckedDraft | None, OF_TOPICS]
    """The same as the checks have it; null where it was not read."""
    standing: Annotated[RunDraft | None, OF_TOPICS]
    """The last draft that gave answers: it stands where later ones fail."""
    objections: list[str]
    """Why the newest draft is not taken."""
    told: list[str]
    """All objections so far: its writer has been told."""
    refinements: int
    """How often it was drafted anew."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class DraftState(State, DraftUpdate):
    """The record in the making, and a draft on its way to rows."""


def undrafted(described: Described) -> DraftUpdate:
    """Return the state before anything is drafted."""
    return {
        "described": described,
        "drafted": None,
        "checked": None,
        "standing": None,
        "objections": [],
        "told": [],
        "refinements": 0,
    }


def fail(standing: RunDraft | None) -> DraftUpdate:
    """Return what follows a draft without an answer: the last one that has given any stands."""
    return {"standing": standing, "decision": "stop" if standing else "backtrack"}


def refine_or_fail(
    state: DraftState, objections: Sequence[str], runtime: NodeRuntime, standing: RunDraft | None
) -> DraftUpdate:
    """Return the update by which a draft is written anew, as often as it may be."""
    if state["refinements"] >= runtime.context.refines:
        return fail(standing)
    return {
        "standing": standing,
        "objections": [*objections],
        "told": [*dict.fromkeys([*state["told"], *objections])],
        "refinements": state["refinements"] + 1,
        "decision": "refine",
    }
