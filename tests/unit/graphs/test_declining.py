"""An answer that is likely wrong is not given, where the model can tell."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.kg.opening import open_graph
from kgqa.models.offline import OfflineModel
from kgqa.tests.conftest import MEMO
from kgqa.tests.support.doubles import FAMILY, QUESTION, children, shown

Turtle = Callable[[str], Path]

METHODS = ("cor", "cog", "pog", "tog", "vog")


async def ask(file: Path, question: str, topic: str = "Ada", **options: Any) -> kgqa.Record:
    graph = open_graph([file])
    options = {"model": OfflineModel(graph, MEMO.encode), **options}
    return await kgqa.aask(question, topics=[topic], kg=graph, **options)


@pytest.mark.parametrize("method", METHODS)
async def test_every_method_declines_what_is_too_unlikely(turtle: Turtle, method: str) -> None:
    file = turtle(FAMILY)
    given = await ask(file, QUESTION, method=method, min_confidence=0)
    assert shown(given) == ["Ben", "Cleo"]
    assert given["confidence"] is not None
    declined = await ask(file, QUESTION, method=method, min_confidence=1)
    assert (shown(declined), declined["outcome"], declined["query"]) == ([], "none", None)
    assert declined["table"] is None
    assert declined["paths"] == declined["evidence"] == declined["conditions"] == []
    assert declined["confidence"] == given["confidence"]
    assert declined["usage"]["model_queries"] == given["usage"]["model_queries"]


async def test_what_the_graph_says_is_likelier_than_what_it_does_not_and_what_is_missing_is_said(
    turtle: Turtle,
) -> None:
    file = turtle(FAMILY)
    right = await ask(file, "Who is a child of Ada?", min_confidence=0)
    wrong = await ask(file, "Which opera did Ada sing?", min_confidence=0)
    assert right["confidence"] is not None
    assert wrong["confidence"] is not None
    assert right["confidence"] > wrong["confidence"]
    declined = await ask(file, "Which opera did Ada sing?", min_confidence=1)
    assert declined["trace"][-1]["reason"].startswith("nothing in the graph about '")
    assert declined["trace"][-1]["reason"].endswith(f"(confidence {declined['confidence']:.2f}, below 1)")


@pytest.mark.parametrize(("level", "outcome"), [(0, "grounded"), (1, "grounded_unverified")])
async def test_an_answer_is_proved_only_where_the_reading_is_sure(
    turtle: Turtle, monkeypatch: pytest.MonkeyPatch, level: float, outcome: str
) -> None:
    monkeypatch.setattr("kgqa.models.offline.SURE_CONFIDENCE", level)
    record = await ask(turtle(FAMILY), QUESTION)
    assert (shown(record), record["outcome"]) == (["Ben", "Cleo"], outcome)


async def test_what_is_in_doubt_is_a_condition_that_nobody_has_checked(turtle: Turtle) -> None:
    record = await ask(turtle(FAMILY), "Where is a child of Ada?", min_confidence=0)
    assert record["outcome"] == "grounded_unverified"
    assert "where" in [each["words"] for each in record["conditions"] if each["by"] is None]


async def test_of_a_question_for_yes_or_no_it_is_said_that_the_graph_says_neither(turtle: Turtle) -> None:
    declined = await ask(turtle(FAMILY), "Does Ada sing operas?")
    assert (declined["outcome"], declined["trace"][-1]["reason"]) == (
        "none",
        "the graph says neither yes nor no",
    )


async def test_a_language_model_judges_by_itself(turtle: Turtle) -> None:
    record = await ask(turtle(FAMILY), QUESTION, method="cor", model=children(), min_confidence=1)
    assert (shown(record), record["confidence"]) == (["Ben", "Cleo"], None)


async def test_papers_decline_nothing(turtle: Turtle) -> None:
    record = await ask(turtle(FAMILY), "Which opera did Ada sing?", method="cor", preset="paper")
    assert record["config"]["min_confidence"] == 0
    assert record["answers"]


GARAGE = """\
@prefix : <http://t/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Car rdfs:label "Car" .
:tona a :Car ; rdfs:label "Tonarola" ; :builtBy :ada ; :plate "T1" ; :retired true .
:vela a :Car ; rdfs:label "Velamira" ; :builtBy :ben ; :plate "V2" ; :retired false .
:ada rdfs:label "Ada" . :ben rdfs:label "Ben" .
"""


@pytest.mark.parametrize(
    ("question", "unsaid"),
    [
        ("Who is Tonarolla built by?", "Tonarolla"),  # the graph has one that is spelt alike
        ("What is the plate of zorbuline?", "zorbuline"),  # it has the plates of others
        ("Why is Tonarola retired?", "Why"),  # and that it is, but no reason
    ],
)
async def test_nothing_is_proved_of_what_the_graph_does_not_know(
    turtle: Turtle, question: str, unsaid: str
) -> None:
    graph = open_graph([turtle(GARAGE)])
    known = await kgqa.aask("Who is Tonarola built by?", kg=graph, model="offline")
    assert (shown(known), known["outcome"]) == (["Ada"], "grounded")
    record = await kgqa.aask(question, kg=graph, model="offline", min_confidence=0)
    assert record["outcome"] == "grounded_unverified" and record["answers"]
    assert unsaid in [each["words"] for each in record["conditions"] if each["by"] is None]
