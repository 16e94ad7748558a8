"""Entities between topics and answers are counted on the graph, where they lie side by side."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kgqa.evaluation.datasets import load
from kgqa.evaluation.paper_analysis.intermediates import count_intermediates, with_intermediates
from kgqa.evaluation.question import GoldPath, Question
from kgqa.evaluation.report.groups import group_by_dataset
from kgqa.evaluation.report.plots import KindBreakdown
from kgqa.evaluation.report.run_folder import ReportError, read_run
from kgqa.evaluation.result import ResultsError
from kgqa.evaluation.runs.evaluate import evaluate
from kgqa.evaluation.scoring.rescore import rescore
from kgqa.kg.opening import open_graph
from kgqa.tests.unit.evaluation.simulation.family import named, question

PRIZE = """
e:prize r:won_by e:a, e:b, e:c, e:d, e:f, e:g .
e:film1 r:cast e:a, e:b ; r:director e:x . e:film2 r:cast e:c ; r:director e:x .
e:film3 r:cast e:d ; r:director e:y .
e:a r:age 70 . e:b r:age 71 . e:lone r:age 70 .
"""
"""Six winners; four of them play in films, three in films of x; f and g lead nowhere."""


Open = Callable[[str], Any]
Turtle = Callable[[str], Path]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (question("x y", "won_by ^cast director", "prize"), 4),
        (question("x", "won_by ^cast director", "prize"), 3),
        (question("y", "won_by ^cast director", "prize"), 1),
        (question("film1", "won_by ^cast", "prize"), 2),
        (question("a b c d f g", "won_by", "prize"), 0),
        (question("prize", "^director cast ^won_by", "x"), 3),
    ],
)
async def test_those_on_a_way_to_a_gold_answer_count_where_most_lie_side_by_side(
    graph: Open, asked: Question, expected: int
) -> None:
    given = replace(asked, topics=named(asked.paths[0].topic.rpartition("/")[2]))  # type: ignore[union-attr]
    assert await count_intermediates([given], graph(PRIZE)) == {"q": expected}


async def test_all_that_a_number_is_computed_from_counts(graph: Open) -> None:
    films = question("3", "won_by ^cast", "prize", topics=named("prize"))
    assert await count_intermediates([films], graph(PRIZE)) == {"q": 4}


async def test_of_the_way_to_a_value_the_nodes_before_it_count(graph: Open) -> None:
    age = question("71", "won_by age", "prize", topics=named("prize"))
    assert await count_intermediates([age], graph(PRIZE)) == {"q": 1}


async def test_of_several_topics_the_one_with_most_counts(graph: Open) -> None:
    paths = (GoldPath("http://t/e/prize", ("won_by", "^cast")), GoldPath("http://t/e/x", ("^director",)))
    both = question("film1 film2", topics=named("prize", "x"), paths=paths)
    assert await count_intermediates([both], graph(PRIZE)) == {"q": 3}


@pytest.mark.parametrize(
    "asked",
    [
        question("a", topics=named("prize")),
        question("", "won_by", "prize", topics=named("prize")),
        question("lone", "plays_with plays_with", "x", topics=named("nobody")),
    ],
)
async def test_without_a_path_on_the_graph_nothing_is_known(graph: Open, asked: Question) -> None:
    assert await count_intermediates([asked], graph(PRIZE)) == {}


async def test_what_the_graph_cuts_short_counts_only_where_it_is_too_much_anyway(turtle: Turtle) -> None:
    path = turtle(" ".join(f"e:a r:of e:f{n} . e:f{n} r:is e:z ." for n in range(9)))
    asked = question("z", "of is", "a", topics=named("a"))
    assert await count_intermediates([asked], open_graph([path])) == {"q": 9}
    assert await count_intermediates([asked], open_graph([path], rows=5)) == {"q": 5}
    assert await count_intermediates([asked], open_graph([path], rows=3)) == {}


FANS = {"few": 2, "many": 6}


@pytest.fixture
def fans(tmp_path: Path, turtle: Turtle) -> dict[str, Any]:
    """A dataset of two questions, with two and six entities between, and its graph."""
    triples, lines = [], []
    for name, size in FANS.items():
        triples += [f'e:{name} rdfs:label "{name}" .']
        for n in range(size):
            triples += [
                f'e:{name} r:has e:{name}{n} . e:{name}{n} rdfs:label "{name} {n}" ; r:in e:{name}_{n} .'
            ]
            triples += [f'e:{name}_{n} rdfs:label "of {name} {n}" .']
        answers = [{"id": f"http://t/e/{name}_{n}", "name": f"of {name} {n}"} for n in range(size)]
        topic = [{"id": f"http://t/e/{name}", "name": name}]
        record = {"id": name, "question": f"What has {name}?", "topic_entities": topic, "answers": answers}
        lines.append(json.dumps({**record, "gold_path": ["has", "in"]}))
    file = tmp_path / "fans.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return {"dataset": file, "kg": turtle("\n".join(triples)), "model": "simulated"}


async def test_a_report_shows_what_a_beam_loses_and_a_relation_chain_does_not(
    tmp_path: Path, fans: dict[str, Any]
) -> None:
    await evaluate(out=tmp_path / "cor", method="cor", **fans)
    await evaluate(out=tmp_path / "tog", method="tog", beam="entities", **fans)
    (group,) = group_by_dataset([read_run(tmp_path / method) for method in ("cor", "tog")])
    kinds = KindBreakdown("intermediate", group.runs)
    assert [kinds.label(kind) for kind in kinds.kinds] == ["at most 3 (n=1)", "more than 3 (n=1)"]
    recall = {
        kind: [kinds.metrics_of(run, kind)["recall"]["value"] for run in group.runs] for kind in kinds.kinds
    }
    assert recall == {"at most 3": [1, 1], "more than 3": [1, 0.5]}
    found = dict(kinds.compare())
    assert found[2, "more than 3"].differences["recall"].value == -0.5
    assert found[2, "at most 3"].differences["recall"].value == 0


async def test_a_run_scored_again_has_the_same_breakdown(tmp_path: Path, fans: dict[str, Any]) -> None:
    ran = await evaluate(out=tmp_path / "cor", **fans)
    assert ran.metrics is not None
    assert json.loads((tmp_path / "cor/intermediates.json").read_text()) == FANS
    again = rescore(tmp_path / "cor").metrics
    assert again["breakdowns"] == ran.metrics["breakdowns"]


async def test_a_file_of_counts_that_is_none_is_named(tmp_path: Path, fans: dict[str, Any]) -> None:
    await evaluate(out=tmp_path / "cor", **fans)
    (tmp_path / "cor/intermediates.json").write_text('{"few": "some"}')
    with pytest.raises(ReportError, match=r"intermediates\.json, field few: "):
        read_run(tmp_path / "cor")
    with pytest.raises(ResultsError, match="remove it"):
        rescore(tmp_path / "cor")


async def test_a_run_that_has_not_counted_is_broken_down_by_what_another_has(
    tmp_path: Path, fans: dict[str, Any]
) -> None:
    for method in ("cor", "tog"):
        await evaluate(out=tmp_path / method, method=method, **fans)
    (tmp_path / "cor/intermediates.json").unlink()
    (group,) = group_by_dataset([read_run(tmp_path / method) for method in ("cor", "tog")])
    assert [[q.intermediate for q in entry.questions] for entry in group.runs] == [[2, 6]] * 2


def test_questions_are_told_what_was_counted(fans: dict[str, Any]) -> None:
    questions = load(fans["dataset"]).questions
    assert [question.intermediate for question in with_intermediates(questions, {"many": 6})] == [None, 6]
