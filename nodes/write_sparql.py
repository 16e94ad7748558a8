"""Write SPARQL: the model of a LangChain chain writes a query, and answers from its rows."""

import asyncio
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from threading import Thread

from kgqa.kg.errors import KGRejected
from kgqa.kg.pages import Table, Visit
from kgqa.kg.terms import Entity, Hop, Literal, Term, one_line
from kgqa.models.errors import UnknownModel
from kgqa.nodes.link import link
from kgqa.priors.guidance import spaced
from kgqa.prompts.act import opening
from kgqa.prompts.base import LABEL_LIMIT
from kgqa.prompts.candidates import SHOWN
from kgqa.session.asking import Asking, AskingUpdate
from kgqa.session.speaking import speaker
from kgqa.session.state import Update
from kgqa.session.step import BudgetExceeded, Run, step
from kgqa.tools.select import computed, literals_query
from kgqa.tools.text import UNNAMED, bounded, show_id, show_name

PACKAGE = "langchain_community"

NAMED = 2 * SHOWN
"""Entities of the rows shown whose names are looked up at most; the others are not proved."""

_FENCED = re.compile(r"```(?:sparql)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)


@step("link", opens=True)
async def link_for_chain(state: Asking, run: Run) -> Update:
    """Link as every method does, where there is someone to write the query."""
    if find_spec(PACKAGE) is None:
        raise UnknownModel("sparql_qa needs LangChain's community package: pip install 'kgqa[peers]'")
    await speaker(run)
    return await link.body(state, run)


@step("write_sparql")
async def write_sparql(state: Asking, run: Run) -> AskingUpdate:
    """Let the chain ask the graph in SPARQL, read-only, and answer in its own words.

    What the model writes is parsed and held to SELECT and ASK before the graph sees it.
    """
    chat, rows = await speaker(run), Rows(run)
    peer = await asyncio.to_thread(import_module, "kgqa.nodes.peer")
    question = opening(state["question"], state["topic_entities"])
    update: AskingUpdate = {"said": None}
    try:
        schema = await _schema(state["question"], run)
        update["said"] = await _aside(lambda: peer.ask_chain(chat, question, schema, rows.select))
    except BudgetExceeded as error:
        run.note["reason"] = str(error)
        update["stopped_by"] = error.limit
    except (KGRejected, peer.Refused) as error:
        run.failed(error)
    return {**update, "rows": rows.terms, "proved": rows.proved}


async def _aside(chain: Callable[[], str]) -> str:
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
    that the graph holds, and numbers that the query has computed of what it holds.
    """

    def __init__(self, run: Run) -> None:
        self.terms: list[Term] = []
        self.proved: list[Term] = []
        self._run, self._loop = run, asyncio.get_running_loop()

    def select(self, query: str) -> list[tuple[str, ...]]:
        """Run a query (blocking, in a thread); gives its first rows as text, entities with their names.

        Raises:
            KGRejected: for all but SELECT and ASK, and what does not parse.
        """
        return asyncio.run_coroutine_threadsafe(self._selected(query), self._loop).result()

    async def _selected(self, query: str) -> list[tuple[str, ...]]:
        fenced = _FENCED.search(query)
        text = (fenced[1] if fenced else query).strip()
        self._run.note["query"] = text
        table: Table = await self._run.use("run_select", query=text)
        self._run.note["rows"] = len(table.rows)
        shown = replace(table, rows=table.rows[:SHOWN])
        cells = dict.fromkeys(cell for row in shown.rows for cell in row if cell is not None)
        named = await self._named([cell for cell in cells if isinstance(cell, Entity)])
        held = await self._held([cell for cell in cells if isinstance(cell, Literal)], text, shown)
        self.terms += [named.get(cell, cell) for cell in cells]
        self.proved += [named.get(cell, cell) for cell in cells if cell in named or cell in held]
        rows = [
            tuple(_shown(named.get(cell, cell)) for cell in row if cell is not None) for row in shown.rows
        ]
        if len(table.rows) > len(rows) or table.truncated:
            more = "more than " if table.truncated else ""
            rows.append((f"... and {more}{len(table.rows) - len(rows)} other rows",))
        return rows

    async def _named(self, entities: Sequence[Entity]) -> dict[Term, Term]:
        """Give those entities that the graph has, with their names: a query gives ids only."""
        chains = [{"topic": f"<{entity.id}>", "hops": []} for entity in entities[:NAMED]]
        if not chains:
            return {}
        visits: list[Visit] = await self._run.use("visit_chains", chains=chains, ends=True, hops=False)
        return {candidate.term: candidate.term for visit in visits for candidate in visit.ends}

    async def _held(self, values: Sequence[Literal], query: str, table: Table) -> set[Term]:
        """Give those literals of a table that the graph has, or that the query has computed."""
        if not values:
            return set()
        columns = await asyncio.to_thread(computed, query)
        counted = [at for at, column in enumerate(table.columns) if column in columns]
        own = {cell for row in table.rows for at in counted if (cell := row[at]) is not None}
        asked = [value for value in values if value not in own and len(value.value) <= LABEL_LIMIT]
        if not asked:
            return own
        found: Table = await self._run.use("run_select", query=literals_query(asked))
        return own | {cell for row in found.rows for cell in row if cell is not None}


async def _schema(question: str, run: Run) -> str:
    """List the graph's relations; where there are too many, those that are most like the question."""
    hops: Sequence[Hop] = list(await run.use("list_schema"))
    most = run.context.relations
    if len(hops) > most:
        run.note["relations"] = most
        vectors = await run.encode([question, *(spaced(hop.words) for hop in hops)])
        likeness = vectors[1:] @ vectors[0]
        best = sorted(range(len(hops)), key=lambda at: (-float(likeness[at]), at))[:most]
        hops = [hops[at] for at in sorted(best)]
    lines = "\n".join(f"<{show_id(hop.relation)}> ({one_line(hop.words)})" for hop in hops)
    return f"The graph has these relations, each by its IRI and its name:\n{bounded(lines)}"


def _shown(term: Term) -> str:
    name = show_name(term.name, LABEL_LIMIT) if term.name else UNNAMED
    return f"{name} <{one_line(term.id, LABEL_LIMIT)}>" if isinstance(term, Entity) else name
