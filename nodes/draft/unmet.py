"""What a question says and its draft does not: entities, values, modifiers, and any other words."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgqa.kg.terms import Entity, Literal, Term, plain_term
from kgqa.kg.text import spaced
from kgqa.nodes.coverage import uncovered_by_terms
from kgqa.nodes.draft.state import Described, DraftState
from kgqa.nodes.mentioned import unsaid_figures
from kgqa.nodes.modifiers import asked_extremes, unused_modifiers_of_sparql
from kgqa.priors.masking import TOPIC_MASK, mask_topic
from kgqa.retrieval.wording import MIN_STEM_SAID, relation_phrase, word_similarity
from kgqa.runtime.node import NodeRuntime
from kgqa.tools.drafts import CheckedDraft
from kgqa.tools.select import QueryConstants, read_constants

WORD = r"[^\W_]+"


async def unmet_words(
    checked: CheckedDraft,
    answers: Sequence[Term],
    described: Described,
    state: DraftState,
    runtime: NodeRuntime,
) -> tuple[list[str], list[str]]:
    """Return the words of a question that its draft does not say, given the first column of its rows.

    Those are apart, and last, that nothing says which was shown: the draft may say them in its own way.
    """
    read = await asyncio.to_thread(read_constants, checked.text)
    query = _Query(checked, read, described, state)
    unmet = [*dict.fromkeys(query.unmet(answers))]
    told = {*_words(" ".join(unmet)).split()}
    uncovered = [each for each in await query.uncovered(answers, runtime) if told.isdisjoint(each.split())]
    sayable = [each for each in uncovered if _is_shown(each, described)]
    return [*unmet, *sayable], [each for each in uncovered if each not in sayable]


@dataclass(frozen=True)
class _Query:
    """A draft, and the constants that it was read to have."""

    checked: CheckedDraft
    read: QueryConstants | None
    described: Described
    state: DraftState

    @property
    def written(self) -> Sequence[Term]:
        """What it compares with."""
        return self.read.written if self.read else ()

    @property
    def names(self) -> list[str]:
        """What is called what it names."""
        return [_words(spaced(self.described.called(id))) for id in self.checked.ids]

    def unmet(self, answers: Sequence[Term]) -> Iterator[str]:
        """Yield the topics, values, modifiers and figures of the question that it does not say."""
        question, topics = self.state["question"], self.state["topic_entities"]
        yield from (str(topic) for topic in topics if not self._is_met(topic))
        yield from self._unused_values()
        yield from unused_modifiers_of_sparql(self.checked.text, answers, question, topics)
        if self.checked.ordered_by_hidden and self.checked.limit is None and len(answers) > 1:
            yield from asked_extremes(question)
        yield from unsaid_figures(without_names(question, topics, self.described), self._figures())

    def _figures(self) -> Iterator[str]:
        """Yield the texts in which it has numbers: what it names or compares with, limits and factors."""
        checked = self.checked
        yield from (term.name or term.id for term in (*self.written, *checked.factors))
        yield from map(self.described.called, checked.ids)
        cuts = [(checked.limit or 0, checked.offset), *((n, offset) for n, offset, _ in checked.inner_limits)]
        yield from (str(n) for limit, offset in cuts for n in (limit, offset + 1, offset + limit))

    async def uncovered(self, answers: Sequence[Term], runtime: NodeRuntime) -> list[str]:
        """Return the words that no name in it says, or only that of what was shown and is not in it."""
        checked, described, state = self.checked, self.described, self.state
        meant = {topic.id: topic for topic in state["topic_entities"]}
        meant |= {each.id: each for some in (*described.alternatives, described.members) for each in some}
        nodes = sorted({*checked.ids} - {*checked.relations})
        terms: list[Term] = [
            meant.get(id) or Entity(id, relation_phrase(described.called(id))) for id in nodes
        ]
        terms += [term for term in self.written if isinstance(term, Literal)]
        relations = [*map(described.called, checked.relations)]
        others = [described.called(id) for id in described.relations if id not in checked.relations]
        said = [*["per"] * checked.grouped, *["order", "ascending", "descending"] * checked.ordered]
        return await uncovered_by_terms(relations, terms, others, said, answers, state, runtime)

    def _unused_values(self) -> Iterator[str]:
        """Yield the values that a property has few of, which the question says and the query does not."""
        said = _words(" ".join([*(term.name or "" for term in self.written), *self.names]))
        asked = _words(self.state["question"])
        for value in self.described.enumerated:
            text = _words(value)
            if text.strip() and text in asked and text not in said:
                yield value

    def _is_met(self, topic: Entity) -> bool:
        """Return whether it is about a topic, or about what its mention may mean otherwise."""
        alternatives = (some for some in self.described.alternatives if topic in some)
        parts = self.described.parts.get(topic.id)
        return any(map(self._is_part, [topic, *(each for some in alternatives for each in some)])) or (
            parts is not None and all(map(self._is_part, parts))
        )

    def _is_part(self, topic: Entity) -> bool:
        """Return whether it has a topic: an entity that binds it, a value, a class or what says its name.

        A relation says that of a class, and of what the question does not write as a name ("process").
        """
        meant, names = plain_term(topic), self.names
        literals = {(term.name or "").casefold() for term in self.written if isinstance(term, Literal)}
        if (topic.name or "").casefold() in literals:
            return True
        if isinstance(meant, Literal):
            return any(_words(meant.value) in words for words in names)
        if self.read is not None and meant.id in self.read.binding:
            return True
        is_class = any(plain_term(Entity(id)) == meant for id in self.state["classes"])
        says = any(_words(relation_phrase(str(topic))) in words for words in names)
        is_name = not is_class and str(topic) in self.state["question"]
        return (is_class and meant.id in self.checked.ids) or (says and not is_name)


def without_names(question: str, topics: Sequence[Entity], described: Described) -> str:
    """Return a question without the names of its topics and of what was found in it, but for classes."""
    classes = {each.id for each in described.classes}
    names = {str(each) for each in topics if plain_term(each).id not in classes}
    names |= {each.text for each in described.terms if each.term.id not in classes}
    for name in sorted(names, key=len, reverse=True):
        question = mask_topic(question, name, ()).replace(TOPIC_MASK, " ")
    return question


def _is_shown(words: str, described: Described) -> bool:
    """Return whether a name or a value that was shown says all of the words."""
    names = [_words(each).split() for each in (*map(described.called, described.ids), *described.enumerated)]
    return any(
        all(any(word_similarity(one, two) >= MIN_STEM_SAID for two in name) for one in words.split())
        for name in names
    )


def _words(text: str) -> str:
    """Return the words of a text in lower case, with a space at either end of each."""
    return f" {' '.join(re.findall(WORD, text.casefold()))} "
