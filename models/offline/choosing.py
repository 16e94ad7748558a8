"""Which number or date of the ends does a question compare them by?"""

import asyncio
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term, local_name
from kgqa.models.offline.attributes import Steps, entities, place_of
from kgqa.models.offline.cues import find_cue
from kgqa.models.offline.words import Encode, likeness, spoken

SAMPLED = 6
"""Nodes whose attributes are looked at to see which there are."""

CUED = 1.0
"""Weight of the likeness to the words that a cue stands for, beside that to the question."""

SAID = 0.5
"""What an attribute gains of which the question says all words."""

SHARED = 0.2
"""What an attribute gains that all nodes have."""

DATED = 1.0
"""What a date loses where another value is asked for, and another value where a date is."""

LEAST = 0.3
"""What an attribute must come to at least."""

LABEL = 0.5
"""What loses that tells places and things apart rather than measures them, unless that is asked for."""

ASIDE = 0.1
"""What a value that stands at a node beside the chain loses."""

_YEARS = range(1, 3_000)
_DATING = re.compile(r"\b(year|dates?|born|died|founded|opened|built|start|end|from|to|since|until)\b")
_LABELS = frozenset({"latitude", "longitude", "code", "id", "iso", "identifier"})
_DATES = frozenset({"date", "dateTime", "gYear", "gYearMonth"})


class Attribute(NamedTuple):
    """Relations that lead to a number or a date, from an end or from a node before it."""

    back: int
    hops: tuple[Hop, ...]
    dated: bool
    share: float
    """Of the nodes that were looked at, how many have it."""

    @property
    def words(self) -> list[str]:
        """Each relation in words."""
        return [spoken(hop.words) for hop in self.hops]


async def choose(
    question: str,
    by: str,
    chains: Sequence[Chain],
    pool: frozenset[Term],
    graph: KnowledgeGraph,
    encode: Encode,
) -> tuple[Steps, int] | None:
    """Give the attribute most like the question, and how many nodes before the ends it starts.

    Where the question itself does not tell, ``by`` does: what a like question went by.
    """
    found = await _attributes(_spread(pool), 0, graph)
    for chain in chains:
        if chain.depth > 1:
            before = await graph.follow_chain(chain.upto(chain.depth - 1))
            found += await _attributes(_spread({each.term for each in before}), 1, graph)
    unique = sorted(set(found))
    if not unique:
        return None
    scores = await asyncio.to_thread(_scores, question, _meant(question, by), unique, encode)
    at = int(np.argmax(scores))
    return (tuple((hop,) for hop in unique[at].hops), unique[at].back) if scores[at] >= LEAST else None


def is_dating(question: str, by: str) -> bool:
    """Tell whether a question, or else what a like one went by, asks for the first or the last."""
    return bool(_DATING.search(_meant(question, by)))


def _meant(question: str, by: str) -> str:
    """Give words for what is compared, none where neither a cue nor a like question tells."""
    cue = find_cue(question)
    return (cue.of if cue else "") or " ".join(spoken(name) for name in by.split("/"))


def _spread(terms: frozenset[Term] | set[Term]) -> list[Entity]:
    """Give some of the entities, evenly spread over their order."""
    known = sorted(entities(terms))
    return known[:: -(-len(known) // SAMPLED) or 1]


async def _attributes(nodes: Sequence[Entity], back: int, graph: KnowledgeGraph) -> list[Attribute]:
    """List what gives the nodes numbers or dates, and the unnamed nodes beside them: four queries."""
    led = await _values([((), node) for node in nodes], graph)
    aside = [(hops, end) for hops, ends in led.items() for end in entities(ends)]
    further = await _values([(hops, end) for hops, end in aside if end.name is None][: 3 * SAMPLED], graph)
    placed = {
        hops: [end for end in ends if place_of(end) is not None] for hops, ends in (led | further).items()
    }
    return [
        Attribute(back, hops, _is_dated(hops[-1], ends), min(1.0, len(ends) / len(nodes)))
        for hops, ends in placed.items()
        if ends
    ]


async def _values(
    starts: Sequence[tuple[tuple[Hop, ...], Entity]], graph: KnowledgeGraph
) -> dict[tuple[Hop, ...], list[Term]]:
    """Give one value for each relation of each node, by the hops that lead to it: two queries."""
    hops = await graph.list_relations(sorted({node.id for _, node in starts}))
    asked = [(way, node, hop) for way, node in starts for hop in hops[node.id] if hop.forward]
    pages = await graph.follow_relation([(node.id, hop) for _, node, hop in asked])
    values: dict[tuple[Hop, ...], list[Term]] = {}
    for (way, _, hop), page in zip(asked, pages, strict=True):
        values.setdefault((*way, hop), []).extend(page.items[:1])
    return values


def _is_dated(hop: Hop, values: Sequence[Term]) -> bool:
    """Tell whether values are dates: by their type or form, or years by the relation's name."""
    places = [place_of(value) or () for value in values]
    if any(len(place) > 1 for place in places) or any(_is_date(value) for value in values):
        return True
    return all(place[0] in _YEARS for place in places) and bool(_DATING.search(spoken(hop.words)))


def _is_date(value: Term) -> bool:
    return isinstance(value, Literal) and local_name(value.datatype) in _DATES


def _scores(
    question: str, meant: str, attributes: Sequence[Attribute], encode: Encode
) -> npt.NDArray[np.float64]:
    """Compare a question with attributes, each by its relation that is most like it: shape (attributes,)."""
    words = sorted({word for each in attributes for word in each.words})
    likely = likeness(question, words, encode) + (CUED * likeness(meant, words, encode) if meant else 0)
    asked, said = _words(meant), _words(f"{question} {meant}")
    scores = {
        word: like + _gained(_words(word), asked, said) for word, like in zip(words, likely, strict=True)
    }
    dating = bool(_DATING.search(meant)) if meant else None
    return np.array([max(scores[word] for word in each.words) + _extra(each, dating) for each in attributes])


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]+", text.lower()))


def _gained(words: frozenset[str], asked: frozenset[str], said: frozenset[str]) -> float:
    """Reward the words that are said; hold labels against what is not asked for by one, and the reverse."""
    astray = (words & _LABELS) - said or (asked & _LABELS) - words
    return SAID * len(words & said) / max(1, len(words)) - LABEL * bool(astray)


def _extra(attribute: Attribute, dating: bool | None) -> float:
    lost = DATED * (dating is not None and attribute.dated != dating) + ASIDE * (len(attribute.hops) - 1)
    return SHARED * attribute.share - lost
