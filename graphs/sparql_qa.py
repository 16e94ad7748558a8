"""SPARQL by a language model: LangChain community's GraphSparqlQAChain behind our record.

The other baseline that a user would pick: the model writes one query for the whole question, and
answers from its rows. Alone of all methods it lets what a model writes reach SPARQL; the query is
parsed and held to SELECT and ASK first. Needs the extra ``peers``.
"""

from typing import ClassVar

from pydantic import Field

from kgqa.nodes.claim import claim
from kgqa.nodes.sparql_qa.write_sparql import SparqlQAState, answer, link_for_chain, write_sparql
from kgqa.runtime.context import ClaimContext
from kgqa.runtime.graph_builder import Edges, build_graph


class SparqlQA(ClaimContext):
    """The options of the chain."""

    method: ClassVar[str] = "sparql_qa"

    relations: int = Field(
        default=100, ge=1, le=100_000, description="relations that the model is shown at most"
    )


EDGES: Edges = {link_for_chain: {"forward": claim}, claim: {"forward": write_sparql}, write_sparql: answer}

graph = build_graph(SparqlQA, EDGES, SparqlQAState)
