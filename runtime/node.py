"""Wraps a node of a method: tools, model, budget, cost, trace, and what happens when something fails."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from kgqa.kg.errors import KGError, KGRejected, KGTimeout, KGUnavailable
from kgqa.kg.languages import detect_language_apart, names_shown_in
from kgqa.kg.meter import QueryBudgetExhausted, metered
from kgqa.kg.terms import Entity, one_line
from kgqa.models.errors import MalformedReply, ModelError, ModelUnavailable
from kgqa.models.interface import (
    Assessment,
    Completion,
    ConfidentModel,
    QueryWriter,
    Turn,
    Usage,
    budget_allows,
    model_queries_spent,
)
from kgqa.priors.blueprints import BlueprintLibrary
from kgqa.priors.encoder import Vectors
from kgqa.priors.errors import EncoderError, PriorError
from kgqa.priors.nli import ContradictionDetector
from kgqa.priors.solutions import SolutionIndex
from kgqa.prompts.base import MAX_QUESTION_CHARS, Prompt, QuestionPrompt, R
from kgqa.runtime.budget import BudgetExceeded, NodeBudget
from kgqa.runtime.context import Context, run_context
from kgqa.runtime.record import ref
from kgqa.runtime.resources import Resources, adjust_model, encode, open_resources, understands
from kgqa.runtime.state import (
    Exchange,
    Input,
    State,
    TypedState,
    Update,
    check_run_started,
    empty_record,
    initial_state,
    keys_of_topics,
    state_of_topics,
    to_plain,
    to_typed,
    topics_corrected,
)
from kgqa.runtime.wordings import read_wordings

MAX_TRACE_TEXT_CHARS = 2_000  # characters of one text in the trace at most


C = TypeVar("C", bound=Completion[Any] | Turn | Assessment)
P = TypeVar("P", bound=Prompt[Any])
T = TypeVar("T")


@dataclass
class NodeRuntime(NodeBudget):
    """What a node works with: the context, the model, the tools, the budget and the trace.

    Each call raises `BudgetExceeded` where the limits that it spends, or the time, are used up.
    """

    trace: dict[str, Any] = field(default_factory=dict)
    """What the trace says about this node, beside its name and decision."""
    exchanges: list[Exchange] = field(default_factory=list)
    """What the model was asked, and what it has replied."""
    failure: str | None = None
    """The kind of error that the node has met, as `record_failure` keeps it."""
    idle: bool = False
    """Whether there is nothing for the node to do."""
    language: str = ""
    """The language in which the question is asked, in which names are shown; empty where it is not clear."""
    asked: str = ""
    """The question as it was asked, where nodes read it in translation."""

    async def prompt(self, prompt: Prompt[R]) -> R:
        """Put a prompt to the model; raise `ModelError` if it cannot be reached, or misunderstands."""
        if self.asked and isinstance(prompt, QuestionPrompt):
            prompt = replace(prompt, asked=self.asked)
        asked = await self.reword(prompt)
        try:
            answered: Completion[R] = await self.call_model(lambda model: model.ask(asked))
        except ModelError:
            self.record_exchange(asked.name, asked.instructions, asked.case(), None)
            raise
        self.record_exchange(asked.name, asked.instructions, asked.case(), answered.reply.model_dump_json())
        return answered.reply

    def record_exchange(self, prompt: str, instructions: str, case: str, reply: str | None) -> None:
        """Keep what the model was asked and has replied, for the state after this node."""
        self.exchanges.append({"prompt": prompt, "instructions": instructions, "case": case, "reply": reply})

    async def reword(self, prompt: P) -> P:
        """Return a prompt in the words that the context has for it; raise `WordingError` if it cannot."""
        words = await self.wording(prompt.name, prompt.instructions)
        return prompt if words == prompt.instructions else prompt.reworded(words)

    async def wording(self, name: str, own: str) -> str:
        """Return the constant text of a prompt: our own, or what the context has in its place."""
        folder = self.context.prompts
        return (await asyncio.to_thread(read_wordings, folder)).get(name, own) if folder else own

    async def ask(self, prompt: Prompt[R]) -> R | None:
        """Put a prompt to the model as `prompt` does; None for a malformed reply, which the trace records."""
        try:
            return await self.prompt(prompt)
        except MalformedReply as error:
            self.record_failure(error)
            return None

    async def call_model(self, call: Callable[[Any], Awaitable[C]]) -> C:
        """Call the model, and count what it costs; raise `ModelError` as the model does."""
        self.check("llm_calls", "tokens")
        room = budget_allows.set(self.has_room)
        queries = self.spent_before["model_queries"] + self.spend["model_queries"]
        spent = model_queries_spent.set(queries)
        try:
            async with self.deadline():
                model = (await open_resources(self.context)).model
                answered = await call(adjust_model(model, self.context))
        except ModelError as error:
            self.count(error.usage)
            raise
        except OSError as error:  # a time-out among them: a model that a caller gives may raise anything
            raise ModelUnavailable(_describe_error(error)) from error
        except BudgetExceeded as error:
            self.count(getattr(error.__cause__, "usage", Usage()))
            raise
        finally:
            budget_allows.reset(room)
            model_queries_spent.reset(spent)
        self.count(answered.usage)
        return answered

    async def assess(self, question: str, topics: tuple[Entity, ...]) -> Assessment | None:
        """Return how likely the model's answer is right; None for one that cannot tell."""
        model = (await self.open_resources()).model
        if not isinstance(model, ConfidentModel):
            return None
        said: Assessment = await self.call_model(lambda own: own.assess(question, topics))
        return said

    async def writes_sparql(self) -> bool:
        """Return whether the model can write a query."""
        model = (await self.open_resources()).model
        return isinstance(model, QueryWriter) and model.writes_sparql

    async def call_tool(self, tool: str, **arguments: Any) -> Any:
        """Call a tool of the graph for its typed answer; raise `KGError` if the graph fails or refuses."""
        async with self.meter_queries():
            return await _call_tool((await open_resources(self.context)).tools[tool], arguments)

    async def try_tool(self, tool: str, **arguments: Any) -> Any:
        """Call a tool as `call_tool` does; None where it takes too long or is refused, as the trace says."""
        try:
            return await self.call_tool(tool, **arguments)
        except (KGTimeout, KGRejected) as error:
            self.record_failure(error)
            return None

    @asynccontextmanager
    async def meter_queries(self) -> AsyncIterator[None]:
        """Check the budget before each query that is made, and count them and their seconds."""
        self.check("kg_queries")
        with metered(self.queries_left()) as meter:
            try:
                async with self.deadline():
                    yield
            except QueryBudgetExhausted:
                raise BudgetExceeded("kg_queries") from None
            except OSError as error:  # a graph that a caller gives may raise anything
                raise KGUnavailable(_describe_error(error)) from error
            finally:
                self.spend["kg_queries"] += meter.queries
                self.spend["seconds_kg"] += meter.seconds

    async def within_time_limit(self, work: Awaitable[T]) -> T:
        """Wait for work that costs nothing but time, as long as the question has any."""
        async with self.deadline():
            return await work

    async def open_resources(self) -> Resources:
        """Return what the context names, or raise why something of it cannot be opened."""
        return await self.within_time_limit(open_resources(self.context))

    async def encode(self, texts: Sequence[str], encoder: str | None = None) -> Vectors:
        """Encode texts, one row of length 1 each; raise `EncoderError` if there is no encoder.

        ``encoder`` names another one than that of the context.
        """
        return await self.within_time_limit(encode(self.context, texts, encoder))

    async def understands(self, language: str) -> bool:
        """Return whether the encoder is known to understand a language beside English."""
        return await self.within_time_limit(understands(self.context, language))

    async def blueprint_library(self) -> BlueprintLibrary | None:
        """Return the blueprints of `open_resources`."""
        return (await self.open_resources()).library

    async def exemplar_index(self) -> SolutionIndex | None:
        """Return the index of solved questions of `open_resources`."""
        return (await self.open_resources()).index

    async def contradiction_detector(self) -> ContradictionDetector:
        """Return the detector of `open_resources`; its calls block."""
        return (await self.open_resources()).contradiction_detector

    def record_failure(self, error: Exception) -> None:
        """Keep what failed, and write it to the trace; a time-out stays there, whatever fails after it."""
        if self.failure != KGTimeout.__name__:
            self.failure = type(error).__name__
            self.trace |= {"failure": self.failure, "error": str(error)}


