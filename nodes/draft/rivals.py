"""Rivals: properties that a draft might have used as well, and that its question rather says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgqa.kg.linking.class_names import asked_kind
from kgqa.kg.linking.schema_terms import NAMING_PHRASES
from kgqa.kg.pages import Description
from kgqa.kg.terms import Entity, Term
from kgqa.kg.text import fold, split_words
from kgqa.nodes.coverage import Similarity, can_compare
from kgqa.nodes.draft.state import Described, DraftState
from kgqa.priors.errors import EncoderError
from kgqa.prompts.base import quoted
from kgqa.retrieval.confidence import MIN_SUPPORT
from kgqa.retrieval.wording import IGNORED_WORDS, relation_phrase
from kgqa.runtime.node import NodeRuntime
from kgqa.tools.drafts import CheckedDraft, DescribedProperty

MAX_APART = 0.1  # how much better a word may say one of two properties for it to say both


async def likelier_properties(
    checked: CheckedDraft, described: Described, question: str, runtime: NodeRuntime
) -> list[str]:
    """Return why other properties may be meant than those of a draft, or none is asked for.

    ``question`` is without the names of its topics. A word says a property by its name or by that of a class
    to which it leads; where none says it alone, the whole question is compared with it and with the others.
    Those count that the graph has rows for. Nothing is told where words cannot be compared with a graph.
    """
    names = {id: _names(id, described) for id in described.relations}
    names = {id: each for id, each in names.items() if each[0] not in NAMING_PHRASES}
    used = [id for id in checked.relations if id in names]
    if not (used and can_compare(question)):
        return []
    words = [word for each in split_words(question) if (word := fold(each.text)) not in IGNORED_WORDS]
    texts = [*dict.fromkeys([fold(question), *words, *(text for some in names.values() for text in some)])]
    try:
        rows = await runtime.encode(texts)
    except EncoderError:
        return []
    asked = _Asked(fold(question), words, Similarity(dict(zip(texts, rows, strict=True))))
    told: list[str] = []
    for id in used:
        rivals = {*_rivals(id, checked, described)} & names.keys() - {*used}
        likelier = asked.likelier(names[id], {each: names[each] for each in sorted(rivals)})
        if likelier and await runtime.try_tool("has_rows", query=checked.text, relation=id, instead=likelier):
            told.append(
                f"the question rather says {quoted(names[likelier][0])} than {quoted(names[id][0])}: take "
                "that, or send the same query where it is not meant"
            )
        elif id in checked.beside and not asked.saying(names[id]):
            told.append(f"the question does not ask for {quoted(names[id][0])}: show what it asks for")
    return told


async def other_kind(
    answers: Sequence[Term],
    checked: CheckedDraft,
    described: Described,
    state: DraftState,
    runtime: NodeRuntime,
) -> list[str]:
    """Return why answers are not of the class that the question asks for, as the first of them shows.

    Where something is computed, the class may be that which is counted.
    """
    named = {Entity(id): state["mentioned_as"].get(id) or described.called(id) for id in state["classes"]}
    kind, first = asked_kind(state["question"], named), next(iter(answers), None)
    if kind is None or checked.computed or not isinstance(first, Entity):
        return []
    alike = {each.id for each, name in named.items() if name == named[kind]}
    asked = [each for each in described.classes if each.id in alike]
    found: Description | None = await runtime.try_tool("describe_entity", entity=first.id, limit=1)
    types = {each.id for each in found.types} if found else set()
    if not (asked and types) or types & {id for each in asked for id in (each.id, *each.below)}:
        return []
    kinds = " and ".join(quoted(described.called(id)) for id in sorted(types))
    return [f"the question asks for {quoted(named[kind])}, and {quoted(str(first))} is {kinds}"]


@dataclass(frozen=True)
class _Asked:
    """A question and its words that carry meaning, compared with names of properties."""

    question: str
    words: Sequence[str]
    similarity: Similarity

    def saying(self, names: Sequence[str]) -> dict[str, float]:
        """Return the words that say a property, and how far."""
        found = {word: self.similarity.word(word, names) for word in self.words}
        return {word: support for word, support in found.items() if support >= MIN_SUPPORT}

    def likelier(self, names: Sequence[str], rivals: Mapping[str, Sequence[str]]) -> str | None:
        """Return what the question is more like than a property, of what all its words say as well."""
        said = self.saying(names)
        left = [
            each
            for each, others in rivals.items()
            if all(self.similarity.word(word, others) > support - MAX_APART for word, support in said.items())
        ]
        alike = {each: self.similarity.cosine(self.question, rivals[each][0]) for each in left}
        best = max(left, key=alike.__getitem__, default=None)
        return best if best and alike[best] > self.similarity.cosine(self.question, names[0]) else None


def _names(relation: str, described: Described) -> list[str]:
    """Return what a property is called, and then the classes that it leads to."""
    parts = [part for of in described.classes for part in of.properties if part.relation == relation]
    ends = {id for part in parts for id in part.joins}
    classes = sorted({fold(each.name) for each in described.classes if each.id in ends} - {""})
    return [fold(relation_phrase(described.called(relation))), *classes]


def _rivals(relation: str, checked: CheckedDraft, described: Described) -> list[str]:
    """Return what a draft might follow as well: from or to what it names, else from the same classes."""
    found: list[str] = []
    for term in described.terms:
        for forward in (True, False):
            hops = [hop.relation for hop in term.hops if hop.forward is forward]
            found += hops if relation in hops and term.term.id in checked.ids else ()
    for each in described.classes if not found and relation in checked.free else ():
        own = next((part for part in each.properties if part.relation == relation), None)
        found += [part.relation for part in each.properties if own and _are_alike(own, part)]
    return found


def _are_alike(one: DescribedProperty, other: DescribedProperty) -> bool:
    """Return whether two properties lead to values of one kind, or to nodes of one class."""
    shared = {*one.kinds, *one.joins} & {*other.kinds, *other.joins}
    return bool(shared) or (one.is_open and other.is_open)
