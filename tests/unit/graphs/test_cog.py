"""What CoG does where nothing goes wrong, with a scripted model on tiny graphs."""

import random
from typing import Any

import pytest

from kgqa.graphs import cog as method
from kgqa.tests.support.doubles import timeless
from kgqa.tests.support.guided import (
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
)
from kgqa.tests.support.method_fixtures import AskCoG

MEDIATED = """
e:club rdfs:label "Club"@en ; r:membership e:x1, e:x2 .
e:x1 r:member e:ann ; r:since 1990 .
e:x2 r:member e:bob ; r:since 2001 .
e:ann rdfs:label "Ann"@en .
e:bob rdfs:label "Bob"@en .
"""

GOES_ON = {"decision": "forward", "finding": "These are the children."}


def children_and_homes(**more: Any) -> Any:
    return playing(
        prune_relations=lambda p: choose("lives_in" if p.chain.hops else "child")(p),
        check_sufficiency=decide(child=GOES_ON, lives_in="stop"),
        **more,
    )


def test_the_drawing_is_the_figure(snapshot: Any) -> None:
    assert method.graph.get_graph().draw_mermaid() == snapshot


async def test_one_hop_takes_three_calls(cog: AskCoG) -> None:
    model = playing(prune_relations=choose("child"), check_sufficiency=decide(child="stop"))
    record = await cog(model, copied("child"))
    assert (shown(record), record["outcome"]) == (["Ben", "Cleo"], "grounded")
    assert [prompt.name for prompt in model.prompts] == ["decompose", "prune_relations", "check_sufficiency"]
    assert nodes(record) == [
        *("link", "plan", "blueprint", "retrieve_relations", "rerank", "prune", "expand", "verify"),
        *("learn", "answer"),
    ]


async def test_two_hops_take_five_calls(cog: AskCoG) -> None:
    record = await cog(children_and_homes(), copied("child lives_in"))
    assert (shown(record), record["usage"]["llm_calls"]) == (["Bonn", "Ulm"], 5)
    assert [step["relation"] for step in record["paths"][0]] == ["http://t/r/child", "http://t/r/lives_in"]


async def test_the_plan_and_what_is_verified_are_shown(cog: AskCoG) -> None:
    model = children_and_homes(decompose={"subgoals": ["Find children.", "Find homes."]})
    record = await cog(model)
    first, second = asked(model, "prune_relations")
    assert (first.progress.at, first.progress.findings) == (0, ())
    assert (second.progress.at, second.progress.findings) == (1, ("These are the children.",))
    assert [prompt.progress.at for prompt in asked(model, "check_sufficiency")] == [0, 1]
    assert [entry["subgoal"] for entry in entries(record, "rerank")] == ["Find children.", "Find homes."]


async def test_the_check_is_told_what_the_blueprint_goes_on_with(cog: AskCoG) -> None:
    model = children_and_homes()
    await cog(model, copied("child lives_in"))
    assert [prompt.expected for prompt in asked(model, "check_sufficiency")] == ["lives_in", ""]


async def test_unnamed_nodes_are_crossed_without_a_call(cog: AskCoG) -> None:
    model = playing(prune_relations=choose("membership member"), check_sufficiency=decide(member="stop"))
    record = await cog(model, topics=["Club"], kg=MEDIATED)
    assert shown(record) == ["Ann", "Bob"]
    assert [prompt.name for prompt in model.prompts][1:] == ["prune_relations", "check_sufficiency"]


async def test_a_chain_chosen_as_the_whole_answer_needs_no_check(cog: AskCoG) -> None:
    model = playing(prune_relations=lambda p: {**choose("child")(p), "then": "stop"})
    assert shown(await cog(model)) == ["Ben", "Cleo"]
    assert [prompt.name for prompt in model.prompts][-1] == "prune_relations"


async def test_a_chain_chosen_as_on_the_way_is_gone_on_from_at_once(cog: AskCoG) -> None:
    ways = {0: ("child", "forward"), 1: ("lives_in", "stop")}
    model = playing(
        prune_relations=lambda p: choose(ways[p.chain.depth][0])(p) | {"then": ways[p.chain.depth][1]}
    )
    assert shown(await cog(model)) == ["Bonn", "Ulm"]
    second = asked(model, "prune_relations")[1]
    assert second.progress.findings == ("Ada -child->: Ben, Cleo",)
    assert second.reached == ("Ben", "Cleo")


