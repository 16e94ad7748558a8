"""Ask from Python: one call, one record."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import ExitStack
from functools import cache
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from kgqa.graphs import context_of, graph_of
from kgqa.kg.graph import KnowledgeGraph
from kgqa.models.port import Model
from kgqa.session.context import Context
from kgqa.session.record import Record, Ref
from kgqa.session.resources import registered
from kgqa.session.state import Input

Named = str | os.PathLike[str]
KG = Named | Sequence[Named] | KnowledgeGraph


class OptionError(ValueError):
    """An option that the method does not have, or a value that it does not take."""


def make_context(method: str, options: dict[str, Any]) -> Context:
    """Make the context of a run from its options, given in any type that can be read as theirs.

    Raises:
        ValueError: if there is no such method.
        OptionError: in one line, if an option is unknown or its value is not taken.
    """
    schema = context_of(method)
    try:
        return schema.model_validate(options)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            known = ", ".join(schema.model_fields)
            raise OptionError(f"{method} has no option {name!r}; its options are: {known}") from None
        raise OptionError(f"option {name}: {_why(first)}") from None


def _why(error: ErrorDetails) -> str:
    """Say why a value is not taken: what a check of ours says speaks for itself."""
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    return f"{error['msg']}, not {error['input']!r}"


def question_input(question: str, topics: str | Iterable[str | Ref] = (), id: str | None = None) -> Input:
    """Make the input of a run.

    Raises:
        ValueError: if the question is empty.
    """
    if not question.strip():
        raise ValueError("the question is empty; write what you want to know")
    clean = question.encode("utf-8", "replace").decode()
    given = [_topic(topic) for topic in ([topics] if isinstance(topics, str) else topics)]
    state: Input = {"question": clean}
    if given:
        state["topics"] = given
    if id:
        state["id"] = id
    return state


def _topic(given: str | Ref) -> str | Ref:
    return given if isinstance(given, str) else {"id": given.get("id"), "name": given.get("name")}


async def aask(
    question: str,
    *,
    topics: str | Iterable[str | Ref] = (),
    method: str = "cor",
    kg: KG | None = None,
    model: str | Model | None = None,
    id: str | None = None,
    **options: Any,
) -> Record:
    """Answer a question over a knowledge graph.

    Args:
        question: in natural language.
        topics: names or ids of the entities it is about; linked from the question where absent.
        method: one of `kgqa.graphs.METHODS`.
        kg: "sample", an RDF file or several, a folder made by ``kgqa kg load``, or an open graph.
        model: "provider:name", "offline", or an open model.
        id: what the record is filed under; made from the question where absent.
        options: the method's options, for instance ``depth=4`` or ``budget={"llm_calls": 10}``.

    Returns:
        The record; failures are told by its ``outcome``, not raised.

    Raises:
        ValueError: for an empty question, an unknown method, an option that is not taken.
    """
    with ExitStack() as handed_over:
        names = {"kg": kg, "model": model}
        for key, given in names.items():
            if given is not None:
                known = names_of(given)
                options[key] = known or handed_over.enter_context(registered(cast(Model, given)))
        context = make_context(method, options)
        result = await graph_of(method).ainvoke(question_input(question, topics, id), context=context)
        return cast(Record, result)


def ask(question: str, **arguments: Any) -> Record:
    """Answer a question over a knowledge graph; see `aask` for the arguments.

    Works in scripts, notebooks and threads alike.
    """
    return asyncio.run_coroutine_threadsafe(aask(question, **arguments), _loop()).result()


async def steps(question_: Input, context: Context) -> AsyncIterator[dict[str, Any]]:
    """Run a question and give the state after each step; the last one holds the whole record.

    Steps that an option turns off leave no trace and are passed over.
    """
    taken = 0
    stream = graph_of(context.method).astream(question_, context=context, stream_mode="values")
    async for state in stream:
        if isinstance(state, dict) and len(state.get("trace") or ()) > taken:
            taken = len(state["trace"])
            yield state


def record_of(state: dict[str, Any]) -> Record:
    """Take the record out of the last state of a run."""
    return cast(Record, {key: state[key] for key in Record.__annotations__})


def names_of(given: object) -> str | list[str] | None:
    """Give the names of a graph or model that is named; None for one that is open already."""
    if isinstance(given, str | os.PathLike):
        return os.fspath(given)
    return [os.fspath(name) for name in given] if isinstance(given, list | tuple) else None


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Run one event loop for the process, so that connections live from call to call."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="kgqa", daemon=True).start()
    return loop


os.register_at_fork(after_in_child=_loop.cache_clear)
