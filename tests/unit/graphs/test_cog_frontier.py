"""CoG over a frontier, as published: all chosen and safeguarded relations of all topics at once (§3.2.2)."""

from typing import Any

import pytest

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.nodes.cog.verify import _keep_ends
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN, ChainFindings
from kgqa.prompts.progress import MAX_SENTENCE_CHARS
from kgqa.runtime.search_context import ONE_STEP_A_TIME
from kgqa.tests.support.guided import (
    GRAPH_ORDER,
    Shelf,
    asked,
    blame,
    copied,
    entries,
    named,
    nodes,
    playing,
    shown,
    signals,
)
from kgqa.tests.support.method_fixtures import AskCoG


def pick(*wanted: str) -> Any:
    """Pick every offer whose last hop is one of these."""
    return lambda p: {"relations": [at for at, o in enumerate(p.offers, 1) if named(o.hops[-1]) in wanted]}


def keep(*names: str) -> Any:
    """Keep the candidates of these names, all without any."""

    def line(prompt: Any) -> dict[str, Any]:
        ends = [str(end.term) for group in prompt.found for end in group.named]
        return {"keep": [at for at, name in enumerate(ends, 1) if not names or name in names]}

    return line


def stop_at(*relations: str, **said: Any) -> Any:
    """Stop at the first group whose chain takes these relations, else go on."""

    def line(prompt: Any) -> dict[str, Any]:
        taken = [[named(hop) for hop in group.chain.hops] for group in prompt.found]
        if list(relations) in taken:
            return {"decision": "stop", "groups": [taken.index(list(relations)) + 1], **said}
        return {"decision": "forward"}

    return line


def noting(prompt: Any) -> dict[str, Any]:
    """Note of the first subgoal at each turn what it was the turn before, and one sentence more."""
    before = " ".join(prompt.known)
    return {"known": [f"{before} Sentence {before.count('Sentence') + 1}.", *prompt.subgoals[1:]]}


def searching(**policies: Any) -> Any:
    usual = {"filter_found": keep(), "update_memory": noting, "diagnose": {"step": 0}}
    return playing(**{**usual, "infer_from_evidence": {"chosen": []}, **policies})


async def ask(cog: AskCoG, model: Any, library: Shelf | None = None, **options: Any) -> Any:
    return await cog(model, library, **{"exploration": "frontier", **ONE_STEP_A_TIME, **options})


async def test_a_round_asks_five_prompts(cog: AskCoG) -> None:
    model = searching(pick_relations=pick("child"), evaluate_found=stop_at("child"))
    record = await ask(cog, model, copied("child"))
    assert (shown(record), record["outcome"]) == (["Ben", "Cleo"], "grounded")
    assert [prompt.name for prompt in model.prompts] == [
        *("decompose", "pick_relations", "filter_found", "update_memory", "evaluate_found")
    ]


async def test_all_that_is_chosen_and_safeguarded_is_followed_in_one_round(cog: AskCoG) -> None:
    model = searching(pick_relations=pick("pet", "employer"), evaluate_found=stop_at("lives_in"))
    record = await ask(cog, model, copied("lives_in"), refinement=False)
    assert entries(record, "prune")[0]["added"] == ["Ada -lives_in->"]
    assert len(entries(record, "expand")[0]["chains"]) == 3
    assert shown(record) == ["Ulm"]  # what the safeguard added is followed without System 2


async def test_without_safeguard_nothing_is_added(cog: AskCoG) -> None:
    model = searching(pick_relations=pick("pet"), evaluate_found=stop_at("lives_in"))
    record = await ask(cog, model, copied("lives_in"), refinement=False, safeguard="none")
    assert (shown(record), signals(record)) == ([], [])
    assert entries(record, "diagnose")[0]["reason"] == "refinement is off"


async def test_all_topics_are_explored_at_once_and_meet(cog: AskCoG) -> None:
    model = searching(
        pick_relations=pick("child", "^lives_in"),
        evaluate_found={"decision": "stop", "groups": [1]},
    )
    record = await ask(cog, model, topics=["Ada", "Ulm"])
    [prompt] = asked(model, "pick_relations")
    assert {str(offer.start.topic) for offer in prompt.offers} == {"Ada", "Ulm"}
    assert (shown(record), len(record["paths"])) == (["Cleo"], 2)


async def test_each_topic_has_a_safeguard_and_a_shortlist(cog: AskCoG) -> None:
    model = searching(pick_relations={"relations": []}, evaluate_found=stop_at("child"))
    record = await ask(cog, model, copied("child", "^lives_in"), topics=["Ada", "Ulm"], shortlist=1)
    assert len(asked(model, "pick_relations")[0].offers) == 2
    assert entries(record, "prune")[0]["added"] == ["Ada -child->", "Ulm <-lives_in-"]


