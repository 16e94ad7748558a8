"""Questions of one kind of graph are asked on another: topics by their ids there, answers by name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa.evaluation.datasets import load
from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.runs.evaluate import align_topics, evaluate
from kgqa.evaluation.scoring.scores import score_answers
from kgqa.kg.dialects import WD
from kgqa.tests.support.wikidata import FACTS

Open = Callable[[str], Any]

ADDA, BRUNO = EntityRef("m.0adda", "Adda"), EntityRef("Q2", "Bruno")

CWQ = {
    "ID": "C-1",
    "question": "Who is the child of Adda Noll?",
    "answer": "Bruno Noll",
    "topic_entity": {"m.0adda": "Adda Noll"},
}


async def topics(graph: Any, *choices: tuple[EntityRef, ...]) -> tuple[EntityRef, ...]:
    question = Question("q", "who?", topics=choices[0], other_topics=choices[1:])
    (asked,) = await align_topics([question], graph)
    return asked.topics


async def test_on_wikidata_its_own_ids_are_taken_and_no_others(graph: Open) -> None:
    assert await topics(graph(FACTS), (ADDA, EntityRef("m.0z", "Zoe")), (BRUNO,)) == (BRUNO,)
    assert await topics(graph(FACTS), (), (BRUNO,)) == (BRUNO,)
    assert await topics(graph(FACTS), (BRUNO,), (ADDA,)) == (BRUNO,)


async def test_where_there_are_none_the_graph_is_asked_and_else_the_name_is_left(graph: Open) -> None:
    given = (ADDA, EntityRef("m.0z", "Zoe"), EntityRef("m.0y", None), EntityRef(None, "Ulm"))
    expected = (EntityRef(f"{WD}Q1", "Adda"), EntityRef(None, "Zoe"), EntityRef(None, "Ulm"))
    assert await topics(graph(FACTS), given) == expected


async def test_on_other_graphs_topics_are_as_in_the_file(graph: Open) -> None:
    plain = graph("e:a r:near e:b .")
    freebase = graph(
        "@prefix fb: <http://rdf.freebase.com/ns/> . fb:m.0adda fb:people.person.children fb:m.0b ."
    )
    assert await topics(plain, (ADDA,), (BRUNO,)) == await topics(freebase, (ADDA,), (BRUNO,)) == (ADDA,)
    assert await topics(plain, (BRUNO,)) == (BRUNO,)


@pytest.mark.parametrize("also", [{"qid_topic_entity": {"Q1": "Adda"}}, {"qid_topic_entity": {}}, {}])
async def test_questions_of_freebase_are_linked_and_scored_on_wikidata(
    turtle: Callable[[str], Path], tmp_path: Path, also: dict[str, Any]
) -> None:
    file = tmp_path / "cwq.json"
    file.write_text(json.dumps([{**CWQ, **also}]))
    run = await evaluate(
        file,
        out=tmp_path / "run",
        kg=str(turtle(FACTS)),
        model="simulated:accuracy=1",
        allow_parametric=False,
    )
    (record,) = map(json.loads, (tmp_path / "run" / "results.jsonl").read_text().splitlines())
    assert (record["outcome"], [answer["id"] for answer in record["answers"]]) == ("grounded", [f"{WD}Q2"])
    assert [topic["id"] for topic in record["topics"]] == [f"{WD}Q1"]
    assert run.metrics is not None
    assert run.metrics["hits_at_1"]["value"] == 1.0


def test_an_answer_with_an_id_of_another_graph_is_scored_by_name(tmp_path: Path) -> None:
    file = tmp_path / "cwq.json"
    answers = [{"answer_id": "m.0b", "answer": "Bruno", "aliases": ["Bruno Noll"]}]
    file.write_text(json.dumps([{**CWQ, "answers": answers}]))
    (question,) = load(file).questions
    right, namesake = EntityRef(f"{WD}Q2", "Bruno Noll"), EntityRef("m.0c", "Bruno Noll")
    assert [
        found and found.hit_at_1
        for found in (score_answers([right], question), score_answers([namesake], question))
    ] == [1, 0]
