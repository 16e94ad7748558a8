"""LangChain community's GraphSparqlQAChain on a graph of ours.

To be imported in a thread, and where the package is installed: it takes long to load, and says that
it is no longer developed.
"""

import traceback
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from langchain_core.language_models import BaseChatModel

from kgqa.kg.errors import KGRejected

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    _chains = import_module("langchain_community.chains.graph_qa.sparql")
    _RdfGraph: Any = import_module("langchain_community.graphs.rdf_graph").RdfGraph

# The chain is made of parts that LangChain has retired; each says so when it is first used.
warnings.filterwarnings("ignore", category=DeprecationWarning, module="langchain_community")

Select = Callable[[str], Sequence[object]]  # runs a query and gives its rows; in a thread


class Refused(Exception):
    """The chain takes the question for none."""


class ReadOnlyGraph(_RdfGraph):  # type: ignore[misc]
    """A graph as the chain knows graphs; it asks ours, and refuses updates."""

    def __init__(self, schema: str, select: Select) -> None:
        self.schema, self._select = schema, select

    def query(self, query: str) -> Sequence[object]:
        """Run a query of the chain."""
        return self._select(query)

    def update(self, query: str) -> NoReturn:
        """Refuse an update."""
        raise KGRejected("only SELECT and ASK are answered")


def ask_chain(chat: BaseChatModel, question: str, schema: str, select: Select) -> str:
    """Let the chain answer a question in its own words (blocking); `Refused` if it would not ask."""
    graph = ReadOnlyGraph(schema, select)
    try:
        # the consent that the chain wants is to queries that a model writes: ours are guarded and only read
        chain = _chains.GraphSparqlQAChain.from_llm(chat, graph=graph, allow_dangerous_requests=True)
        return str(chain.invoke({"query": question})["result"])
    except ValueError as error:
        # the chain has no error of its own for a refusal: it is one where the chain itself raises
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        if frame.f_globals["__name__"] != _chains.__name__:
            raise
        raise Refused(str(error)) from None
