"""Builds the graph of a method from its edges: which node follows which decision."""

from collections.abc import Hashable, Mapping
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from kgqa.runtime.context import Context
from kgqa.runtime.node import EdgePast, Node
from kgqa.runtime.record import Record
from kgqa.runtime.state import Decision, Input, State, decision_router

MethodGraph = CompiledStateGraph[Any, Any, Any, Any]

Edges = Mapping[Node, Mapping[Decision, Node] | Node]
"""Under each node what follows its decisions, or the one node that always follows.

The first node begins the run; the last is the one that nothing stands under.
"""

MAX_SUPERSTEPS = 1_000_000  # supersteps of a run at most: it is the budget that ends a run, with a record


def build_graph(context: type[Context], edges: Edges, state: type[State] = State) -> MethodGraph:
    """Build the graph of a method.

    The decision ``stop``, which an outage or a spent budget makes of any node, leads to the last node
    where the edges say nothing else. An edge past a node is taken where that node's option is off:
    LangGraph takes as long over a node that does nothing as over any other.
    """
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        state, context, input_schema=Input, output_schema=Record
    )
    routes = {node: {"": then} if isinstance(then, Node) else then for node, then in edges.items()}
    (last,) = {node: None for route in routes.values() for node in route.values() if node not in edges}
    builder.add_edge(START, next(iter(edges)).name)
    for node in (*edges, last):
        then = edges.get(node, {})
        past = {} if isinstance(then, Node) else _edges_past(then, routes)
        builder.add_node(node.name, node.bind(context, state, past), input_schema=state)
        if isinstance(then, Node):
            builder.add_edge(node.name, then.name)
        elif then:
            ends: dict[Hashable, str] = {said: end.name for said, end in {"stop": last, **then}.items()}
            beyond = {edge.label: edge.end.name for edge in past.values()}
            builder.add_conditional_edges(node.name, decision_router, ends | beyond)
    builder.add_edge(last.name, END)
    return builder.compile(name=context.method).with_config(recursion_limit=MAX_SUPERSTEPS)


def _edges_past(
    then: Mapping[Decision, Node], routes: Mapping[Node, Mapping[Any, Node]]
) -> dict[str, EdgePast]:
    """Return, under each label that leads to a node with an option, the edge to what follows that node."""
    past: dict[str, EdgePast] = {}
    for said, end in then.items():
        label: str = said
        while end.option:
            edge = EdgePast(end.option, f"{said} past {end.name}", routes[end]["forward"])
            past[label], label, end = edge, edge.label, edge.end
    return past
