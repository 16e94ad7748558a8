"""Diagnosis, roll-back and recall (CoG §3.3)."""

from typing import Any

import pytest

from kgqa.tests.support.guided import (
    asked,
    blame,
    choose,
    copied,
    decide,
    entries,
    named,
    playing,
    shown,
    signals,
)
from kgqa.tests.support.method_fixtures import AskCoG

FOUND = {"decision": "forward", "finding": "something"}


def by_topic(**hops: str) -> Any:
    """Prune to one relation for each topic."""
    return lambda p: choose(hops[str(p.chain.topic)])(p)


def checked(model: Any) -> list[str]:
    """The chains that were judged, in order."""
    return [str(prompt.chain) for prompt in asked(model, "check_sufficiency")]


def child_then_home(prompt: Any) -> dict[str, Any]:
    """Go on from the children, stop at their homes, turn back anywhere else."""
    last = named(prompt.chain.hops[-1])
    return FOUND if last == "child" else {"decision": "stop" if last == "lives_in" else "backtrack"}


async def test_a_dead_end_at_a_wrong_type_is_diagnosed_once_and_left(cog: AskCoG) -> None:
    """The second case study: the trap costs the diagnosis and one call for the branch recalled."""
    model = playing(
        prune_relations=choose("pet"),
        check_sufficiency=decide(lives_in="stop"),
        diagnose=blame(1, "lives_in"),
    )
    record = await cog(model)
    assert (shown(record), record["outcome"], signals(record)) == (["Ulm"], "grounded", ["wrong_type"])
    assert [prompt.name for prompt in model.prompts][3:] == ["diagnose", "check_sufficiency"]
    [entry] = entries(record, "diagnose")
    assert (entry["step"], entry["recalled"], entry["blueprint"]) == (1, ["Ada -lives_in->"], "keep")
    assert entries(record, "backtrack")[0]["chain"] == "Ada -lives_in->"


async def test_what_precedes_the_decision_to_blame_stays(cog: AskCoG) -> None:
    model = playing(
        prune_relations=lambda p: choose("^child" if p.chain.hops else "child")(p),
        check_sufficiency=child_then_home,
        diagnose=blame(2, "lives_in"),
    )
    record = await cog(model, cross_mediators=False)
    assert shown(record) == ["Bonn", "Ulm"]
    assert checked(model) == ["Ada -child->", "Ada -child-> <-child-", "Ada -child-> -lives_in->"]
    assert asked(model, "check_sufficiency")[-1].progress.findings == ("something",)


async def test_what_follows_the_decision_to_blame_is_left(cog: AskCoG) -> None:
    model = playing(
        prune_relations=lambda p: choose("^child" if p.chain.hops else "child")(p),
        check_sufficiency=child_then_home,
        diagnose=blame(1, "lives_in"),
    )
    record = await cog(model)
    assert shown(record) == ["Ulm"]
    assert asked(model, "check_sufficiency")[-1].progress.findings == ()


async def test_without_recall_the_relations_there_are_chosen_from_again(cog: AskCoG) -> None:
    model = playing(
        prune_relations=choose("pet", "lives_in"),
        check_sufficiency=decide(lives_in="stop"),
        diagnose={"step": 1},
    )
    record = await cog(model)
    assert shown(record) == ["Ulm"]
    first, second = (
        [named(each.hops[-1]) for each in prompt.offers] for prompt in asked(model, "prune_relations")
    )
    assert [hop for hop in first if hop not in second] == ["pet"]


async def test_entities_that_were_set_aside_can_be_recalled(cog: AskCoG) -> None:
    kept = {**FOUND, "keep": [1]}
    model = playing(
        prune_relations=lambda p: choose("lives_in" if p.chain.hops else "child")(p),
        check_sufficiency=lambda p: (
            {"decision": "stop" if str(p.candidates[0].term) == "Ulm" else "backtrack"}
            if p.chain.depth == 2
            else kept
        ),
        diagnose=blame(1, "child"),
    )
    record = await cog(model)
    assert shown(record) == ["Ulm"]
    assert entries(record, "diagnose")[0]["recalled"] == ["Ada -child-> (only Cleo)"]
    assert {fact["head"]["name"] for fact in record["evidence"]} == {"Ada", "Cleo"}


async def test_branches_that_wait_are_offered_first(cog: AskCoG) -> None:
    model = playing(
        prune_relations=choose("child", "pet", "lives_in"), check_sufficiency=decide(), diagnose={"step": 0}
    )
    await cog(model)
    [prompt] = asked(model, "diagnose")
    assert [(named(each.chain.hops[-1]), each.waiting) for each in prompt.pruned] == [
        *(("pet", True), ("lives_in", True), ("employer", False), ("^spouse", False)),
    ]


async def test_branches_are_offered_by_their_similarity_to_the_blueprint(cog: AskCoG) -> None:
    model = playing(prune_relations=choose("child"), check_sufficiency=decide(), diagnose={"step": 0})
    await cog(model, copied("child pet"), safeguard="sparse")
    first, *others = asked(model, "diagnose")[0].pruned
    assert (named(first.chain.hops[-1]), first.relevance) == ("pet", 1)
    assert {each.relevance for each in others} == {0}


