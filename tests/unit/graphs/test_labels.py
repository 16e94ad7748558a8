"""What a record claims of its answers, attacked: it is grounded only where its query gives exactly them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import rdflib

import kgqa
from kgqa.kg.errors import KGTimeout
from kgqa.kg.opening import open_graph
from kgqa.models.scripted import ScriptedModel
from kgqa.tests.support.doubles import FAMILY, QUESTION, Flaky, children, shown
from kgqa.tests.support.guided import FailingVisits, choose

Turtle = Callable[[str], Path]

ask = partial(kgqa.aask, method="cor")

HUB = 'e:hub rdfs:label "Hub" .\n' + "\n".join(
    f'e:hub r:part e:n{n} . e:n{n} rdfs:label "{n:03}{"x" * 110}" .' for n in range(500)
)

TIMES = """
e:day rdfs:label "Day" ; r:begins "2001-05-01T23:30:00-05:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>,
  "2001-05-02T01:00:00+00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
"""


def decide(**decision: Any) -> ScriptedModel:
    """A model that follows all that is offered, and decides so."""

    def line(prompt: Any) -> Any:
        if prompt.name == "prune_relations":
            return {"relations": [1]}
        return decision.get(prompt.name, {"chosen": [], "answers": []})

    return ScriptedModel(line)


def replayed(file: Path, record: kgqa.Record) -> set[str]:
    """Return what a record's query gives, by a program that knows nothing of kgqa."""
    return {str(row[0]) for row in rdflib.Graph().parse(file).query(record["query"])}


def ids(record: kgqa.Record) -> set[str | None]:
    return {answer["id"] for answer in record["answers"]}


async def test_what_a_chain_says_by_itself_is_grounded(turtle: Turtle) -> None:
    file = turtle(FAMILY)
    record = await ask(QUESTION, topics=["Ada"], kg=open_graph([file]), model=children())
    assert (record["outcome"], record["conditions"]) == ("grounded", [])
    assert replayed(file, record) == ids(record)


async def test_what_a_model_picks_is_an_inference_in_its_words(turtle: Turtle) -> None:
    file = turtle(FAMILY)
    model = children("filter", apply_conditions={"chosen": [2], "rationale": "Cleo is the younger."})
    record = await ask(QUESTION, topics=["Ada"], kg=open_graph([file]), model=model)
    assert record["outcome"] == "grounded_inference"
    (condition,) = record["conditions"]
    assert (condition["words"], condition["by"]) == ("Cleo is the younger.", "model")
    assert condition["query"] in record["query"]
    assert replayed(file, record) == ids(record) == {"http://t/e/cleo"}


async def test_a_count_is_of_all_that_the_query_counts(turtle: Turtle) -> None:
    file = turtle(HUB)
    model = decide(verify_chain={"decision": "stop", "take": "count"})
    record = await ask("How many?", topics=["Hub"], kg=open_graph([file]), model=model)
    assert (record["outcome"], shown(record)) == ("grounded", ["500"])
    assert replayed(file, record) == {"500"}


async def test_nodes_without_a_name_are_counted(turtle: Turtle) -> None:
    file = turtle(FAMILY + "e:ada r:child e:p3 .")
    model = children(verify_chain={"decision": "stop", "take": "count"})
    question = "How many children has Ada?"
    record = await ask(question, topics=["Ada"], kg=open_graph([file]), model=model)
    assert (record["outcome"], shown(record)) == ("grounded", ["3"])
    slow: Any = Flaky(open_graph([file]), "prove", KGTimeout("slow"))
    record = await ask(question, topics=["Ada"], kg=slow, model=model)
    assert (record["outcome"], record["query"]) == ("grounded_unverified", None)
    assert shown(record) == ["Ben", "Cleo"]  # these and more, which nobody has counted


async def test_what_nobody_has_counted_is_no_number_of_it(turtle: Turtle) -> None:
    file = turtle(FAMILY)
    model = children()
    record = await ask("How many children has Ada?", topics=["Ada"], kg=open_graph([file]), model=model)
    assert record["outcome"] == "grounded_unverified"
    assert [(each["words"], each["by"]) for each in record["conditions"]] == [("How many", None)]
    assert replayed(file, record) == ids(record)


