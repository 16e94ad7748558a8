"""What VoG's own answers come down to: one query, and who has decided what of it."""

from typing import Any

import pytest

from kgqa.tests.support.method_fixtures import AskVoG
from kgqa.tests.support.planned import TOWNS, as_searched, plan, playing, shown, take


@pytest.mark.parametrize(
    ("answers", "outcome", "by"),
    [(["Ben", "Cleo"], "grounded", []), (["Ben"], "grounded_inference", ["model"])],
)
async def test_what_the_plan_has_picked_is_an_inference(
    vog: AskVoG, answers: list[str], outcome: str, by: list[str]
) -> None:
    model = playing(plan_steps=plan("Ada child", answers=answers), select_relations=as_searched)
    record = await vog(model)
    assert (shown(record), record["outcome"]) == (answers, outcome)
    assert [condition["by"] for condition in record["conditions"]] == by
    assert record["query"]


async def test_a_topic_that_does_not_lead_to_the_answers_leaves_them_unverified(vog: AskVoG) -> None:
    model = playing(plan_steps=plan("Ada child", answers=["Ben", "Cleo"]), select_relations=as_searched)
    record = await vog(model, topics=("Ada", "Danube"))
    assert record["outcome"] == "grounded_unverified"
    assert [(each["words"], each["by"]) for each in record["conditions"]] == [("Danube", None)]


CROWD = 'e:ada rdfs:label "Ada" ; r:motto "Go"@en, "Go"@de .' + "".join(
    f'e:ada r:child e:n{at} . e:n{at} rdfs:label "N{at:03}" ; r:lives_in e:t{at % 70} .' for at in range(140)
)
CROWD += "".join(f'e:t{at} rdfs:label "T{at:02}" .' for at in range(70))


@pytest.mark.parametrize("chosen", [60, 70])
async def test_every_answer_has_its_path_and_the_first_have_facts(vog: AskVoG, chosen: int) -> None:
    answers = [f"T{at:02}" for at in range(chosen)]
    homes = plan("Ada child", "children lives_in", answers=answers)
    record = await vog(playing(plan_steps=homes, select_relations=as_searched), kg=CROWD)
    assert sorted(map(str, shown(record))) == answers
    assert record["outcome"] == ("grounded" if chosen == 70 else "grounded_inference")
    [path] = record["paths"]
    assert [step["tail"]["id"] for step in path] == [None, None]
    told = {fact["tail"]["id"] for fact in record["evidence"] if fact["relation"].endswith("lives_in")}
    assert told == {answer["id"] for answer in record["answers"][:50]}


async def test_a_value_in_two_languages_is_listed_once(vog: AskVoG) -> None:
    model = playing(plan_steps=plan("Ada motto", answers=["Go"]), select_relations=as_searched)
    record = await vog(model, kg=CROWD)
    assert (shown(record), record["outcome"]) == (["Go"], "grounded")


async def test_a_count_is_that_of_the_graph(vog: AskVoG) -> None:
    model = playing(plan_steps=plan("Ada child", answers=["2"]), select_relations=as_searched)
    record = await vog(model)
    assert (shown(record), record["outcome"]) == (["2"], "grounded")
    assert record["query"] is not None
    assert "COUNT" in record["query"]


async def test_without_room_for_the_query_nothing_is_called_proved(vog: AskVoG) -> None:
    model = playing(plan_steps=plan("Ada child", answers=["Ben"]), select_relations=as_searched)
    whole = await vog(model)
    spent = whole["usage"]["kg_queries"] - 2
    record = await vog(model, budget={"kg_queries": spent})
    assert (shown(record), record["outcome"], record["query"]) == (["Ben"], "grounded_unverified", None)


@pytest.mark.parametrize(
    ("topics", "said", "outcome"),
    [
        (("Ada", "Ulm"), {"verdict": "yes", "favour": [1]}, "grounded"),
        (("Ada", "Bonn"), {"verdict": "no", "against": [1]}, "grounded"),
        (("Ada",), {"verdict": "no", "against": [1], "rationale": "It is Ulm."}, "grounded_inference"),
        (("Ada", "Ulm"), {"verdict": "no", "against": [1]}, "grounded_inference"),
        (("Ada", "Ulm", "Danube"), {"verdict": "yes", "favour": [1]}, "grounded_unverified"),
    ],
)
async def test_yes_or_no_is_the_graphs_where_a_chain_joins_what_is_asked_about(
    vog: AskVoG, topics: tuple[str, ...], said: dict[str, Any], outcome: str
) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in", answers=["yes"], whether=True),
        select_relations=take("lives_in"),
        judge_claim=said,
    )
    record = await vog(model, kg=TOWNS, topics=topics)
    assert record["outcome"] == outcome
    assert (record["query"] or "").startswith("ASK") is (outcome != "grounded_inference")
    if topics == ("Ada",):
        assert record["conditions"] == [{"words": "It is Ulm.", "query": None, "by": "model"}]
