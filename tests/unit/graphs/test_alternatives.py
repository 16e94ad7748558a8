"""What else a question may mean, where it is not sure what was asked; and one of them taken."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.kg.opening import open_graph
from kgqa.models.offline import OfflineModel
from kgqa.runtime.record_alternatives import take_alternative
from kgqa.tests.conftest import MEMO
from kgqa.tests.support.doubles import FAMILY, QUESTION, children, shown

Turtle = Callable[[str], Path]

UNSURE = "Where do the children of Ada live?"

CHICAGOS = """
e:film rdfs:label "Chicago" ; r:directed_by e:rob ; r:starred e:renee . e:rob rdfs:label "Rob" .
e:old rdfs:label "Chicago" ; r:directed_by e:frank . e:frank rdfs:label "Frank" .
"""


async def ask(file: Path, question: str = UNSURE, **options: Any) -> kgqa.Record:
    graph = open_graph([file])
    options = {"model": OfflineModel(graph, MEMO.encode), **options}
    return await kgqa.aask(question, kg=graph, **options)


def names(record: kgqa.Record) -> list[list[str | None]]:
    return [[answer["name"] for answer in each["answers"]] for each in record["alternatives"]]


async def test_other_readings_are_proved_and_lead_elsewhere(turtle: Turtle) -> None:
    file = turtle(FAMILY)
    record = await ask(file)
    assert (shown(record), record["outcome"]) == (["Bonn", "Ulm"], "grounded_unverified")
    readings = [each["reading"] for each in record["alternatives"]]
    assert 1 <= len({*readings, record["reading"]}) - 1 == len(readings) <= 3
    assert ["Bonn", "Ulm"] not in names(record)
    for each in record["alternatives"]:
        rows = await open_graph([file]).select(each["query"])
        assert {row[0].id for row in rows.rows if row[0]} == {answer["id"] for answer in each["answers"]}
        assert [topic["name"] for topic in each["topics"]] == ["Ada"]


async def test_a_short_reading_comes_before_a_long_one_that_is_hardly_likelier(turtle: Turtle) -> None:
    land = 'e:ulm r:country e:de . e:bonn r:country e:de . e:de rdfs:label "Germany" .'
    record = await ask(turtle(f"{FAMILY}{land}"))
    likely = {each["reading"]: each["confidence"] for each in record["alternatives"]}
    short, long = "what Ada lives in", "the country of what the child of Ada lives in"
    assert likely[short] < likely[long]
    assert list(likely).index(short) < list(likely).index(long)


async def test_a_reading_by_more_than_the_search_has_seen_is_none(turtle: Turtle) -> None:
    towns = "".join(f'e:ada r:lives_in e:t{n} . e:t{n} rdfs:label "T{n}" .' for n in range(600))
    few, many = await ask(turtle(FAMILY)), await ask(turtle(f"{FAMILY}{towns}"))
    own = "what Ada lives in"
    said = [own in [each["reading"] for each in record["alternatives"]] for record in (few, many)]
    assert said == [True, False]


async def test_what_is_surely_read_has_none(turtle: Turtle) -> None:
    record = await ask(turtle(FAMILY), QUESTION)
    assert (record["outcome"], record["alternatives"]) == ("grounded", [])


async def test_where_nobody_ranks_there_are_none(turtle: Turtle) -> None:
    record = await ask(turtle(FAMILY), QUESTION, model=children(), method="cor")
    assert (shown(record), record["alternatives"]) == (["Ben", "Cleo"], [])


@pytest.mark.parametrize("method", ["cor", "pog"])
async def test_other_methods_have_them_as_well(turtle: Turtle, method: str) -> None:
    assert names(await ask(turtle(FAMILY), method=method))


async def test_an_answer_that_is_declined_is_the_first_reading_however_long(
    turtle: Turtle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgqa.nodes.alternatives.HOP_FACTOR", 0.01)
    file = turtle(FAMILY)
    given, declined = await ask(file), await ask(file, min_confidence=1)
    assert (declined["answers"], declined["outcome"]) == ([], "none")
    assert declined["alternatives"][0]["answers"] == given["answers"]


async def test_another_thing_of_the_name_may_be_meant(turtle: Turtle) -> None:
    record = await ask(turtle(CHICAGOS), "Who directed Chicago?")
    assert shown(record) == ["Rob"]
    [other] = [each for each in record["alternatives"] if each["topics"][0]["id"] == "http://t/e/old"]
    assert [answer["name"] for answer in other["answers"]] == ["Frank"]
    assert other["confidence"] <= record["confidence"]


async def test_each_costs_a_query_and_a_budget_that_ends_leaves_the_answer(turtle: Turtle) -> None:
    file = turtle(FAMILY)
    whole = await ask(file)
    queries = whole["usage"]["kg_queries"] - len(whole["alternatives"])
    record = await ask(file, budget={"kg_queries": queries})
    assert (record["answers"], record["alternatives"]) == (whole["answers"], [])
    assert record["trace"][-1]["alternatives"].startswith("left out: ")


async def test_the_reading_that_is_taken_is_the_answer_and_can_be_taken_back(turtle: Turtle) -> None:
    record = await ask(turtle(FAMILY))
    other = record["alternatives"][0]
    taken = take_alternative([record], 2)
    assert (taken["answers"], taken["query"], taken["reading"]) == (
        other["answers"],
        other["query"],
        other["reading"],
    )
    assert (taken["outcome"], taken["paths"], taken["conditions"]) == ("grounded", [], [])
    assert [each["query"] for each in taken["alternatives"]] == [
        record["query"],
        *(each["query"] for each in record["alternatives"][1:]),
    ]
    assert take_alternative([record, taken], 2) is record
    with pytest.raises(ValueError, match="no other reading 9"):
        take_alternative([record], 9)


async def test_what_nobody_has_checked_stays_unchecked(turtle: Turtle) -> None:
    record = await ask(turtle(FAMILY), "Which child of Ada lived in Ulm before 1990?")
    doubt = {"words": "1990", "query": None, "by": None}
    assert record["conditions"] == [doubt]
    taken = take_alternative([record], 2)
    assert (taken["outcome"], taken["conditions"]) == ("grounded_unverified", [doubt])


async def test_a_table_that_was_cut_is_an_alternative_that_was_cut(turtle: Turtle) -> None:
    record = await ask(turtle(FAMILY))
    record["table"] = {"columns": ["answer"], "rows": [], "ordered": True, "truncated": True}
    assert take_alternative([record], 2)["alternatives"][0]["truncated"]


async def test_answers_that_were_cut_are_no_proved_answer(turtle: Turtle) -> None:
    record = await ask(turtle(FAMILY))
    record["alternatives"][0]["truncated"] = True
    taken = take_alternative([record], 2)
    assert taken["outcome"] == "grounded_unverified"
    assert taken["table"]["truncated"]
