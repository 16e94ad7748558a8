"""Tools that walk the graph from entities, one relation at a time."""

from collections.abc import Sequence

from langchain_core.tools import BaseTool
from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Page
from kgqa.kg.terms import Entity, Hop, Term
from kgqa.tools.arguments import entities_named, hop_named
from kgqa.tools.making import graph_tool
from kgqa.tools.text import RELATIONS, listing, show_hop, show_term


@with_config(ConfigDict(use_attribute_docstrings=True))
class WrittenStep(TypedDict):
    """A relation as a caller writes it, and from where it is followed."""

    entities: list[str]
    """the entities' ids or names"""
    relation: str
    """the relation as list_relations gives it; ``^`` in front follows it backwards"""


def relation_tools(graph: KnowledgeGraph) -> list[BaseTool]:
    """Make list_relations, follow_relation and follow_relations for a graph."""

    @graph_tool
    async def list_relations(entities: list[str]) -> tuple[str, dict[str, Page[Hop]]]:
        """List the relations of each of some entities. ``^`` marks those that point to it.

        Args:
            entities: the entities' ids or names.
        """
        nodes = await entities_named(graph, entities)
        pages = await graph.list_relations([node.id for node in nodes])
        shown = {node.id: show_term(node) for node in nodes}
        listings = (
            listing(f"relations of {shown[id]}", map(show_hop, page), page, RELATIONS)
            for id, page in pages.items()
        )
        return "\n".join(listings) or "no entity was named", pages

    @graph_tool
    async def follow_relation(entities: list[str], relation: str) -> tuple[str, list[Page[Term]]]:
        """Give what each of some entities is related to by one relation.

        Args:
            entities: the entities' ids or names.
            relation: the relation as list_relations gives it; ``^`` in front follows it backwards.
        """
        (ways,) = await _read(graph, [{"entities": entities, "relation": relation}])
        pages = await graph.follow_relation([(node.id, hop) for node, hop in ways])
        return _said(ways, pages), pages

    @graph_tool
    async def follow_relations(steps: list[WrittenStep]) -> tuple[str, list[list[Page[Term]]]]:
        """Give what entities are related to by several relations at once.

        Args:
            steps: the relations, each with the entities that it is followed from.
        """
        read = await _read(graph, steps)
        pages = iter(await graph.follow_relation([(node.id, hop) for ways in read for node, hop in ways]))
        parts = [[next(pages) for _ in ways] for ways in read]
        return "\n".join(map(_said, read, parts)) or "no relation was named", parts

    return [list_relations, follow_relation, follow_relations]


async def _read(graph: KnowledgeGraph, steps: Sequence[WrittenStep]) -> list[list[tuple[Entity, Hop]]]:
    """Give the entities of each step, each with the hop that is followed from it."""
    read = []
    for each in steps:
        nodes, hop = await entities_named(graph, each["entities"]), hop_named(graph, each["relation"])
        read.append([(node, hop) for node in nodes])
    return read


def _said(ways: Sequence[tuple[Entity, Hop]], pages: Sequence[Page[Term]]) -> str:
    listings = (
        listing(f"nodes at {show_term(node)} {show_hop(hop)}", map(show_term, page), page)
        for (node, hop), page in zip(ways, pages, strict=True)
    )
    return "\n".join(listings) or "no entity was named"
