"""Each prompt's malformed reply has its stated way on, and none is taken for a failure of the search."""

from typing import Any

from kgqa.tests.support.guided import Shelf, choose, copied, decide, entries, playing, shown, signals
from kgqa.tests.support.method_fixtures import AskCoG

RAMBLING = "no JSON here"
FOUND = {"decision": "forward", "finding": "something"}


def failures(record: Any, node: str) -> list[str]:
    return [entry["failure"] for entry in entries(record, node) if "failure" in entry]


async def test_no_plan_leaves_the_question_as_the_only_subgoal(cog: AskCoG) -> None:
    model = playing(
        decompose=RAMBLING, prune_relations=choose("child"), check_sufficiency=decide(child="stop")
    )
    record = await cog(model, question="Who are they?")
    assert entries(record, "plan")[0]["subgoals"] == ["Who are they?"]
    assert (shown(record), failures(record, "plan")) == (["Ben", "Cleo"], ["MalformedReply"])


async def test_no_adaptation_leaves_the_nearest_blueprint(cog: AskCoG) -> None:
    model = playing(
        adapt_blueprint=RAMBLING, prune_relations=choose("child"), check_sufficiency=decide(child="stop")
    )
    record = await cog(model, Shelf((0.5, [["child"]]), (0.4, [["pet"]])))
    [entry] = entries(record, "blueprint")
    assert (entry["source"], entry["blueprint"]) == ("nearest", "child")
    assert (shown(record), failures(record, "blueprint")) == (["Ben", "Cleo"], ["MalformedReply"])


async def test_no_choice_leaves_what_the_blueprint_would_take(cog: AskCoG) -> None:
    record = await cog(
        playing(prune_relations=RAMBLING, check_sufficiency=decide(child="stop")), copied("child")
    )
    assert (shown(record), signals(record)) == (["Ben", "Cleo"], [])
    assert "malformed" in entries(record, "prune")[0]


async def test_no_choice_without_a_blueprint_takes_the_next_branch_without_a_diagnosis(cog: AskCoG) -> None:
    record = await cog(playing(prune_relations=RAMBLING, check_sufficiency={"decision": "stop"}))
    assert (record["outcome"], signals(record)) == ("grounded", [])
    assert failures(record, "prune") == ["MalformedReply"]


async def test_no_verdict_takes_the_next_branch_without_a_call(cog: AskCoG) -> None:
    model = playing(
        prune_relations=choose("pet", "child"),
        check_sufficiency=lambda p: RAMBLING if p.chain.hops[0].words == "pet" else {"decision": "stop"},
    )
    record = await cog(model)
    assert (shown(record), signals(record)) == (["Ben", "Cleo"], [])
    assert failures(record, "verify") == ["MalformedReply"]


async def test_no_filter_leaves_the_ends_unjudged(cog: AskCoG) -> None:
    model = playing(
        prune_relations=choose("pet", "child"),
        check_sufficiency=decide(pet="filter", child="stop"),
        apply_conditions=RAMBLING,
    )
    record = await cog(model)
    assert (shown(record), record["outcome"]) == (["Rex"], "grounded_unverified")
    assert failures(record, "filter") == ["MalformedReply"]


async def test_no_diagnosis_takes_the_next_branch(cog: AskCoG) -> None:
    model = playing(
        prune_relations=choose("pet", "child"), check_sufficiency=decide(child="stop"), diagnose=RAMBLING
    )
    record = await cog(model)
    assert (shown(record), signals(record)) == (["Ben", "Cleo"], ["wrong_type"])
    assert failures(record, "diagnose") == ["MalformedReply"]


async def test_a_diagnosis_of_what_was_not_shown_is_malformed(cog: AskCoG) -> None:
    model = playing(
        prune_relations=choose("pet", "child"),
        check_sufficiency=decide(child="stop"),
        diagnose={"step": 7, "recall": [99]},
    )
    record = await cog(model)
    assert (shown(record), failures(record, "diagnose")) == (["Ben", "Cleo"], ["MalformedReply"])


async def test_malformed_diagnoses_are_of_the_budget(cog: AskCoG) -> None:
    model = playing(
        prune_relations=choose("pet", "child", "lives_in"), check_sufficiency=decide(), diagnose=RAMBLING
    )
    record = await cog(model, refinements=2)
    assert len(signals(record)) == 2
    assert record["outcome"] == "none"


async def test_no_inference_leaves_no_answer_where_nothing_is_verified(cog: AskCoG) -> None:
    model = playing(
        prune_relations=choose("child"),
        check_sufficiency=decide(child=FOUND),
        infer_from_evidence=RAMBLING,
    )
    record = await cog(model, depth=1, refinements=0)
    assert (record["outcome"], failures(record, "infer")) == ("none", ["MalformedReply"])


async def test_no_inference_leaves_what_is_verified_labelled(cog: AskCoG) -> None:
    """Ada's children are verified; that one of them has to do with the mill is not."""
    model = playing(
        prune_relations=lambda p: choose("child" if str(p.chain.topic) == "Ada" else "^employer")(p),
        check_sufficiency=decide(child="stop"),
        infer_from_evidence=RAMBLING,
    )
    record = await cog(model, topics=["Ada", "Mill"], depth=1, refinements=0)
    assert (record["outcome"], shown(record)) == ("grounded_inference", ["Ben", "Cleo"])


async def test_nothing_from_memory_leaves_no_answer(cog: AskCoG) -> None:
    model = playing(prune_relations={"relations": []}, diagnose={"step": 0}, answer_directly=RAMBLING)
    record = await cog(model)
    assert (record["outcome"], failures(record, "answer")) == ("none", ["MalformedReply"])
