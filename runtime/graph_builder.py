"""Builds the graph of a method from its edges, which node follows which decision; and runs it for a function.

LangGraph takes any graph that is invoked within a node for a subgraph: it has the checkpoints of the
app's run, on the app's event loop, and answers from them where the app goes on after an interrupt.
So `run_apart` and `stream_apart` run it as no part of an app's graph.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping
from contextvars import Context as Variables, copy_context
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.constants import TAG_NOSTREAM
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime, get_runtime

from kgqa.runtime.context import Context
from kgqa.runtime.node import Node
from kgqa.runtime.record import Record
from kgqa.runtime.state import Decision, Input, State, decision_router
from kgqa.sync import run_sync

MethodGraph = CompiledStateGraph[Any, Any, Any, Any]

Edges = Mapping[Node, Mapping[Decision, Node] | Node]
"""Under each node what follows its decisions, or the one node that always follows.

The first node begins the run; the last is the one that nothing stands under.
"""

MAX_SUPERSTEPS = 1_000_000  # supersteps of a run at most: it is the budget that ends a run, with a record


@dataclass(frozen=True)
class EitherWay(Runnable[Any, Any]):
    """A bound node for ``ainvoke`` and ``astream`` of a graph, and for ``invoke`` and ``stream``."""

    run: Callable[[Any, Runtime[Any]], Awaitable[Any]]

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the node and wait for it."""
        return run_sync(self.ainvoke(input, config))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the node."""
        return await self.run(input, get_runtime())


def build_graph(context: type[Context], edges: Edges, state: type[State] = State) -> MethodGraph:
    """Build the graph of a method.

    The decision ``stop``, which an outage or a spent budget makes of any node, leads to the last node
    where the edges say nothing else.
    """
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        state, context, input_schema=Input, output_schema=Record
    )
    routes = {node: {"": then} if isinstance(then, Node) else then for node, then in edges.items()}
    (last,) = {node: None for route in routes.values() for node in route.values() if node not in edges}
    for node in (*edges, last):
        builder.add_node(node.name, EitherWay(node.bind(context, state)), input_schema=state)
    builder.add_edge(START, next(iter(edges)).name)
    for node, then in edges.items():
        if isinstance(then, Node):
            builder.add_edge(node.name, then.name)
        else:
            ends: dict[Hashable, str] = {said: end.name for said, end in {"stop": last, **then}.items()}
            builder.add_conditional_edges(node.name, decision_router, ends)
    builder.add_edge(last.name, END)
    return builder.compile(name=context.method).with_config(recursion_limit=MAX_SUPERSTEPS)


_END: Any = object()  # what stands after the last state of a run


async def run_apart(graph: MethodGraph, given: Input, context: Context) -> dict[str, Any]:
    """Return the record of a question."""
    return await asyncio.create_task(graph.ainvoke(given, context=context), context=_own_variables())


async def stream_apart(graph: MethodGraph, given: Input, context: Context) -> AsyncIterator[dict[str, Any]]:
    """Yield the state of a run after each step; who stops listening ends the run."""
    states: asyncio.Queue[Any] = asyncio.Queue()

    async def run() -> None:
        try:
            async for state in graph.astream(given, context=context, stream_mode="values"):
                states.put_nowait(state)
        finally:
            states.put_nowait(_END)

    # one task goes through the states: their generator is closed there alone, however the caller ends
    task = asyncio.create_task(run(), context=_own_variables())
    try:
        while (state := await states.get()) is not _END:
            yield state
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _own_variables() -> Variables:
    """Return the variables of the caller without the run of an app; who listens to it hears of ours as well.

    What a model says to us is no message of the app.
    """
    variables, app = copy_context(), var_child_runnable_config.get() or {}
    listeners = (
        RunnableConfig(callbacks=app["callbacks"], tags=[TAG_NOSTREAM]) if "callbacks" in app else None
    )
    variables.run(var_child_runnable_config.set, listeners)
    return variables