async def test_the_subgoal_goes_on_with_each_step(cog: AskCoG) -> None:
    model = searching(
        decompose={"subgoals": ["spouse", "child"]},
        pick_relations=pick("child"),
        evaluate_found=stop_at("child", "child"),
    )
    record = await ask(cog, model, copied("child child"))
    assert [entry["subgoal"] for entry in entries(record, "rerank")] == ["spouse", "child"]


@pytest.mark.parametrize(
    ("subgoals", "slots"), [(["pet", "child"], ["pet", "pet"]), (["child", "pet"], ["child", "pet"])]
)
async def test_equation_4_is_monotone_from_the_first_slot(
    cog: AskCoG, subgoals: list[str], slots: list[str]
) -> None:
    model = searching(
        decompose={"subgoals": subgoals},
        pick_relations=pick("child"),
        evaluate_found=stop_at("child", "child"),
    )
    record = await ask(cog, model, copied("child pet"))
    assert [entry["slot"] for entry in entries(record, "rerank")] == slots


async def test_equation_6_adds_up_the_three_signals(cog: AskCoG) -> None:
    """Subgoal "child pet": cosine 1/sqrt 2 with both; slot and blueprint: child."""
    model = searching(
        decompose={"subgoals": ["child pet"]}, pick_relations=pick("child"), evaluate_found=stop_at("child")
    )
    record = await ask(cog, model, copied("child"))
    best = entries(record, "rerank")[0]["best"]
    assert best[:2] == ["Ada -child-> 0.824", "Ada -pet-> 0.424"]  # 0.6/sqrt 2 + 0.25 + 0.15; 0.6/sqrt 2


async def test_filtered_entities_are_held_and_the_others_can_be_recalled(cog: AskCoG) -> None:
    model = searching(
        pick_relations=lambda p: pick("child" if not p.offers[0].start.hops else "spouse")(p),
        filter_found=keep("Ben"),
        evaluate_found={"decision": "forward"},
    )
    record = await ask(cog, model)
    assert entries(record, "verify")[0]["kept"] == ["Ada -child-> (only Ben)"]
    [prompt] = asked(model, "diagnose")
    assert [str(branch.chain) for branch in prompt.pruned if branch.chain.constraints] == [
        "Ada -child-> (only Cleo)",
        *[str(b.chain) for b in prompt.pruned if b.step > 1 and b.chain.constraints],
    ]


async def test_a_diagnosis_goes_back_before_the_decision_and_follows_what_is_recalled(cog: AskCoG) -> None:
    model = searching(
        pick_relations=pick("pet"), evaluate_found=stop_at("lives_in"), diagnose=blame(1, "lives_in")
    )
    record = await ask(cog, model)
    assert (shown(record), signals(record)) == (["Ulm"], ["no_candidates"])
    [prompt] = asked(model, "diagnose")
    assert [str(each.after) for each in prompt.trajectory if each.after] == ["Ada -pet->"]
    assert nodes(record)[-6:] == ["diagnose", "backtrack", "expand", "verify", "learn", "answer"]


async def test_what_does_not_go_through_the_blamed_decision_stands(cog: AskCoG) -> None:
    model = searching(
        pick_relations=lambda p: pick("pet", "child")(p) if not p.offers[0].start.hops else {"relations": []},
        evaluate_found=stop_at("lives_in"),
        diagnose=lambda p: blame(
            next(n for n, d in enumerate(p.trajectory, 1) if str(d.after).endswith("-pet->")), "lives_in"
        )(p),
    )
    record = await ask(cog, model)
    assert shown(record) == ["Ulm"]
    assert entries(record, "backtrack")[0]["chains"] == ["Ada -lives_in->"]


async def test_where_nothing_is_recalled_the_relations_are_chosen_from_again(cog: AskCoG) -> None:
    offered: list[list[str]] = []

    def choosing(prompt: Any) -> Any:
        offered.append([named(offer.hops[-1]) for offer in prompt.offers])
        return pick("pet" if len(offered) == 1 else "lives_in")(prompt)

    model = searching(pick_relations=choosing, evaluate_found=stop_at("lives_in"), diagnose={"step": 1})
    record = await ask(cog, model)
    assert shown(record) == ["Ulm"]
    assert sorted(offered[0]) == sorted(GRAPH_ORDER)
    assert "pet" not in offered[-1]


