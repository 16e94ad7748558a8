"""Questions that a graph can be asked, made from its profile, each with what the graph answers.

They are worded by a few templates; they are asked before they are shown, and those understood are kept.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from kgqa.kg.dialects import RDF, dialect_named, is_readable
from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.profile.cards import class_name, relation_name, with_names
from kgqa.kg.profile.profile import UNTYPED, ClassProfile, Profile, PropertyProfile
from kgqa.kg.proof.query import MAX_HOPS_IN_ALL, Aggregate, AnswerQuery, Branch, Condition
from kgqa.kg.proof.values import kind_of
from kgqa.kg.terms import ANY, XSD_STRING, Chain, Entity, Hop, Literal, Term, local_name
from kgqa.kg.text import FUNCTION_WORDS, in_plural, in_singular, split_words
from kgqa.retrieval.wording import comparison_texts, relation_phrase

MAX_ANSWERS = 10  # of a question that is suggested
MAX_NAME_CHARS = 60  # of what it is about and of its answers
TOPICS = 3  # entities or values with which a property is asked about, one after all others
MAX_SUBJECTS = 20  # that are looked at for one to ask about
MAX_BEYOND = 6  # properties that are asked of what another leads to
MAX_CLASSES = 12  # of which there are questions, those with most members


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question, and what the graph answers."""

    question: str
    answers: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class _Owned:
    """A property and a class whose members have it, with the words for both."""

    owner: ClassProfile
    profile: PropertyProfile
    words: str
    is_noun: bool
    class_words: str

    @property
    def hop(self) -> Hop:
        return Hop(self.profile.relation)

    @property
    def sharing(self) -> float:
        """How many members have the same value, on average."""
        members = self.profile.having * self.owner.members / max(1, self.owner.read)
        return members / max(1, self.profile.distinct)

    @property
    def classes(self) -> str:
        return in_plural(self.class_words)


