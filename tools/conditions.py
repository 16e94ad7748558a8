"""A tool that gives the ends of a chain that meet conditions, for agents: they write no answer query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal as Choice, NotRequired

from langchain_core.tools import ToolException
from pydantic import Field
from typing_extensions import TypedDict

from kgqa.kg.dialects import XSD
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Page
from kgqa.kg.proof.query import MAX_RANK, Aggregate, AnswerQuery, Branch, Condition, Operator
from kgqa.kg.terms import Chain, Hop, Literal, Term
from kgqa.tools.arguments import resolve_chain, resolve_entity, resolve_hop
from kgqa.tools.chains import ChainArguments, Held, Hops, Topic
from kgqa.tools.text import graph_tool, listing, show_term

By = Annotated[
    Choice["number", "date"], Field(description='what values are compared as; 1961 is a number unless "date"')
]
Attribute = Annotated[
    list[str],
    Field(
        description="one or two relations from the node to its value; ``^`` in front follows one backwards; "
        "none for the node itself"
    ),
]
After = Annotated[
    int, Field(description="the number of hops after which the chain is at the node; else its end")
]
How = Annotated[
    Operator,
    Field(
        description='how a value is compared; "year" is that of a date, "type" goes without attribute, "!=" '
        'asks for a value that differs, "not exists" with a value for none that equals it; "contains" is of '
        "texts, of a name by the relation to it (such as <http://www.w3.org/2000/01/rdf-schema#label>)"
    ),
]
Value = Annotated[
    str,
    Field(
        description="a number, a date (1961, 1961-05 or 1961-05-03), a text, or an entity's id in <>; none "
        "with exists"
    ),
]
Unknown = Annotated[
    bool, Field(description="true to keep nodes without any value of the attribute as well, which else fail")
]
Largest = Annotated[bool, Field(description="the largest or the latest, not the smallest or the earliest")]
Rank = Annotated[
    int,
    Field(ge=1, le=MAX_RANK, description="2 for what has the second of the different values; else the first"),
]


class ConditionArguments(TypedDict):
    """What is true of nodes of a chain, as a caller writes it."""

    attribute: Attribute
    operator: How
    value: NotRequired[Value]
    after: NotRequired[After]
    by: NotRequired[By]
    unknown: NotRequired[Unknown]


class ExtremeArguments(TypedDict):
    """Which nodes of a chain have the first or the last value, as a caller writes it."""

    attribute: Attribute
    largest: Largest
    after: NotRequired[After]
    by: NotRequired[By]
    rank: NotRequired[Rank]


Conditions = Annotated[Sequence[ConditionArguments], "what is true of the nodes, all of it."]
ExtremeOf = Annotated[
    ExtremeArguments | None, "of the nodes that meet all else, those with the smallest or the largest value."
]
Meeting = Annotated[Sequence[ChainArguments], "other chains that lead to the same nodes as well."]


@dataclass(frozen=True, slots=True)
class FilteredChain:
    """A chain and the ends that meet what is asked of them; a place counts hops from its topic."""

    chain: Chain
    ends: Page[Term]
    conditions: tuple[Condition, ...] = ()
    aggregate: Aggregate | None = None
    meeting: tuple[Chain, ...] = ()


@graph_tool
async def filter_chain(
    graph: KnowledgeGraph,
    topic: Topic,
    hops: Hops,
    conditions: Conditions,
    extreme: ExtremeOf = None,
    meeting: Meeting = (),
    held: Held = None,
) -> tuple[str, FilteredChain]:
    """Give the nodes at the end of a chain of relations that meet conditions, or are first or last."""
    chain = await resolve_chain(graph, topic, hops, held)
    named = ((each["topic"], each["hops"], each.get("held")) for each in meeting)
    others = tuple([await resolve_chain(graph, *each) for each in named])
    try:
        met = tuple([await _condition(graph, chain, each) for each in conditions])
        computed = _extreme(graph, chain, extreme) if extreme else None
        query = _query(chain, others, met, computed)
    except ValueError as error:
        raise ToolException(str(error)) from None
    ends = (await graph.prove(query)).answers
    text = listing("nodes at the end that fit", map(show_term, ends), ends)
    return text, FilteredChain(chain, ends, met, computed, others)


async def _condition(graph: KnowledgeGraph, chain: Chain, given: ConditionArguments) -> Condition:
    hops, text = _attribute(graph, given), given.get("value", "")
    words = " ".join(filter(None, (*(hop.words for hop in hops), given["operator"], text)))
    value: Term | None = Literal(text, f"{XSD}date") if given.get("by") == "date" else Literal(text)
    if given["operator"] == "type" or (text.startswith("<") and text.endswith(">")):
        value = await resolve_entity(graph, text)
    elif not text and "exists" in given["operator"]:
        value = None
    unknown = given.get("unknown", False)
    words += ", if known" * unknown
    at, how = _place(chain, given), given["operator"]
    return Condition(at, hops, how, value, words, remembered=unknown, unknown=unknown)


def _extreme(graph: KnowledgeGraph, chain: Chain, given: ExtremeArguments) -> Aggregate:
    hops, place, by = _attribute(graph, given), _place(chain, given), given.get("by", "number")
    rank = given.get("rank", 1)
    if not hops and place == chain.depth:
        return Aggregate("max" if given["largest"] else "min", by=by, rank=rank)
    return Aggregate("argmax" if given["largest"] else "argmin", hops, place, by, rank)


def _attribute(graph: KnowledgeGraph, given: ConditionArguments | ExtremeArguments) -> tuple[Hop, ...]:
    return tuple(resolve_hop(graph, text) for text in given["attribute"])


def _place(chain: Chain, given: ConditionArguments | ExtremeArguments) -> int:
    place = given.get("after", chain.depth)
    if not 1 <= place <= chain.depth:
        raise ValueError(f"after takes a number of hops from 1 to {chain.depth}")
    return place


def _query(
    chain: Chain, others: Sequence[Chain], conditions: tuple[Condition, ...], computed: Aggregate | None
) -> AnswerQuery:
    """Return what gives the ends; a place is that of a node of the chain, or free."""
    end, free, branches = chain.depth, chain.depth, [Branch(chain, tuple(range(1, chain.depth + 1)))]
    for other in others:
        branches.append(Branch(other, (*range(free + 1, free + other.depth), end)))
        free += other.depth
    return AnswerQuery(tuple(branches), end, conditions, computed)
