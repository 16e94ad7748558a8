"""How prompts draw a relation chain, and what a choice of relations says."""

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Literal as Choice, TypeVar

from pydantic import Field

from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.prompts.base import Reply, Words, quoted

MAX_NAMES = 10  # of a node, up to which all are shown
MAX_FEW_NAMES = 5  # that are shown of more
OTHERS = " and others"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Extension:
    """A chain and how many of its hops are new: one, or two where the first leads to nodes without a name.

    ``score`` says how much it promises (ToG); 1 where it is not said.
    """

    chain: Chain
    added: int = 1
    score: float = 1.0

    @property
    def start(self) -> Chain:
        """The chain that is extended."""
        return self.chain.upto(self.chain.depth - self.added)

    @property
    def hops(self) -> tuple[Hop, ...]:
        """The new hops."""
        return self.chain.hops[-self.added :]

    def __str__(self) -> str:
        """Draw the new hops as arrows."""
        return " ".join(map(str, self.hops))


def extend(chain: Chain, *hops: Hop) -> Extension:
    """Return what hops make of a chain."""
    return Extension(Chain(chain.topic, (*chain.hops, *hops), chain.constraints), len(hops))


def draw_arrow(hop: Hop, target: str) -> str:
    """Draw one hop and what it leads to."""
    words = quoted(hop.words)[1:-1]
    return f"-{words}-> {target}" if hop.forward else f"<-{words}- {target}"


def draw_chain(chain: Chain) -> str:
    """Draw a chain, its nodes after the topic as numbered variables (CoR §3).

    >>> hops = (Hop("http://x/won_by"), Hop("http://x/starred", forward=False))
    >>> chain = Chain(Entity("http://x/a", "Best Actor"), hops)
    >>> draw_chain(chain)
    '"Best Actor" -won_by-> ?1 <-starred- ?2'
    >>> draw_chain(chain.constrained_to([Entity("http://x/f", "Ran")]))
    '"Best Actor" -won_by-> ?1 <-starred- ?2 (only "Ran")'
    """
    return " ".join([quoted(str(chain.topic)), *_draw_steps(chain)])


def _draw_steps(chain: Chain, passed: int = 0) -> Iterator[str]:
    """Draw each hop of a chain, after those that are passed."""
    for number, (hop, entities) in enumerate(chain.steps[passed:], passed + 1):
        yield draw_arrow(hop, f"?{number}{_draw_constraint(entities)}")


def _draw_constraint(entities: Sequence[Entity]) -> str:
    """Say which entities a node may be: the first with a name, and how many others.

    >>> _draw_constraint([Entity("_:a"), Entity("_:b")])
    ' (only 2 nodes without a name)'
    """
    if not entities:
        return ""
    names = sorted(entity.name for entity in entities if entity.name)[:MAX_FEW_NAMES]
    more = len(entities) - len(names)
    if not names:
        return " (only a node without a name)" if more == 1 else f" (only {more} nodes without a name)"
    others = f" and {more} other{'s' * (more > 1)}" if more else ""
    return f" (only {', '.join(map(quoted, names))}{others})"


def draw_met(chains: Sequence[Chain]) -> list[str]:
    """Draw the chains of other topics that lead to the same candidates."""
    return [f"The candidates are also the ends of: {draw_chain(chain)}" for chain in chains]


def draw_awaited(topics: Sequence[Entity]) -> list[str]:
    """Name the topics that are brought together with a chain after it."""
    names = ", ".join(quoted(str(topic)) for topic in topics)
    return [f"Checked next, by themselves: {names}"] if names else []


def draw_extensions(offers: Sequence[Extension]) -> list[str]:
    """Draw how each offer continues its chain, from the last node on."""
    return [f"{_draw_end(offer.start)} {draw_further(offer)}" for offer in offers]


def draw_further(offer: Extension) -> str:
    """Draw the hops by which a chain goes on.

    >>> draw_further(extend(Chain(Entity("http://x/u")), Hop("http://x/mayor"), Hop("http://x/person")))
    '-mayor-> ?1 -person-> ?2'
    """
    return " ".join(_draw_steps(offer.chain, offer.start.depth))


def draw_hop(chain: Chain) -> str:
    """Draw the last hop of a chain alone."""
    return draw_further(Extension(chain))


def draw_head(chain: Chain) -> str:
    """Draw what a chain is held to before its last hop: an entity by name, else the way there."""
    before = without_last_hop(chain)
    if not before.hops:
        return quoted(str(chain.topic))
    (_, entities) = before.steps[-1]
    return quoted(entities[0].name) if len(entities) == 1 and entities[0].name else draw_chain(before)


def draw_entity(chain: Chain) -> str:
    """Draw the entity that a chain is held to, after the step that has led to it.

    >>> author = Chain(Entity("http://x/b", "Effi Briest"), (Hop("http://x/author"),))
    >>> draw_entity(author.constrained_to([Entity("http://x/f", "Fontane")]))
    '"Effi Briest" -author-> "Fontane"'
    """
    if not chain.hops:
        return quoted(str(chain.topic))
    hop, entities = chain.steps[-1]
    name = quoted(entities[0].name) if entities and entities[0].name else "a node without a name"
    return f"{draw_head(chain)} {draw_arrow(hop, name)}"


