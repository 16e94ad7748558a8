"""What a step of CoR costs beside the model and the graph.

A perfect model of no latency answers the chain questions of the sample graph.
The time outside of graph queries, for each step, stands beside that of an empty
LangGraph node; the queries, beside the chains that were visited.
"""

import asyncio
import gzip
import json
import statistics
import time
from typing import Any

from langgraph.graph import END, START, StateGraph
from rich.console import Console
from rich.table import Table
from typing_extensions import TypedDict

import kgqa
from kgqa.data import SAMPLE_GRAPH, SAMPLE_QUESTIONS
from kgqa.kg.opening import open_graph
from kgqa.tests.support.perfect import PerfectModel

ROUNDS = 3


class _Count(TypedDict):
    steps: int


def chain_questions() -> list[dict[str, Any]]:
    """Read the questions of the sample graph whose gold is one chain."""
    lines = gzip.decompress(SAMPLE_QUESTIONS.read_bytes()).splitlines()
    return [question for question in map(json.loads, lines) if question["kind"] == "chain"]


async def empty_step(steps: int = 200) -> float:
    """Seconds of one superstep of LangGraph with a node that does nothing."""
    builder = StateGraph(_Count)

    async def node(state: _Count) -> _Count:
        return {"steps": state["steps"] + 1}

    async def route(state: _Count) -> str:
        return "again" if state["steps"] < steps else "done"

    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_conditional_edges("node", route, {"again": "node", "done": END})
    graph = builder.compile()
    await graph.ainvoke({"steps": 0})
    started = time.perf_counter()
    await graph.ainvoke({"steps": 0})
    return (time.perf_counter() - started) / steps


def visited(record: kgqa.Record) -> int:
    """Count the chains that a run visited, the topics' roots among them."""
    return len({entry["chain"] for entry in record["trace"] if "chain" in entry})


async def run() -> tuple[list[float], list[float], list[float], int]:
    """Return seconds a step and a question, graph queries a chain, and how many answers were wrong."""
    graph, model = open_graph([SAMPLE_GRAPH]), PerfectModel()
    steps, questions, queries, wrong = [], [], [], 0
    for question in chain_questions() * ROUNDS:
        model.question = question
        started = time.perf_counter()
        topics = [topic["id"] for topic in question["topic_entities"]]
        record = await kgqa.aask(question["question"], topics=topics, method="cor", kg=graph, model=model)
        outside = time.perf_counter() - started - record["usage"]["seconds_kg"]
        questions.append(outside)
        steps.append(outside / len(record["trace"]))
        queries.append(record["usage"]["kg_queries"] / visited(record))
        wrong += {a["id"] for a in record["answers"]} != {a["id"] for a in question["answers"]}
    return steps, questions, queries, wrong


async def main() -> None:
    """Measure both in one run and print them side by side."""
    empty = await empty_step()
    steps, questions, queries, wrong = await run()
    table = Table("", "median", "p95", "max", title=f"CoR, {len(questions)} runs, {wrong} wrong")
    for name, values, scale, unit in (
        ("a step, beside model and graph", steps, 1e3, "ms"),
        ("a question, beside model and graph", questions, 1e3, "ms"),
        ("graph queries for each chain visited", queries, 1, ""),
    ):
        p95 = statistics.quantiles(values, n=20)[-1]
        table.add_row(
            name, *(f"{value * scale:.2f} {unit}" for value in (statistics.median(values), p95, max(values)))
        )
    table.add_row("an empty LangGraph step", f"{empty * 1e3:.2f} ms", "", "")
    table.add_row("a step, as a ratio to an empty one", f"{statistics.median(steps) / empty:.1f}", "", "")
    Console().print(table)


if __name__ == "__main__":
    asyncio.run(main())
