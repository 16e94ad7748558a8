"""A perfect model for a question with gold paths, and the data folder it is tried on."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

from kgqa.kg.terms import Hop, local_name
from kgqa.models.scripted import ScriptedModel
from kgqa.prompts.base import Prompt

DATA = Path(os.environ.get("KGQA_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
"""Public question sets and graphs; tests that need them skip where they are absent."""


def questions(name: str) -> list[dict[str, Any]]:
    """Read a question file of the data folder."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def hop_name(hop: Hop) -> str:
    return local_name(hop.relation) if hop.forward else f"^{local_name(hop.relation)}"


def gold_paths(question: dict[str, Any]) -> dict[str, list[str]]:
    """Return the gold path from each topic entity, by its id."""
    if branches := question.get("gold_paths"):
        return {branch["topic"]: branch["path"] for branch in branches}
    return {question["topic_entities"][0]["id"]: question["gold_path"]}


class PerfectModel(ScriptedModel):
    """Picks the gold relation at each hop and stops where the gold path ends.

    Where the gold answers leave out what is reached by way of the topic, so does
    the model. Set ``question`` before each run.
    """

    def __init__(self) -> None:
        super().__init__(self._line)
        self.question: dict[str, Any] = {}

    def _line(self, prompt: Prompt[Any]) -> dict[str, Any]:
        path = gold_paths(self.question)[prompt.chain.topic.id]
        at = prompt.chain.depth
        if prompt.name == "prune_relations":
            ways = [[hop_name(hop) for hop in offer.hops] for offer in prompt.offers]
            right = [n for n, way in enumerate(ways, 1) if way == [*path[at : at + len(way)]]]
            return {"relations": right[:1]}
        if at < len(path):
            return {"decision": "forward"}
        gold = {answer["id"] for answer in self.question["answers"]}
        fresh = {c.term.id for c in prompt.candidates if not c.returning}
        return {"decision": "stop", "take": "others" if fresh == gold else "all"}
