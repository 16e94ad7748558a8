"""The last resort: what the verified segments carry (CoG §3.3, grounded inference)."""

from typing import Any

from kgqa.tests.support.guided import asked, blame, choose, decide, entries, playing, shown
from kgqa.tests.support.method_fixtures import AskCoG

FOUND = {"decision": "forward", "finding": "something"}


def stuck(**more: Any) -> Any:
    """A model that finds the children and can go no further."""
    return playing(
        **{
            "decompose": {"subgoals": ["Find children.", "Find their schools."]},
            "prune_relations": choose("child"),
            "check_sufficiency": decide(child=FOUND),
            "diagnose": {"step": 0},
            **more,
        }
    )


async def test_an_inference_is_labelled_and_from_what_was_offered(cog: AskCoG) -> None:
    model = stuck(infer_from_evidence={"chosen": [2]})
    record = await cog(model, depth=1)
    assert (shown(record), record["outcome"]) == (["Cleo"], "grounded_inference")
    assert [fact["tail"]["name"] for fact in record["evidence"]] == ["Cleo"]
    assert entries(record, "infer")[0]["chosen"] == 1
    [prompt] = asked(model, "infer_from_evidence")
    assert [str(segment.chain) for segment in prompt.segments] == ["Ada -child->"]
    assert prompt.findings == ("something",)
    assert "Find their schools." in prompt.unmet and "Find children." not in prompt.unmet


async def test_an_inference_that_chooses_nothing_is_no_answer(cog: AskCoG) -> None:
    record = await cog(stuck(infer_from_evidence={"chosen": []}), depth=1)
    assert (record["outcome"], record["answers"], record["stopped_by"]) == ("none", [], "depth")


async def test_after_an_abstention_the_model_may_answer_from_memory(cog: AskCoG) -> None:
    model = stuck(infer_from_evidence={"chosen": []}, answer_directly={"answers": ["Eton"]})
    record = await cog(model, depth=1)
    assert (record["outcome"], record["answers"]) == ("parametric", [{"id": None, "name": "Eton"}])
    record = await cog(model, depth=1, allow_parametric=False)
    assert (record["outcome"], record["answers"]) == ("none", [])


async def test_a_number_that_was_not_offered_is_not_inferred(cog: AskCoG) -> None:
    record = await cog(stuck(infer_from_evidence={"chosen": [3]}), depth=1)
    assert (record["outcome"], record["answers"]) == ("none", [])


async def test_where_nothing_was_verified_nothing_is_inferred(cog: AskCoG) -> None:
    model = stuck(check_sufficiency=decide())
    record = await cog(model)
    assert record["outcome"] == "none"
    assert asked(model, "infer_from_evidence") == []


async def test_the_segments_are_what_was_verified_and_stands(cog: AskCoG) -> None:
    """What a diagnosis has blamed is no evidence any more."""
    model = stuck(
        check_sufficiency=decide(child=FOUND, lives_in=FOUND),
        diagnose=blame(1, "lives_in"),
        infer_from_evidence={"chosen": [1]},
    )
    record = await cog(model, depth=1, refinements=1)
    [prompt] = asked(model, "infer_from_evidence")
    assert [str(segment.chain) for segment in prompt.segments] == ["Ada -lives_in->"]
    assert (shown(record), record["outcome"]) == (["Ulm"], "grounded_inference")


async def test_a_topic_that_is_not_met_is_an_unmet_condition(cog: AskCoG) -> None:
    model = playing(
        prune_relations=lambda p: choose("child" if str(p.chain.topic) == "Ada" else "^employer")(p),
        check_sufficiency=decide(child="stop"),
        infer_from_evidence={"chosen": [1]},
    )
    record = await cog(model, topics=["Ada", "Mill"], depth=1, refinements=0)
    assert (shown(record), record["outcome"]) == (["Ben"], "grounded_inference")
    [prompt] = asked(model, "infer_from_evidence")
    assert any("Mill" in condition for condition in prompt.unmet)
    assert not any("Ada" in condition for condition in prompt.unmet)