class QuestionMaker:
    """Makes questions of each kind about one graph, in an order that its profile gives."""

    def __init__(self, graph: KnowledgeGraph, profile: Profile, classes: Sequence[ClassProfile]) -> None:
        self._graph, self._profile, self._classes = graph, profile, classes
        self._dialect, self._known = dialect_named(graph.dialect), frozenset(graph.relations)
        self._types = [Hop(each, forward=False) for each in self._dialect.types]
        by_class = map(self._own_all, classes)
        self._owned = [each for row in zip_longest(*by_class) for each in row if each] * TOPICS
        self._counted_classes = sorted((each for each in classes if each.id), key=_is_part_read)

    @classmethod
    async def of(cls, graph: KnowledgeGraph) -> "QuestionMaker":
        """Make one for the classes of a graph with most members; where it has none, for its nodes."""
        profile = await graph.profile()
        types = dialect_named(graph.dialect).types
        most = MAX_HOPS_IN_ALL // (4 * len(types))  # classes that a query can name
        named = (each for each in profile.classes if each.is_named and each.examples)
        small = (each for each in named if len(profile.subclasses(each.id)) <= most)
        found = await with_names(graph, [*islice(small, 2 * MAX_CLASSES)])
        usable = [each for each in found if each.examples]
        return cls(graph, profile, ([each for each in usable if each.id] or usable)[:MAX_CLASSES])

    def kinds(self) -> list[AsyncIterator[Suggestion]]:
        """Return the questions of each kind that have answers: of a property, counted, by an entity, ..."""
        kinds = [
            self._properties(),
            self._counted(),
            self._inverse(),
            self._two_hops(),
            self._by_value(),
            self._counted_values(),
            self._extremes(),
            self._listed(),
        ]
        return [(each async for each in kind if each.answers) for kind in kinds]

    async def _properties(self) -> AsyncIterator[Suggestion]:
        for place, each in enumerate(self._owned):
            topic = await self._topic(each, place)
            answers = await self._ends(topic, each.hop)
            said = (
                f"{_the(each.words, len(answers))} of {topic}" if each.is_noun else f"is {topic} {each.words}"
            )
            yield Suggestion(f"What {said}?", answers)

    async def _inverse(self) -> AsyncIterator[Suggestion]:
        for place, each in enumerate(self._owned):
            if not each.profile.ends or each.sharing > MAX_ANSWERS:
                continue
            known = await self._ends(await self._topic(each, place), each.hop)
            for value in [one for one in known if isinstance(one, Entity)][:1]:
                answers = await self._answers(value, each.hop.inverse, owner=each.owner)
                yield Suggestion(_which(each, str(value)), answers)

    async def _by_value(self) -> AsyncIterator[Suggestion]:
        for place, each in enumerate(self._owned):
            values = [*filter(_is_worded, each.profile.values)]
            if values and each.owner.id != UNTYPED and each.sharing <= MAX_ANSWERS:
                value = values[place % len(values)]
                query = self._members(each.owner, Condition(1, (each.hop,), "=", value))
                yield Suggestion(_which(each, str(value)), await self._prove(query))

    async def _counted(self) -> AsyncIterator[Suggestion]:
        for each in self._counted_classes:
            words = in_plural(_class_words(each))
            query = self._members(each, aggregate=Aggregate("count"))
            yield Suggestion(f"How many {words} are there?", await self._prove(query))

    async def _listed(self) -> AsyncIterator[Suggestion]:
        for each in self._counted_classes:
            if each.members <= MAX_ANSWERS:
                words = in_plural(_class_words(each))
                yield Suggestion(f"Which {words} are there?", await self._prove(self._members(each)))

    async def _extremes(self) -> AsyncIterator[Suggestion]:
        for each in sorted(self._owned, key=lambda each: _is_part_read(each.owner)):
            if each.profile.most is None or each.owner.id == UNTYPED or not each.is_noun:
                continue
            kind = kind_of(each.profile.most)
            if kind == "number" or kind == "date":
                word = "highest" if kind == "number" else "latest"
                query = self._members(each.owner, aggregate=Aggregate("argmax", (each.hop,), by=kind))
                asked = f"Which {each.class_words} has the {word} {each.words}?"
                yield Suggestion(asked, await self._prove(query))

    async def _two_hops(self) -> AsyncIterator[Suggestion]:
        for place, first in enumerate(self._owned):
            if first.is_noun and first.profile.is_single:
                topic = await self._topic(first, place)
                for then in self._beyond(first):
                    answers = await self._ends(topic, first.hop, then.hop)
                    beyond = _the(then.words, len(answers))
                    yield Suggestion(f"What {beyond} of the {first.words} of {topic}?", answers)

    async def _counted_values(self) -> AsyncIterator[Suggestion]:
        for place, each in enumerate(self._owned):
            if each.is_noun and not (each.profile.is_single or each.profile.inner or each.profile.most):
                topic = await self._topic(each, place)
                count = await self._prove(_ends_query(topic, (each.hop,), Aggregate("count")))
                if [*map(str, count)] not in (["0"], ["1"]):
                    yield Suggestion(f"How many {in_plural(each.words)} does {topic} have?", count)

    def _beyond(self, first: _Owned) -> Iterator[_Owned]:
        """Yield what is asked of the nodes that a property leads to, the first of each class."""
        inner = [self._own(first.owner, each) for each in first.profile.inner]
        ends = [each for each in self._owned if each.owner.id in first.profile.ends]
        yield from [each for each in (*inner, *ends) if each.is_noun and each.words != first.words][
            :MAX_BEYOND
        ]

    def _is_asked(self, owner: ClassProfile, each: PropertyProfile) -> bool:
        long = any(len(value.value) > MAX_NAME_CHARS for value in each.values)
        says_name = each.relation in {*owner.naming, *owner.identifiers}
        is_known = not self._known or each.relation in self._known
        local = local_name(each.relation)
        has_words = is_readable(local) or local not in self._call(each.relation)
        is_about_data = self._dialect.describes_data(Hop(each.relation))
        return is_known and has_words and not (long or says_name or is_about_data)

    def _call(self, relation: str) -> str:
        return relation_name(self._profile, relation, self._graph.relation_label)

    def _own_all(self, owner: ClassProfile) -> list[_Owned]:
        """Return what is asked about of a class, nouns first: not ``located in country``, ``knows``."""
        owned = [self._own(owner, each) for each in owner.properties if self._is_asked(owner, each)]
        return sorted(
            owned,
            key=lambda each: (
                not FUNCTION_WORDS.isdisjoint(each.words.split()),
                in_singular(each.words) != each.words,
            ),
        )

    def _own(self, owner: ClassProfile, each: PropertyProfile) -> _Owned:
        name = _plain(self._call(each.relation))
        words = relation_phrase(name)
        is_noun = FUNCTION_WORDS.isdisjoint(words.split()[1:][-1:])
        return _Owned(
            owner, each, comparison_texts(name)[-1] if is_noun else words, is_noun, _class_words(owner)
        )

    def _members(
        self, owner: ClassProfile, *conditions: Condition, aggregate: Aggregate | None = None
    ) -> AnswerQuery:
        """Return the query for the members of a class and of those below it."""
        below = self._profile.subclasses(owner.id)
        chains = [Chain(Entity(each.id), (hop,)) for each in below for hop in self._types]
        return AnswerQuery((Branch(chains[0], (1,), tuple(chains[1:])),), 1, conditions, aggregate)

    async def _topic(self, each: _Owned, place: int) -> Entity:
        """Return an entity that has a property: an example of the class, or of all that have it."""
        examples = each.owner.examples
        if each.owner.share(each.profile) < 1:
            chain = Chain(ANY, (each.hop.inverse,))
            [found] = await self._graph.visit_chains([chain], hops=False, sample=MAX_SUBJECTS)
            ends = (end.term for end in found.ends)
            examples = tuple(end for end in ends if isinstance(end, Entity) and end.name) or examples
        first = place % len(examples)
        for topic in (*examples[first:], *examples[:first]):
            bearers = await self._graph.find_entities(str(topic), limit=2)
            if [each.entity for each in bearers if each.sure] == [topic]:
                return topic
        return examples[first]

    async def _ends(self, topic: Entity, *hops: Hop) -> tuple[Term, ...]:
        return await self._prove(_ends_query(topic, hops))

    async def _answers(self, topic: Entity, hop: Hop, owner: ClassProfile) -> tuple[Term, ...]:
        """Return the members of a class that a hop leads to."""
        query = _ends_query(topic, (hop,))
        if owner.id != UNTYPED:
            members = self._members(owner)
            query = AnswerQuery((*query.branches, *members.branches), 1)
        return await self._prove(query)

    async def _prove(self, query: AnswerQuery) -> tuple[Term, ...]:
        """Return the answers of a query; none where there are too many, or some that nobody could read."""
        try:
            found = (await self._graph.prove(query)).answers
        except (KGTimeout, KGRejected):
            return ()
        readable = all(each.name and len(each.name) <= MAX_NAME_CHARS for each in found)
        return found.items if readable and len(found) <= MAX_ANSWERS and not found.truncated else ()


