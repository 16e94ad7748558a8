"""Names of the nodes between do not matter to CoR (§1: entity incompleteness), nor to VoG."""

import gzip
from pathlib import Path
from typing import Any

import kgqa
from kgqa.evaluation.datasets import load
from kgqa.evaluation.simulation import ErrorRates
from kgqa.kg.opening import open_graph
from kgqa.tests.support.cases import needs_data
from kgqa.tests.support.perfect import DATA, PerfectModel, questions
from kgqa.tests.unit.evaluation.simulation.public import answered

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def only_named(source: Path, named: set[str], target: Path) -> Path:
    """Copy N-Triples without the labels of all nodes but the named ones."""
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        kept = [line for line in lines if LABEL not in line or line.split(" ", 1)[0].strip("<>") in named]
    target.write_text("".join(kept), encoding="utf-8")
    return target


async def answers(graph: Path, asked: list[dict[str, Any]]) -> list[list[str | None]]:
    model = PerfectModel()
    found = []
    kg = open_graph([graph])
    for question in asked:
        model.question = question
        topic = question["topic_entities"][0]["id"]
        record = await kgqa.aask(question["question"], topics=[topic], method="cor", kg=kg, model=model)
        found.append([answer["id"] for answer in record["answers"]])
    return found


@needs_data
async def test_answers_are_the_same_without_the_names_between(tmp_path: Path) -> None:
    source, asked = DATA / "pathquestion/pq-3h.nt.gz", questions("pathquestion/pq-3h")[::60]
    needed = {end["id"] for question in asked for end in (*question["topic_entities"], *question["answers"])}
    opaque = only_named(source, needed, tmp_path / "opaque.nt")
    assert await answers(opaque, asked) == await answers(source, asked)


@needs_data
async def test_vog_crosses_nodes_without_names(tmp_path: Path) -> None:
    asked = load(DATA / "pathquestion/pq-3h.jsonl.gz").questions[::120]
    needed = {end.id for question in asked for end in (*question.topics, *question.gold) if end.id}
    opaque = open_graph([only_named(DATA / "pathquestion/pq-3h.nt.gz", needed, tmp_path / "opaque.nt")])
    for record, score in await answered(asked, opaque, ErrorRates(), method="vog"):
        assert (score.f1, record["outcome"]) == (1, "grounded"), record["question"]
