"""What VoG does at each turn, with a scripted model on a tiny graph."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.kg.errors import KGTimeout
from kgqa.kg.opening import open_graph
from kgqa.models.errors import MalformedReply
from kgqa.tests.support.guided import Failing
from kgqa.tests.support.method_fixtures import AskVoG as Ask
from kgqa.tests.support.planned import (
    TOWNS,
    as_searched,
    entries,
    nodes,
    plan,
    playing,
    revision,
    shown,
    take,
)


async def test_a_plan_that_the_graph_bears_out_is_carried_out_and_its_answer_proved(vog: Ask) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", "Ulm river Danube", answers=["Danube"]),
        select_relations=take("lives_in", "river"),
    )
    record = await vog(model)
    assert shown(record) == ["Danube"]
    assert record["outcome"] == "grounded"
    assert record["answers"][0]["id"] == "http://t/e/danube"
    [path] = record["paths"]
    assert [(step["relation"], step["tail"]["name"]) for step in path] == [
        ("http://t/r/lives_in", "Ulm"),
        ("http://t/r/river", "Danube"),
    ]
    assert [fact["relation"] for fact in record["evidence"]] == ["http://t/r/lives_in", "http://t/r/river"]
    assert "revise" not in nodes(record)


async def test_a_prediction_that_the_facts_contradict_is_revised_and_the_plan_goes_on(vog: Ask) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", "Bonn river Rhine", answers=["Rhine"]),
        select_relations=take("lives_in", "river"),
        revise_locally=revision("Ada lives_in Ulm", "Ulm river Danube", answers=["Danube"]),
    )
    record = await vog(model, threshold=0, verifiers="nli")
    assert shown(record) == ["Danube"]
    assert record["outcome"] == "grounded"
    first, second = entries(record, "verify")
    assert first["signals"] == {"model": None, "nli": True}
    assert first["verifier"] == "rules"
    assert second["signals"]["nli"] is False
    [appraised] = entries(record, "appraise")
    assert (appraised["arm"], appraised["accepted"], appraised["before"]) == ("local", True, ["Rhine"])
    assert entries(record, "answer")[0]["plan"]["arm"] == "local"


async def test_the_first_three_revisions_try_each_arm_and_the_best_is_taken_after_the_cap(vog: Ask) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", answers=["Bonn"]),
        select_relations=take("lives_in"),
        verify_step={"revise": True},
        revise_locally=revision("Ada lives_in Bonn", answers=["Bonn"]),
        revise_ahead=revision("Ada lives_in Ulm", answers=["Ulm"]),
        revise_globally=revision("Ada lives_in Bonn", answers=["nowhere"]),
    )
    record = await vog(model, threshold=1, revisions=3)
    assert [entry["arm"] for entry in entries(record, "choose_arm")] == ["local", "lookahead", "global"]
    rewards = {entry["arm"]: entry["reward"] for entry in entries(record, "appraise")}
    assert max(rewards, key=rewards.__getitem__) == "lookahead"
    assert not any(entry["accepted"] for entry in entries(record, "appraise"))
    assert entries(record, "answer")[0]["plan"] == {
        "steps": 1,
        "answers": ["Ulm"],
        "arm": "lookahead",
    }
    assert shown(record) == ["Ulm"]


async def test_without_any_good_revision_the_plan_in_force_stays(vog: Ask) -> None:
    broken = MalformedReply("no plan")
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", answers=["Ulm"]),
        select_relations=take("lives_in"),
        verify_step={"revise": True},
        revise_locally=broken,
        revise_ahead=broken,
        revise_globally=broken,
    )
    record = await vog(model)
    assert [entry["reward"] for entry in entries(record, "appraise")] == [0, 0, 0, 0]
    assert shown(record) == ["Ulm"]


async def test_a_fixed_strategy_revises_by_one_arm_alone(vog: Ask) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", answers=["Bonn"]),
        select_relations=take("lives_in"),
        verify_step={"revise": True},
        revise_globally=revision("Ada lives_in Bonn", answers=["Bonn"]),
    )
    record = await vog(model, strategy="global", threshold=1)
    assert [entry["arm"] for entry in entries(record, "choose_arm")] == ["global"] * 4


async def test_nodes_without_names_are_crossed_within_a_step(vog: Ask) -> None:
    model = playing(
        plan_steps=plan("Ada partner Finn", answers=["Finn"]),
        select_relations=take("marriage", "partner"),
    )
    record = await vog(model)
    assert (shown(record), record["outcome"]) == (["Finn"], "grounded")
    [path] = record["paths"]
    assert [step["tail"]["name"] for step in path] == [None, "Finn"]
    assert [entry["step"] for entry in entries(record, "expand")] == [1, 1]


async def test_an_empty_observation_is_answered_by_looking_ahead_and_tried_again(vog: Ask) -> None:
    def relations(prompt: Any) -> Any:
        return take("lives_in")(prompt) if prompt.step.search == "Ada lives_in Ulm" else {"relations": []}

    model = playing(
        plan_steps=plan("Ada pet Rex", answers=["Rex"]),
        select_relations=relations,
        revise_ahead=revision("Ada lives_in Ulm", answers=["Ulm"]),
    )
    record = await vog(model)
    assert shown(record) == ["Ulm"]
    assert [entry["arm"] for entry in entries(record, "choose_arm")] == ["lookahead"]
    [ahead] = [prompt for prompt in model.prompts if prompt.name == "revise_ahead"]
    assert (ahead.done, ahead.facts) == (0, ())
    assert {offer.hop.words for offer in ahead.offers} >= {"lives_in", "child"}


async def test_after_two_steps_without_an_observation_the_plan_is_all_there_is(vog: Ask) -> None:
    model = playing(
        plan_steps=plan("a", "b", "c", answers=["Rex"]),
        select_relations={"relations": []},
        revise_ahead=MalformedReply("no plan"),
    )
    record = await vog(model)
    assert (shown(record), record["outcome"]) == (["Rex"], "parametric")
    assert [entry.get("step") for entry in entries(record, "advance")] == [2, None]


async def test_a_time_out_is_no_empty_observation(vog: Ask, turtle: Callable[[str], Path]) -> None:
    real = open_graph([turtle(TOWNS)])
    graph = Failing(real, "follow_relation", KGTimeout("slow"), lambda _: True)
    model = playing(plan_steps=plan("Ada lives_in Ulm", answers=["Ulm"]), select_relations=take("lives_in"))
    record = await vog(model, kg=graph)
    assert record["outcome"] == "kg_unavailable"
    assert record["answers"] == []
    assert {"verify", "choose_arm", "revise"}.isdisjoint(nodes(record))


async def test_an_answer_that_was_not_retrieved_is_labelled_parametric_or_left_out(vog: Ask) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", answers=["Ulm", "Paris"]), select_relations=take("lives_in")
    )
    record = await vog(model)
    assert record["outcome"] == "parametric"
    assert [(answer["id"], answer["name"]) for answer in record["answers"]] == [
        ("http://t/e/ulm", "Ulm"),
        (None, "Paris"),
    ]
    strict = await vog(model, allow_parametric=False)
    assert (shown(strict), strict["outcome"]) == (["Ulm"], "grounded")


async def test_without_verification_the_first_plan_is_the_answer(vog: Ask) -> None:
    model = playing(plan_steps=plan("Ada lives_in Bonn", answers=["Bonn"]))
    record = await vog(model, verification=False)
    assert (shown(record), record["outcome"]) == (["Bonn"], "parametric")
    assert nodes(record) == ["link", "plan", "answer"]
    assert record["usage"]["llm_calls"] == 1


@pytest.mark.parametrize(
    ("verifiers", "by_model", "revises"),
    [
        ("or", False, True),
        ("or", True, True),
        ("and", False, False),
        ("and", True, True),
        ("model", False, False),
        ("nli", False, True),
    ],
)
async def test_verifiers_are_joined_as_told(vog: Ask, verifiers: str, by_model: bool, revises: bool) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", answers=["Bonn"]),
        select_relations=take("lives_in"),
        verify_step={"revise": by_model},
        revise_locally=revision("Ada lives_in Ulm", answers=["Ulm"]),
    )
    record = await vog(model, verifiers=verifiers, threshold=0)
    assert ("revise" in nodes(record)) is revises


async def test_a_corrected_observation_takes_the_place_of_the_predicted_one(vog: Ask) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", answers=["Bonn"]),
        select_relations=take("lives_in"),
        verify_step={"revise": True, "observation": [["Ada", "lives in", "Ulm"]]},
        revise_locally=revision("Ada lives_in Ulm", answers=["Ulm"]),
    )
    await vog(model, threshold=0)
    [asked] = [prompt for prompt in model.prompts if prompt.name == "revise_locally"]
    assert asked.plan.steps[0].observation == (("Ada", "lives in", "Ulm"),)


async def test_all_that_was_kept_is_gone_on_from(vog: Ask) -> None:
    model = playing(
        plan_steps=plan("Ada child", "children lives_in", answers=["Bonn", "Ulm"]),
        select_relations=as_searched,
    )
    record = await vog(model)
    assert (sorted(map(str, shown(record))), record["outcome"]) == (["Bonn", "Ulm"], "grounded")
    assert len(record["paths"]) == 1
    assert record["paths"][0][0]["tail"]["name"] is None


async def test_a_number_that_counts_what_was_chosen_is_proved_by_it(vog: Ask) -> None:
    model = playing(plan_steps=plan("Ada child", answers=["2"]), select_relations=as_searched)
    record = await vog(model)
    assert (record["answers"], record["outcome"]) == ([{"id": "2", "name": "2"}], "grounded")
    assert {fact["tail"]["name"] for fact in record["evidence"]} == {"Ben", "Cleo"}


async def test_some_that_were_chosen_are_gone_on_from_alone(vog: Ask) -> None:
    def ben(prompt: Any) -> Any:
        return {"keep": "some", "chosen": [[str(c) for c in prompt.candidates].index("Ben") + 1]}

    model = playing(
        plan_steps=plan("Ada child", "children lives_in", answers=["Bonn"]),
        select_relations=as_searched,
        select_entities=ben,
    )
    record = await vog(model)
    assert entries(record, "filter")[0]["chosen"] == 1
    assert [entry["frontier"] for entry in entries(record, "retrieve_relations")] == [1, 1]
    assert record["outcome"] == "grounded_inference"


async def test_yes_or_no_is_told_by_the_evidence(vog: Ask) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", answers=["yes"], whether=True),
        select_relations=take("lives_in"),
        judge_claim={"verdict": "no", "favour": [], "against": [1]},
    )
    record = await vog(model)
    assert record["answers"] == [{"id": "false", "name": "no"}]
    assert record["outcome"] == "grounded_inference"
    assert [fact["relation"] for fact in record["evidence"]] == ["http://t/r/lives_in"]
    assert entries(record, "judge")[0]["against"] == ["Ada -lives_in-> Ulm"]


async def test_yes_or_no_is_unknown_where_the_graph_is_silent(vog: Ask) -> None:
    model = playing(
        plan_steps=plan("a", answers=["yes"], whether=True),
        select_relations={"relations": []},
        revise_ahead=MalformedReply("no plan"),
    )
    record = await vog(model)
    assert record["answers"] == [{"id": None, "name": "unknown"}]
    assert record["outcome"] == "none"


async def test_a_malformed_plan_searches_for_the_question_and_answers_nothing(vog: Ask) -> None:
    model = playing(plan_steps=MalformedReply("no plan"), select_relations=take("lives_in"))
    record = await vog(model)
    assert (record["answers"], record["outcome"]) == ([], "none")
    assert "filter" in nodes(record)


async def test_the_budget_is_checked_before_each_call(vog: Ask) -> None:
    for calls in range(4):
        model = playing(
            plan_steps=plan("Ada lives_in Ulm", "Ulm river Danube", answers=["Danube"]),
            select_relations=take("lives_in", "river"),
        )
        record = await vog(model, budget={"llm_calls": calls})
        assert record["stopped_by"] == "llm_calls"
        assert len(model.prompts) == record["usage"]["llm_calls"] == calls


async def test_calls_stay_within_the_bound_of_table_13(vog: Ask) -> None:
    width, revisions = 1, 2
    worst = revision("Ada child", "children lives_in", answers=["Bonn"])
    model = playing(
        plan_steps=plan("Ada child", "children lives_in", answers=["Ulm"]),
        select_relations=lambda prompt: {"relations": list(range(1, len(prompt.offers) + 1))},
        verify_step={"revise": True},
        revise_locally=worst,
        revise_ahead=worst,
        revise_globally=worst,
    )
    record = await vog(model, width=width, k_min=1, revisions=revisions, threshold=1)
    depth = len(entries(record, "advance"))
    assert record["usage"]["llm_calls"] <= 1 + depth * (2 * width + 1 + revisions)


async def test_an_encoder_without_a_threshold_is_told_what_to_do() -> None:
    with pytest.raises(ValueError, match="kgqa calibrate"):
        await kgqa.aask("q", method="vog", encoder="some/encoder")
