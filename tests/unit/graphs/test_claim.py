"""Questions for yes or no are answered by the facts that say or deny what they claim, in every method."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.offline import OfflineModel
from kgqa.models.scripted import ScriptedModel
from kgqa.tests.conftest import MEMO
from kgqa.tests.support.doubles import FAMILY, children, shown

Turtle = Callable[[str], Path]

METHODS = ("cor", "cog", "pog", "pog_egp", "tog")

WEDDING = """
e:w1 r:spouse e:ada ; r:spouse e:carl ; r:held_in e:bonn .
e:ada r:wedding e:w1 . e:carl rdfs:label "Carl" ; r:wedding e:w1 .
"""


def judging(seen: list[str], **reply: Any) -> ScriptedModel:
    """A model that judges the claim so, and notes the facts that it was shown."""

    def line(prompt: Any) -> Any:
        if prompt.name != "judge_claim":
            return {"relations": [1], "decision": "backtrack", "chosen": [], "answers": []}
        seen.extend(map(str, prompt.offered))
        return reply

    return ScriptedModel(line)


async def ask(
    file: Path, question: str, model: Any, *topics: str, method: str = "cor", **options: Any
) -> kgqa.Record:
    return await kgqa.aask(
        question, topics=list(topics), kg=open_graph([file]), model=model, method=method, **options
    )


@pytest.mark.parametrize("method", METHODS)
async def test_every_method_proves_a_yes(turtle: Turtle, method: str) -> None:
    seen: list[str] = []
    model = judging(seen, verdict="yes", favour=[1])
    record = await ask(turtle(FAMILY), "Is Ben a child of Ada?", model, "Ada", "Ben", method=method)
    assert (shown(record), record["outcome"]) == (["yes"], "grounded")
    assert seen[0] in {"Ada -child-> Ben", "Ben <-child- Ada"}
    assert "ASK" in (record["query"] or "")
    assert [entry["node"] for entry in record["trace"]] == ["link", "claim", "answer"]


async def test_what_is_ruled_out_by_another_fact_is_a_no(turtle: Turtle) -> None:
    seen: list[str] = []
    model = judging(seen, verdict="no", against=[1])
    record = await ask(turtle(FAMILY), "Does Ada live in Bonn?", model, "Ada", "Bonn")
    assert (shown(record), record["outcome"]) == (["no"], "grounded")
    assert "Ada -lives_in-> Ulm" in seen


async def test_things_are_joined_by_way_of_a_node_without_a_name(turtle: Turtle) -> None:
    seen: list[str] = []
    model = judging(seen, verdict="yes", favour=[1], rationale="They are.")
    record = await ask(turtle(FAMILY + WEDDING), "Is Ada married to Carl?", model, "Ada", "Carl")
    assert any(each.startswith("Ada") and each.endswith("Carl") for each in seen)
    assert (shown(record), record["outcome"]) == (["yes"], "grounded")


async def test_what_is_unknown_is_searched_for_and_no_entity_is_a_checked_answer(turtle: Turtle) -> None:
    model = children(judge_claim={"verdict": "unknown"})
    record = await ask(turtle(FAMILY), "Has Ada any children?", model, "Ada")
    assert (shown(record), record["outcome"]) == (["Ben", "Cleo"], "grounded_unverified")
    assert [each["words"] for each in record["conditions"]] == ["yes or no"]


async def test_the_offline_model_says_nothing_where_the_facts_do_not(turtle: Turtle) -> None:
    file = turtle(FAMILY)
    model = OfflineModel(open_graph([file]), MEMO.encode)
    yes = await ask(file, "Does Ada live in Ulm?", model, "Ada", "Ulm")
    assert (shown(yes), yes["confidence"]) == (["yes"], None)
    no = await ask(file, "Does Ada hate Bonn?", model, "Ada", "Bonn")
    assert (shown(no), no["outcome"]) == ([], "none")


async def test_other_questions_pass_it_by_and_leave_no_trace(turtle: Turtle) -> None:
    record = await ask(turtle(FAMILY), "Who are Ada's children?", children(), "Ada")
    assert "claim" not in [entry["node"] for entry in record["trace"]]
    paper = await ask(turtle(FAMILY), "Is Ben a child of Ada?", children(), "Ada", preset="paper")
    assert "claim" not in [entry["node"] for entry in paper["trace"]]


async def test_a_thing_is_of_the_classes_above_its_own(graph: Callable[[str], SparqlGraph]) -> None:
    store = graph(
        'e:Vehicle rdfs:label "vehicle" . e:Truck rdfs:subClassOf e:Vehicle ; rdfs:label "truck" .'
        'e:Van rdfs:subClassOf e:Truck ; rdfs:label "van" . e:Boat rdfs:label "boat" .'
        'e:milo a e:Van ; rdfs:label "Milo" ; r:yard e:north . e:luna a e:Boat ; rdfs:label "Luna" .'
        'e:north rdfs:label "North Yard" .'
    )
    for kind in ("vehicle", "truck", "van"):
        record = await kgqa.aask(f"Is Milo a {kind}?", kg=store, model="offline")
        assert (shown(record), record["outcome"]) == (["yes"], "grounded")
    for asked in ("Is Luna a vehicle?", "Is Milo a boat?"):
        assert shown(await kgqa.aask(asked, kg=store, model="offline")) == []


FLAGS = """
e:a rdfs:label "Gate East" ; r:isOpen true ; r:certified "False" .
e:b rdfs:label "Gate West" ; r:isOpen false ; r:notInspected true ; r:openDays 5 .
e:c rdfs:label "Gate North" ; r:isOpen true ; r:openMaintenanceContract false .
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is Gate East open?", ["yes"]),
        ("Is Gate West open?", ["no"]),
        ("Isn't Gate West open?", ["no"]),
        ("Is Gate East certified?", ["no"]),  # written as a text
        ("Is Gate West inspected?", ["no"]),
        ("Are Gate East and Gate North open?", ["yes"]),
        ("Are Gate East and Gate West open?", ["no"]),
        ("Is Gate East locked?", []),
        ("Is Gate West under a contract?", []),
    ],
)
async def test_truth_values_say_yes_and_no(turtle: Turtle, question: str, answer: list[str]) -> None:
    record = await kgqa.aask(question, kg=open_graph([turtle(FLAGS)]), model="offline")
    assert shown(record) == answer
