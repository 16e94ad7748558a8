"""What kind of thing an entity is, in a word or two: its category label (EGP §4.1).

>>> category_by_relations(["people.person.spouse_s", "people.person.parents", "film.actor.film"])
'person'
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from kgqa.kg.dialects import FB, OWL, RDF, RDFS
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Page
from kgqa.kg.terms import Chain, Entity, Hop, Term, local_name, one_line
from kgqa.priors.training_questions import Topic

NOTABLE_TYPES = Hop(f"{FB}common.topic.notable_types")  # what Freebase says an entity is known as
RDF_TYPE = Hop(f"{RDF}type")
MAX_LABEL_CHARS = 40

FollowHop: TypeAlias = Callable[[Sequence[Entity], Hop], Awaitable[Sequence[Page[Term]]]]
"""Finds what each of some entities is related to by a hop: one query."""

_BUILT_IN_NAMESPACES = (OWL, RDF, RDFS)
_UNTELLING_DOMAINS = {"base", "common", "dataworld", "freebase", "kg", "type", "user"}
"""Domains of Freebase that say nothing of what an entity is, or only what one user takes it for."""


async def find_categories(hops: Mapping[Entity, Sequence[Hop]], follow: FollowHop) -> dict[Entity, str]:
    """Return the category labels of entities, as far as the graph says them; one query or two for all.

    What an entity is notable for comes first; then what the relations that leave it say, where
    their names begin with the type they are of (Freebase); then its type. Of several types the
    first in the order of their names counts. ``hops`` are what leads on from each entity.
    """
    notable = [entity for entity, leading in hops.items() if NOTABLE_TYPES in leading]
    found = await _stated_types(notable, NOTABLE_TYPES, follow)
    for entity, leading in hops.items():
        names = (local_name(hop.relation) for hop in leading if hop.forward and hop.relation.startswith(FB))
        if entity not in found and (label := category_by_relations(names)):
            found[entity] = label
    return found | await _stated_types([entity for entity in hops if entity not in found], RDF_TYPE, follow)


async def find_topic_categories(topics: Iterable[Topic], graph: KnowledgeGraph) -> dict[Topic, str]:
    """Return the category labels of topics, by their ids or else their names, as far as a graph says them."""
    known = {topic: entity for topic in dict.fromkeys(topics) if (entity := await _find_topic(topic, graph))}
    entities = list(dict.fromkeys(known.values()))
    visits = await graph.visit_chains([Chain(entity) for entity in entities], ends=False)

    async def follow(asked: Sequence[Entity], hop: Hop) -> Sequence[Page[Term]]:
        return await graph.follow_relation([(entity.id, hop) for entity in asked])

    hops = {entity: visit.hops.items for entity, visit in zip(entities, visits, strict=True)}
    labels = await find_categories(hops, follow)
    return {topic: labels[entity] for topic, entity in known.items() if entity in labels}


def category_by_relations(relations: Iterable[str]) -> str | None:
    """Return the type that most relations are of, if their names (``people.person.parents``) say it."""
    types = Counter(
        name.rpartition(".")[0]
        for name in dict.fromkeys(relations)
        if name.count(".") > 1 and name.partition(".")[0] not in _UNTELLING_DOMAINS
    )
    best = min(types, key=lambda name: (-types[name], name), default=None)
    return _clean_label(best.rpartition(".")[2].replace("_", " ")) if best else None


async def _stated_types(entities: Sequence[Entity], hop: Hop, follow: FollowHop) -> dict[Entity, str]:
    pages = zip(entities, await follow(entities, hop) if entities else (), strict=True)
    found: dict[Entity, str] = {}
    for entity, page in pages:
        named = (term.name for term in page if term.name and not term.id.startswith(_BUILT_IN_NAMESPACES))
        if label := min(filter(None, map(_clean_label, named)), default=None):
            found[entity] = label
    return found


def _clean_label(name: str) -> str:
    """Write a label so that no bracket closes it early."""
    return one_line(name.lower().replace("[", " ").replace("]", " "), MAX_LABEL_CHARS)


async def _find_topic(topic: Topic, graph: KnowledgeGraph) -> Entity | None:
    for text in filter(None, topic):
        matches = await graph.find_entities(text, limit=1)
        if matches and matches[0].sure:
            return matches[0].entity
    return None
