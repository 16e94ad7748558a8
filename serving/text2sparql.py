"""``GET /text2sparql``: the SPARQL that answers a question, as the TEXT2SPARQL challenge asks for it."""

import asyncio
import os

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kgqa.addresses import redact_name
from kgqa.api import make_context, make_input
from kgqa.graphs import METHODS, graph_of
from kgqa.kg.terms import one_line
from kgqa.runtime.context import default_graph
from kgqa.runtime.record_text import OUTAGES, say_answers
from kgqa.runtime.server_limits import NotServed, active_limits
from kgqa.serving.request_checks import refusal
from kgqa.serving.settings import read_calls_at_once, read_datasets

TEXT2SPARQL_PATH = "/text2sparql"

_slots = asyncio.Semaphore(read_calls_at_once(os.environ))


def text2sparql_route() -> Route:
    """Return the route that takes ``dataset`` and ``question``."""
    return Route(TEXT2SPARQL_PATH, _answer)


async def _answer(request: Request) -> Response:
    """Answer with the query of the record; an empty one says that no query gives an answer."""
    asked = {name: request.query_params.get(name, "") for name in ("dataset", "question")}
    known = _datasets()
    if asked["dataset"] not in known:
        named = one_line(asked["dataset"], 80)
        return refusal(f"no dataset is called {named!r} here; there are: {', '.join(known)}", 404)
    try:
        given = make_input(asked["question"])
        context = await asyncio.to_thread(make_context, METHODS[0], {}, known[asked["dataset"]])
        async with _slots:
            record = await graph_of(context.method).ainvoke(given, context=context)
    except (ValueError, NotServed) as error:
        return refusal(error, 422)
    if record["outcome"] in OUTAGES:
        return refusal(say_answers(record), 503)
    return JSONResponse({**asked, "query": record["query"] or ""})


def _datasets() -> dict[str, tuple[str, ...]]:
    """Return the names of graphs by the datasets that they are: those of the operator, and their own."""
    graphs = active_limits().kg or (default_graph(os.environ),)
    return {redact_name(name): graph for graph in graphs for name in graph} | read_datasets(os.environ)
