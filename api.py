"""Ask from Python: one call, one record; a method as a tool of an agent, and as a node of an app."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, Union, cast

from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from kgqa.graphs import METHODS, context_of, graph_of, load_method
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.triples import Triples
from kgqa.models.interface import Model
from kgqa.retrieval.suggestions import QuestionMaker, Suggestion
from kgqa.runtime.context import Context, OptionError as OptionError, is_taken
from kgqa.runtime.graph_builder import MethodGraph, run_apart, stream_apart
from kgqa.runtime.record import Record, Ref
from kgqa.runtime.record_text import Answered
from kgqa.runtime.resources import open_graph, open_resources
from kgqa.runtime.state import Input
from kgqa.sync import iterate_sync, run_sync

if TYPE_CHECKING:
    import rdflib
    from langchain_core.language_models import BaseChatModel

Name = str | os.PathLike[str]
KG: TypeAlias = Union[Name, Sequence[Name], KnowledgeGraph, "rdflib.Graph", Triples]
AnyModel: TypeAlias = Union[str, Model, "BaseChatModel"]
Topics: TypeAlias = str | Iterable[str | Ref]

MAX_SUGGESTIONS = 10
MAX_QUESTION_SECONDS = 10.0  # that one takes; what takes longer is no suggestion
WRONG_COST = 2  # questions that are answered right, which one that is not costs its kind
SUGGESTION_SECONDS = 60.0


def make_context(
    method: str | MethodGraph,
    options: Mapping[str, Any],
    kg: KG | None = None,
    model: AnyModel | None = None,
) -> Context:
    """Make the context of a run; ValueError if there is no such method or option, or a value is not taken.

    Blocks where the graph is triples of rdflib or in a data frame.
    """
    named = {name: given for name, given in (("kg", kg), ("model", model)) if given is not None}
    for name, given in named.items():
        if not isinstance(given, str | os.PathLike | list | tuple) and not is_taken(name, given):
            raise OptionError(f"option {name}: a name, or what is open already, not {type(given).__name__}")
    return context_of(load_method(method))(**options, **named)


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
    if not (id or name):
        raise ValueError(f"a topic has an 'id' or a 'name', not {', '.join(map(repr, given)) or 'nothing'}")
    return {"id": id, "name": name}


def _text(what: str, given: object) -> str:
    """Return a text as UTF-8 can hold it; raise ValueError if it is no text."""
    if not isinstance(given, str):
        raise ValueError(f"{what} has to be text, not {type(given).__name__}")
    return given.encode("utf-8", "replace").decode()


async def aask(
    question: str,
    *,
    topics: Topics = (),
    method: str | MethodGraph = "compose",
    kg: KG | None = None,
    model: AnyModel | None = None,
    id: str | None = None,
    **options: Any,
) -> Record:
    """Answer a question over a knowledge graph.

    Args:
        question: in natural language.
        topics: names or ids of the entities it is about; linked from the question where absent.
        method: one of `kgqa.graphs.METHODS`, or your own: the name that its package has given it,
            ``package.module:graph``, ``path/to/file.py:graph``, or the graph itself.
        kg: "sample", an RDF file or several, a folder made by ``kgqa kg load``, the address of a SPARQL
            endpoint, an open graph, a graph of rdflib, or a pandas frame of subjects, relations, objects.
        model: "provider:name", "offline", an open model, or a chat model of LangChain.
        id: what the record is filed under; made from the question where absent.
        options: the method's options, for instance ``depth=4`` or ``budget={"llm_calls": 10}``.

    Returns:
        The record; failures are told by its ``outcome``, not raised. It shows itself in a notebook.

    Raises:
        ValueError: for an empty question, what is no text, an unknown method, an option that is not taken.
    """
    context = await asyncio.to_thread(make_context, method, options, kg, model)
    record = await run_apart(graph_of(context.method), make_input(question, topics, id), context)
    return cast(Record, Answered(record))


def ask(question: str, **arguments: Any) -> Record:
    """Answer a question from a script, a notebook or a thread; see `aask` for the arguments."""
    return run_sync(aask(question, **arguments))


async def astream(
    question: str,
    *,
    topics: Topics = (),
    method: str | MethodGraph = "compose",
    kg: KG | None = None,
    model: AnyModel | None = None,
    id: str | None = None,
    **options: Any,
) -> AsyncIterator[dict[str, Any]]:
    """Answer a question as `aask` does, and yield each step when it is done, and last of all the record.

    A step is an entry of the record's trace: its ``node``, its ``decision``, and why.
    """
    context = await asyncio.to_thread(make_context, method, options, kg, model)
    async for state in stream_states(make_input(question, topics, id), context):
        yield state["trace"][-1]
    yield Answered(extract_record(state))


def stream(question: str, **arguments: Any) -> Iterator[dict[str, Any]]:
    """Yield the steps and the record of a question to a caller that waits; see `astream`."""
    return iterate_sync(astream(question, **arguments))


async def asuggest(kg: KG | None = None, *, seconds: float = SUGGESTION_SECONDS) -> AsyncIterator[Record]:
    """Yield the records of up to ten questions that a graph answers, of several kinds, each once it is known.

    They are made from the graph's profile, and asked of the offline model: those are kept that it answers as
    the graph itself does. The search ends after some seconds, counted from when the graph is open.

    Raises:
        KGError: if the graph cannot be opened or asked.
    """
    options = {"model": "offline", "explore": False, "refines": 0}
    context = await asyncio.to_thread(make_context, METHODS[0], options, kg)
    await open_resources(context)
    graph = await asyncio.to_thread(open_graph, context)
    records = _answered_right((await QuestionMaker.of(graph)).kinds(), context)
    end = time.monotonic() + seconds
    for _ in range(MAX_SUGGESTIONS):
        try:
            record = await asyncio.wait_for(anext(records, None), end - time.monotonic())
        except TimeoutError:
            return
        if record is None:
            return
        yield record


async def _answered_right(kinds: list[AsyncIterator[Suggestion]], context: Context) -> AsyncIterator[Record]:
    """Yield records of questions that are answered as they should be, of the kind that has cost least."""
    asked, costs = set[str](), dict.fromkeys(kinds, 0)
    while costs:
        kind = min(costs, key=lambda each: costs[each])
        if (made := await anext(kind, None)) is None:
            del costs[kind]
        elif made.question not in asked:
            asked.add(made.question)
            record = await _answer_soon(made.question, context)
            given = {answer["id"] for answer in record["answers"]} if record else set()
            is_right = given == {answer.id for answer in made.answers}
            if record and record["outcome"] == "grounded" and is_right:
                yield cast(Record, Answered(record))
            costs[kind] += 1 if is_right else WRONG_COST


async def _answer_soon(question: str, context: Context) -> dict[str, Any] | None:
    """Return the record of a question; None where it takes long."""
    work = run_apart(graph_of(context.method), make_input(question), context)
    try:
        return await asyncio.wait_for(work, MAX_QUESTION_SECONDS)
    except TimeoutError:
        return None


def as_tool(
    *,
    name: str = "ask",
    description: str | None = None,
    method: str | MethodGraph = "compose",
    kg: KG | None = None,
    model: AnyModel | None = None,
    **options: Any,
) -> BaseTool:
    """Make a LangChain tool for any agent; the arguments are those of `aask`.

    Where an agent asks several graphs, ``name`` and ``description`` tell it what is in each. The tool says
    the answer, the path that proves it and the outcome in words; its artifact is the record.
    """
    given = {"method": method, "kg": kg, "model": model, **options}
    make_context(method, options, kg, model)  # what is wrong is told now, not in the middle of a conversation

    async def ask(
        question: Annotated[str, "the question, whole and in natural language."],
        topics: Annotated[list[str] | None, "names or ids of what it is about, where known."] = None,
    ) -> tuple[str, Record]:
        """Answer a question from the knowledge graph, with the path that proves the answer."""
        try:
            record = await aask(question, topics=topics or (), **given)
        except ValueError as error:
            raise ToolException(str(error)) from None
        return str(record), record

    @wraps(ask)
    def waiting(question: str, topics: list[str] | None = None) -> tuple[str, Record]:
        return run_sync(ask(question, topics))

    return StructuredTool.from_function(
        waiting,
        ask,
        name=name,
        description=description,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def as_node(
    method: str | MethodGraph = "compose",
    *,
    kg: KG | None = None,
    model: AnyModel | None = None,
    key: str | None = None,
    **options: Any,
) -> Runnable[Any, dict[str, Any]]:
    """Make a node of a method for the graph of an app, whose context it leaves alone; options as of `aask`.

    It reads ``question``, and ``topics`` and ``id`` where the app's state has them, and leaves them as they
    are. It writes those other keys of the record that the app's state has, and all of it as ``record``; with
    a ``key`` the record alone, under that key, as nodes do that answer in one step. Its steps are those of a
    subgraph.
    """
    name = make_context(method, options, kg, model).method
    graph, read = graph_of(name), tuple(Input.__annotations__)

    def make(state: Any) -> tuple[Input, Context]:
        held: Mapping[str, Any] = (
            state if isinstance(state, Mapping) else {each: getattr(state, each, None) for each in read}
        )
        given = {each: held[each] for each in read if held.get(each)}
        if "question" not in given:
            raise ValueError("the state of the app has no question; write one to its key 'question'")
        return make_input(**given), make_context(name, options, kg, model)

    def write(record: dict[str, Any]) -> dict[str, Any]:
        results = {} if key else {each: record[each] for each in record.keys() - read}
        return {**results, key or "record": record}

    async def answer(state: Any) -> dict[str, Any]:
        given, context = await asyncio.to_thread(make, state)
        return write(await graph.ainvoke(given, context=context))

    def answer_waiting(state: Any) -> dict[str, Any]:
        given, context = make(state)
        return write(graph.invoke(given, context=context))

    return RunnableLambda(answer_waiting, answer, name=name)


async def stream_states(question_: Input, context: Context) -> AsyncIterator[dict[str, Any]]:
    """Run a question and yield the state after each node that leaves a trace; the last holds the record."""
    entries = 0
    async for state in stream_apart(graph_of(context.method), question_, context):
        if len(state.get("trace") or ()) > entries:
            entries = len(state["trace"])
            yield state


def extract_record(state: dict[str, Any]) -> Record:
    """Take the record out of the last state of a run."""
    return cast(Record, {key: state[key] for key in Record.__annotations__})
