"""A family to ask about, the methods, and what every record has to be."""

import json
from typing import Any

import kgqa
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.graph import KnowledgeGraph
from kgqa.tests.unit.evaluation.simulation import family

FAMILY = family.FAMILY

QUESTION = "Where were Ann's parents born?"

SEARCHING = ("compose", "cor", "cog", "vog", "pog", "pog_egp", "tog")

PROMPTED = (*SEARCHING, "io", "cot", "sc")
"""Methods that put prompts; the two others hold a conversation."""

SPOKEN = ("agent", "sparql_qa")

KEYS = frozenset(kgqa.Record.__annotations__)

UNLIMITED: dict[str, Any] = dict.fromkeys(["llm_calls", "tokens", "kg_queries", "seconds"])


def simulated(graph: KnowledgeGraph, **errors: Any) -> SimulatedModel:
    """A model that knows the answer, and errs as it is told."""
    return SimulatedModel(
        family.question("ulm bonn", "parent born_in"), graph, ErrorRates(recall=1.0, **errors)
    )


async def ask(method: str, graph: KnowledgeGraph, model: Any, **options: Any) -> kgqa.Record:
    """Ask, and look at the record: complete, fit to be written, its answers in the graph or labelled."""
    record = await kgqa.aask(
        QUESTION, topics=["Ann"], method=method, kg=graph, model=model, id="q", **options
    )
    assert record.keys() == KEYS
    json.dumps(record, ensure_ascii=False, allow_nan=False).encode()
    if record["outcome"] in ("grounded", "grounded_inference", "grounded_unverified"):
        assert record["answers"] and all(answer["id"] for answer in record["answers"])
        known = await graph.names([a["id"] for a in record["answers"] if "://" in (a["id"] or "")])
        assert all(known.values())
    else:
        assert record["outcome"] == "parametric" or not any(answer["id"] for answer in record["answers"])
    return record


def spent(record: kgqa.Record) -> dict[str, float]:
    """What counts against each limit."""
    usage = record["usage"]
    return {**usage, "tokens": usage["input_tokens"] + usage["output_tokens"]}  # type: ignore[dict-item]
