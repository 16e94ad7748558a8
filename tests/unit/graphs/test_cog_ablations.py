"""Each row of the paper's Table 3 leaves out what it says, and nothing else."""

from typing import Any

import pytest

import kgqa
from kgqa.graphs.cog import CoG
from kgqa.tests.support.guided import (
    GRAPH_ORDER,
    Shelf,
    asked,
    blame,
    choose,
    copied,
    decide,
    entries,
    named,
    nodes,
    playing,
    shown,
    signals,
)
from kgqa.tests.support.method_fixtures import AskCoG


def erring(prune: Any = None) -> Any:
    """A model that takes the pet first, and can mend that by a diagnosis."""
    return playing(
        adapt_blueprint={"branches": [["lives_in"]]},
        prune_relations=prune or choose("pet"),
        check_sufficiency=decide(lives_in="stop"),
        diagnose=blame(1, "lives_in"),
    )


def library() -> Shelf:
    return Shelf((0.5, [["lives_in"]]))


def names(model: Any) -> list[str]:
    return [prompt.name for prompt in model.prompts]


async def test_the_whole_method_asks_all(cog: AskCoG) -> None:
    model = erring()
    record = await cog(model, library())
    assert shown(record) == ["Ulm"]
    assert names(model) == [
        *("decompose", "adapt_blueprint", "prune_relations", "check_sufficiency", "diagnose"),
        "check_sufficiency",
    ]


async def test_without_adaptation_the_nearest_blueprint_is_taken_as_it_is(cog: AskCoG) -> None:
    model = erring()
    record = await cog(model, library(), adaptation=False)
    [entry] = entries(record, "blueprint")
    assert (entry["source"], entry["blueprint"], "dropped" in entry) == ("nearest", "lives_in", False)
    assert "adapt_blueprint" not in names(model)
    assert (shown(record), signals(record)) == (["Ulm"], ["wrong_type"])


async def test_without_adaptation_what_is_above_the_threshold_is_copied_still(cog: AskCoG) -> None:
    record = await cog(erring(), copied("lives_in"), adaptation=False)
    assert entries(record, "blueprint")[0]["source"] == "copied"


async def test_without_reranking_relations_are_offered_as_the_graph_gave_them(cog: AskCoG) -> None:
    model = erring()
    record = await cog(model, library(), reranking=False, safeguard="none", shortlist=1)
    assert [named(each.hops[-1]) for each in asked(model, "prune_relations")[0].offers] == GRAPH_ORDER
    assert all("best" not in entry for entry in entries(record, "rerank"))
    assert entries(record, "prune")[0]["added"] == []
    assert (entries(record, "blueprint")[0]["source"], shown(record)) == ("adapted", ["Ulm"])


async def test_the_safeguard_is_parted_from_the_ranking_and_from_its_weights(cog: AskCoG) -> None:
    for options in ({"reranking": False}, {"weight_step": 0.0, "weight_global": 0.0}):
        guarded = await cog(erring(), library(), **options)
        assert entries(guarded, "prune")[0]["added"] == ["-lives_in->"]
        alone = await cog(erring(), library(), **options, safeguard="none")
        assert entries(alone, "prune")[0]["added"] == []
        assert shown(guarded) == shown(alone) == ["Ulm"]


async def test_without_reranking_the_blueprint_is_still_a_hint(cog: AskCoG) -> None:
    model = playing(prune_relations=choose("child"), check_sufficiency=decide(child="stop"))
    await cog(model, copied("child lives_in"), reranking=False)
    assert asked(model, "check_sufficiency")[0].expected == "lives_in"


async def test_system_2_only_has_no_blueprint_and_no_ranking(cog: AskCoG) -> None:
    model, shelf = erring(), library()
    record = await cog(model, shelf, guidance=False, shortlist=1)
    assert (shelf.asked, entries(record, "blueprint")[0]["reason"]) == ([], "guidance is off")
    assert "adapt_blueprint" not in names(model)
    assert [named(each.hops[-1]) for each in asked(model, "prune_relations")[0].offers] == GRAPH_ORDER
    assert entries(record, "prune")[0]["added"] == []
    assert asked(model, "diagnose")[0].blueprint == ""
    assert (shown(record), signals(record)) == (["Ulm"], ["wrong_type"])


async def test_system_2_only_plans_still(cog: AskCoG) -> None:
    model = erring()
    await cog(model, guidance=False)
    assert names(model)[0] == "decompose"
    assert asked(model, "prune_relations")[0].progress.subgoals == ("the goal",)


async def test_without_refinement_a_failure_is_the_end(cog: AskCoG) -> None:
    model = erring(choose("pet", "employer"))
    record = await cog(model, guidance=False, refinement=False)
    assert (record["outcome"], signals(record)) == ("none", [])
    assert names(model) == ["decompose", "prune_relations", "check_sufficiency", "answer_directly"]
    assert entries(record, "diagnose")[0]["reason"] == "refinement is off"


async def test_without_refinement_nothing_is_inferred(cog: AskCoG) -> None:
    found = {"decision": "forward", "finding": "something"}
    model = playing(prune_relations=choose("child"), check_sufficiency=decide(child=found))
    record = await cog(model, depth=1, refinement=False)
    assert record["outcome"] == "none"
    assert "infer_from_evidence" not in names(model)


async def test_without_refinement_what_was_verified_stands(cog: AskCoG) -> None:
    model = playing(
        prune_relations=lambda p: choose("child" if str(p.chain.topic) == "Ada" else "^employer")(p),
        check_sufficiency=decide(child="stop"),
    )
    record = await cog(model, topics=["Ada", "Mill"], depth=1, refinement=False)
    assert (shown(record), record["outcome"]) == (["Ben", "Cleo"], "grounded_unverified")


async def test_without_refinement_the_first_try_is_the_same(cog: AskCoG) -> None:
    model = playing(prune_relations=choose("child"), check_sufficiency=decide(child="stop"))
    on, off = [await cog(model, copied("child"), refinement=value) for value in (True, False)]
    assert nodes(on) == nodes(off)
    assert on["answers"] == off["answers"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("tau", 1.1),
        ("top_k", 0),
        ("shortlist", 0),
        ("weight_local", -0.1),
        ("weight_step", 1.1),
        ("alignment", "by hand"),
        ("relevance", "whole"),
        ("compatibility", "parts"),
        ("safeguard", "always"),
        ("exploration", "beam"),
        ("refinements", -1),
        ("depth", 0),
        ("width", 0),
        ("backtracking", True),
    ],
)
async def test_an_option_that_is_not_taken_is_told_in_one_line(option: str, value: Any) -> None:
    with pytest.raises(ValueError, match=option) as caught:
        await kgqa.aask("?", method="cog", **{option: value})
    assert "\n" not in str(caught.value)


def test_the_defaults_are_the_paper_s() -> None:
    given = CoG()
    assert (given.depth, given.weight_local, given.weight_step, given.weight_global) == (4, 0.6, 0.25, 0.15)
    assert (given.alignment, given.relevance, given.compatibility) == ("semantic", "subgoal", "slots")
    assert given.safeguard == "union"
    assert given.guidance and given.adaptation and given.reranking and given.refinement
