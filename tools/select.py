"""Tools that run read-only SPARQL or answer queries, and what shows that their rows are of the graph."""

from collections.abc import Iterable

from langchain_core.tools import BaseTool, ToolException

from kgqa.kg.errors import KGRejected
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Evidence, Proof, Table
from kgqa.kg.proof.query import AnswerQuery
from kgqa.kg.sparql import patterns, queries
from kgqa.kg.sparql.constants import QueryConstants, read_constants
from kgqa.kg.sparql.guard import MAX_QUERY_CHARS
from kgqa.kg.sparql.intent import computed_columns
from kgqa.kg.terms import Entity, Literal
from kgqa.tools.text import graph_tool, listing, show_cell, show_facts, show_term


def select_tool(graph: KnowledgeGraph) -> BaseTool:
    """Make run_select for a graph."""

    @graph_tool
    async def run_select(query: str) -> tuple[str, Table]:
        """Run one read-only SPARQL query, SELECT or ASK, for what the other tools cannot do.

        Updates, SERVICE and FROM are refused; rows beyond a limit are cut.

        Args:
            query: the query with full IRIs or its own PREFIX lines.
        """
        try:
            table = await graph.select(query)
        except KGRejected as error:
            raise ToolException(str(error)) from error
        rows = (" | ".join(show_cell(cell) for cell in row) for row in table.rows)
        head = "rows" + (" (more were cut)" if table.truncated else "")
        return listing(f"{head} of {' | '.join(table.columns)}", rows), table

    return run_select


def literals_query(values: Iterable[Literal]) -> str:
    """Write the query for those literals that are in the graph, as ``?end``, if `run_select` takes them."""
    fitting: list[Literal] = []
    room = MAX_QUERY_CHARS - len(queries.literals(()))
    for value in values:
        room -= len(patterns.serialise(value)) + 1
        if room < 0:
            break
        if "\\" not in value.value and "\0" not in value.value:
            fitting.append(value)
    return queries.literals(fitting)


__all__ = ["QueryConstants", "computed_columns", "literals_query", "read_constants", "select_tool"]


def proof_tools(graph: KnowledgeGraph) -> list[BaseTool]:
    """Make prove_answers and trace_answers for a graph.

    They are for nodes: their argument is a tree of types, which takes an agent's model many tokens to read.
    """

    @graph_tool
    async def prove_answers(query: AnswerQuery) -> tuple[str, Proof]:
        """Run an answer query: relation chains that meet at numbered places, with conditions, as one SPARQL.

        Args:
            query: the chains with the places of their nodes, the place of the answers, what holds of nodes.
        """
        proof = await graph.prove(query)
        return f"{proof.sparql}\n{listing('answers', map(show_term, proof.answers), proof.answers)}", proof

    @graph_tool
    async def trace_answers(
        query: AnswerQuery, answers: list[Entity | Literal], depths: dict[int, int]
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

    return [prove_answers, trace_answers]