def _ends_query(topic: Entity, hops: tuple[Hop, ...], aggregate: Aggregate | None = None) -> AnswerQuery:
    places = tuple(range(len(hops), 0, -1))
    return AnswerQuery((Branch(Chain(topic, hops), places),), 1, aggregate=aggregate)


def _class_words(owner: ClassProfile) -> str:
    return relation_phrase(_plain(class_name(owner)))


def _plain(name: str) -> str:
    """Return the last part of a dotted name, without what it has in parentheses."""
    return name.rpartition(".")[2].partition(" (")[0]


def _the(words: str, answers: int) -> str:
    plural = in_plural(words)
    return f"are the {plural}" if answers > 1 or words == plural else f"is the {words}"


def _which(each: _Owned, value: str) -> str:
    if each.owner.id == UNTYPED:
        return f"What {'has' if each.is_noun else 'is'} {each.words} {value}?"
    return f"Which {each.classes} {'have' if each.is_noun else 'are'} {each.words} {value}?"


def _is_part_read(owner: ClassProfile) -> bool:
    """Return whether a class has more members than were read, so that a question about all takes long."""
    return owner.read < owner.members


def _is_worded(value: Literal) -> bool:
    """Return whether a value is a text that a question can hold: neither a sign nor a piece of data."""
    is_text = value.datatype in (XSD_STRING, f"{RDF}langString") and kind_of(value) == "text"
    words = split_words(value.value) if is_text else []
    return bool(words) and words[0].start == 0 and words[-1].end == len(value.value)