@pytest.mark.parametrize(
    ("values", "outcome"), [(["128928"], "grounded"), (["117541", "128928"], "grounded_unverified")]
)
async def test_a_value_that_is_the_one_number_needs_no_count(
    turtle: Turtle, values: list[str], outcome: str
) -> None:
    file = turtle(f'e:ulm rdfs:label "Ulm" ; r:people {", ".join(values)} .')
    model = decide(verify_chain={"decision": "stop"})
    record = await ask("How many people?", topics=["Ulm"], kg=open_graph([file]), model=model)
    assert (record["outcome"], shown(record)) == (outcome, values)


async def test_lots_that_the_budget_left_unjudged_leave_the_rest_unverified(turtle: Turtle) -> None:
    model = decide(verify_chain={"decision": "filter"}, apply_conditions={"chosen": [1, 2], "count": True})
    budget = {"llm_calls": 2}
    record = await ask("How many?", topics=["Hub"], kg=open_graph([turtle(HUB)]), model=model, budget=budget)
    assert (record["outcome"], record["stopped_by"]) == ("grounded_unverified", "llm_calls")
    assert [each["by"] for each in record["conditions"]] == ["model", None]


async def test_ends_that_nobody_judged_are_unverified(turtle: Turtle) -> None:
    record = await ask(
        QUESTION, topics=["Ada"], kg=open_graph([turtle(FAMILY)]), model=children(), budget={"llm_calls": 1}
    )
    assert (record["outcome"], shown(record)) == ("grounded_unverified", ["Ben", "Cleo"])
    assert [each["by"] for each in record["conditions"]] == [None]


@pytest.mark.parametrize("topic", ["Rome", "http://t/e/nobody"])
async def test_a_topic_that_is_on_no_path_is_said_and_never_grounded(turtle: Turtle, topic: str) -> None:
    def line(prompt: Any) -> Any:
        if prompt.name == "prune_relations":
            return {"relations": [1] if str(prompt.chain.topic) == "Ada" else []}
        return {"decision": "stop"} if prompt.name == "verify_chain" else {"answers": []}

    kg = open_graph([turtle(FAMILY + 'e:rome rdfs:label "Rome" ; r:river e:tiber .')])
    record = await ask("?", topics=["Ada", topic], kg=kg, model=ScriptedModel(line))
    assert (record["outcome"], shown(record)) == ("grounded_unverified", ["Ben", "Cleo"])
    assert record["conditions"] == [{"words": topic, "query": None, "by": None}]


@pytest.mark.parametrize(
    ("first", "answer", "outcome"),
    [
        ({"decision": "stop"}, "Cleo", "grounded"),
        ({"decision": "filter"}, "Cleo", "grounded_unverified"),
        ({"decision": "stop", "take": "count"}, "1", "grounded_inference"),  # of what both share
    ],
)
async def test_what_one_topic_left_to_filter_is_not_done_by_the_next(
    turtle: Turtle, first: Any, answer: str, outcome: str
) -> None:
    def line(prompt: Any) -> Any:
        if prompt.name != "prune_relations":
            return first
        if str(prompt.chain.topic) == "Ada":
            return choose("child")(prompt)
        return {**choose("^lives_in")(prompt), "then": "stop"}

    record = await ask(
        QUESTION,
        topics=["Ada", "Ulm"],
        kg=open_graph([turtle(FAMILY)]),
        model=ScriptedModel(line),
        topic_conditions=False,
    )
    assert (shown(record), record["outcome"]) == ([answer], outcome)


async def test_a_time_out_of_one_topic_leaves_the_other_unverified(turtle: Turtle) -> None:
    graph = open_graph([turtle(FAMILY)])
    slow: Any = FailingVisits(
        graph, "ends", KGTimeout("slow"), lambda chain: bool(chain.hops) and chain.topic.id.endswith("ulm")
    )
    model = decide(verify_chain={"decision": "stop"})
    record = await ask("?", topics=["Ada", "Ulm"], kg=slow, model=model, topic_conditions=False)
    assert (record["outcome"], shown(record)) == ("grounded_unverified", ["Ben", "Cleo"])


async def test_the_earliest_is_told_in_one_time_zone(turtle: Turtle) -> None:
    file = turtle(TIMES)
    model = decide(verify_chain={"decision": "stop", "take": "smallest"})
    record = await ask("When?", topics=["Day"], kg=open_graph([file]), model=model)
    assert (record["outcome"], shown(record)) == ("grounded", ["2001-05-02T01:00:00Z"])
    assert [each["by"] for each in record["conditions"]] == ["graph"]
