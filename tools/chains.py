"""Tools that walk the graph along whole relation chains (CoR §4.1)."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Candidate, ChainAttributes, ChainPage, ChainResult, Page
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term, Triple
from kgqa.tools.arguments import resolve_chain, resolve_hop
from kgqa.tools.text import (
    MAX_RELATION_LINES,
    graph_tool,
    listing,
    show_attribute,
    show_candidate,
    show_chain,
    show_facts,
    show_hop,
    show_term,
)

_TOPIC = "id or name of the entity that the chain starts from"
_HOPS = "the relations of the chain in order; ``^`` in front follows one backwards"
Topic = Annotated[str, f"{_TOPIC}."]
Hops = Annotated[list[str], f"{_HOPS}."]
AnyHops = Annotated[list[str], f"{_HOPS}. May be empty."]
Waypoints = dict[int, list[str]]  # under a number of hops, the entities that a chain may be at after them
Ends = Annotated[list[Entity | Literal], "the nodes at the chain's end whose facts are wanted."]
CheckedEnds = Annotated[list[Entity | Literal], "the nodes that may be at the chain's end."]
Near = Annotated[
    list[Entity | Literal] | None, "values that are looked for beside the nodes, by any relation."
]
Held = Annotated[
    Waypoints | None,
    "under a number of hops, the ids or names of the only entities that the chain may be at after so many "
    "hops. Leave out what need not be restricted.",
]


class ChainArguments(TypedDict):
    """A chain as a caller writes it."""

    topic: Annotated[str, Field(description=_TOPIC)]
    hops: Annotated[list[str], Field(description=f"{_HOPS}; may be empty")]
    held: NotRequired[
        Annotated[
            Waypoints,
            Field(
                description="under a number of hops, the ids or names of the only entities that the chain "
                "may be at then"
            ),
        ]
    ]


class ExtendedChainArguments(ChainArguments):
    """A chain as a caller writes it, and relations that lead on from its end."""

    further: Annotated[
        list[str],
        Field(description="the relations that lead on; ``^`` in front follows one backwards"),
    ]


class ReadChainArguments(ChainArguments):
    """A chain as a caller writes it, and the relations whose values are wanted."""

    relations: NotRequired[
        Annotated[
            dict[int, list[str]],
            Field(
                description="under a number of hops, relations of the nodes there whose values are wanted; "
                "``^`` in front as above; without it all nodes on the way are looked at"
            ),
        ]
    ]


@graph_tool
async def extend_chain(
    graph: KnowledgeGraph, topic: Topic, hops: AnyHops, held: Held = None
) -> tuple[str, Page[Hop]]:
    """List the relations by which a chain of relations can go on from its end.

    The nodes between need no names: use this to look past nodes without one.
    """
    page = await graph.extend_chain(await resolve_chain(graph, topic, hops, held))
    return listing("relations that lead on", map(show_hop, page), page, MAX_RELATION_LINES), page


@graph_tool
async def follow_chain(
    graph: KnowledgeGraph, topic: Topic, hops: Hops, held: Held = None
) -> tuple[str, ChainPage[Candidate]]:
    """Give all nodes at the end of a chain of relations, whatever lies between."""
    chain = await resolve_chain(graph, topic, hops, held)
    page = await graph.follow_chain(chain)
    found = ChainPage(page.items, page.truncated, chain=chain)
    return listing("nodes at the end", map(show_candidate, page), page), found


@graph_tool
async def visit_chains(
    graph: KnowledgeGraph, chains: list[ChainArguments], ends: bool = True, hops: bool = True
) -> tuple[str, list[ChainResult]]:
    """Visit several chains of relations at once: what is at the end of each, and what leads on.

    Args:
        chains: the chains; one without relations stands for its start.
        ends: whether to give the nodes at the ends.
        hops: whether to give the relations that lead on.
    """
    named = [await resolve_chain(graph, each["topic"], each["hops"], each.get("held")) for each in chains]
    visits = await graph.visit_chains(named, ends=ends, hops=hops)
    parts = []
    for chain, visit in zip(named, visits, strict=True):
        shown = show_chain(chain)
        if ends:
            parts.append(listing(f"nodes at {shown}", map(show_candidate, visit.ends), visit.ends))
        if hops:
            what = f"relations that lead on from {shown}"
            parts.append(listing(what, map(show_hop, visit.hops), visit.hops, MAX_RELATION_LINES))
    return "\n".join(parts) or "no chain was named", visits


@graph_tool
async def cross_mediators(
    graph: KnowledgeGraph, chains: list[ExtendedChainArguments], pair_inverses: bool = False
) -> tuple[str, list[tuple[tuple[Hop, ...], ...]]]:
    """Tell of relations that lead on from chains which lead to nodes without a name, and what follows.

    Args:
        chains: the chains, each with the relations to look past.
        pair_inverses: whether to leave out relations that others say the other way round.
    """
    named = [await resolve_chain(graph, each["topic"], each["hops"], each.get("held")) for each in chains]
    further = [[resolve_hop(graph, hop) for hop in each["further"]] for each in chains]
    found = await graph.cross_mediators(list(zip(named, further, strict=True)), pair_inverses=pair_inverses)
    parts = []
    for chain, ways in zip(named, found, strict=True):
        lines = [" ".join(map(show_hop, way)) for way in ways]
        parts.append(listing(f"ways on from {show_chain(chain)}", lines, most=MAX_RELATION_LINES))
    return "\n".join(parts) or "no chain was named", found


@graph_tool
async def trace_chain(
    graph: KnowledgeGraph, topic: Topic, hops: Hops, ends: Ends, held: Held = None
) -> tuple[str, list[tuple[Triple, ...]]]:
    """Give the facts that lead along a chain of relations to each of some of its ends."""
    paths = await graph.trace_chain(await resolve_chain(graph, topic, hops, held), ends)
    return listing("paths", map(show_facts, paths)), paths


@graph_tool
async def check_ends(
    graph: KnowledgeGraph, topic: Topic, hops: Hops, ends: CheckedEnds, held: Held = None
) -> tuple[str, list[Term]]:
    """Tell which of some nodes are at the end of a chain of relations, however many others are."""
    found = await graph.reached_ends(await resolve_chain(graph, topic, hops, held), ends)
    reached: list[Term] = [end for end in ends if end in found]
    return listing("nodes at the end", map(show_term, reached)), reached


@graph_tool
async def chain_attributes(
    graph: KnowledgeGraph, chains: list[ReadChainArguments], near: Near = None
) -> tuple[str, list[ChainAttributes]]:
    """Give what tells the nodes along chains of relations apart: types, values, the nodes between.

    Args:
        chains: the chains, each with the relations whose values are wanted.
        near: values that are looked for beside the nodes, by any relation.
    """
    wanted: dict[Chain, dict[int, list[Hop]]] = {}
    for each in chains:
        chain = await resolve_chain(graph, each["topic"], each["hops"], each.get("held"))
        every: dict[int, list[str]] = {place: [] for place in range(1, chain.depth + 1)}
        places = each.get("relations", every)
        wanted[chain] = {
            place: [resolve_hop(graph, text) for text in texts]
            for place, texts in places.items()
            if 1 <= place <= chain.depth
        }
    found = await graph.chain_attributes(wanted, near or ())
    parts = []
    for chain, read in found.items():
        shown = show_chain(chain)
        types = (f"{show_term(end)} is a {show_term(kind)}" for end, kind in read.types)
        parts.append(listing(f"values along {shown}", map(show_attribute, read.values), read.values))
        parts.append(listing(f"types at {shown}", types, read.types))
    return "\n".join(parts) or "no chain was named", list(found.values())


CHAIN_TOOLS = (
    extend_chain,
    follow_chain,
    visit_chains,
    cross_mediators,
    trace_chain,
    check_ends,
    chain_attributes,
)
