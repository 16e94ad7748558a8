"""Resolves the names of entities and hops that a caller, often a model, writes; and writes them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.tools import ToolException

from kgqa.kg.dialects import dialect_named
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import MAX_HOPS, Chain, Entity, Hop, is_iri, local_name, one_line
from kgqa.tools.text import show_term


async def resolve_entity(graph: KnowledgeGraph, text: str) -> Entity:
    """Return the entity with this id or name; if none has it, ToolException names the nearest."""
    text = text.strip()
    if (given := _entity_by_id(text)) is not None:
        return given
    matches = await graph.find_entities(text, limit=5)
    if matches and matches[0].sure:
        return matches[0].entity
    near = ", ".join(show_term(match.entity) for match in matches)
    nearest = f"; the nearest are: {near}" if near else ""
    raise ToolException(f"no entity is called {one_line(text)!r}{nearest}")


async def resolve_entities(graph: KnowledgeGraph, texts: Sequence[str]) -> list[Entity]:
    """Return the entities with these ids or names, in order; ToolException about the first unknown one."""
    return [await resolve_entity(graph, text) for text in texts]


def resolve_hop(graph: KnowledgeGraph, text: str) -> Hop:
    """Return the hop written as ``relation``, or ``^relation`` against it; ToolException if unclear."""
    forward = not text.startswith("^")
    relation = text.removeprefix("^").removeprefix("<").removesuffix(">")
    found = _matching_relations(graph, relation)
    if len(found) == 1:
        return Hop(found[0], forward)
    problem = "several relations are" if found else "no relation is"
    raise ToolException(
        f"{problem} called {one_line(relation)!r}; use list_relations or extend_chain and give the full id"
    )


def _matching_relations(graph: KnowledgeGraph, text: str) -> list[str]:
    """Return the relations with this id or name; of a graph that has listed none, those it may have."""
    if is_iri(text) and "://" in text:
        return [text]
    meant = dialect_named(graph.dialect).relation_iris(text) or (text,) * is_iri(text)
    listed = set(graph.relations)
    if found := [relation for relation in meant if relation in listed or is_iri(text) or not listed]:
        return found[:1]
    return [iri for iri in graph.relations if text in (local_name(iri), graph.relation_label(iri))]


async def resolve_chain(
    graph: KnowledgeGraph, topic: str, hops: Sequence[str], held: Mapping[int, Sequence[str]] | None = None
) -> Chain:
    """Return the chain from an entity along hops; ``held`` are its constraints, by number of hops.

    ToolException tells of what the graph does not know, or of constraints that do not fit the hops.
    """
    held = held or {}
    if len(hops) > MAX_HOPS:
        raise ToolException(f"a chain has at most {MAX_HOPS} hops, not {len(hops)}")
    if any(not (1 <= depth <= len(hops) and texts) for depth, texts in held.items()):
        raise ToolException(f"held takes numbers of hops from 1 to {len(hops)}, each with entities")
    chain = Chain(await resolve_entity(graph, topic))
    for depth, hop in enumerate(hops, 1):
        chain = chain.then(resolve_hop(graph, hop))
        if depth in held:
            chain = chain.constrained_to(await resolve_entities(graph, held[depth]))
    return chain


def _entity_by_id(text: str) -> Entity | None:
    """Read an id, in brackets or bare; a bare name may hold a colon, too (``Re:Zero``)."""
    bare = text.removeprefix("<").removesuffix(">")
    if bare == text and "://" not in text and not text.startswith(("urn:", "_:")):
        return None
    try:
        return Entity(bare)
    except ValueError:
        return None


def chain_arguments(chain: Chain) -> dict[str, Any]:
    """Write a chain as the tools read it; "held" is there only where the chain has constraints."""
    hops = [write_hop(hop) for hop in chain.hops]
    held = {each.depth: list(map(_write_entity, each.entities)) for each in chain.constraints}
    return {"topic": _write_entity(chain.topic), "hops": hops} | ({"held": held} if held else {})


def extended_chain_arguments(chain: Chain, hops: Iterable[Hop]) -> dict[str, Any]:
    """Write a chain and hops that lead on from its end as cross_mediators reads them."""
    return {**chain_arguments(chain), "further": list(map(write_hop, hops))}


def relation_arguments(entities: Iterable[Entity], hop: Hop | None = None) -> dict[str, Any]:
    """Write entities as list_relations reads them, with a hop as follow_relation does.

    >>> relation_arguments([Entity("http://x/Ulm")], Hop("http://x/born_in", forward=False))
    {'entities': ['<http://x/Ulm>'], 'relation': '^http://x/born_in'}
    """
    return {"entities": list(map(_write_entity, entities))} | ({"relation": write_hop(hop)} if hop else {})


def _write_entity(entity: Entity) -> str:
    """Write an entity so that no name is looked up."""
    return f"<{entity.id}>"


def write_hop(hop: Hop) -> str:
    """Write a hop as the tools read it."""
    return hop.relation if hop.forward else f"^{hop.relation}"
