"""Wraps a node of a method: tools, model, budget, cost, trace, and what happens when something fails."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from kgqa.kg.errors import KGError, KGRejected, KGTimeout, KGUnavailable
from kgqa.kg.meter import QueryBudgetExhausted, metered
from kgqa.kg.terms import one_line
from kgqa.models.errors import ModelError, ModelUnavailable
from kgqa.models.interface import Completion, Usage, budget_allows
from kgqa.priors.blueprints import BlueprintLibrary
from kgqa.priors.encoder import Vectors
from kgqa.priors.errors import EncoderError, PriorError
from kgqa.priors.exemplars import SolutionIndex
from kgqa.priors.nli import ContradictionDetector
from kgqa.prompts.base import Prompt, R
from kgqa.runtime.context import Context, OptionError
from kgqa.runtime.record import Spend, StoppedBy, add_spend, zero_spend
from kgqa.runtime.resources import Resources, encode, open_resources
from kgqa.runtime.state import (
    State,
    Update,
    check_run_started,
    initial_state,
    keep_input,
    to_plain,
    to_typed,
    unread_chars,
)

MAX_TRACE_TEXT_CHARS = 2_000
"""Characters of one text in the trace at most."""


class HasUsage(Protocol):
    """What a model gives: it says what it has cost."""

    @property
    def usage(self) -> Usage:
        """The calls, tokens and seconds."""


C = TypeVar("C", bound=HasUsage)
T = TypeVar("T")


class LangGraphNode(Protocol):
    """A node as LangGraph calls it."""

    async def __call__(self, state: State, runtime: Runtime[Any]) -> Update:
        """Take one step and give what changes."""


class BudgetExceeded(Exception):
    """A limit of the budget is reached; ``limit`` names it."""

    def __init__(self, limit: StoppedBy) -> None:
        super().__init__(f"the budget of {limit} is spent")
        self.limit = limit


@dataclass
class NodeRuntime:
    """What a node has at its disposal: the context, the model, the tools, a notebook."""

    context: Any
    spent_before: Spend
    """What the question had cost before this step."""
    spend: Spend = field(default_factory=zero_spend)
    """What this step costs."""
    trace: dict[str, Any] = field(default_factory=dict)
    """What the trace says about this step, beside its node and decision."""
    _started: float = field(default_factory=time.perf_counter)

    async def prompt(self, prompt: Prompt[R]) -> R:
        """Put a prompt to the model.

        Raises:
            BudgetExceeded: before the call, if nothing is left for it.
            MalformedReply: if the model would not reply with what was asked.
            ModelUnavailable: if it cannot be reached.
        """
        answered: Completion[R] = await self.call_model(lambda model: model.ask(prompt))
        return answered.reply

    async def call_model(self, asked: Callable[[Any], Awaitable[C]]) -> C:
        """Ask the model something, and count what it costs.

        Raises:
            BudgetExceeded: before the call, if nothing is left for it.
            ModelError: as the model does.
        """
        self._check("llm_calls", "tokens")
        token = budget_allows.set(self._has_room)
        try:
            async with self._deadline():
                answered = await asked((await open_resources(self.context)).model)
        except ModelError as error:
            self._count(error.usage)
            raise
        except OSError as error:  # a time-out among them: what is handed over may be anybody's model
            raise ModelUnavailable(_describe_error(error)) from error
        except BudgetExceeded as error:
            self._count(getattr(error.__cause__, "usage", Usage()))
            raise
        finally:
            budget_allows.reset(token)
        self._count(answered.usage)
        return answered

    async def call_tool(self, tool: str, **arguments: Any) -> Any:
        """Use a tool of the graph and give its typed answer.

        Raises:
            BudgetExceeded: before the call, if nothing is left for it.
            KGError: if the graph fails or refuses.
        """
        async with self.meter_queries():
            return await _call_tool((await open_resources(self.context)).tools[tool], arguments)

    @asynccontextmanager
    async def meter_queries(self) -> AsyncIterator[None]:
        """Check the budget before each query that is made, and count them and their seconds.

        Raises:
            BudgetExceeded: if nothing is left for a query, or the time is up.
        """
        self._check("kg_queries")
        with metered(self._queries_left()) as meter:
            try:
                async with self._deadline():
                    yield
            except QueryBudgetExhausted:
                raise BudgetExceeded("kg_queries") from None
            except OSError as error:  # what is handed over may be anybody's graph
                raise KGUnavailable(_describe_error(error)) from error
            finally:
                self.spend["kg_queries"] += meter.queries
                self.spend["seconds_kg"] += meter.seconds

    async def open_resources(self) -> Resources:
        """Return what the context names, opened by the time that the question has.

        Raises:
            BudgetExceeded: if the time is up.
            KGError, ModelError, PriorError: if something of it cannot be opened.
        """
        return await self.within_time_limit(open_resources(self.context))

    async def within_time_limit(self, work: Awaitable[T]) -> T:
        """Wait for work that costs nothing but time, as long as the question has any.

        Raises:
            BudgetExceeded: if the time is up.
        """
        async with self._deadline():
            return await work

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts: one row of length 1 each.

        Raises:
            BudgetExceeded: if the time is up.
            EncoderError: if there is no encoder.
        """
        return await self.within_time_limit(encode(self.context, texts))

    async def blueprint_library(self) -> BlueprintLibrary | None:
        """Return the library of blueprints, None if there is none (the sample graph has its own).

        Raises:
            BlueprintError: if it cannot be opened.
        """
        return (await self.open_resources()).library

    async def exemplar_index(self) -> SolutionIndex | None:
        """Return the index of solved questions, None if there is none (the sample graph has its own).

        Raises:
            ExemplarError: if it cannot be opened.
        """
        return (await self.open_resources()).index

    async def contradiction_detector(self) -> ContradictionDetector:
        """Return who tells contradiction: the model that the context names, or rules; its calls block.

        Raises:
            NLIError: if it cannot be opened.
        """
        return (await self.open_resources()).judge

    def record_failure(self, error: Exception) -> None:
        """Note for the trace what failed; a time-out stays noted, whatever fails after it."""
        if self.trace.get("failure") != KGTimeout.__name__:
            self.trace |= {"failure": type(error).__name__, "error": str(error)}

    def total_spend(self) -> Spend:
        """Return what this step has cost, its wall time included."""
        return {**self.spend, "seconds": time.perf_counter() - self._started}

    def token_counts(self) -> dict[str, list[int]]:
        """Return the input and output tokens of this step as the trace says them; nothing without a call."""
        counted = [self.spend["input_tokens"], self.spend["output_tokens"]]
        return {"tokens": counted} if any(counted) else {}

    def _check(self, *limits: StoppedBy) -> None:
        if (spent := self._reached(self.spend, *limits, "seconds")) is not None:
            raise BudgetExceeded(spent)

    def _reached(self, spend: Spend, *limits: StoppedBy) -> StoppedBy | None:
        """Return the first of some limits that is reached where this step has cost ``spend``."""
        total = add_spend(self.spent_before, {**spend, "seconds": self.total_spend()["seconds"]})
        used = {**total, "tokens": total["input_tokens"] + total["output_tokens"]}
        for name in limits:
            limit = getattr(self.context.budget, name)
            if limit is not None and used[name] >= limit:
                return name
        return None

    def _queries_left(self) -> int | None:
        """Return how many queries a tool may make: one more than is left, to end what was begun."""
        limit, spent = (
            self.context.budget.kg_queries,
            self.spent_before["kg_queries"] + self.spend["kg_queries"],
        )
        return None if limit is None else limit - spent + 1

    def _has_room(self, usage: Usage) -> bool:
        return self._reached(_add_usage(self.spend, usage), "llm_calls", "tokens") is None

    def _count(self, usage: Usage) -> None:
        self.spend.update(_add_usage(self.spend, usage))

    def _deadline(self) -> "_Deadline":
        limit = self.context.budget.seconds
        used = self.spent_before["seconds"] + self.total_spend()["seconds"]
        return _Deadline(None if limit is None else limit - used)


