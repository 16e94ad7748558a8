"""Write SPARQL: the model of a LangChain chain writes a query, and answers from its rows."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from threading import Thread

from kgqa.kg.errors import KGRejected
from kgqa.kg.pages import ChainResult, Table
from kgqa.kg.terms import Entity, Hop, Literal, Term, one_line
from kgqa.models.errors import UnknownModel
from kgqa.nodes.link import link
from kgqa.nodes.similarity import most_similar, similarity
from kgqa.nodes.sparql_qa.state import SparqlQAState, SparqlQAUpdate
from kgqa.priors.candidate_ranking import relation_words
from kgqa.prompts.act import opening
from kgqa.prompts.base import MAX_LABEL_CHARS
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN
from kgqa.prompts.draft_query import written_query
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.chat_model import budgeted_chat_model
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import Update
from kgqa.tools.select import QueryConstants, computed_columns, literals_query, read_constants
from kgqa.tools.text import UNNAMED, cut_text, show_id, show_name

PACKAGE = "langchain_community"

MAX_NAMED_ENTITIES = 2 * MAX_CANDIDATES_SHOWN
"""Entities of the rows shown whose names are looked up at most; the others are not proved."""


@node("link", opens=True)
async def link_for_chain(state: SparqlQAState, runtime: NodeRuntime) -> Update:
    """Link as every method does, where there is someone to write the query."""
    if find_spec(PACKAGE) is None:
        raise UnknownModel("sparql_qa needs LangChain's community package: pip install 'kgqa[peers]'")
    await budgeted_chat_model(runtime)
    return await link.body(state, runtime)


@node("write_sparql")
async def write_sparql(state: SparqlQAState, runtime: NodeRuntime) -> SparqlQAUpdate:
    """Let the chain ask the graph in SPARQL, read-only, and answer in its own words.

    What the model writes is parsed and held to SELECT and ASK before the graph sees it.
    """
    chat, rows = await budgeted_chat_model(runtime), Rows(runtime)
    peer = await asyncio.to_thread(import_module, "kgqa.nodes.sparql_qa.community_chain")
    question = opening(state["question"], state["topic_entities"])
    update: SparqlQAUpdate = {"said": None}
    try:
        schema = await _list_relations(state["question"], runtime)
        update["said"] = await _run_in_thread(lambda: peer.ask_chain(chat, question, schema, rows.select))
    except BudgetExceeded as error:
        runtime.trace["reason"] = str(error)
        update["stopped_by"] = error.limit
    except (KGRejected, peer.Refused) as error:
        runtime.record_failure(error)
    shown: SparqlQAUpdate = {"rows": rows.terms, "proved": rows.proved, "constants": rows.constants}
    return {**update, **shown, "query": rows.query}


async def _run_in_thread(chain: Callable[[], str]) -> str:
    """Run a chain in a thread of its own.

    It waits there for calls of the model and the graph, which take threads of the loop's pool: chains
    that held these would wait for one another.
    """
    told: Future[str] = Future()
    told.set_running_or_notify_cancel()

    def work() -> None:
        try:
            told.set_result(chain())
        except BaseException as error:
            told.set_exception(error)

    # A daemon: one that waits for a loop which was stopped must not keep the process.
    Thread(target=copy_context().run, args=(work,), name="sparql_qa", daemon=True).start()
    return await asyncio.wrap_future(told)


class Rows:
    """Runs queries for a chain that knows nothing of event loops, and keeps the terms of their rows.

    What a query gives need not be in the graph: it may name things itself. ``proved`` are the terms
    that the graph holds, and numbers that the query has computed of what it holds. ``query`` is the text of
    the last query, if its one column has been shown whole and has something in each row; ``constants``
    are what it says itself, with names.
    """

    def __init__(self, runtime: NodeRuntime) -> None:
        self.terms: list[Term] = []
        self.proved: list[Term] = []
        self.constants: QueryConstants | None = None
        self.query: str | None = None
        self._runtime, self._loop = runtime, asyncio.get_running_loop()

    def select(self, query: str) -> list[tuple[str, ...]]:
        """Run a query (blocking, in a thread); return its first rows as text, entities with their names."""
        return asyncio.run_coroutine_threadsafe(self._select(query), self._loop).result()

    async def _select(self, query: str) -> list[tuple[str, ...]]:
        text = written_query(query) or query.strip()
        self._runtime.trace["query"] = text
        table: Table = await self._runtime.call_tool("run_query", query=text)
        self._runtime.trace["rows"] = len(table.rows)
        whole = len(table.columns) == 1 and not table.truncated and len(table.rows) <= MAX_CANDIDATES_SHOWN
        self.query = text if whole and all(None not in row for row in table.rows) else None
        constants = await asyncio.to_thread(read_constants, text)
        written = constants.written if constants else ()
        shown = [[cell for cell in row if cell is not None] for row in table.rows[:MAX_CANDIDATES_SHOWN]]
        cells = dict.fromkeys(cell for row in shown for cell in row)
        entities = dict.fromkeys(each for each in (*cells, *written) if isinstance(each, Entity))
        named = await self._name_entities([*entities])
        known = await self._find_literals([cell for cell in cells if isinstance(cell, Literal)], text, table)
        if constants:
            self.constants = replace(constants, written=tuple(named.get(each, each) for each in written))
        self.terms += [named.get(cell, cell) for cell in cells]
        self.proved += [named.get(cell, cell) for cell in cells if cell in named or cell in known]
        rows = [tuple(_cell_text(named.get(cell, cell)) for cell in row) for row in shown]
        if len(table.rows) > len(rows) or table.truncated:
            more = "more than " if table.truncated else ""
            rows.append((f"... and {more}{len(table.rows) - len(rows)} other rows",))
        return rows

    async def _name_entities(self, entities: Sequence[Entity]) -> dict[Term, Term]:
        """Return those entities that the graph has, with their names: a query gives ids only."""
        chains = [{"topic": f"<{entity.id}>", "hops": []} for entity in entities[:MAX_NAMED_ENTITIES]]
        visits: list[ChainResult] = []
        if chains:
            visits = await self._runtime.call_tool("visit_chains", chains=chains, ends=True, hops=False)
        return {candidate.term: candidate.term for visit in visits for candidate in visit.ends}

    async def _find_literals(self, values: Sequence[Literal], query: str, table: Table) -> set[Term]:
        """Return those literals of a table that the graph has, or that the query has computed."""
        if not values:
            return set()
        columns = await asyncio.to_thread(computed_columns, query)
        counted = [at for at, column in enumerate(table.columns) if column in columns]
        found = {row[at] for row in table.rows[:MAX_CANDIDATES_SHOWN] for at in counted}
        asked = [value for value in values if value not in found and len(value.value) <= MAX_LABEL_CHARS]
        if asked:
            literals: Table = await self._runtime.call_tool("run_query", query=literals_query(asked))
            found.update(cell for row in literals.rows for cell in row)
        return {cell for cell in found if cell is not None}


async def _list_relations(question: str, runtime: NodeRuntime) -> str:
    """List the graph's relations; where there are too many, those that are most like the question."""
    hops: Sequence[Hop] = list(await runtime.call_tool("list_schema"))
    most = runtime.context.relations
    if len(hops) > most:
        runtime.trace["relations"] = most
        likes = await similarity([relation_words(hop.words) for hop in hops], question, runtime, "encoder")
        hops = [hops[at] for at in sorted(most_similar(likes, most))]
    lines = "\n".join(f"<{show_id(hop.relation)}> ({one_line(hop.words)})" for hop in hops)
    return f"The graph has these relations, each by its IRI and its name:\n{cut_text(lines)}"


def _cell_text(term: Term) -> str:
    name = show_name(term.name, MAX_LABEL_CHARS) if term.name else UNNAMED
    return f"{name} <{one_line(term.id, MAX_LABEL_CHARS)}>" if isinstance(term, Entity) else name
