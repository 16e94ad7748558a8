"""Begins and ends the graph of a method."""

from typing import Any

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from kgqa.session.context import Context
from kgqa.session.record import Record
from kgqa.session.state import Input, State
from kgqa.session.step import Step

Builder = StateGraph[Any, Any, Any, Any]
Graph = CompiledStateGraph[Any, Any, Any, Any]

STEPS = 1_000_000
"""Supersteps of a run at most: it is the budget that ends a run, with a record."""


def begin(context: type[Context], *steps: Step, state: type[State] = State) -> Builder:
    """Make a builder that holds the steps as nodes, each under its own name."""
    builder: Builder = StateGraph(state, context, input_schema=Input, output_schema=Record)
    for step in steps:
        builder.add_node(step.name, step.bound(context, state), input_schema=state)
    return builder


def compiled(builder: Builder, name: str) -> Graph:
    """Compile the graph of a method under its name."""
    return builder.compile(name=name).with_config(recursion_limit=STEPS)