def _describe_error(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}")


def _add_usage(spend: Spend, usage: Usage) -> Spend:
    keys = ("llm_calls", "cached_calls", "unknown_calls", "input_tokens", "output_tokens")
    counts = {key: spend[key] + getattr(usage, key) for key in keys}  # type: ignore[literal-required]
    return cast(Spend, {**spend, **counts, "seconds_llm": spend["seconds_llm"] + usage.seconds})


class _Deadline:
    """`asyncio.timeout` that raises `BudgetExceeded` when the question's time is up."""

    def __init__(self, seconds: float | None) -> None:
        self._timeout = asyncio.timeout(seconds)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(self, *raised: Any) -> None:
        try:
            await self._timeout.__aexit__(*raised)
        except TimeoutError as error:
            if self._timeout.expired():
                raise BudgetExceeded("seconds") from error.__cause__
            raise


class NodeBody(Protocol):
    """What a node says for itself."""

    async def __call__(self, state: Any, runtime: NodeRuntime) -> Update:
        """Take one step and give what changes; the state is the method's."""


@dataclass(frozen=True)
class Node:
    """A node without its method: ``bound`` to a context class it is a graph node.

    A step that ``opens`` a run leaves nothing of an earlier run on the same thread. One that has an
    ``option`` is passed, and leaves no trace, where that option of the context is off.
    """

    name: str
    body: NodeBody
    opens: bool = False
    option: str | None = None

    def bound(self, context: type[Context], schema: type[State] = State) -> LangGraphNode:
        """Make the graph node; ``context`` gives the defaults where a run has none, ``schema`` the state."""

        async def node(state: State, runtime: Runtime[Any]) -> Update:
            again = self.opens and bool(state.get("trace"))
            given = keep_input(state) if self.opens else state
            if not self.opens:
                check_run_started(given)
            state = to_typed(given, schema)
            run = NodeRuntime(_check_context(runtime.context) or context(), state["usage"])
            if self.option and not getattr(run.context, self.option):
                return {"decision": "forward"}
            begun = initial_state(given) if self.opens else Update()
            if begun and (rest := unread_chars(given)):
                run.trace["unread"] = rest
            update: Update = {**begun, **await self._tried(state, run)}
            entry = {
                "node": self.name,
                "decision": update["decision"],
                **_shorten_texts(run.trace),
                **run.token_counts(),
            }
            taken = to_plain({**update, "trace": [entry], "usage": run.total_spend()}, schema)
            return cast(Update, {**taken, **_overwrite_totals(taken)}) if again else taken

        node.__doc__ = self.body.__doc__
        return node

    async def _tried(self, state: State, run: NodeRuntime) -> Update:
        try:
            return {"decision": "forward", **await self.body(state, run)}
        except BudgetExceeded as error:
            run.trace["reason"] = str(error)
            return {"decision": "stop", "stopped_by": error.limit}
        except KGError as error:
            run.record_failure(error)
            return {"decision": "stop", "outcome": "kg_unavailable"}
        except (ModelError, EncoderError, PriorError) as error:
            run.record_failure(error)
            return {"decision": "stop", "outcome": "model_unavailable"}


