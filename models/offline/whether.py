"""Questions that ask for yes or no, and what they name."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kgqa.kg.terms import Entity, Hop, Term
from kgqa.kg.text import FUNCTION, fold
from kgqa.models.offline.combining import Rated

PASSING = 10.0
"""What each thing that the question names counts for a way that passes it: more than words do."""

_ENDINGS = ("", "s", "es")

_BEGINS = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|might|must)(?:n't)?\s"
    r"(?!\s*(?:you|i|we|anyone|anybody|someone|somebody)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\bor\b|\band (?:what|where|when|which|who|whom|whose|how)\b", re.IGNORECASE)


def is_whether(question: str) -> bool:
    """Tell whether a question asks for yes or no: by how it begins.

    >>> is_whether("Is Ulm on the Danube?"), is_whether("Can you tell me where Ulm is?")
    (True, False)
    >>> is_whether("Is the Rhine or the Danube longer?")
    False
    """
    return _BEGINS.match(question.lstrip()) is not None and _ASKS.search(question) is None


class Named:
    """What a question names: its topic entities, and whatever has its name in it.

    Args:
        question: in words.
        topics: they count as named, whatever the question calls them.
    """

    def __init__(self, question: str, topics: Collection[Entity]) -> None:
        self._question = f" {fold(question)} "
        self._topics = frozenset(topics)

    def __contains__(self, term: Term) -> bool:
        """Tell whether the question names a term; a name of function words alone names nothing."""
        if term in self._topics:
            return True
        name = fold(term.name or "")
        return not FUNCTION.issuperset(name.split()) and any(
            f" {name}{ending} " in self._question for ending in _ENDINGS
        )


def claimed(question: str, rated: Mapping[Entity, Sequence[Rated]]) -> dict[Entity, list[Rated]]:
    """Give the ways that a question for yes or no asks about; empty where there are none.

    They lead to something else that the question names: what it claims is how the two are joined. A way
    goes on from there only to something that it names and that is no topic, which has ways of its own.
    """
    if not is_whether(question):
        return {}
    named = Named(question, rated)
    ways = {topic: _joining(found, named, rated.keys()) for topic, found in rated.items()}
    return ways if any(ways.values()) else {}


def _joining(found: Sequence[Rated], named: Named, topics: Collection[Term]) -> list[Rated]:
    reached = {
        chain.hops: {end.term for end in each.way.ends if end.term in named and not end.returning}
        for each in found
        for chain in each.way.chains
    }
    ways = []
    for each in found:
        passed = _passed(each.way.chain.hops, reached)
        fresh = reached[each.way.chain.hops] - passed
        if fresh - set(topics) if passed else fresh:
            beyond = len((fresh | passed) - set(topics))
            ways.append(replace(each, share=each.share + PASSING * beyond))
    return ways


def _passed(hops: Sequence[Hop], reached: Mapping[tuple[Hop, ...], set[Term]]) -> set[Term]:
    """Give what is named and met before the end of a way, as far as that is known."""
    return set().union(*(reached.get(tuple(hops[:size]), set()) for size in range(1, len(hops))))
