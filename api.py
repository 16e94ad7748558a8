"""Ask from Python: one call, one record."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from kgqa.graphs import context_of, graph_of, load_method
from kgqa.kg.graph import KnowledgeGraph
from kgqa.models.interface import Model
from kgqa.runtime.context import Context, OptionError as OptionError, is_open
from kgqa.runtime.graph_builder import MethodGraph
from kgqa.runtime.record import Record, Ref
from kgqa.runtime.state import Input

Name = str | os.PathLike[str]
KG = Name | Sequence[Name] | KnowledgeGraph


def make_context(method: str | MethodGraph, options: dict[str, Any]) -> Context:
    """Make the context of a run; ValueError if there is no such method or option, or a value is not taken."""
    return context_of(load_method(method))(**options)


def make_input(question: str, topics: str | Iterable[str | Ref] = (), id: str | None = None) -> Input:
    """Make the input of a run; raise ValueError for an empty question, and for what is no text."""
    clean = _text("the question", question)
    if not clean.strip():
        raise ValueError("the question is empty; write what you want to know")
    state: Input = {"question": clean}
    if isinstance(topics, Mapping) or not isinstance(topics, Iterable):
        raise ValueError("topics are names or ids in a list")
    if given := [_topic(topic) for topic in ([topics] if isinstance(topics, str) else topics)]:
        state["topics"] = given
    if id:
        state["id"] = _text("the id", id)
    return state


def _topic(given: str | Ref) -> str | Ref:
    if not isinstance(given, Mapping):
        return _text("a topic", given)
    id, name = (None if given.get(key) is None else _text("a topic", given[key]) for key in ("id", "name"))
    return {"id": id, "name": name}


def _text(what: str, given: object) -> str:
    """Return a text as UTF-8 can hold it; raise ValueError if it is no text."""
    if not isinstance(given, str):
        raise ValueError(f"{what} has to be text, not {type(given).__name__}")
    return given.encode("utf-8", "replace").decode()


async def aask(
    question: str,
    *,
    topics: str | Iterable[str | Ref] = (),
    method: str | MethodGraph = "compose",
    kg: KG | None = None,
    model: str | Model | None = None,
    id: str | None = None,
    **options: Any,
) -> Record:
    """Answer a question over a knowledge graph.

    Args:
        question: in natural language.
        topics: names or ids of the entities it is about; linked from the question where absent.
        method: one of `kgqa.graphs.METHODS`, or your own: the name that its package has given it,
            ``package.module:graph``, ``path/to/file.py:graph``, or the graph itself.
        kg: "sample", an RDF file or several, a folder made by ``kgqa kg load``, or an open graph.
        model: "provider:name", "offline", or an open model.
        id: what the record is filed under; made from the question where absent.
        options: the method's options, for instance ``depth=4`` or ``budget={"llm_calls": 10}``.

    Returns:
        The record; failures are told by its ``outcome``, not raised.

    Raises:
        ValueError: for an empty question, what is no text, an unknown method, an option that is not taken.
    """
    for name, given in (("kg", kg), ("model", model)):
        if given is not None:
            if not isinstance(given, str | os.PathLike | list | tuple) and not is_open(name, given):
                kind = type(given).__name__
                raise OptionError(f"option {name}: a name, or what is open already, not {kind}")
            options[name] = given
    context = make_context(method, options)
    result = await graph_of(context.method).ainvoke(make_input(question, topics, id), context=context)
    return cast(Record, result)


def ask(question: str, **arguments: Any) -> Record:
    """Answer a question from a script, a notebook or a thread; see `aask` for the arguments."""
    return asyncio.run_coroutine_threadsafe(aask(question, **arguments), _loop()).result()


async def stream_states(question_: Input, context: Context) -> AsyncIterator[dict[str, Any]]:
    """Run a question and yield the state after each node that leaves a trace; the last holds the record."""
    entries = 0
    stream = graph_of(context.method).astream(question_, context=context, stream_mode="values")
    async for state in stream:
        if isinstance(state, dict) and len(state.get("trace") or ()) > entries:
            entries = len(state["trace"])
            yield state


def extract_record(state: dict[str, Any]) -> Record:
    """Take the record out of the last state of a run."""
    return cast(Record, {key: state[key] for key in Record.__annotations__})


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Run one event loop for the process, so that connections live from call to call."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="kgqa", daemon=True).start()
    return loop


os.register_at_fork(after_in_child=_loop.cache_clear)
