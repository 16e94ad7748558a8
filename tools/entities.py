"""Tools that find and describe entities, and that tell in which languages they have their names."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.languages import language_name
from kgqa.kg.pages import Description, Match, Mention
from kgqa.kg.terms import is_value_id, one_line
from kgqa.tools.arguments import resolve_entity
from kgqa.tools.text import graph_tool, listing, show_hop, show_term


def _kind(match: Match) -> str:
    return f"value, {match.how}" if is_value_id(match.entity.id) else match.how


@graph_tool
async def find_entities(
    graph: KnowledgeGraph, name: str, limit: Annotated[int, Field(ge=1, le=1000)] = 10
) -> tuple[str, list[Match]]:
    """Find entities, classes and values of the knowledge graph by name. Start here when you have a name.

    Args:
        name: a name, an alias, a misspelt name, or an id.
        limit: how many entities to give at most.
    """
    matches = await graph.find_entities(name, limit)
    rows = [f"{show_term(match.entity)} ({_kind(match)}, {match.score:.2f})" for match in matches]
    sure = not matches or any(match.sure for match in matches)
    said = one_line(name)
    return listing(
        f"entities for {said!r}" if sure else f"entities near {said!r}; none is called so", rows
    ), matches


@graph_tool
async def link_entities(graph: KnowledgeGraph, question: str) -> tuple[str, list[Mention]]:
    """Find the entities, classes and values of the knowledge graph that a question mentions.

    Args:
        question: the question in natural language.
    """
    mentions = await graph.link(question)
    rows = [f"{one_line(mention.text)!r}: {show_term(mention.matches[0].entity)}" for mention in mentions]
    return listing("mentions", rows), mentions


@graph_tool
async def describe_entity(
    graph: KnowledgeGraph, entity: str, limit: Annotated[int, Field(ge=1, le=1000)] = 50
) -> tuple[str, Description]:
    """Give the aliases, the types and the facts of one entity.

    Args:
        entity: the entity's id or name.
        limit: how many facts to give at most.
    """
    description = await graph.describe((await resolve_entity(graph, entity)).id, limit)
    facts = (f"{show_hop(hop)} {show_term(term)}" for hop, term in description.facts)
    head = [show_term(description.entity)]
    head += [f"also called {one_line(', '.join(description.aliases))}"] if description.aliases else []
    head += [f"is a {one_line(', '.join(map(str, description.types)))}"] if description.types else []
    return "\n".join([*head, listing("facts", facts, description.facts)]), description


ENTITY_TOOLS = (find_entities, link_entities, describe_entity)


@graph_tool
async def list_languages(graph: KnowledgeGraph) -> tuple[str, Mapping[str, float]]:
    """List the languages that entities of the graph have their names in, the commonest first."""
    shares = await graph.name_languages()
    lines = [f"{language_name(code) or 'unknown'}: {share:.0%}" for code, share in shares.items()]
    return listing("languages", lines), shares