async def test_what_was_tried_is_not_offered_again(cog: AskCoG) -> None:
    wanted = iter(["employer", "lives_in", "pet"])
    model = playing(
        prune_relations=choose("child"),
        check_sufficiency=decide(),
        diagnose=lambda p: blame(1, next(wanted))(p),
    )
    await cog(model)
    offered = [[named(each.chain.hops[-1]) for each in prompt.pruned] for prompt in asked(model, "diagnose")]
    assert offered == [
        ["employer", "lives_in", "pet", "^spouse"],
        ["lives_in", "pet", "^spouse"],
        ["pet", "^spouse"],
    ]
    assert len(checked(model)) == len(set(checked(model))) == 4


@pytest.mark.parametrize("refinements", [0, 1, 3])
async def test_the_budget_of_diagnoses_is_held(cog: AskCoG, refinements: int) -> None:
    model = playing(
        prune_relations=choose("child"),
        check_sufficiency=decide(),
        diagnose=lambda p: {"step": 1, "recall": [1]},
    )
    record = await cog(model, refinements=refinements)
    assert len(asked(model, "diagnose")) == len(signals(record)) == refinements
    last = entries(record, "diagnose")[-1]
    assert (last["reason"], last["decision"]) == ("every diagnosis is spent", "infer")


async def test_a_roll_back_forgets_what_later_topics_led_to(cog: AskCoG) -> None:
    """Who lives in Ulm is tried again, and has to be another's relative this time."""
    model = playing(
        prune_relations=by_topic(Ada="employer", Ulm="^lives_in"),
        check_sufficiency=lambda p: {
            "decision": "stop" if str(p.chain.topic) == "Ada" or p.met else "forward"
        },
        diagnose=blame(1, "child"),
    )
    record = await cog(model, topics=["Ada", "Ulm"], depth=1)
    assert shown(record) == ["Cleo"]
    assert checked(model) == ["Ada -employer->", "Ada -child->", "Ulm <-lives_in-"]
    assert [str(chain) for chain in asked(model, "check_sufficiency")[-1].met] == ["Ada -child->"]
    assert [entry["chain"] for entry in entries(record, "expand")].count("Ulm <-lives_in-") == 2


async def test_a_roll_back_of_the_later_topic_keeps_the_earlier(cog: AskCoG) -> None:
    model = playing(
        prune_relations=by_topic(Ada="child", Ulm="mayor"),
        check_sufficiency=decide(child="stop", lives_in="stop"),
        diagnose=blame(2, "^lives_in"),
    )
    record = await cog(model, topics=["Ada", "Ulm"], depth=1)
    assert shown(record) == ["Cleo"]
    assert [path[0]["head"]["name"] for path in record["paths"]] == ["Ada", "Ulm"]


async def test_where_nothing_is_to_blame_the_topic_is_passed_over(cog: AskCoG) -> None:
    model = playing(
        prune_relations=by_topic(Ada="child", Mill="^employer"),
        check_sufficiency=decide(child="stop"),
        diagnose={"step": 0},
    )
    record = await cog(model, topics=["Ada", "Mill"], depth=1)
    assert (shown(record), record["outcome"]) == (["Ben", "Cleo"], "grounded_unverified")
    assert record["conditions"] == [{"words": "Mill", "query": None, "by": None}]


async def test_after_a_topic_that_is_passed_over_the_next_is_taken_up(cog: AskCoG) -> None:
    model = playing(
        prune_relations=by_topic(Ada="pet", Ulm="mayor"),
        check_sufficiency=decide(mayor="stop"),
        diagnose={"step": 0},
    )
    record = await cog(model, topics=["Ada", "Ulm"])
    assert (shown(record), [path[0]["head"]["name"] for path in record["paths"]]) == (["Zed"], ["Ulm"])


async def test_what_stands_is_filtered_after_a_topic_is_passed_over(cog: AskCoG) -> None:
    model = playing(
        prune_relations=by_topic(Ada="child", Mill="^employer"),
        check_sufficiency=decide(child="filter"),
        apply_conditions={"chosen": [2]},
        diagnose={"step": 0},
    )
    record = await cog(model, topics=["Ada", "Mill"], depth=1)
    assert shown(record) == ["Cleo"]


@pytest.mark.parametrize(("verdict", "slots"), [("keep", ["pet", "pet"]), ("drop", ["pet", None])])
async def test_a_blueprint_that_misleads_is_dropped(
    cog: AskCoG, verdict: str, slots: list[str | None]
) -> None:
    model = playing(
        prune_relations=choose("pet", "lives_in"),
        check_sufficiency=decide(lives_in="stop"),
        diagnose=blame(1, blueprint=verdict),
    )
    record = await cog(model, copied("pet"))
    assert shown(record) == ["Ulm"]
    assert [entry["slot"] for entry in entries(record, "rerank")] == slots
    assert entries(record, "diagnose")[0]["blueprint"] == verdict