async def test_two_rounds_without_a_finding_are_stagnation(cog: AskCoG) -> None:
    model = searching(
        pick_relations=pick("child"), update_memory={"known": [""]}, evaluate_found={"decision": "forward"}
    )
    record = await ask(cog, model)
    assert signals(record) == ["no_gain"]


async def test_stagnation_begins_anew_after_a_diagnosis(cog: AskCoG) -> None:
    model = searching(
        pick_relations=pick("child"),
        update_memory={"known": [""]},
        evaluate_found={"decision": "forward"},
        diagnose=lambda p: blame(1, "lives_in")(p) if p.signal == "no_gain" else {"step": 0},
    )
    record = await ask(cog, model)
    assert signals(record) == ["no_gain", "no_candidates"]
    assert len(entries(record, "verify")) == 3


async def test_the_depth_is_the_end(cog: AskCoG) -> None:
    model = searching(pick_relations=pick("child"), evaluate_found={"decision": "forward"})
    record = await ask(cog, model, depth=1)
    assert (signals(record), record["stopped_by"]) == (["insufficient"], "depth")


async def test_malformed_replies_keep_what_there_is(cog: AskCoG) -> None:
    bad = {"nothing": "that fits"}
    model = searching(
        pick_relations=pick("child"), filter_found=bad, update_memory=bad, evaluate_found=stop_at("child")
    )
    record = await ask(cog, model)
    assert shown(record) == ["Ben", "Cleo"]


KNOWN = {"decision": "stop", "answers": ["Zed"]}


async def test_the_check_may_answer_from_what_the_model_knows(cog: AskCoG) -> None:
    model = searching(pick_relations=pick("lives_in"), evaluate_found=KNOWN)
    record = await ask(cog, model, own_knowledge=True)
    assert (shown(record), record["outcome"], record["paths"]) == (["Zed"], "parametric", [])
    assert asked(model, "evaluate_found")[0].own_knowledge


async def test_what_may_not_be_parametric_is_not_asked_for(cog: AskCoG) -> None:
    model = searching(pick_relations=pick("lives_in"), evaluate_found=stop_at("lives_in"))
    await ask(cog, model, own_knowledge=True, allow_parametric=False)
    assert not asked(model, "evaluate_found")[0].own_knowledge


@pytest.mark.parametrize("exploration", ["chain", "frontier"])
async def test_inference_may_answer_from_what_the_model_knows(cog: AskCoG, exploration: str) -> None:
    model = searching(
        pick_relations=pick("child"),
        prune_relations={"relations": [1]},
        check_sufficiency={"decision": "forward", "finding": "something"},
        evaluate_found={"decision": "forward"},
        infer_from_evidence={"chosen": [], "answers": ["Zed", "Zed"]},
    )
    record = await cog(model, exploration=exploration, own_knowledge=True, depth=1, refinements=0)
    assert (shown(record), record["outcome"]) == (["Zed"], "parametric")
    assert [prompt.own_knowledge for prompt in asked(model, "infer_from_evidence")] == [True]


async def test_the_evidence_goes_before_what_the_model_knows(cog: AskCoG) -> None:
    model = searching(
        pick_relations=pick("lives_in"),
        evaluate_found={"decision": "forward"},
        infer_from_evidence={"chosen": [1]},
    )
    record = await ask(cog, model, own_knowledge=True, depth=1)
    assert (shown(record), record["outcome"]) == (["Ulm"], "grounded_inference")


async def test_a_pick_is_inferred(cog: AskCoG) -> None:
    model = searching(
        pick_relations=pick("child"),
        update_memory={"known": ["Ben is older."]},
        evaluate_found=stop_at("child", take="some", chosen=[1]),
    )
    record = await ask(cog, model, own_knowledge=True)
    assert (shown(record), record["outcome"]) == (["Ben"], "grounded_inference")
    assert [each["by"] for each in record["conditions"]] == ["model"]


async def test_what_a_filter_chooses_is_inferred(cog: AskCoG) -> None:
    model = searching(
        pick_relations=pick("child"),
        update_memory={"known": ["Ben is older."]},
        evaluate_found={"decision": "filter", "groups": [1]},
        apply_conditions={"chosen": [1], "rationale": "Ben is older."},
    )
    record = await ask(cog, model, own_knowledge=True)
    assert (shown(record), record["outcome"]) == (["Ben"], "grounded_inference")
    assert [(each["words"], each["by"]) for each in record["conditions"]] == [("Ben is older.", "model")]
    assert "Known so far" in asked(model, "apply_conditions")[0].case()


