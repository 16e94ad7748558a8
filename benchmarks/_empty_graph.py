"""A graph with the state, the input and the output of CoR, whose one node does nothing, as often as asked.

The question is how often. Served beside CoR, it tells what LangGraph itself takes for a run.
"""

from typing import Any

from langgraph.graph import END, START, StateGraph

from kgqa.graphs.cor import CoR
from kgqa.runtime.record import Record
from kgqa.runtime.state import Input, State, Update, decision_router


async def step(state: State) -> Update:
    """Count."""
    done = len(state["trace"]) + 1
    return {"trace": [{}], "decision": "stop" if done >= int(state["question"]) else "forward"}


_builder: StateGraph[Any, Any, Any, Any] = StateGraph(State, CoR, input_schema=Input, output_schema=Record)
_builder.add_node("step", step)
_builder.add_edge(START, "step")
_builder.add_conditional_edges("step", decision_router, {"forward": "step", "stop": END})

graph = _builder.compile(name="empty")
