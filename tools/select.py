"""A tool that runs read-only SPARQL, and what shows that its rows are of the graph."""

from collections.abc import Iterable

from langchain_core.tools import ToolException

from kgqa.kg.errors import KGRejected
from kgqa.kg.pages import Table
from kgqa.kg.sparql import patterns, queries
from kgqa.kg.sparql.constants import QueryConstants, read_constants
from kgqa.kg.sparql.guard import MAX_QUERY_CHARS
from kgqa.kg.sparql.intent import computed_columns
from kgqa.kg.terms import Literal
from kgqa.tools.drafts import DraftChecker
from kgqa.tools.text import graph_tool, listing, show_cell


@graph_tool
async def run_select(checker: DraftChecker, query: str) -> tuple[str, Table]:
    """Run one read-only SPARQL query, SELECT or ASK, for what the other tools cannot do.

    Updates, SERVICE and FROM are refused, and so is what the graph surely has nothing for, with what it
    has in its place; rows beyond a limit are cut.

    Args:
        query: the query with full IRIs or its own PREFIX lines.
    """
    try:
        wrong = await checker.find_wrong(query)
        if wrong:
            raise ToolException("; ".join(wrong))
        table = await checker.graph.select(query)
    except KGRejected as error:
        raise ToolException(str(error)) from error
    rows = (" | ".join(show_cell(cell) for cell in row) for row in table.rows)
    head = "rows" + (" (more were cut)" if table.truncated else "")
    return listing(f"{head} of {' | '.join(table.columns)}", rows), table


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


__all__ = ["QueryConstants", "computed_columns", "literals_query", "read_constants", "run_select"]
