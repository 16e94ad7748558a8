"""Write SPARQL: the model of a LangChain chain writes a query, and answers from its rows."""

import asyncio
import re
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from kgqa.kg.errors import KGRejected
from kgqa.kg.pages import Table, Visit
from kgqa.kg.terms import Entity, Hop, Term
from kgqa.models.errors import UnknownModel
from kgqa.priors.guidance import spaced
from kgqa.prompts.act import opening
from kgqa.session.asking import Asking, AskingUpdate
from kgqa.session.speaking import speaker
from kgqa.session.step import BudgetExceeded, Run, step

PACKAGE = "langchain_community"

NAMED = 50
"""Entities of a table whose names are looked up at most."""

_FENCED = re.compile(r"```(?:sparql)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)


@step("write_sparql")
async def write_sparql(state: Asking, run: Run) -> AskingUpdate:
    """Let the chain ask the graph in SPARQL, read-only, and answer in its own words.

    What the model writes is parsed and held to SELECT and ASK before the graph sees it.
    """
    if find_spec(PACKAGE) is None:
        raise UnknownModel("sparql_qa needs LangChain's community package: pip install 'kgqa[peers]'")
    chat, rows = await speaker(run), Rows(run)
    peer = await asyncio.to_thread(import_module, "kgqa.nodes.peer")
    question = opening(state["question"], state["topic_entities"])
    update: AskingUpdate = {"said": None}
    try:
        schema = await _schema(state["question"], run)
        update["said"] = await asyncio.to_thread(peer.ask_chain, chat, question, schema, rows.select)
    except BudgetExceeded as error:
        run.note["reason"] = str(error)
        update["stopped_by"] = error.limit
    except (KGRejected, peer.Refused) as error:
        run.failed(error)
    return {**update, "rows": rows.terms}


class Rows:
    """Runs queries for a chain that knows nothing of event loops, and keeps the terms of their rows."""

    def __init__(self, run: Run) -> None:
        self.terms: list[Term] = []
        self._run, self._loop = run, asyncio.get_running_loop()

    def select(self, query: str) -> list[tuple[str, ...]]:
        """Run a query (blocking, in a thread); gives its rows as text, entities with their names.

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
        named = await self._named(table)
        rows = [[named.get(cell, cell) for cell in row if cell is not None] for row in table.rows]
        self.terms += list(dict.fromkeys(term for row in rows for term in row))
        return [tuple(_shown(term) for term in row) for row in rows]

    async def _named(self, table: Table) -> dict[Term, Term]:
        """Give the entities of a table with their names: a query gives ids only."""
        cells = dict.fromkeys(cell for row in table.rows for cell in row if isinstance(cell, Entity))
        chains = [{"topic": f"<{cell.id}>", "hops": []} for cell in list(cells)[:NAMED]]
        if not chains:
            return {}
        visits: list[Visit] = await self._run.use("visit_chains", chains=chains, ends=True, hops=False)
        return {candidate.term: candidate.term for visit in visits for candidate in visit.ends}


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
    lines = "\n".join(f"<{hop.relation}> ({hop.words})" for hop in hops)
    return f"The graph has these relations, each by its IRI and its name:\n{lines}"


def _shown(term: Term) -> str:
    return f"{term.name or '(unnamed)'} <{term.id}>" if isinstance(term, Entity) else str(term)
