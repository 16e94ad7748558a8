"""Tools that give what an answer query gives, and the facts behind it: chains that meet, conditions.

They are for nodes: their argument is a tree of types, which takes an agent's model many tokens to read.
"""

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Evidence, Proof
from kgqa.kg.proof.query import AnswerQuery
from kgqa.kg.proof.verbaliser import say_answers
from kgqa.kg.terms import Entity, Literal
from kgqa.tools.text import graph_tool, listing, show_facts, show_term

__all__ = ["PROOF_TOOLS", "say_answers"]


@graph_tool
async def prove_answers(graph: KnowledgeGraph, query: AnswerQuery) -> tuple[str, Proof]:
    """Run an answer query: relation chains that meet at numbered places, with conditions, as one SPARQL.

    Args:
        query: the chains with the places of their nodes, the place of the answers, what holds of nodes.
    """
    proof = await graph.prove(query)
    return f"{proof.sparql}\n{listing('answers', map(show_term, proof.answers), proof.answers)}", proof


@graph_tool
async def trace_answers(
    graph: KnowledgeGraph, query: AnswerQuery, answers: list[Entity | Literal], depths: dict[int, int]
) -> tuple[str, Evidence]:
    """Give the facts behind answers of an answer query: along its chains, and what meets its conditions.

    Args:
        query: the chains, conditions and so on.
        answers: some of its answers.
        depths: after how many hops a chain is at the answers, under its place in the query, from 0.
    """
    found = await graph.trace_answers(query, answers, depths)
    paths = [show_facts(path) for paths in found.paths for path in paths]
    return "\n".join([listing("paths", paths), show_facts(found.facts)]), found


PROOF_TOOLS = (prove_answers, trace_answers)
