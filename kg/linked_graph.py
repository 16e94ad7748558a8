"""What a graph is asked in words: which entities, classes, names and values a question mentions."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from kgqa.kg.dialects import LOCAL_NAME, PLAIN, RDF, Dialect, entity_iri, is_foreign
from kgqa.kg.errors import KGRejected, KGSilent, KGTimeout
from kgqa.kg.graph import Executor, GraphFacts, Row
from kgqa.kg.languages import base_language, detect_language, detect_language_apart, name_shares
from kgqa.kg.linking.class_names import ClassNames, add_classes, without_chance
from kgqa.kg.linking.linker import MAX_QUESTION_CHARS, Linker
from kgqa.kg.linking.name_index import NameIndex
from kgqa.kg.linking.name_sources import NameLookup
from kgqa.kg.linking.schema_terms import asked_kinds, blank_out, find_schema_terms, is_same_name, said_names
from kgqa.kg.linking.values import ValueFinder
from kgqa.kg.meter import begin_query, end_query, unmetered
from kgqa.kg.naming import Naming
from kgqa.kg.pages import MAX_RIVALS, Match, Mention
from kgqa.kg.profile.building import LenientAsk, profile_classes
from kgqa.kg.profile.profile import ClassProfile, Profile
from kgqa.kg.profile.terminology import DEFINITIONS
from kgqa.kg.relations import RelationCatalog
from kgqa.kg.sparql import chain_queries, queries
from kgqa.kg.sparql.derived import (
    BROADER,
    HAS_PROPERTY,
    INSTANCE_OF,
    SCHEMA_KINDS,
    SUBCLASS,
    split_language,
)
from kgqa.kg.terms import (
    KINDS_NAMESPACE,
    TERM_NAMESPACE,
    Chain,
    Entity,
    Hop,
    Literal,
    is_id,
    is_value_id,
    node_id,
    plain_id,
    value_node,
)
from kgqa.kg.text import in_singular
from kgqa.locks import ProcessLock, cached_property

T = TypeVar("T")

NAMES_SAMPLED = 200  # by which it is told which languages names are in


class LinkedGraph:
    """The part of a graph that finds by names what a text mentions, and that has its profile."""

    def __init__(
        self,
        executor: Executor,
        facts: GraphFacts,
        dialect: Dialect,
        naming: Naming,
        lookup: NameLookup,
        read_profile: Callable[[], Profile],
    ) -> None:
        self._executor, self._facts, self._dialect, self._naming = executor, facts, dialect, naming
        self._lookup, self._read_profile = lookup, read_profile
        self._relations = RelationCatalog(executor, dialect, naming, facts)
        self._linking: tuple[NameIndex, dict[str, Linker]] | None = None
        self._name_languages: dict[str, float] | None = None
        self._known_classes: ClassNames | None = None
        self._profiling = ProcessLock()
        self._profiled: dict[str, ClassProfile] = {}

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations of the graph that a search may follow, sorted; none where they are not listed."""
        return self._relations.listed

    def relation_label(self, relation: str) -> str:
        """Return the words that a relation is shown by; see `RelationCatalog.label`."""
        return self._relations.label(relation)

    async def find_entities(self, text: str, limit: int = 10) -> list[Match]:
        """Find entities by id or name; see `KnowledgeGraph`. An id needs no index of names."""
        text = text.strip().strip("<>")
        if found := await self._by_id(text):
            return [found]
        if (is_id(text) and "://" in text) or is_foreign(text, self._dialect.name):  # `Re:Zero` may be a name
            return []
        matches = await self._look_up(text, lambda index: index.find(text, limit))
        if matches and matches[0].sure:
            return matches
        values, classes = await self._lookup.values(), await self._classes()
        kinds = (entity for each in classes.find(text) if each.covers(text) for entity in each.entities)
        named = await asyncio.to_thread(values.find_exact, text) if values else []
        return [*(Match(entity, 1.0, "class") for entity in kinds), *named, *matches][:limit]

    async def _by_id(self, text: str) -> Match | None:
        """Find the entity of an id: its IRI, or as its kind of graph writes it, or another kind's.

        Here an entity of another kind of graph is no more than what an entity of this one is said to be.
        """
        own = self._dialect.entity_iri(text) or (text if is_id(text) else None)
        known = self._facts.predicates
        twins = self._dialect.twins_of(entity_iri(text) or text)
        there = [twin for twin in twins if twin[0] in known or not known]
        lookups = [queries.twins(there, self._naming.labels)] if there else []
        if own:
            place = len(lookups) if is_foreign(text, self._dialect.name) else 0
            lookups.insert(place, queries.entity(own, self._naming.labels))
        for query in lookups:
            answer = await self._executor.query(query)
            named = self._naming.apply((end, label, rank) for end, label, rank in answer.rows)
            if entities := [Entity(node_id(term), term.name) for term in named.values()]:
                return Match(min(entities), 1.0, "id")
        return None

    async def link(self, question: str) -> list[Mention]:
        """Find the entities that a question mentions; see `KnowledgeGraph`."""
        question = question[:MAX_QUESTION_CHARS]
        values, classes = await self._lookup.values(), await self._classes()

        def link(index: NameIndex) -> tuple[list[Mention], dict[str, dict[Hop, int]]]:
            language, labels = detect_language(question), list(map(self.relation_label, self.relations))
            linking = self._linking  # another thread may put the index of its question there
            if linking is None or linking[0] is not index:
                linking = self._linking = index, {}
            if (linker := linking[1].get(language)) is None:
                linker = linking[1][language] = Linker(index, labels, language)
            names_class = any(classes.find(question, linker.foreign))
            mentions = linker.link(question, names_class=names_class)
            mentions = _without_terms(mentions, classes.profile.terms)
            mentions = add_classes(question, mentions, classes, labels, linker.foreign)
            if values:
                mentions = ValueFinder(values, index, linker).add(question, mentions)
            mentions = without_chance(mentions)
            if f"{RDF}type" in self._facts.predicates:
                named = dict(zip(self.relations, labels, strict=True))
                mentions = find_schema_terms(question, mentions, classes, named) or mentions
            rivals = [each.entity.id for mention in mentions for each in mention.rivals]
            return mentions, index.facts(rivals)

        mentions, facts = await self._look_up(question, link)
        await self._relations.learn(hop.relation for hops in facts.values() for hop in hops)
        name = self._relations.hop
        known = {id: tuple(sorted(name(h.relation, h.forward) for h in hops)) for id, hops in facts.items()}
        found = [each if each.is_class else each.with_hops(known) for each in mentions]
        return await self._by_names(question, await self._without_appositions(question, found))

    def name_hops(self, text: str) -> list[Hop]:
        """Return the hops to names, and from names, that a text says alone; see `KnowledgeGraph`."""
        relations = (self._naming.labels, [each for each in self._naming.aliases if each != LOCAL_NAME])
        labels, aliases = ([self._relations.hop(each, True) for each in some] for some in relations)
        return list(said_names(text, labels, aliases))

    async def _by_names(self, question: str, mentions: list[Mention]) -> list[Mention]:
        """Return a name for what it names, and what is asked for, where a question says no more of it.

        It is what has the name that is asked for where this is in the language that the question names, and
        without one where it asks for a kind of things, or says what the thing is not called first.
        """
        kinds = asked_kinds(question, mentions)
        for each in mentions:
            alone = blank_out(question, [each, *kinds])
            said = [] if each in kinds else await asyncio.to_thread(self.name_hops, alone)
            if said:
                known = [await self._resolve_mention(kind) for kind in kinds]
                named, language = await self._named_by(each, said)
                first = is_same_name(each.matches[0].entity.name or "", each.text)
                if named and (language or kinds or not first):
                    each = replace(each, matches=(Match(value_node(named[0]), 1.0, "exact"),))
                kept = [each, *(kind for kind in known if kind.matches)]
                return sorted(kept, key=lambda one: one.start)
        return mentions

    async def _resolve_mention(self, mention: Mention) -> Mention:
        """Look up what a mention without matches names, in the singular too."""
        if mention.matches:
            return mention
        text = in_singular(mention.text)
        found = await self._look_up(text, lambda index: index.find_exact(text))
        return replace(mention, matches=tuple(found[:MAX_RIVALS]))

    async def _named_by(self, mention: Mention, hops: Sequence[Hop]) -> tuple[list[Literal], str]:
        """Return the names by some hops that a mention is, best first, and the language that is asked for."""
        relations = dict(split_language(hop.relation) for hop in hops)
        language = next(iter(relations.values()))
        ids = [each.entity.id for each in mention.matches[:MAX_RIVALS] if not is_value_id(each.entity.id)]
        rows = (await self._executor.query(queries.names(ids, [*relations]))).rows if ids else []
        names = {
            term: self._dialect.language_rank(term.language)
            for _, term, *_ in rows
            if isinstance(term, Literal)
            and is_same_name(term.value, mention.text)
            and language in ("", base_language(term.language))
        }
        return sorted(names, key=lambda name: (names[name], name)), language

    async def _without_appositions(self, question: str, mentions: Sequence[Mention]) -> list[Mention]:
        """Leave out classes beside the name of a member: "the Ulm office", "Count Dracula"."""
        apart = list(mentions)
        for one, two in pairwise(mentions):
            kind, named = (one, two) if one.is_class else (two, one)
            entity = named.matches[0].entity
            if question[one.end : two.start].strip() or not kind.is_class:
                continue
            hop = self._to_members(kind.matches[0].entity, await self._classes())
            if hop:
                query = chain_queries.reached_ends(Chain(kind.matches[0].entity, (hop,)), [entity])
                if any(end for end, *_ in (await self._executor.query(query)).rows):
                    apart = [each for each in apart if each is not kind]
        return apart

    async def name_languages(self) -> dict[str, float]:
        """Return the share of names in each language, the commonest first; see `KnowledgeGraph`."""
        if self._name_languages is None:
            if self._dialect.polyglot and not self._facts.predicates:
                return {}  # a public graph, with names in all languages
            tags, names = self._facts.summary.languages, list[Literal]()
            try:
                if not tags or "" in tags:
                    names = await self._sample_names()
            except (KGTimeout, KGSilent, KGRejected):
                return {}
            tags = tags or Counter(name.language for name in names)
            untagged = [name.value for name in names if not name.language]
            words = " ".join(map(self.relation_label, self.relations[:NAMES_SAMPLED]))
            self._name_languages = await asyncio.to_thread(name_shares, tags, untagged, words)
        return self._name_languages

    async def _sample_names(self) -> list[Literal]:
        """Return some names, spread over all of them where these are listed."""
        index, labels = await self._lookup.index(""), [*self._naming.labels]
        ids = await asyncio.to_thread(index.sample_ids, NAMES_SAMPLED)
        texts = [queries.some_names(label, NAMES_SAMPLED) for label in labels]
        with unmetered():
            answers = [
                await self._executor.query(text)
                for text in ([queries.names(ids, labels)] if ids and labels else texts)
            ]
        return [
            term for each in answers for row in each.rows for term in row[:2] if isinstance(term, Literal)
        ]

    async def find_classes(self, question: str) -> list[Chain]:
        """Return the chains to the members of the classes that a question names; see `KnowledgeGraph`."""
        classes = await self._classes()
        found = classes.find(question, await detect_language_apart(question))
        named = dict.fromkeys(entity for each in found for entity in each.entities)
        hops = ((entity, self._to_members(entity, classes)) for entity in named)
        return [Chain(entity, (hop,)) for entity, hop in hops if hop]

    async def profile(self, classes: Sequence[str] = ()) -> Profile:
        """Return what is known of the graph's classes; see `KnowledgeGraph`."""
        known = self._profile if "_profile" in vars(self) else await asyncio.to_thread(self._known_profile)
        new = [id for id in classes if known.find(id) is None and id not in self._profiled]
        others = {id: self._profiled[id] for id in classes if id in self._profiled}
        if new:
            ask, facts = LenientAsk(self._executor), self._facts
            found = await asyncio.to_thread(profile_classes, ask, new, facts.predicates, self._dialect)
            others |= {each.id: each for each in found.classes}
            if not ask.failed:  # else it is asked again
                self._profiled |= others
        ordered = (others[id] for id in classes if id in others)
        return replace(known, classes=(*known.classes, *ordered)) if classes else known

    def _known_profile(self) -> Profile:
        with self._profiling:  # of questions that come together, one makes it
            return self._profile

    @cached_property
    def _profile(self) -> Profile:
        return self._read_profile()

    async def _classes(self) -> ClassNames:
        """Return the classes of the profile by their names."""
        return self._known_classes or self._name_classes(await self.profile())

    def _name_classes(self, profile: Profile) -> ClassNames:
        if self._known_classes is None:
            if self._dialect.name == PLAIN.name:  # of another kind of graph it is known what names its terms
                self._naming.terms = {*self._facts.predicates, *(each.id for each in profile.classes)}
            self._known_classes = ClassNames(profile)
        return self._known_classes

    def _of_term(self, node: Entity, classes: ClassNames, rows: Iterable[Row]) -> tuple[Hop, ...]:
        """Return the hops from a class or relation as itself: to its definitions, and to one another."""
        if not node.id.startswith(TERM_NAMESPACE):
            return ()
        stated = {relation.id for relation, _ in rows if relation}
        defined = (self._relations.hop(each, True) for each in DEFINITIONS if each in stated)
        return self._relations.hop(HAS_PROPERTY, plain_id(node.id) in classes), *defined

    def _to_members(self, node: Entity, classes: ClassNames) -> Hop | None:
        """Return the hop from a class to its members, those of its subclasses too; None for anything else."""
        if node.id in SCHEMA_KINDS:
            return self._relations.hop(SCHEMA_KINDS[node.id], False)
        if node.id not in classes:
            return None
        known = self._facts.predicates
        if node.id.startswith(KINDS_NAMESPACE):
            return self._relations.hop(SUBCLASS if SUBCLASS in known else BROADER, False)
        types = [each for each in self._dialect.types if each in known]
        relation = INSTANCE_OF if len(classes.below(node.id)) > 1 else next(iter(types), INSTANCE_OF)
        return self._relations.hop(relation, False)

    async def _look_up(self, text: str, ask: Callable[[NameIndex], T]) -> T:
        begin_query()
        start = time.monotonic()
        try:
            index = await self._lookup.index(text)
            return await asyncio.to_thread(ask, index)
        finally:
            end_query(time.monotonic() - start)


def _without_terms(mentions: Iterable[Mention], terms: Collection[str]) -> list[Mention]:
    """Leave out what only describes the graph: its classes, relations and the like."""
    left = (replace(m, matches=tuple(x for x in m.matches if x.entity.id not in terms)) for m in mentions)
    return [mention for mention in left if mention.matches]
