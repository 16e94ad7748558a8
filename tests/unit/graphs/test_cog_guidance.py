"""How plan and blueprint rank relations, and which are taken (CoG §3.2.2, equations 4 to 6)."""

from typing import Any

import pytest

from kgqa.tests.support.guided import asked, choose, copied, decide, entries, named, playing, shown, signals
from kgqa.tests.support.method_fixtures import AskCoG

FOUND = {"decision": "forward", "finding": "something"}
GIVE_UP: dict[str, Any] = {"diagnose": {"step": 0}, "infer_from_evidence": {"chosen": []}}


def planned(*subgoals: str, **more: Any) -> Any:
    """A model with this plan that takes the children, then their homes."""
    return playing(
        **{
            "decompose": {"subgoals": list(subgoals)},
            "prune_relations": lambda p: choose("lives_in" if p.chain.hops else "child")(p),
            "check_sufficiency": decide(child=FOUND, lives_in="stop"),
            **more,
        }
    )


def offered(model: Any, turn: int = 0) -> list[str]:
    return [named(each.hops[-1]) for each in asked(model, "prune_relations")[turn].offers]


async def test_scores_are_fused_from_subgoal_slot_and_any_slot(cog: AskCoG) -> None:
    """Child is the subgoal (.6), lives_in the slot at hand and one of the slots (.25 + .15)."""
    model = planned("child")
    record = await cog(model, copied("lives_in"))
    assert entries(record, "rerank")[0]["best"] == [
        "-child-> 0.600",
        "-lives_in-> 0.400",
        "-employer-> 0.000",
    ]
    assert offered(model)[:2] == ["child", "lives_in"]


async def test_without_a_blueprint_the_subgoal_counts_in_full(cog: AskCoG) -> None:
    record = await cog(planned("child"))
    assert entries(record, "rerank")[0]["best"][0] == "-child-> 1.000"


async def test_weights_can_be_shifted_to_the_blueprint(cog: AskCoG) -> None:
    model = planned("child")
    weights = {"weight_local": 0, "weight_step": 1, "weight_global": 1}
    record = await cog(model, copied("lives_in"), **weights)
    assert entries(record, "rerank")[0]["best"][0] == "-lives_in-> 1.000"


async def test_without_weights_relations_stay_as_the_graph_gave_them(cog: AskCoG) -> None:
    model = planned("pet")
    await cog(model, copied("lives_in"), **dict.fromkeys(["weight_local", "weight_step", "weight_global"], 0))
    assert offered(model) == ["child", "employer", "lives_in", "pet", "^spouse"]


async def test_equal_scores_are_ordered_by_the_direction_of_the_slot(cog: AskCoG) -> None:
    model = planned("nothing", prune_relations=choose("lives_in"))
    await cog(model, copied("^child"), topics=["Ben"])
    assert offered(model)[:2] == ["^child", "child"]
    await cog(model, copied("child"), topics=["Ben"])
    assert offered(model, 1)[:2] == ["child", "^child"]


async def test_a_slot_behind_the_chain_is_not_waited_at(cog: AskCoG) -> None:
    """The subgoal is still the children's at the second step; that slot has been taken."""
    silent = {"decision": "forward"}
    model = planned("child", check_sufficiency=decide(child=silent, lives_in="stop"))
    record = await cog(model, copied("child lives_in"))
    assert [entry["slot"] for entry in entries(record, "rerank")] == ["child", "lives_in"]


@pytest.mark.parametrize(
    ("alignment", "slots"),
    [("semantic", ["lives_in", "lives_in", "lives_in"]), ("positional", ["child", "lives_in", None])],
)
async def test_a_step_is_aligned_by_meaning_or_by_position(
    cog: AskCoG, alignment: str, slots: list[str | None]
) -> None:
    model = planned(
        "lives in",
        check_sufficiency=decide(child=FOUND, lives_in=FOUND, mayor="stop"),
        prune_relations=lambda p: choose(["child", "lives_in", "mayor"][p.chain.depth])(p),
    )
    record = await cog(model, copied("child lives_in"), alignment=alignment, safeguard="sparse")
    assert [entry["slot"] for entry in entries(record, "rerank")] == slots


async def test_past_the_last_position_the_other_signals_count_in_full(cog: AskCoG) -> None:
    """Mayor is the subgoal: .6 of .75; child is a slot: .15 of .75."""
    model = planned(
        "mayor", prune_relations=choose("lives_in"), check_sufficiency=decide(lives_in=FOUND), **GIVE_UP
    )
    record = await cog(model, copied("child"), alignment="positional", safeguard="sparse")
    second = entries(record, "rerank")[1]
    assert (second["slot"], second["best"][0]) == (None, "-mayor-> 0.800")


