"""Conversations over a graph, what each turn asks when it is made whole, and its gold, asked of the graph."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kgqa.kg.graph import KnowledgeGraph
from kgqa.tools.arguments import resolve_chain

FOLDER = Path(__file__).parents[1] / "unit" / "data" / "conversations"


class SaidTurn(NamedTuple):
    """What somebody says, the question it is, and the chains at whose ends, together, the gold is."""

    say: str
    whole: str
    gold: list[list[str]]


def read_conversations(name: str, split: str) -> list[list[SaidTurn]]:
    """Return the conversations over a graph of one part: "dev", "test" or "fresh"."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    read = [json.loads(line) for line in lines]
    return [[SaidTurn(**turn) for turn in each["turns"]] for each in read if each["split"] == split]


async def gold_names(graph: KnowledgeGraph, chains: Sequence[Sequence[str]]) -> set[str]:
    """Ask a graph for the names at the end of every chain, each a topic and its hops."""
    ends = []
    for topic, *hops in chains:
        page = await graph.follow_chain(await resolve_chain(graph, topic, hops))
        ends.append({str(end.term.name or end.term.id) for end in page if not end.returning})
    return set.intersection(*ends)


def named(answers: Sequence[Any]) -> set[str]:
    """Return the names of a record's answers."""
    return {str(answer["name"] or answer["id"]) for answer in answers}
