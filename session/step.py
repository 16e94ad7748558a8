"""A step: what every node has around it.

It hands the node its tools and model, holds the budget, counts the cost, writes
the trace, and turns an outage or an empty budget into the decision ``stop``.
"""

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
from kgqa.kg.meter import QueriesSpent, metered
from kgqa.kg.terms import one_line
from kgqa.models.errors import ModelError, ModelUnavailable
from kgqa.models.port import Answered, has_room
from kgqa.models.usage import Usage
from kgqa.priors.blueprints import Library
from kgqa.priors.encoder import Vectors
from kgqa.priors.errors import EncoderError, PriorError
from kgqa.priors.exemplars import Index
from kgqa.priors.nli import Judge
from kgqa.prompts.base import Prompt, R
from kgqa.session.context import Context, OptionError
from kgqa.session.record import Spend, StoppedBy, add_spend, no_spend
from kgqa.session.resources import Resources, encode, resources
from kgqa.session.state import State, Update, blank, check_begun, opened, plain, typed, unread

NOTED = 2_000
"""Characters of one text in the trace at most."""


class Costing(Protocol):
    """What a model gives: it says what it has cost."""

    @property
    def usage(self) -> Usage:
        """The calls, tokens and seconds."""


C = TypeVar("C", bound=Costing)
T = TypeVar("T")


class Node(Protocol):
    """A node as LangGraph calls it."""

    async def __call__(self, state: State, runtime: Runtime[Any]) -> Update:
        """Take one step and give what changes."""


class BudgetExceeded(Exception):
    """A limit of the budget is reached; ``limit`` names it."""

    def __init__(self, limit: StoppedBy) -> None:
        super().__init__(f"the budget of {limit} is spent")
        self.limit = limit


@dataclass
class Run:
    """What a node has at its disposal: the context, the model, the tools, a notebook."""

    context: Any
    before: Spend
    """What the question had cost before this step."""
    spend: Spend = field(default_factory=no_spend)
    """What this step costs."""
    note: dict[str, Any] = field(default_factory=dict)
    """What the trace says about this step, beside its node and decision."""
    _started: float = field(default_factory=time.perf_counter)

    async def ask(self, prompt: Prompt[R]) -> R:
        """Put a prompt to the model.

        Raises:
            BudgetExceeded: before the call, if nothing is left for it.
            MalformedReply: if the model would not reply with what was asked.
            ModelUnavailable: if it cannot be reached.
        """
        answered: Answered[R] = await self.counted(lambda model: model.ask(prompt))
        return answered.reply

    async def counted(self, asked: Callable[[Any], Awaitable[C]]) -> C:
        """Ask the model something, and count what it costs.

        Raises:
            BudgetExceeded: before the call, if nothing is left for it.
            ModelError: as the model does.
        """
        self._check("llm_calls", "tokens")
        token = has_room.set(self._has_room)
        try:
            async with self._deadline():
                answered = await asked((await resources(self.context)).model)
        except ModelError as error:
            self._count(error.usage)
            raise
        except OSError as error:  # a time-out among them: what is handed over may be anybody's model
            raise ModelUnavailable(_line(error)) from error
        except BudgetExceeded as error:
            self._count(getattr(error.__cause__, "usage", Usage()))
            raise
        finally:
            has_room.reset(token)
        self._count(answered.usage)
        return answered

    async def use(self, tool: str, **arguments: Any) -> Any:
        """Use a tool of the graph and give its typed answer.

        Raises:
            BudgetExceeded: before the call, if nothing is left for it.
            KGError: if the graph fails or refuses.
        """
        async with self.querying():
            return await _used((await resources(self.context)).tools[tool], arguments)

    @asynccontextmanager
    async def querying(self) -> AsyncIterator[None]:
        """Check the budget before each query that is made, and count them and their seconds.

        Raises:
            BudgetExceeded: if nothing is left for a query, or the time is up.
        """
        self._check("kg_queries")
        with metered(self._queries_left()) as meter:
            try:
                async with self._deadline():
                    yield
            except QueriesSpent:
                raise BudgetExceeded("kg_queries") from None
            except OSError as error:  # what is handed over may be anybody's graph
                raise KGUnavailable(_line(error)) from error
            finally:
                self.spend["kg_queries"] += meter.queries
                self.spend["seconds_kg"] += meter.seconds

    async def opened(self) -> Resources:
        """Give what the context names, opened by the time that the question has.

        Raises:
            BudgetExceeded: if the time is up.
            KGError, ModelError, PriorError: if something of it cannot be opened.
        """
        return await self.in_time(resources(self.context))

    async def in_time(self, work: Awaitable[T]) -> T:
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
        return await self.in_time(encode(self.context, texts))

    async def library(self) -> Library | None:
        """Give the library of blueprints, None if there is none (the sample graph has its own).

        Raises:
            BlueprintError: if it cannot be opened.
        """
        return (await self.opened()).library

    async def index(self) -> Index | None:
        """Give the index of solved questions, None if there is none (the sample graph has its own).

        Raises:
            ExemplarError: if it cannot be opened.
        """
        return (await self.opened()).index

    async def judge(self) -> Judge:
        """Give who tells contradiction: the model that the context names, or rules; its calls block.

        Raises:
            NLIError: if it cannot be opened.
        """
        return (await self.opened()).judge

    def failed(self, error: Exception) -> None:
        """Note for the trace what failed; a time-out stays noted, whatever fails after it."""
        if self.note.get("failure") != KGTimeout.__name__:
            self.note |= {"failure": type(error).__name__, "error": str(error)}

    def finished(self) -> Spend:
        """Give what this step has cost, its wall time included."""
        return {**self.spend, "seconds": time.perf_counter() - self._started}

    def tokens(self) -> dict[str, list[int]]:
        """Give the input and output tokens of this step as the trace says them; nothing without a call."""
        counted = [self.spend["input_tokens"], self.spend["output_tokens"]]
        return {"tokens": counted} if any(counted) else {}

    def _check(self, *limits: StoppedBy) -> None:
        if (spent := self._reached(self.spend, *limits, "seconds")) is not None:
            raise BudgetExceeded(spent)

    def _reached(self, spend: Spend, *limits: StoppedBy) -> StoppedBy | None:
        """Give the first of some limits that is reached where this step has cost ``spend``."""
        total = add_spend(self.before, {**spend, "seconds": self.finished()["seconds"]})
        used = {**total, "tokens": total["input_tokens"] + total["output_tokens"]}
        for name in limits:
            limit = getattr(self.context.budget, name)
            if limit is not None and used[name] >= limit:
                return name
        return None

    def _queries_left(self) -> int | None:
        """Give how many queries a tool may make: one more than is left, to end what was begun."""
        limit, spent = self.context.budget.kg_queries, self.before["kg_queries"] + self.spend["kg_queries"]
        return None if limit is None else limit - spent + 1

    def _has_room(self, usage: Usage) -> bool:
        return self._reached(_counted(self.spend, usage), "llm_calls", "tokens") is None

    def _count(self, usage: Usage) -> None:
        self.spend.update(_counted(self.spend, usage))

    def _deadline(self) -> "_Deadline":
        limit = self.context.budget.seconds
        used = self.before["seconds"] + self.finished()["seconds"]
        return _Deadline(None if limit is None else limit - used)