@pytest.mark.parametrize(("relevance", "best"), [("subgoal", "child"), ("question", "pet")])
async def test_relations_are_compared_with_the_subgoal_or_the_question(
    cog: AskCoG, relevance: str, best: str
) -> None:
    model = planned("child")
    await cog(model, question="pet", relevance=relevance)
    assert offered(model)[0] == best


@pytest.mark.parametrize(("compatibility", "score"), [("slots", 0.4), ("whole", 0.337)])
async def test_relations_are_compared_with_any_slot_or_the_whole_blueprint(
    cog: AskCoG, compatibility: str, score: float
) -> None:
    """The whole is "child -> lives_in", of whose three words child is one: .25 + .15 / 3**.5."""
    record = await cog(planned("nothing"), copied("child lives_in"), compatibility=compatibility)
    assert entries(record, "rerank")[0]["best"][0] == f"-child-> {score:.3f}"


async def test_the_safeguard_adds_what_the_blueprint_would_take(cog: AskCoG) -> None:
    """The model's choice is taken up first, the blueprint's waits."""
    model = playing(prune_relations=choose("pet"), check_sufficiency=decide(), **GIVE_UP)
    record = await cog(model, copied("lives_in"))
    [entry] = entries(record, "prune")
    assert (entry["chosen"], entry["added"]) == (["-pet->", "-lives_in->"], ["-lives_in->"])
    assert entries(record, "expand")[0]["chain"] == "Ada -pet->"
    first, *others = asked(model, "diagnose")[0].pruned
    assert (named(first.chain.hops[-1]), first.waiting) == ("lives_in", True)
    assert not any(each.waiting for each in others)


async def test_where_the_model_chooses_nothing_the_blueprint_s_relation_is_taken_up(cog: AskCoG) -> None:
    model = playing(prune_relations={"relations": []}, check_sufficiency=decide(lives_in="stop"))
    record = await cog(model, copied("lives_in"))
    assert (shown(record), signals(record)) == (["Ulm"], [])


async def test_what_model_and_blueprint_agree_on_is_taken_once(cog: AskCoG) -> None:
    model = playing(prune_relations=choose("pet", "lives_in"), check_sufficiency=decide(pet="stop"))
    record = await cog(model, copied("lives_in"))
    [entry] = entries(record, "prune")
    assert (entry["chosen"], entry["added"]) == (["-pet->", "-lives_in->"], [])


async def test_the_safeguard_looks_beyond_the_shortlist_and_the_width(cog: AskCoG) -> None:
    model = planned("child", check_sufficiency=decide(child="stop"))
    record = await cog(model, copied("pet"), shortlist=1, width=1)
    assert offered(model) == ["child"]
    assert entries(record, "prune")[0]["chosen"] == ["-child->", "-pet->"]


@pytest.mark.parametrize(
    ("chosen", "added"),
    [
        ([], ["-lives_in->"]),
        (["employer"], ["-lives_in->"]),
        (["lives_in"], ["-pet->"]),
        (["employer", "child"], []),
    ],
)
async def test_sparse_adds_the_first_slot_s_relation_below_two_choices(
    cog: AskCoG, chosen: list[str], added: list[str]
) -> None:
    model = playing(
        prune_relations=choose(*chosen),
        check_sufficiency=lambda p: {"decision": "stop"},
    )
    record = await cog(model, copied("school lives_in pet"), safeguard="sparse")
    assert entries(record, "prune")[0]["added"] == added


async def test_the_model_is_shown_a_shortlist(cog: AskCoG) -> None:
    model = planned("pet", prune_relations=choose("pet"), check_sufficiency=decide(pet="stop"))
    await cog(model, copied("lives_in"), shortlist=2)
    assert [offered(model, turn) for turn in range(len(asked(model, "prune_relations")))] == [
        ["pet", "lives_in"]
    ]


async def test_where_the_shortlist_has_nothing_the_rest_is_shown(cog: AskCoG) -> None:
    model = planned("pet", prune_relations=choose("child"), check_sufficiency=decide(child="stop"))
    record = await cog(model, copied("lives_in"), shortlist=2)
    assert [offered(model, 0), offered(model, 1)] == [["pet", "lives_in"], ["child", "employer", "^spouse"]]
    assert shown(record) == ["Ben", "Cleo"]


async def test_a_shortlist_of_all_is_shown_once(cog: AskCoG) -> None:
    model = playing(prune_relations={"relations": []}, **GIVE_UP)
    await cog(model, shortlist=5)
    assert len(asked(model, "prune_relations")) == 1


async def test_width_bounds_what_the_model_chooses(cog: AskCoG) -> None:
    model = playing(prune_relations={"relations": [1, 2]}, check_sufficiency=decide(), **GIVE_UP)
    record = await cog(model, width=1)
    assert "at most 1" in entries(record, "prune")[0]["malformed"]
