"""What a knowledge graph answers: pages of terms, matches, tables, descriptions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, Literal as Choice, TypeVar

from kgqa.kg.terms import Chain, Entity, Hop, Term, Triple

T = TypeVar("T", covariant=True)

MAX_RIVALS = 20  # entities that a mention may stand for, of which it is looked up what leads on from them


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items, in a stated order, and whether the row limit cut more off."""

    items: tuple[T, ...]
    truncated: bool = False

    def __iter__(self) -> Iterator[T]:
        """Go through the items."""
        return iter(self.items)

    def __len__(self) -> int:
        """Count the items at hand (not those cut off)."""
        return len(self.items)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A term at the end of a relation chain.

    ``returning`` is True when every way to it along the chain visits the topic
    entity again (so the topic at the end of hops always returns): "who starred
    with X" does not mean X, "the spouse of the mother of X's child" may.
    """

    term: Term
    returning: bool = False


@dataclass(frozen=True, slots=True)
class ChainPage(Page[T]):
    """What is at the end of a chain, and the chain."""

    chain: Chain = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class ChainResult:
    """What is at the end of a relation chain, and which hops lead on from there."""

    ends: Page[Candidate]
    hops: Page[Hop]


@dataclass(frozen=True, slots=True)
class Proof:
    """What an answer query gives."""

    sparql: str
    """Its text: any client gets ``answers`` by it, unless these are cut."""

    answers: Page[Term]
    conditions: tuple[str, ...] = ()
    """The part of the text that each condition is, then the extreme, then what was picked."""

    reading: str = ""
    """What it asks for, in words."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The facts behind some answers of a query."""

    paths: tuple[tuple[tuple[Triple, ...], ...], ...]
    """For each chain that was asked for and each answer, the facts that lead there; empty where none did."""

    facts: tuple[Triple, ...] = ()
    """For each answer, what meets each condition; a `not exists` has none."""


@dataclass(frozen=True, slots=True)
class AttributeValue:
    """A value that a node on a chain has, by some hops; by none it is the node itself.

    ``place`` is the number of hops to the node, and ``end`` an end of the chain that it leads to: the node
    itself at the last place.
    """

    place: int
    hops: tuple[Hop, ...]
    end: Term
    value: Term


@dataclass(frozen=True, slots=True)
class ChainAttributes:
    """What the nodes on a chain have, its ends' types (an end and a type), and what says their names."""

    values: Page[AttributeValue]
    types: Page[tuple[Term, Term]]
    names: tuple[AttributeValue, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """An entity found by name: how well (0 to 1) and how.

    ``hops`` are those that lead on from it, where they were looked up to tell it from others.
    """

    entity: Entity
    score: float
    how: Choice["id", "exact", "normalised", "part", "fuzzy", "embedding", "class"]
    hops: tuple[Hop, ...] = ()

    @property
    def sure(self) -> bool:
        """Whether the name is the entity's own, but for case, punctuation and the like."""
        return self.how in {"id", "exact", "normalised", "class"}


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of a question and the entities it may stand for, best first; whether these are asked for."""

    text: str
    start: int
    end: int
    matches: tuple[Match, ...]
    is_asked: bool = False

    @property
    def is_class(self) -> bool:
        """Whether it names a class of things."""
        return self.matches[0].how == "class"

    @property
    def rivals(self) -> tuple[Match, ...]:
        """The first of several matches, which are told from one another by what leads on from them."""
        return self.matches[:MAX_RIVALS] if len(self.matches) > 1 else ()

    def with_hops(self, hops: Mapping[str, tuple[Hop, ...]]) -> "Mention":
        """Add what leads on from entities, by their ids."""
        return replace(
            self,
            matches=tuple(replace(each, hops=hops.get(each.entity.id, ())) for each in self.matches),
        )


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of an entity itself, and by which relations it is reached."""

    entity: Entity
    aliases: tuple[str, ...]
    types: tuple[Entity, ...]
    facts: Page[tuple[Hop, Term]]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a SELECT (or one boolean of an ASK, as a literal)."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class GraphInfo:
    """Size and kind of a graph, as ``kgqa kg info`` shows it; None is what cannot be counted in time."""

    source: str
    dialect: str
    triples: int | None
    entities: int | None
    relations: int
    named: int | None
    relation_counts: tuple[tuple[str, int], ...]
    inferred: tuple[str, ...] = ()
    """Links between tables that are not stated, and why they are taken for such."""