async def test_two_topics_are_both_met(cog: AskCoG) -> None:
    model = playing(
        prune_relations=lambda p: choose("^lives_in" if str(p.chain.topic) == "Ulm" else "child")(p),
        check_sufficiency=lambda p: {"decision": "stop" if p.met else "filter"},
    )
    record = await cog(model, copied("child", "^lives_in"), topics=["Ada", "Ulm"], topic_conditions=False)
    assert (shown(record), record["usage"]["llm_calls"]) == (["Cleo"], 5)
    assert [entry["slot"] for entry in entries(record, "rerank")] == ["child", "^lives_in"]
    assert [path[0]["head"]["name"] for path in record["paths"]] == ["Ada", "Ulm"]


async def test_filter_keeps_what_the_model_chooses_in_its_order(cog: AskCoG) -> None:
    model = playing(
        prune_relations=choose("child"),
        check_sufficiency=decide(child="filter"),
        apply_conditions={"chosen": [2, 1]},
    )
    assert shown(await cog(model)) == ["Cleo", "Ben"]


async def test_a_chain_is_held_to_the_entities_that_are_kept(cog: AskCoG) -> None:
    kept = {**GOES_ON, "keep": [1]}
    model = playing(
        prune_relations=lambda p: choose("lives_in" if p.chain.hops else "child")(p),
        check_sufficiency=decide(child=kept, lives_in="stop"),
    )
    record = await cog(model)
    assert shown(record) == ["Bonn"]
    assert entries(record, "verify")[0]["kept"] == ["Ben"]
    assert record["paths"][0][0]["tail"]["name"] == "Ben"
    assert {fact["head"]["name"] for fact in record["evidence"]} == {"Ada", "Ben"}


async def test_what_a_chain_is_held_to_bounds_the_relations_that_follow(cog: AskCoG) -> None:
    model = playing(
        prune_relations=lambda p: choose("spouse" if p.chain.hops else "child")(p),
        check_sufficiency=decide(child={**GOES_ON, "keep": [1]}),
        diagnose={"step": 0},
        infer_from_evidence={"chosen": []},
    )
    await cog(model)
    assert "spouse" not in [named(each.hops[-1]) for each in asked(model, "prune_relations")[1].offers]


async def test_keeping_all_sets_nothing_aside(cog: AskCoG) -> None:
    model = playing(
        prune_relations=lambda p: choose("lives_in" if p.chain.hops else "child")(p),
        check_sufficiency=decide(child={**GOES_ON, "keep": [1, 2]}, lives_in="stop"),
    )
    record = await cog(model)
    assert shown(record) == ["Bonn", "Ulm"]
    assert "kept" not in entries(record, "verify")[0]


async def test_an_unknown_topic_is_said_with_its_nearest(cog: AskCoG) -> None:
    record = await cog(playing(), topics=["Adda Lovelace"])
    assert (record["outcome"], nodes(record)) == ("none", ["link", "answer"])


@pytest.mark.parametrize("limit", range(8))
async def test_a_budget_of_calls_is_held(cog: AskCoG, limit: int) -> None:
    def model() -> Any:
        return playing(
            prune_relations=choose("pet"),
            check_sufficiency=decide(child="filter"),
            diagnose=blame(1, "child"),
            apply_conditions={"chosen": [1]},
        )

    record = await cog(model(), budget={"llm_calls": limit})
    whole = await cog(model())
    assert whole["usage"]["llm_calls"] == 6
    assert record["usage"]["llm_calls"] == min(limit, 6)
    assert record["stopped_by"] == ("llm_calls" if limit < 6 else None)


async def test_the_same_run_leaves_the_same_record(cog: AskCoG) -> None:
    def model() -> Any:
        choice = random.Random(5)
        return playing(
            prune_relations=lambda p: {"relations": [choice.randint(1, len(p.offers))]},
            check_sufficiency=lambda p: {"decision": choice.choice(["forward", "backtrack", "filter"])},
            diagnose=lambda p: {"step": choice.randint(0, len(p.trajectory))},
            apply_conditions={"fits": "none"},
            infer_from_evidence={"chosen": []},
        )

    first, second = [await cog(model(), copied("child lives_in")) for _ in range(2)]
    assert "diagnose" in nodes(first)
    assert timeless(first) == timeless(second)
