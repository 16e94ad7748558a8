"""Questions that ask for yes or no, and what they name."""

import re
from collections.abc import Collection, Mapping, Sequence

from kgqa.kg.terms import Entity, Term
from kgqa.kg.text import FUNCTION, fold
from kgqa.models.offline.combining import Rated

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
        return not FUNCTION.issuperset(name.split()) and f" {name} " in self._question

    def unnamed(self, terms: Collection[Term]) -> str:
        """Give the folded question with "it" for the names of terms."""
        text = self._question
        for name in sorted({fold(term.name or "") for term in terms}, key=lambda each: (-len(each), each)):
            text = text.replace(f" {name} ", " it ") if name else text
        return text.strip()


def claimed(question: str, rated: Mapping[Entity, Sequence[Rated]]) -> dict[Entity, list[Rated]]:
    """Give the ways that a question for yes or no asks about; empty where there are none.

    They lead to something else that the question names: what it claims is how the two are joined.
    """
    if not is_whether(question):
        return {}
    named = Named(question, rated)
    ways = {topic: [each for each in found if _joins(each, named)] for topic, found in rated.items()}
    return ways if any(ways.values()) else {}


def _joins(rated: Rated, named: Named) -> bool:
    return any(end.term in named and not end.returning for end in rated.way.ends)
