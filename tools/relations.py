"""Tools that walk the graph from entities one relation at a time, and list its relations."""

from collections.abc import Sequence
from functools import cached_property

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import ChainPage, Page
from kgqa.kg.profile.cards import class_name
from kgqa.kg.profile.profile import UNTYPED
from kgqa.kg.terms import Chain, Entity, Hop, Term, local_name
from kgqa.tools.arguments import resolve_entities, resolve_hop
from kgqa.tools.text import MAX_RELATION_LINES, graph_tool, listing, show_hop, show_term

MAX_CLASS_RELATIONS = 12  # of a class that are listed, those that most members have

MAX_SCHEMA_RELATIONS = 50_000  # more than any schema has: each is compared with a question


@with_config(ConfigDict(use_attribute_docstrings=True))
class RelationStep(TypedDict):
    """A relation as a caller writes it, and from where it is followed."""

    entities: list[str]
    """the entities' ids or names"""
    relation: str
    """the relation as list_relations gives it; ``^`` in front follows it backwards"""


async def _follow(
    graph: KnowledgeGraph, steps: Sequence[RelationStep]
) -> tuple[str, list[list[ChainPage[Term]]]]:
    resolved = [
        (await resolve_entities(graph, step["entities"]), resolve_hop(graph, step["relation"]))
        for step in steps
    ]
    pages = iter(await graph.follow_relation([(e.id, hop) for entities, hop in resolved for e in entities]))
    answers = [
        [_page_of_chain(next(pages), Chain(entity, (hop,))) for entity in entities]
        for entities, hop in resolved
    ]
    texts = [_list_pages(*step, answer) for step, answer in zip(resolved, answers, strict=True)]
    return "\n".join(texts) or "no relation was named", answers


@graph_tool
async def list_relations(graph: KnowledgeGraph, entities: list[str]) -> tuple[str, dict[str, Page[Hop]]]:
    """List the relations of each of some entities. ``^`` marks those that point to it.

    Args:
        entities: the entities' ids or names.
    """
    nodes = await resolve_entities(graph, entities)
    pages = await graph.list_relations([node.id for node in nodes])
    shown = {node.id: show_term(node) for node in nodes}
    listings = (
        listing(f"relations of {shown[id]}", map(show_hop, page), page, MAX_RELATION_LINES)
        for id, page in pages.items()
    )
    return "\n".join(listings) or "no entity was named", pages


@graph_tool
async def follow_relation(
    graph: KnowledgeGraph, entities: list[str], relation: str
) -> tuple[str, list[ChainPage[Term]]]:
    """Give what each of some entities is related to by one relation.

    Args:
        entities: the entities' ids or names.
        relation: the relation as list_relations gives it; ``^`` in front follows it backwards.
    """
    text, (pages,) = await _follow(graph, [{"entities": entities, "relation": relation}])
    return text, pages


@graph_tool
async def follow_relations(
    graph: KnowledgeGraph, steps: list[RelationStep]
) -> tuple[str, list[list[ChainPage[Term]]]]:
    """Give what entities are related to by several relations at once.

    Args:
        steps: the relations, each with the entities that it is followed from.
    """
    return await _follow(graph, steps)


RELATION_TOOLS = (list_relations, follow_relation, follow_relations)


class SchemaLister:
    """Lists the schema of a graph, its relations once."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph

    @cached_property
    def relations(self) -> Page[Hop]:
        """The relations of the graph, with the names that their ids do not say."""
        labels = {
            each: self.graph.relation_label(each) for each in self.graph.relations[:MAX_SCHEMA_RELATIONS]
        }
        hops = (Hop(id, name=None if label == local_name(id) else label) for id, label in labels.items())
        return Page(tuple(hops), truncated=len(labels) < len(self.graph.relations))


@graph_tool
async def list_schema(lister: SchemaLister) -> tuple[str, Page[Hop]]:
    """List the classes of the knowledge graph with what their members have, and all its relations."""
    classes = [each for each in (await lister.graph.profile()).classes if each.id != UNTYPED]
    lines = (
        f"{show_term(Entity(each.id, class_name(each)))}, {each.members} members: "
        + ", ".join(lister.graph.relation_label(p.relation) for p in each.properties[:MAX_CLASS_RELATIONS])
        for each in classes
    )
    page = lister.relations
    text = listing("relations in the graph", map(show_hop, page), page)
    return (f"{text}\n{listing('kinds of things in the graph', lines)}" if classes else text), page


def _page_of_chain(page: Page[Term], chain: Chain) -> ChainPage[Term]:
    return ChainPage(page.items, page.truncated, chain=chain)


def _list_pages(entities: Sequence[Entity], hop: Hop, pages: Sequence[Page[Term]]) -> str:
    listings = (
        listing(f"nodes at {show_term(entity)} {show_hop(hop)}", map(show_term, page), page)
        for entity, page in zip(entities, pages, strict=True)
    )
    return "\n".join(listings) or "no entity was named"
