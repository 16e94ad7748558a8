"""The questions without a topic: each answer query gives its answers, and no topic is named."""

from collections import Counter
from pathlib import Path

import pytest

from kgqa.data import SAMPLE_GRAPH
from kgqa.evaluation.datasets import load
from kgqa.kg.opening import open_graph
from kgqa.kg.terms import ANY
from kgqa.tests.support.cases import NO_DATA
from kgqa.tests.unit.data.test_conditions import WORLDCUP, asked, ids, query_of

WORLDCUP_QUESTIONS = Path(__file__).with_name("worldcup_without_topic.jsonl")

each_set = pytest.mark.parametrize(
    ("source", "graph"),
    [
        pytest.param("without_topic", SAMPLE_GRAPH, id="sample"),
        pytest.param(
            WORLDCUP_QUESTIONS,
            WORLDCUP,
            id="worldcup",
            marks=pytest.mark.skipif(not WORLDCUP.is_file(), reason=NO_DATA),
        ),
    ],
)


@each_set
async def test_the_graph_gives_the_gold_answers(source: str | Path, graph: Path) -> None:
    opened = open_graph([graph])
    for question in asked(source):
        found = await opened.prove(query_of(question))
        assert ids(found.answers) == {answer.id for answer in question.gold}, question.text


@pytest.mark.parametrize("source", ["without_topic", WORLDCUP_QUESTIONS])
def test_they_name_no_topic_and_set_out_from_a_class_or_from_anything(source: str | Path) -> None:
    assert len(asked(source)) == 30
    for question in asked(source):
        query = query_of(question)
        assert not question.topics
        (branch,), (path,) = query.branches, question.paths
        assert path.topic == branch.chain.topic.id
        assert branch.chain.topic == ANY or branch.chain.hops[0].words == "type"
        assert all(condition.words in question.text for condition in query.conditions)


def test_the_readme_states_the_true_numbers() -> None:
    readme = SAMPLE_GRAPH.with_name("README.md").read_text(encoding="utf-8")
    kinds = Counter(question.kind for question in load("without_topic").questions)
    assert f"| questions without a topic | {kinds.total()} |" in readme
    assert (
        f"{kinds['class']} are about a\nclass" in readme and f"{kinds['anything']} about whatever" in readme
    )
