"""What a question is before it has answers: a wording, gold paths, and the SPARQL they give.

Every kind has the same parts. Branches lead from topics to a node; nodes that all (or, for
a comparison, any) branches reach are kept; of these, those with the largest or smallest
measure, if one is asked for; a tail leads on to the answer. The node is where a question
joins its branches: often the answer itself, but the mediator where two facts have to belong
to one record.
"""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple, TypeAlias, TypeVar

from kgqa.scripts.sample.graph import BASE

_Item = TypeVar("_Item")

Path: TypeAlias = tuple[str, ...]
"""Relation names; a leading ^ is a step against the arrow."""


class Kind(StrEnum):
    """What has to be done with the nodes that the branches reach."""

    CHAIN = "chain"
    INTERSECTION = "intersection"
    COUNT = "count"
    SUPERLATIVE = "superlative"
    COMPARISON = "comparison"


class Topic(NamedTuple):
    """A topic entity as the wording names it, and its class."""

    kind: str
    name: str

    @property
    def mention(self) -> str:
        """The name as it stands inside a sentence: radium, the halogens, but Kenya."""
        return self.name.lower() if self.kind in {"Element", "ElementGroup"} else self.name


class Branch(NamedTuple):
    """The way from a topic to the node where branches meet."""

    topic: Topic
    path: Path


class Measure(NamedTuple):
    """The relation to compare nodes by, and which end of the scale is asked for."""

    relation: str
    aggregate: str


class Draft(NamedTuple):
    """A question without answers."""

    kind: Kind
    text: str
    branches: tuple[Branch, ...]
    tail: Path = ()
    measure: Measure | None = None

    @property
    def meaning(self) -> str:
        """The same for paraphrases: everything but the wording."""
        return repr((self.kind.value, self.branches, self.tail, self.measure))

    @property
    def gold_paths(self) -> list[Path]:
        """One path per branch, from its topic to the answer or the counted set."""
        return [branch.path + self.tail for branch in self.branches]


def path(text: str) -> Path:
    """Read a path written with spaces.

    >>> path("^borders capital")
    ('^borders', 'capital')
    """
    return tuple(text.split())


def in_turns(topics: tuple[_Item, ...], wordings: tuple[str, ...]) -> Iterator[tuple[_Item, str]]:
    """Each topic with one wording, the wordings taken in turn; the first topic also with the next.

    >>> list(in_turns(("Peru", "Chad"), ("Where is {}?", "On which continent is {}?")))[2]
    ('Peru', 'On which continent is {}?')
    """
    for turn, topic in enumerate(topics):
        yield topic, wordings[turn % len(wordings)]
    if len(wordings) > 1:
        yield topics[0], wordings[1]


def sparql(draft: Draft, address: Callable[[Topic], str]) -> str:
    """The query whose ?answer column holds the answers.

    Args:
        draft: The question.
        address: Gives the local name of a topic, for instance "Kenya".
    """
    where = _reach(draft, address) + list(_steps("?node", draft.tail, "?answer", "t"))
    if draft.measure:
        where += _extreme(draft.measure, _reach(draft, address))
    body = " ".join(where) if draft.tail else " ".join(where).replace("?node", "?answer")
    counted = "(COUNT(DISTINCT ?answer) AS ?number)" if draft.kind is Kind.COUNT else "DISTINCT ?answer"
    return f"PREFIX e: <{BASE}e/> PREFIX r: <{BASE}r/> SELECT {counted} WHERE {{ {body} }}"


def _reach(draft: Draft, address: Callable[[Topic], str]) -> list[str]:
    parts = [
        " ".join(_steps(f"e:{address(branch.topic)}", branch.path, "?node", "ab"[index]))
        for index, branch in enumerate(draft.branches)
    ]
    return [" UNION ".join(f"{{ {part} }}" for part in parts)] if draft.kind is Kind.COMPARISON else parts


def _extreme(measure: Measure, reach: list[str]) -> list[str]:
    valued = f"?node r:{measure.relation} ?value ."
    others = " ".join([*reach, valued]).replace("?node", "?other").replace("?value", "?each")
    return [valued, f"{{ SELECT ({measure.aggregate}(?each) AS ?value) WHERE {{ {others} }} }}"]


def _steps(start: str, hops: Path, end: str, letter: str) -> Iterator[str]:
    """Triple patterns from start to end; nothing when there are no hops."""
    here = start
    for position, hop in enumerate(hops, 1):
        there = end if position == len(hops) else f"?{letter}{position}"
        pair = (there, here) if hop.startswith("^") else (here, there)
        yield f"{pair[0]} r:{hop.removeprefix('^')} {pair[1]} ."
        here = there
