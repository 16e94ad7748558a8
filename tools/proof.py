"""A tool that gives what an answer query gives: chains that meet, conditions, an aggregate.

It is for nodes: its argument is a tree of types, which takes an agent's model many tokens to read.
"""

from langchain_core.tools import BaseTool

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Proof
from kgqa.kg.proof.query import AnswerQuery
from kgqa.tools.text import graph_tool, listing, show_facts, show_term


def proof_tool(graph: KnowledgeGraph) -> BaseTool:
    """Make prove_answers for a graph."""

    @graph_tool
    async def prove_answers(query: AnswerQuery) -> tuple[str, Proof]:
        """Run an answer query: relation chains that meet at numbered places, with conditions, as one SPARQL.

        Args:
            query: the chains with the places of their nodes, the place of the answers, what holds of nodes.
        """
        proof = await graph.prove(query)
        parts = [proof.sparql, listing("answers", map(show_term, proof.answers), proof.answers)]
        parts += [show_facts(proof.facts)] if proof.facts else []
        return "\n".join(parts), proof

    return prove_answers