NodeBody = Callable[[Any, NodeRuntime], Awaitable[Update]]
"""The work of a node itself: takes the state of the method and returns what changes."""


@dataclass(frozen=True)
class Node:
    """A node without its method; ``bind`` makes a node of a graph of it.

    A node that ``opens`` a run leaves nothing of an earlier run on the same thread. One that has an
    ``option`` is passed, and leaves no trace, where that option of the context is off; so is one that
    finds nothing to do (`NodeRuntime.idle`).
    """

    name: str
    body: NodeBody
    opens: bool = False
    option: str | None = None

    def bind(self, context_type: type[Context], schema: type[State] = State) -> Any:
        """Make the node of a graph whose options and state are of these types."""

        async def run(state: State, runtime: Runtime[Any]) -> Update:
            return await self._run(state, run_context(runtime.context, context_type), schema)

        return run

    async def _run(self, given: State, context: Context, schema: type[State]) -> Update:
        """Read the state, call the body, and write what it changes, its trace and its cost."""
        state = self._read(given, schema)
        runtime = NodeRuntime(context, state["usage"])
        if context.asks_graph:
            asked = given["question"][:MAX_QUESTION_CHARS]
            runtime.language = await detect_language_apart(asked)
            runtime.asked = asked if given.get("translated") else ""
        if self.option and not getattr(context, self.option):
            return {"decision": "forward"}
        begun: Update = {**initial_state(given), **empty_record()} if self.opens else {}
        if not self.opens and topics_corrected(state):
            begun = _begin_from_topics(state, runtime, schema)
            state = cast(State, TypedState({**state, **begun}))
        if self.opens and len(given["question"]) > MAX_QUESTION_CHARS:
            runtime.trace["unread"] = len(given["question"]) - MAX_QUESTION_CHARS
        with names_shown_in(runtime.language):
            update: Update = {**begun, **await self._call_body(state, runtime)}
        if runtime.idle:
            return {"decision": "forward"}
        written = self._write(update, runtime, schema)
        return _leave_nothing_held(given, written) if self.opens else written

    def _read(self, given: State, schema: type[State]) -> State:
        """Return the typed state; a node that opens a run sees the input only."""
        if self.opens:
            kept = {key: value for key, value in given.items() if key in Input.__annotations__}
            return to_typed(cast(State, kept), schema)
        check_run_started(given)
        return to_typed(given, schema)

    async def _call_body(self, state: State, runtime: NodeRuntime) -> Update:
        """Call the body; an empty budget or an outage becomes the decision to stop."""
        try:
            return {"decision": "forward", **await self.body(state, runtime)}
        except BudgetExceeded as error:
            runtime.trace["reason"] = str(error)
            return {"decision": "stop", "stopped_by": error.limit}
        except KGError as error:
            runtime.record_failure(error)
            return {"decision": "stop", "outcome": "kg_unavailable"}
        except (ModelError, EncoderError, PriorError) as error:
            runtime.record_failure(error)
            return {"decision": "stop", "outcome": "model_unavailable"}

    def _write(self, update: Update, runtime: NodeRuntime, schema: type[State]) -> Update:
        """Return the update as plain JSON, with trace and cost."""
        entry = {"node": self.name, "decision": update["decision"], **_shorten_texts(runtime.trace)}
        if "topic_entities" in update:
            update = {**update, "searched_topics": update["topic_entities"]}
        update = {**update, "last_node": self.name, "last_failure": runtime.failure}
        totals: Update = {"trace": [{**entry, **runtime.token_counts()}], "usage": runtime.total_spend()}
        if runtime.exchanges:
            totals["exchanges"] = runtime.exchanges
            if runtime.context.keep_prompts:
                totals["trace"][0]["exchanges"] = runtime.exchanges
        return to_plain({**update, **totals}, schema)