def _line(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}")


def _counted(spend: Spend, usage: Usage) -> Spend:
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


class Body(Protocol):
    """What a node says for itself."""

    async def __call__(self, state: Any, run: Run) -> Update:
        """Take one step and give what changes; the state is the method's."""


@dataclass(frozen=True)
class Step:
    """A node without its method: ``bound`` to a context class it is a graph node.

    A step that ``opens`` a run leaves nothing of an earlier run on the same thread. One that has an
    ``option`` is passed, and leaves no trace, where that option of the context is off.
    """

    name: str
    body: Body
    opens: bool = False
    option: str | None = None

    def bound(self, context: type[Context], schema: type[State] = State) -> Node:
        """Make the graph node; ``context`` gives the defaults where a run has none, ``schema`` the state."""

        async def node(state: State, runtime: Runtime[Any]) -> Update:
            again = self.opens and bool(state.get("trace"))
            given = opened(state) if self.opens else state
            if not self.opens:
                check_begun(given)
            state = typed(given, schema)
            run = Run(_checked(runtime.context) or context(), state["usage"])
            if self.option and not getattr(run.context, self.option):
                return {"decision": "forward"}
            begun = blank(given) if self.opens else Update()
            if begun and (rest := unread(given)):
                run.note["unread"] = rest
            update: Update = {**begun, **await self._tried(state, run)}
            entry = {"node": self.name, "decision": update["decision"], **_bounded(run.note), **run.tokens()}
            taken = plain({**update, "trace": [entry], "usage": run.finished()}, schema)
            return cast(Update, {**taken, **_overwriting(taken)}) if again else taken

        node.__doc__ = self.body.__doc__
        return node

    async def _tried(self, state: State, run: Run) -> Update:
        try:
            return {"decision": "forward", **await self.body(state, run)}
        except BudgetExceeded as error:
            run.note["reason"] = str(error)
            return {"decision": "stop", "stopped_by": error.limit}
        except KGError as error:
            run.failed(error)
            return {"decision": "stop", "outcome": "kg_unavailable"}
        except (ModelError, EncoderError, PriorError) as error:
            run.failed(error)
            return {"decision": "stop", "outcome": "model_unavailable"}


def step(name: str, *, opens: bool = False, option: str | None = None) -> Callable[[Body], Step]:
    """Make a step of a node's body."""
    return lambda body: Step(name, body, opens, option)


def _checked(given: object) -> Context | None:
    """Give the context of a run; none is fine.

    Raises:
        OptionError: if it is something else.
    """
    if isinstance(given, Context) or not given:
        return given if isinstance(given, Context) else None
    raise OptionError(f"a context holds options by their names; it cannot be of type {type(given).__name__}")


def _bounded(note: dict[str, Any]) -> dict[str, Any]:
    """Cut what a model gives as a reason; a query stays whole, as it proves the answer."""
    long = {key: text for key, text in note.items() if isinstance(text, str) and len(text) > NOTED}
    return {**note, **{key: f"{text[:NOTED]}…" for key, text in long.items() if key != "query"}}


def _overwriting(update: Update) -> dict[str, Any]:
    return {key: Overwrite(update[key]) for key in ("trace", "usage")}


async def _used(tool: BaseTool, arguments: dict[str, Any]) -> Any:
    """Call a tool for its typed answer.

    Where nobody listens, the tool's own function is called: LangChain's account of
    a call takes longer than most queries.

    Raises:
        KGRejected: if the tool says that the graph does not know what is named.
    """
    if isinstance(tool, StructuredTool) and tool.coroutine and not _watched():
        try:
            return (await tool.coroutine(**arguments))[1]
        except ToolException as error:
            raise KGRejected(str(error)) from None
    call = {"name": tool.name, "args": arguments, "id": tool.name, "type": "tool_call"}
    message = await tool.ainvoke(call)
    if message.status == "error":
        raise KGRejected(str(message.content))
    return message.artifact


def _watched() -> bool:
    """Tell whether anyone listens to calls of tools: a tracer, Studio, a stream of events."""
    listeners = get_config().get("callbacks")
    return bool(getattr(listeners, "handlers", listeners))