Next = Choice["", "stop", "count", "filter", "forward"]
"""What a choice of relations says comes next; nothing where that is seen by what they lead to."""

THEN = (
    'Where the relations themselves tell what {chosen} to, add "then": "stop" if all of it, without the '
    'start itself, is the answer, "count" if how many there are is; "filter" if the answers are among it '
    'and a condition (a date, a number, a name, a kind, the largest) is left; "forward" if another relation '
    "has to follow. Else leave it out: you are shown what is there first."
)
THEN_UNFILTERED = (
    'Where the relations themselves tell what {chosen} to, add "then": "stop" if all of it, without the '
    'start itself, is the answer, "count" if how many there are is; "forward" if another relation has to '
    "follow. Else leave it out: you are shown what is there first."
)
UNITED = (
    'With any "then" but "forward" the other numbers are added to the first: its inverse, or the same in '
    "other words."
)
EACH_TOPIC = (
    'Each topic entity is checked by itself: "stop" and "filter" look at what the question says of this one, '
    'and leave the others to their turn; with none chosen, the next begins. "count" is of what the chains of '
    "all of them have in common."
)
MEETING = 'With several topic entities "all of it" is what the chains of all of them have in common.'
SEARCHED = "Nothing more is looked for."
MISSING = 'If none can help: "missing": the relation that you need, in a few words.'


class RelationChoice(Reply):
    """The relations that a search follows."""

    rationale: str = Field(default="", description="one short sentence: why these")
    relations: list[int] = Field(description="numbers of the chosen relations; empty if none can help")
    then: Next = Field(
        default="",
        exclude_if=operator.not_,
        description="where asked: stop, count, filter or forward, if what they lead to need not be judged",
    )


class ChoiceOrMissing(RelationChoice):
    """The relations that a search follows, or the one that it lacks."""

    missing: Words = Field(
        default="",
        exclude_if=operator.not_,
        description="where asked: the relation that is needed and not listed",
    )


def draw_missing(asked: bool, looked_for: str) -> list[str]:
    """Say that a missing relation may be named, or that what is shown was looked for.

    >>> draw_missing(False, "currency")
    ['Looked for: "currency"; the nearest of what was not shown is shown now.']
    """
    return [MISSING] * asked + ([draw_looked_for(looked_for)] if looked_for else [])


def draw_looked_for(looked_for: str, *, final: bool = False) -> str:
    """Say that what is shown is the nearest to what was missing, and if ``final``, that nothing else follows.

    >>> draw_looked_for("currency", final=True)
    'Looked for: "currency"; the nearest of what was not shown is shown now. Nothing more is looked for.'
    """
    found = f"Looked for: {quoted(looked_for)}; the nearest of what was not shown is shown now."
    return f"{found} {SEARCHED}" if final else found


def draw_then(chosen: str, *, filtering: bool = True) -> str:
    """Say how a choice of relations may say what comes next."""
    return (THEN if filtering else THEN_UNFILTERED).format(chosen=chosen)


def draw_reached(names: Sequence[str]) -> str:
    """Name some of the nodes that a chain has reached; nothing where none has a name.

    >>> draw_reached(["Ulm", "Passau"])
    '"Ulm", "Passau"'
    """
    shown = few(names)
    return ", ".join(map(quoted, shown)) + (OTHERS if len(shown) < len(names) else "")


def few(names: Sequence[_T]) -> Sequence[_T]:
    """Return all names of a node if these are few, else the first."""
    return names[: MAX_NAMES if len(names) <= MAX_NAMES else MAX_FEW_NAMES]


def draw_grouped_extensions(
    offers: Sequence[Extension], reached: Mapping[Chain, Sequence[str]] = MappingProxyType({})
) -> list[str]:
    """Number offers and draw each under a heading for the chain that it extends; those of one stand together.

    A heading tells what the chain has ``reached``, where that is known.

    >>> ulm = Chain(Entity("http://x/u", "Ulm"), (Hop("http://x/born_in", forward=False),))
    >>> draw_grouped_extensions([extend(ulm, Hop("http://x/spouse")), extend(ulm, Hop("http://x/wrote"))])
    ['From "Ulm" <-born_in- ?1:', '1. -spouse-> ?2', '2. -wrote-> ?2']
    """
    lines: list[str] = []
    for start, group in groupby(enumerate(offers, 1), lambda offer: offer[1].start):
        names = draw_reached(reached.get(start, ()))
        lines.append(f"From {draw_chain(start)}{names and f' ({names})'}:")
        lines += [f"{number}. {draw_further(offer)}" for number, offer in group]
    return lines


def without_last_hop(chain: Chain) -> Chain:
    """Return the chain without its last hop."""
    return chain.upto(chain.depth - 1)


def _draw_end(chain: Chain) -> str:
    return f"?{chain.depth}" if chain.hops else quoted(str(chain.topic))