def node(name: str, *, opens: bool = False, option: str | None = None) -> Callable[[NodeBody], Node]:
    """Make a node of its body."""
    return lambda body: Node(name, body, opens, option)


def _leave_nothing_held(held: State, written: Update) -> Update:
    """Return an update after which nothing of a state is left but what it says, and the question."""
    left = {key: None for key in held if key not in written and key not in Input.__annotations__}
    joined = {key: Overwrite(written[key]) for key in ("trace", "usage") if held.get(key)}
    return cast(Update, {**left, **written, **joined})


def _begin_from_topics(state: State, runtime: NodeRuntime, schema: type[State]) -> Update:
    """Return what the topics that somebody has corrected change in a state; the trace says which they are."""
    topics = state["topic_entities"]
    runtime.trace["topics"] = [ref(topic) for topic in topics]
    runtime.trace["corrected"] = True
    kept = ("record_id", "translated", "exemplars", "outcome", "stopped_by")
    begun = {key: value for key, value in state_of_topics(topics).items() if key not in kept}
    return cast(Update, begun | dict.fromkeys(keys_of_topics(cast(Hashable, schema))))


def _shorten_texts(trace: dict[str, Any]) -> dict[str, Any]:
    """Cut what a model gives as a reason; a query stays whole, as it proves the answer."""
    most = MAX_TRACE_TEXT_CHARS
    long = {key: text for key, text in trace.items() if isinstance(text, str) and len(text) > most}
    return {**trace, **{key: f"{text[:most]}…" for key, text in long.items() if key != "query"}}


def _describe_error(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}")


async def _call_tool(tool: BaseTool, arguments: dict[str, Any]) -> Any:
    """Call a tool for its typed answer; raise `KGRejected` if the graph does not know what is named.

    Where nobody listens, the tool's own function is called: LangChain's account of
    a call takes longer than most queries.
    """
    listeners = get_config().get("callbacks")  # a tracer, Studio, a stream of events
    if isinstance(tool, StructuredTool) and tool.coroutine and not getattr(listeners, "handlers", listeners):
        try:
            return (await tool.coroutine(**arguments))[1]
        except ToolException as error:
            raise KGRejected(str(error)) from None
    call = {"name": tool.name, "args": arguments, "id": tool.name, "type": "tool_call"}
    message = await tool.ainvoke(call)
    if message.status == "error":
        raise KGRejected(str(message.content))
    return message.artifact