async def test_a_long_note_keeps_its_mark_and_no_news_leave_the_memory(cog: AskCoG) -> None:
    long = f"Ben is {'very ' * MAX_SENTENCE_CHARS}old (own knowledge)"
    notes = iter([[long], [""]])
    model = searching(
        pick_relations=pick("child", "lives_in"),
        update_memory=lambda prompt: {"known": next(notes, [""])},
        evaluate_found={"decision": "forward"},
    )
    record = await ask(cog, model, own_knowledge=True, depth=2)
    first, second = [entry["known"] for entry in entries(record, "verify")][:2]
    assert first == second
    assert first[0].endswith("(own knowledge)") and len(first[0]) <= MAX_SENTENCE_CHARS


async def test_what_the_model_alone_knows_is_not_verified(cog: AskCoG) -> None:
    model = searching(
        pick_relations=pick("child"),
        update_memory={"known": ["Ben is older (own knowledge)"]},
        evaluate_found={"decision": "forward"},
        infer_from_evidence={"chosen": [1]},
    )
    await ask(cog, model, own_knowledge=True, depth=1)
    assert asked(model, "infer_from_evidence")[0].unmet == ("the goal",)


def test_what_the_filter_cannot_show_is_kept() -> None:
    state: Any = {"tried": []}
    many = [Candidate(Entity(f"http://t/e/{n}", f"child {n}")) for n in range(MAX_CANDIDATES_SHOWN + 3)]
    group = ChainFindings(Chain(Entity("http://t/e/ada", "Ada"), (Hop("http://t/r/child"),)), tuple(many))
    [held], [aside] = _keep_ends([group], [], state)
    assert held.ends == tuple(many[MAX_CANDIDATES_SHOWN:])
    assert len(aside.chain.constraints[0].entities) == MAX_CANDIDATES_SHOWN
    [held], [aside] = _keep_ends([group], [1], state)
    assert held.ends == (many[0], *many[MAX_CANDIDATES_SHOWN:])
    assert _keep_ends([group], range(1, MAX_CANDIDATES_SHOWN + 1), state) == ([group], [])


async def test_a_misleading_blueprint_is_dropped(cog: AskCoG) -> None:
    model = searching(
        pick_relations=pick("pet"),
        evaluate_found=stop_at("lives_in"),
        diagnose=blame(1, "lives_in", blueprint="drop"),
    )
    record = await ask(cog, model, copied("spouse"))
    assert (entries(record, "diagnose")[0]["blueprint"], shown(record)) == ("drop", ["Ulm"])


async def test_a_decision_shows_what_names_its_own_ends_and_no_more(cog: AskCoG) -> None:
    model = searching(
        decompose={"subgoals": ["the child", "its town"]},
        pick_relations=lambda p: pick("child", "pet")(p) if not p.offers[0].start.hops else {"relations": []},
        update_memory={"known": ["Ben and Cleo are the children.", ""]},
        evaluate_found={"decision": "forward"},
    )
    await ask(cog, model)
    [prompt] = asked(model, "diagnose")
    assert {str(each.after): each.finding for each in prompt.trajectory if each.after} == {
        "Ada -child->": "Ben and Cleo are the children.",
        "Ada -pet->": "",
    }
    assert prompt.progress.at == 1
    assert "Known so far:" in prompt.case()


async def test_the_half_stop_has_what_was_not_blamed_and_names_what_is_open(cog: AskCoG) -> None:
    model = searching(
        decompose={"subgoals": ["the pet", "its owner"]},
        pick_relations=lambda p: pick("child", "pet")(p) if not p.offers[0].start.hops else {"relations": []},
        update_memory={"known": ["", "Ada owns it."]},
        evaluate_found={"decision": "forward"},
        diagnose=lambda p: blame(
            next(n for n, d in enumerate(p.trajectory, 1) if str(d.after).endswith("-pet->"))
        )(p),
    )
    await ask(cog, model, refinements=1)
    [prompt] = asked(model, "infer_from_evidence")
    assert {str(segment.chain) for segment in prompt.segments} == {"Ada -child->", "Ada -child-> -child->"}
    assert (prompt.findings, prompt.unmet) == (("Ada owns it.",), ("the pet",))


async def test_what_the_model_knows_goes_into_the_memory_where_it_may(cog: AskCoG) -> None:
    for own in (True, False):
        model = searching(pick_relations=pick("child"), evaluate_found=stop_at("child"))
        await ask(cog, model, own_knowledge=own)
        assert asked(model, "update_memory")[0].own_knowledge is own
