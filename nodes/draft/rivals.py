"""Rivals: properties that a draft might have used as well, and that its question rather says."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from kgqa.kg.linking.name_words import NAMING_PHRASES
from kgqa.kg.text import fold, split_words
from kgqa.nodes.coverage import can_compare
from kgqa.nodes.draft.state import Described
from kgqa.priors.encoder import Vectors
from kgqa.priors.errors import EncoderError
from kgqa.prompts.base import quoted
from kgqa.retrieval.confidence import MIN_SUPPORT
from kgqa.retrieval.wording import IGNORED_WORDS, MIN_STEM_SAID, relation_phrase, word_similarity
from kgqa.runtime.node import NodeRuntime
from kgqa.tools.drafts import CheckedDraft


async def likelier_properties(
    checked: CheckedDraft, described: Described, question: str, runtime: NodeRuntime
) -> list[str]:
    """Return why other properties may be meant than those of a draft, or none is asked for.

    ``question`` is without the names of its topics. Nothing is told where it cannot be compared with a graph.
    """
    called = {id: fold(relation_phrase(described.called(id))) for id in described.relations}
    called = {id: text for id, text in called.items() if text not in NAMING_PHRASES}
    used = [id for id in checked.relations if id in called]
    if not (used and can_compare(question)):
        return []
    words = [fold(each.text) for each in split_words(question)]
    others = [fold(described.called(id)) for id in checked.ids if id not in called]
    texts = [*dict.fromkeys([fold(question), *words, *called.values(), *others])]
    try:
        rows = await runtime.encode(texts)
    except EncoderError:
        return []
    asked = _Asked(fold(question), [each for each in words if each not in IGNORED_WORDS], texts, rows)
    return [*dict.fromkeys(_tell(asked, checked, described, called, [called[id] for id in used], others))]


def _tell(
    asked: "_Asked",
    checked: CheckedDraft,
    described: Described,
    called: dict[str, str],
    used: Sequence[str],
    others: Sequence[str],
) -> Iterator[str]:
    """Yield what is told: of the only property as a whole, of one among several by single words."""
    for id in (each for each in checked.relations if each in called):
        rivals = {called[each] for each in _rivals(id, checked, described) if each in called} - {*used}
        if len(used) == 1:
            likelier = asked.nearest(called[id], rivals)
        else:
            likelier = asked.said_instead(called[id], rivals, [*used, *others])
        if likelier:
            yield (
                f"the question rather says {quoted(likelier)} than {quoted(called[id])}: take that, or send "
                "the same query where it is not meant"
            )
        elif id in checked.beside and not asked.is_said(called[id]):
            yield f"the question does not ask for {quoted(called[id])}: show what it asks for"


@dataclass(frozen=True)
class _Asked:
    """A question and its words that carry meaning, compared with texts."""

    question: str
    words: Sequence[str]
    texts: Sequence[str]
    rows: Vectors

    def _cosine(self, one: str, other: str) -> float:
        return float(self.rows[self.texts.index(one)] @ self.rows[self.texts.index(other)])

    def _support(self, word: str, text: str) -> float:
        stem = max((word_similarity(word, other) for other in text.split()), default=0.0)
        return max(stem if stem >= MIN_STEM_SAID else 0.0, self._cosine(word, text))

    def is_said(self, text: str) -> bool:
        """Return whether a word says a text."""
        return any(self._support(word, text) >= MIN_SUPPORT for word in self.words)

    def nearest(self, text: str, rivals: Collection[str]) -> str | None:
        """Return what the whole question is more like than a text, where no word says that alone."""
        for word in self.words:
            said = self._support(word, text)
            if said >= MIN_SUPPORT and all(self._support(word, each) < said for each in rivals):
                return None
        best = max(rivals, key=lambda each: self._cosine(self.question, each), default=text)
        return best if self._cosine(self.question, best) > self._cosine(self.question, text) else None

    def said_instead(self, text: str, rivals: Collection[str], used: Sequence[str]) -> str | None:
        """Return what a word says that says nothing of a query, where no word says the text."""
        if self.is_said(text):
            return None
        free = [word for word in self.words if all(self._support(word, each) < MIN_SUPPORT for each in used)]
        said = {(self._support(word, each), each) for word in free for each in rivals}
        best, likeliest = max(said, default=(0.0, None))
        return likeliest if best >= MIN_SUPPORT else None


def _rivals(relation: str, checked: CheckedDraft, described: Described) -> list[str]:
    """Return what a draft might follow as well: from or to what it names, else from the same classes."""
    found: list[str] = []
    for term in described.terms:
        for forward in (True, False):
            hops = [hop.relation for hop in term.hops if hop.forward is forward]
            found += hops if relation in hops and term.term.id in checked.ids else ()
    for each in described.classes if not found and relation in checked.free else ():
        relations = [part.relation for part in each.properties]
        found += relations if relation in relations else ()
    return found
