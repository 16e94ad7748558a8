"""With a perfect simulated model, CoG answers what CoR answers."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kgqa.data import SAMPLE_QUESTIONS
from kgqa.evaluation.question import Question
from kgqa.evaluation.simulation import ErrorRates
from kgqa.kg.graph import KnowledgeGraph
from kgqa.priors.blueprints import build_blueprints
from kgqa.priors.masking import mask_names
from kgqa.priors.training_questions import read_training_questions
from kgqa.runtime.record import Record
from kgqa.tests.conftest import MEMO
from kgqa.tests.support.cases import EVERY_QUESTION
from kgqa.tests.unit.evaluation.simulation.public import answered, available, graph_of, questions

SETS = [
    ("sample", "sample"),
    ("pq-3h", "pathquestion/pq-3h"),
    ("metaqa", "metaqa/metaqa-3hop-test-sample"),
    ("worldcup", "worldcup/wc-c"),
    ("freebase", "freebase/webqsp_slice_union"),
]
if EVERY_QUESTION:
    SETS += [("freebase", "freebase/cwq_slice_union"), ("freebase", "freebase/grailqa_slice")]

PERFECT = ErrorRates()


async def scores(asked: Sequence[Question], graph: KnowledgeGraph, **options: Any) -> list[float]:
    return [found.f1 for _, found in await answered(asked, graph, PERFECT, depth=4, **options)]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("graph", "name"), available(SETS))
async def test_as_well_as_cor(graph: str, name: str) -> None:
    asked, opened = questions(name, most=3), graph_of(graph)
    by_cog = await scores(asked, opened, method="cog")
    assert by_cog == await scores(asked, opened, method="cor")
    assert max(by_cog) == 1


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "options",
    [
        *({}, {"guidance": False}, {"adaptation": False, "tau": -1}, {"safeguard": "sparse"}),
        *({"exploration": "frontier"}, {"exploration": "frontier", "own_knowledge": True}),
    ],
    ids=str,
)
async def test_all_of_the_sample_whatever_guides_the_search(options: dict[str, Any]) -> None:
    asked = questions("sample", most=5)
    by_cog = await scores(asked, graph_of("sample"), method="cog", kg="sample", **options)
    assert set(by_cog) == {1.0}


async def test_adapting_and_planning_rightly_spares_every_refinement() -> None:
    asked = [question for question in questions("sample", most=12) if len(question.topics) == 1]
    results = await answered(asked, graph_of("sample"), PERFECT, method="cog", kg="sample")
    assert not [entry for record, _ in results for entry in record["trace"] if entry["node"] == "diagnose"]


def shuffled(lines: Sequence[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """Give each question the topics and paths of another, drawn at random; its own names are masked."""
    others = Random(seed).sample(lines, len(lines))
    return [
        {
            **other,
            "question": mask_names(line["question"], [topic["name"] for topic in line["topic_entities"]]),
        }
        for line, other in zip(lines, others, strict=True)
    ]


@pytest.mark.timeout(600)
async def test_a_wrong_blueprint_costs_calls_and_not_the_answer(tmp_path: Path) -> None:
    packed = gzip.decompress(SAMPLE_QUESTIONS.read_bytes())
    train = [line for line in map(json.loads, packed.splitlines()) if line["split"] == "train"]
    build_blueprints(
        read_training_questions(shuffled(train, seed=1)), tmp_path / "shuffled", MEMO.encode, MEMO.name
    )
    asked, opened = questions("sample", most=12), graph_of("sample")
    wrong = {"adaptation": False, "blueprints": str(tmp_path / "shuffled")}
    misled = await answered(asked, opened, PERFECT, method="cog", **wrong)
    alone = await answered(asked, opened, PERFECT, method="cog", guidance=False)
    assert sum(found.f1 for _, found in misled) >= sum(found.f1 for _, found in alone) - 0.02 * len(asked)
    assert sum(calls(record) for record, _ in misled) >= sum(calls(record) for record, _ in alone)
    assert {source(record) for record, _ in misled} <= {"copied", "nearest"}


def calls(record: Record) -> int:
    return record["usage"]["llm_calls"]


def source(record: Record) -> str:
    return next(str(entry["source"]) for entry in record["trace"] if entry["node"] == "blueprint")
