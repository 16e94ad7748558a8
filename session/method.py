"""Begins the graph of a method: its state, its context, its nodes."""

from typing import Any

from langgraph.graph import StateGraph

from kgqa.session.context import Context
from kgqa.session.record import Record
from kgqa.session.state import Input, State
from kgqa.session.step import Step

Builder = StateGraph[Any, Any, Any, Any]


def begin(context: type[Context], *steps: Step) -> Builder:
    """Make a builder that holds the steps as nodes, each under its own name."""
    builder: Builder = StateGraph(State, context, input_schema=Input, output_schema=Record)
    for step in steps:
        builder.add_node(step.name, step.bound(context))
    return builder
