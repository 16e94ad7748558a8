"""What a question for yes or no claims: which of the things that it names are joined."""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import product
from math import prod

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Entity, Hop, Term
from kgqa.kg.text import COMMON, FUNCTION, fold
from kgqa.models.offline.stance import STEM
from kgqa.models.offline.stems import shared_stems
from kgqa.models.offline.words import spoken

CHOICES = 64
"""Combinations of joined things that are looked at, at most."""

LOOKED_UP = 12
"""Names that are looked up in the graph for one question, at most."""

LONGEST = 4
"""Words of such a name, at most."""

_RHETORICAL = re.compile(r"^(\w+)n t\b")
"""How a question begins that asks for the same without it: isn't, doesn't."""

_LISTED = re.compile(r"#(?:(?: the| an?)? #)*(?: and| as well as)(?: also| the| an?)* #")
_UNCLEAR = re.compile(r"\b(?:and|as well as|but|except|only|neither|nor|than|always|every|(?<!# )all)\b")
_ALIKE = re.compile(r"\b(?:same|shared?|in common)\b")


class Claim:
    """What a question claims: each thing that it names is joined with the others.

    Those that "and" puts side by side are joined with the others each, not with one another.

    Attributes:
        text: the folded question, "it" for each name.
        rest: what stands between the names.
        slots: the things by what stands for them; those side by side share a slot.
        clear: whether each "and" is between names, and nothing is excepted or compared.
        alike: whether it claims that things have something in common.

    Args:
        question: in words.
        topics: each is a thing, whatever the question calls it; those by name need be among the names.
        names: of things, folded; those that it does not have, or within a longer one, are passed over.
    """

    def __init__(self, question: str, topics: Collection[Entity], names: Collection[str]) -> None:
        folded = _RHETORICAL.sub(r"\1", fold(question))
        known = sorted({name for name in names if not FUNCTION.issuperset(name.split())}, key=len)
        either = "|".join(map(re.escape, reversed(known))) or r"(?!)"
        parts = re.split(rf"\b({either})(?:e?s)?\b", folded)
        found, masked = parts[1::2], "#".join(parts[::2])
        called = {topic: fold(topic.name or "") for topic in topics}
        self._topics = {topic for topic, name in called.items() if not name or name not in folded}
        self._found = frozenset(found)
        self.rest = tuple(parts[::2])
        self.text = masked.replace("#", "it")
        self.slots = _slots(masked, found, self._topics)
        self.clear = not _UNCLEAR.search(_LISTED.sub("#", masked))
        self.alike = _ALIKE.search(masked) is not None

    def thing(self, term: Term) -> str | None:
        """Give what stands for a term that is a thing of the claim."""
        name = fold(term.name or "")
        return name if name in self._found else term.id if term in self._topics else None

    def joins(self, one: str, two: str) -> bool:
        """Tell whether two things are claimed to be joined."""
        return one != two and (len(self.slots) == 1 or not any({one, two} <= slot for slot in self.slots))

    def borne_out(self, pairs: Collection[frozenset[str]]) -> bool:
        """Tell whether pairs join all that is claimed to be joined."""
        if sum(map(len, self.slots)) < 2 or prod(map(len, self.slots)) > CHOICES:
            return False
        choices: Iterable[Collection[str]] = product(*self.slots) if len(self.slots) > 1 else self.slots
        return all(_connected(set(choice), pairs) for choice in choices)


def _slots(masked: str, found: Sequence[str], topics: Iterable[Entity]) -> list[frozenset[str]]:
    slots, rest = [], list(found)
    for part in re.findall(rf"{_LISTED.pattern}|#", masked):
        slots.append(frozenset(rest[: part.count("#")]))
        rest = rest[part.count("#") :]
    return list(dict.fromkeys([*slots, *(frozenset([topic.id]) for topic in sorted(topics))]))


def _connected(things: set[str], pairs: Collection[frozenset[str]]) -> bool:
    met = {min(things)}
    while more := {one for pair in pairs if pair <= things and pair & met for one in pair - met}:
        met |= more
    return met == things


async def read_claim(
    question: str,
    topics: Collection[Entity],
    terms: Iterable[Term],
    hops: Iterable[Hop],
    graph: KnowledgeGraph,
) -> Claim:
    """Read what a question claims; what no term or relation at hand is called is looked up in the graph.

    Raises:
        KGError: if the graph cannot be reached.
    """
    names = {fold(term.name or "") for term in terms}
    relations = [spoken(hop.words) for hop in hops]
    spans = [span for part in Claim(question, (), names).rest for span in _spans(part.split())]
    sought = [" ".join(span) for span in spans if not all(_is_plain(word, relations) for word in span)]
    found = [name for name in list(dict.fromkeys(sought))[:LOOKED_UP] if await _is_called(name, graph)]
    return Claim(question, topics, {*names, *found})


def _spans(words: Sequence[str]) -> list[Sequence[str]]:
    """Give the runs of words that a name may be, which neither begin nor end with a function word."""
    places = [at for at, word in enumerate(words) if word not in FUNCTION]
    return [words[one : two + 1] for one in places for two in places if one <= two < one + LONGEST]


def _is_plain(word: str, relations: Sequence[str]) -> bool:
    return word in COMMON or shared_stems(relations, [word]).max(initial=0.0) >= STEM


async def _is_called(name: str, graph: KnowledgeGraph) -> bool:
    try:
        matches = await graph.find_entities(name, 1)
    except (KGTimeout, KGRejected):
        return False
    return any(match.sure and match.how != "id" for match in matches)
