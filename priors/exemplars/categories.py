"""What kind of thing an entity is, in a word or two: its category label (EGP §4.1).

>>> category_of(["people.person.spouse_s", "people.person.parents", "film.actor.film"])
'person'
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from kgqa.kg.dialect import FB, OWL, RDF, RDFS
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Page
from kgqa.kg.terms import Chain, Entity, Hop, Term, local_name, one_line
from kgqa.priors.blueprints.examples import Topic

NOTABLE = Hop(f"{FB}common.topic.notable_types")
"""What Freebase says an entity is known as."""

TYPE = Hop(f"{RDF}type")

LIMIT = 40
"""Characters of a label at most."""

Follow: TypeAlias = Callable[[Sequence[Entity], Hop], Awaitable[Sequence[Page[Term]]]]
"""Gives what each of some entities is related to by a hop: one query."""

_BUILT_IN = (OWL, RDF, RDFS)
_NO_DOMAINS = {"base", "common", "dataworld", "freebase", "kg", "type", "user"}
"""Domains of Freebase that say nothing of what an entity is, or only what one user takes it for."""


async def categories(hops: Mapping[Entity, Sequence[Hop]], follow: Follow) -> dict[Entity, str]:
    """Give the category labels of entities, as far as the graph says them; one query or two for all.

    What an entity is notable for comes first; then what the relations that leave it say, where
    their names begin with the type they are of (Freebase); then its type. Of several types the
    first in the order of their names counts.

    Args:
        hops: what leads on from each of the entities.
        follow: asks the graph.

    Raises:
        KGError: if the graph fails or refuses.
    """
    notable = [entity for entity, leading in hops.items() if NOTABLE in leading]
    found = await _stated(notable, NOTABLE, follow)
    for entity, leading in hops.items():
        names = (local_name(hop.relation) for hop in leading if hop.forward and hop.relation.startswith(FB))
        if entity not in found and (label := category_of(names)):
            found[entity] = label
    return found | await _stated([entity for entity in hops if entity not in found], TYPE, follow)


async def categories_of(topics: Iterable[Topic], graph: KnowledgeGraph) -> dict[Topic, str]:
    """Give the category labels of the topics of questions, as far as a graph knows them and says so.

    A topic is known by its id, or else by its name.

    Raises:
        KGError: if the graph fails.
    """
    known = {topic: entity for topic in dict.fromkeys(topics) if (entity := await _known(topic, graph))}
    entities = list(dict.fromkeys(known.values()))
    visits = await graph.visit_chains([Chain(entity) for entity in entities], ends=False)

    async def follow(asked: Sequence[Entity], hop: Hop) -> Sequence[Page[Term]]:
        return await graph.follow_relation([(entity.id, hop) for entity in asked])

    hops = {entity: visit.hops.items for entity, visit in zip(entities, visits, strict=True)}
    labels = await categories(hops, follow)
    return {topic: labels[entity] for topic, entity in known.items() if entity in labels}


def category_of(relations: Iterable[str]) -> str | None:
    """Give the type that most relations are of, by their names (``people.person.parents``).

    Of several that as many are of, the first by name; None where no name says a type.
    """
    types = Counter(name.rpartition(".")[0] for name in dict.fromkeys(relations) if _says_type(name))
    best = min(types, key=lambda name: (-types[name], name), default=None)
    return _label(best.rpartition(".")[2].replace("_", " ")) if best else None


def _says_type(relation: str) -> bool:
    return relation.count(".") > 1 and relation.partition(".")[0] not in _NO_DOMAINS


async def _stated(entities: Sequence[Entity], hop: Hop, follow: Follow) -> dict[Entity, str]:
    pages = zip(entities, await follow(entities, hop) if entities else (), strict=True)
    return {entity: label for entity, page in pages if (label := _first(page))}


def _first(types: Iterable[Term]) -> str | None:
    labels = (_label(term.name) for term in types if term.name and not term.id.startswith(_BUILT_IN))
    return min(filter(None, labels), default=None)


def _label(name: str) -> str:
    """Write a label so that no bracket closes it early."""
    return one_line(name.lower().replace("[", " ").replace("]", " "), LIMIT)


async def _known(topic: Topic, graph: KnowledgeGraph) -> Entity | None:
    for text in filter(None, topic):
        matches = await graph.find_entities(text, limit=1)
        if matches and matches[0].sure:
            return matches[0].entity
    return None
