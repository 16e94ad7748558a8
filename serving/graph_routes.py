"""What is in a graph, for the page: its classes, and questions that it answers."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from kgqa.api import asuggest, make_context
from kgqa.graphs import METHODS
from kgqa.kg.errors import KGError
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.profile.cards import make_cards, with_names
from kgqa.kg.terms import one_line
from kgqa.runtime.resources import open_graph
from kgqa.runtime.server_limits import NotServed
from kgqa.serving.request_checks import MAX_REASON_CHARS, refusal

GRAPH_PATH = "/graph"

MAX_CLASSES = 60  # that are sent, those with most members
MAX_PROPERTIES = 60  # of a class

_suggested: dict[str, list[dict[str, Any]]] = {}  # what was found for each graph, by its fingerprint

_one_search = asyncio.Lock()
"""A search for questions takes a processor for some seconds; each graph is searched once."""


def graph_routes() -> list[Route]:
    """Return the routes for the classes of the graph that ``kg`` names, and for questions to it."""
    return [
        Route(f"{GRAPH_PATH}/profile", _tell_profile),
        Route(f"{GRAPH_PATH}/questions", _tell_questions),
    ]


async def _tell_profile(request: Request) -> Response:
    try:
        graph = await _open(_names(request))
        info, profile = await graph.info(), await graph.profile()
        shown = await with_names(graph, profile.classes[:MAX_CLASSES])
    except (KGError, NotServed) as error:
        return refusal(error, 503 if isinstance(error, KGError) else 422)
    sizes = {name: getattr(info, name) for name in ("triples", "entities", "named", "relations")}
    short = [replace(each, properties=each.properties[:MAX_PROPERTIES]) for each in shown]
    cards = make_cards(profile, short, graph.relation_label)
    more = len(profile.classes) - len(cards)
    return JSONResponse({**sizes, "classes": [*map(asdict, cards)], "more": more})


async def _tell_questions(request: Request) -> Response:
    """Send questions with their answers, each as an event when it is known."""
    kg = _names(request)
    try:
        graph = await _open(kg, model="offline")
    except (KGError, NotServed) as error:
        return refusal(error, 503 if isinstance(error, KGError) else 422)
    return StreamingResponse(_events(kg, graph.fingerprint), media_type="text/event-stream")


async def _events(kg: list[str] | None, fingerprint: str) -> AsyncIterator[str]:
    """Yield what is known of a graph, or what a search finds, which is known then."""
    try:
        async with _one_search:
            for each in _suggested.get(fingerprint, ()):
                yield _event("question", each)
            if fingerprint not in _suggested:
                found: list[dict[str, Any]] = []
                async for record in asuggest(kg):
                    names = [answer["name"] for answer in record["answers"]]
                    found.append({"question": record["question"], "answers": names})
                    yield _event("question", found[-1])
                _suggested[fingerprint] = found
    except KGError as error:
        yield _event("error", {"message": one_line(str(error), MAX_REASON_CHARS)})


async def _open(kg: list[str] | None, **options: str) -> KnowledgeGraph:
    context = await asyncio.to_thread(make_context, METHODS[0], options, kg)
    return await asyncio.to_thread(open_graph, context)


def _names(request: Request) -> list[str] | None:
    """Return the names of the graph that is asked about; None for the one that is asked by default."""
    return request.query_params.getlist("kg") or None


def _event(kind: str, data: dict[str, Any]) -> str:
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n"
