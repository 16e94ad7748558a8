"""Subgoals and blueprint by one call, where a shortlist is cut (beyond the paper)."""

from typing import Any

import pytest

from kgqa.tests.support.guided import Shelf, asked, choose, copied, decide, entries, nodes, playing, shown
from kgqa.tests.support.method_fixtures import AskCoG

NEAREST = Shelf((0.5, [["pet"]]), (0.4, [["mayor"]]))


def stopping(**more: Any) -> Any:
    """A model that goes to the children and stops there."""
    return playing(prune_relations=choose("child"), check_sufficiency=decide(child="stop"), **more)


async def test_where_every_relation_is_shown_nothing_is_planned(cog: AskCoG) -> None:
    model = stopping()
    record = await cog(model, NEAREST, planning="needed")
    assert [prompt.name for prompt in model.prompts] == ["prune_relations", "check_sufficiency"]
    assert not {"plan", "outline"} & {*nodes(record)}
    [entry] = entries(record, "blueprint")
    assert (entry["source"], entry["blueprint"]) == ("nearest", "pet")
    assert model.prompts[1].expected == ""  # what is merely the nearest may be of anything


async def test_where_the_shortlist_is_cut_one_call_gives_subgoals_and_blueprint(cog: AskCoG) -> None:
    reply = {"subgoals": ["Find  the children."], "branches": [["child", "school"]]}
    model = stopping(outline_search=reply)
    record = await cog(model, NEAREST, planning="needed", shortlist=2)
    [entry] = entries(record, "outline")
    assert entry["subgoals"] == ["Find the children."]
    assert (entry["source"], entry["blueprint"], entry["dropped"]) == ("adapted", "child", ["school"])
    [prompt] = asked(model, "outline_search")
    assert [each.question for each in prompt.exemplars] == ["anchor 1", "anchor 2"]
    assert asked(model, "prune_relations")[0].progress.subgoals == ("Find the children.",)
    assert entries(record, "rerank")[0]["slot"] == "child"
    assert shown(record) == ["Ben", "Cleo"]


async def test_it_is_asked_once(cog: AskCoG) -> None:
    reply = {"subgoals": ["Find it."], "branches": [["child"]]}
    model = playing(
        outline_search=reply,
        prune_relations=choose("child", "lives_in"),
        check_sufficiency=decide(child="forward", lives_in="stop"),
        diagnose={"step": 0},
    )
    await cog(model, NEAREST, planning="needed", shortlist=1)
    assert len(asked(model, "outline_search")) == 1


@pytest.mark.parametrize(
    ("library", "options"),
    [
        (copied("pet"), {}),
        (NEAREST, {"guidance": False}),
        (NEAREST, {"reranking": False}),
    ],
)
async def test_what_no_ranking_would_use_is_not_asked(
    cog: AskCoG, library: Shelf, options: dict[str, Any]
) -> None:
    model = stopping()
    await cog(model, library, planning="needed", shortlist=2, **options)
    assert not asked(model, "outline_search")


async def test_without_a_library_or_adaptation_it_plans_and_writes_no_blueprint(cog: AskCoG) -> None:
    reply = {"subgoals": ["Find it."], "branches": [["child"]]}
    for library, options in ((None, {}), (NEAREST, {"adaptation": False})):
        model = stopping(outline_search=reply)
        record = await cog(model, library, planning="needed", shortlist=2, **options)
        [entry] = entries(record, "outline")
        assert entry["subgoals"] == ["Find it."]
        assert "blueprint" not in entry
        assert asked(model, "outline_search")[0].exemplars == ()


async def test_a_malformed_outline_leaves_the_question_and_the_nearest_blueprint(cog: AskCoG) -> None:
    model = stopping(outline_search="no reply at all")
    record = await cog(model, NEAREST, planning="needed", shortlist=2)
    assert asked(model, "prune_relations")[0].progress.subgoals == ("the question",)
    assert entries(record, "rerank")[0]["slot"] == "pet"
    assert shown(record) == ["Ben", "Cleo"]


async def test_a_frontier_is_planned_likewise(cog: AskCoG) -> None:
    model = playing(
        outline_search={"subgoals": ["Find it."], "branches": [["child"]]},
        pick_relations=lambda prompt: {"relations": [1]},
        filter_found={"keep": [1]},
        update_memory={"known": ["Ben."]},
        evaluate_found={"decision": "stop", "groups": [1]},
    )
    record = await cog(model, NEAREST, planning="needed", shortlist=2, exploration="frontier")
    assert entries(record, "outline")[0]["subgoals"] == ["Find it."]
    assert asked(model, "pick_relations")[0].subgoals == ("Find it.",)