def node(name: str, *, opens: bool = False, option: str | None = None) -> Callable[[NodeBody], Node]:
    """Make a step of a node's body."""
    return lambda body: Node(name, body, opens, option)


def _check_context(given: object) -> Context | None:
    """Return the context of a run; none is fine.

    Raises:
        OptionError: if it is something else.
    """
    if isinstance(given, Context) or not given:
        return given if isinstance(given, Context) else None
    raise OptionError(f"a context holds options by their names; it cannot be of type {type(given).__name__}")


def _shorten_texts(note: dict[str, Any]) -> dict[str, Any]:
    """Cut what a model gives as a reason; a query stays whole, as it proves the answer."""
    long = {
        key: text for key, text in note.items() if isinstance(text, str) and len(text) > MAX_TRACE_TEXT_CHARS
    }
    return {
        **note,
        **{key: f"{text[:MAX_TRACE_TEXT_CHARS]}…" for key, text in long.items() if key != "query"},
    }


def _overwrite_totals(update: Update) -> dict[str, Any]:
    return {key: Overwrite(update[key]) for key in ("trace", "usage")}


async def _call_tool(tool: BaseTool, arguments: dict[str, Any]) -> Any:
    """Call a tool for its typed answer.

    Where nobody listens, the tool's own function is called: LangChain's account of
    a call takes longer than most queries.

    Raises:
        KGRejected: if the tool says that the graph does not know what is named.
    """
    if isinstance(tool, StructuredTool) and tool.coroutine and not _has_listeners():
        try:
            return (await tool.coroutine(**arguments))[1]
        except ToolException as error:
            raise KGRejected(str(error)) from None
    call = {"name": tool.name, "args": arguments, "id": tool.name, "type": "tool_call"}
    message = await tool.ainvoke(call)
    if message.status == "error":
        raise KGRejected(str(message.content))
    return message.artifact


def _has_listeners() -> bool:
    """Return whether anyone listens to calls of tools: a tracer, Studio, a stream of events."""
    listeners = get_config().get("callbacks")
    return bool(getattr(listeners, "handlers", listeners))
