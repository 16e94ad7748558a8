"""A tool that finds the chains of relations which say a question."""

from typing import Annotated

from kgqa.kg.meter import metered
from kgqa.kg.terms import Chain, Hop
from kgqa.retrieval.lookups import MAX_QUERIES, Lookups
from kgqa.retrieval.retriever import Retrieved, Retriever
from kgqa.tools.text import graph_tool, listing, show_candidate, show_chain

Starts = Annotated[
    list[Chain],
    "the chains that are extended, one for each topic, without hops for itself; none for a question without.",
]

Known = Annotated[list[tuple[Chain, list[Hop]]], "what is known to lead on from some of the chains."]

MAX_ENDS_LISTED = 5


@graph_tool
async def retrieve_chains(
    retriever: Retriever, question: str, starts: Starts, known: Known | None = None
) -> tuple[str, Retrieved]:
    """Find the chains of relations near topics that say a question best, and what they lead to.

    Args:
        question: the question, or some words of it.
        starts: the chains.
        known: what leads on from some of them.
    """
    with metered(MAX_QUERIES):
        topics = [start.topic for start in starts]
        found = await retriever.retrieve(
            question, topics, Lookups(retriever.graph, starts, dict(known or ()))
        )
    lines = [
        f"{show_chain(each.chain)}: {', '.join(map(show_candidate, each.ends[:MAX_ENDS_LISTED]))}"
        for chains in found.chains.values()
        for each in sorted(chains, key=lambda each: -each.share)
    ]
    return listing("chains", lines), found
