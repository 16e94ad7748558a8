"""Builds the graph of a method from its edges: which node follows which decision."""

from collections.abc import Iterable, Mapping
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from kgqa.runtime.context import Context
from kgqa.runtime.node import Node
from kgqa.runtime.record import Record
from kgqa.runtime.state import Decision, Input, State, decision_router

MethodGraph = CompiledStateGraph[Any, Any, Any, Any]

Edges = Mapping[Node, Mapping[Decision, Node] | Node]
"""Under each step what follows its decisions, or the one step that always follows.

The step that nothing stands under is the last.
"""

MAX_SUPERSTEPS = 1_000_000
"""Supersteps of a run at most: it is the budget that ends a run, with a record."""


def build_graph(context: type[Context], flow: Edges, state: type[State] = State) -> MethodGraph:
    """Make the graph of a method.

    A run begins at the first step of the flow and ends with the last, under which nothing stands.
    What an outage or a spent budget decides everywhere, ``stop``, leads there where a step says
    nothing else.

    Args:
        context: the method's options.
        flow: its steps, each a node under its own name, and the edges between them.
        state: what its steps have in hand.
    """
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        state, context, input_schema=Input, output_schema=Record
    )
    first = next(iter(flow))
    (last,) = {step: None for leads in flow.values() for step in _successors(leads) if step not in flow}
    for step in (*flow, last):
        builder.add_node(step.name, step.bound(context, state), input_schema=state)
    builder.add_edge(START, first.name)
    for step, leads in flow.items():
        if isinstance(leads, Node):
            builder.add_edge(step.name, leads.name)
        else:
            ends = {"stop": last, **leads}
            builder.add_conditional_edges(
                step.name, decision_router, {said: follows.name for said, follows in ends.items()}
            )
    builder.add_edge(last.name, END)
    return builder.compile(name=context.method).with_config(recursion_limit=MAX_SUPERSTEPS)


def _successors(leads: Mapping[Decision, Node] | Node) -> Iterable[Node]:
    return [leads] if isinstance(leads, Node) else leads.values()
