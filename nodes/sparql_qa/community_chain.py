"""LangChain community's GraphSparqlQAChain on a graph of ours.

To be imported in a thread, and where the package is installed: it takes long to load, and says that
it is no longer developed.
"""

import traceback
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from langchain_core._api import LangChainDeprecationWarning
from langchain_core.language_models import BaseChatModel

from kgqa.kg.errors import KGRejected

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    _chains = import_module("langchain_community.chains.graph_qa.sparql")
    _graphs = import_module("langchain_community.graphs.rdf_graph")

# The chain is made of parts that LangChain has retired; each says so when it is first used.
warnings.filterwarnings("ignore", category=LangChainDeprecationWarning, module="langchain_community")

Select = Callable[[str], Sequence[object]]
"""Runs a query and gives its rows; in a thread."""


class Refused(Exception):
    """The chain takes the question for none."""


def ask_chain(chat: BaseChatModel, question: str, schema: str, select: Select) -> str:
    """Let the chain answer a question in its own words (blocking).

    Raises:
        Refused: if the model would update the graph, or take the question for neither.
        KGRejected: if its query is refused.
    """
    try:
        # the consent that the chain wants is to queries that a model writes: ours are guarded and only read
        chain = _chains.GraphSparqlQAChain.from_llm(
            chat, graph=_store(schema, select), allow_dangerous_requests=True
        )
        return str(chain.invoke({"query": question})["result"])
    except ValueError as error:
        if not _is_of_chain(error):
            raise
        raise Refused(str(error)) from None


def _is_of_chain(error: BaseException) -> bool:
    """Return whether it is the chain itself that raises: it has no error of its own for a refusal."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return bool(frame.f_globals["__name__"] == _chains.__name__)


def _store(schema: str, select: Select) -> Any:
    """Return a graph as the chain knows graphs, all of whose doors lead to ours."""
    store: Any = object.__new__(_graphs.RdfGraph)
    store.schema, store.query, store.update = schema, select, _no_update
    return store


def _no_update(query: str) -> NoReturn:
    raise KGRejected("only SELECT and ASK are answered")
