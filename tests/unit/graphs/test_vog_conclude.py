"""How VoG ends: it asks who the answer is, and asks nothing that it knows already."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kgqa.kg.errors import KGTimeout
from kgqa.kg.opening import open_graph
from kgqa.models.errors import MalformedReply
from kgqa.prompts.assess_found import Evaluation
from kgqa.prompts.verify_step import ANY_NAME
from kgqa.runtime.record import Record
from kgqa.tests.support.guided import Failing
from kgqa.tests.support.method_fixtures import AskVoG
from kgqa.tests.support.planned import (
    PLAN_ANSWERS,
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

DEFAULTS: dict[str, Any] = {"conclude": True, "exact_match": True, "repeat_revisions": False}

NONE_OF_THEM = {"decision": "forward"}


def stop(take: str = "all", *chosen: int, group: int = 1) -> dict[str, Any]:
    return {"decision": "stop", "groups": [group], "take": take, "chosen": list(chosen)}


def asked(model: Any, name: str) -> list[Any]:
    return [prompt for prompt in model.prompts if prompt.name == name]


def called(model: Any) -> list[str]:
    return [prompt.name for prompt in model.prompts]


async def test_a_plan_that_finds_what_it_answers_takes_no_call_at_its_end(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", "Ulm river Danube", answers=["the  danube"]),
        select_relations=as_searched,
    )
    record = await vog(model, **DEFAULTS)
    assert (shown(record), record["outcome"]) == (["Danube"], "grounded")
    assert called(model) == ["plan_steps", "select_relations", "select_relations"]
    assert [entry["reason"] for entry in entries(record, "verify")] == [
        "it has found what it predicted",
        "the end of the plan asks for the answer",
    ]


async def test_a_guess_that_the_graph_does_not_bear_out_is_not_the_answer(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", answers=["Bonn"]),
        select_relations=as_searched,
        evaluate_found=stop(),
    )
    record = await vog(model, **DEFAULTS)
    assert (shown(record), record["outcome"]) == (["Ulm"], "grounded")
    assert called(model) == ["plan_steps", "select_relations", "evaluate_found"]
    assert record["query"]


@pytest.mark.parametrize(
    ("said", "answers", "outcome"),
    [
        (stop(), ["Ben", "Cleo"], "grounded"),
        (stop("some", 2), ["Cleo"], "grounded_inference"),
        (stop("count"), ["2"], "grounded"),
    ],
)
async def test_what_is_taken_of_a_group_is_the_answer(
    vog: AskVoG, said: dict[str, Any], answers: list[str], outcome: str
) -> None:
    model = playing(
        plan_steps=plan("Ada child", answers=["Finn"]), select_relations=as_searched, evaluate_found=said
    )
    record = await vog(model, **DEFAULTS)
    assert (sorted(map(str, shown(record))), record["outcome"]) == (answers, outcome)


async def test_the_group_may_be_filtered(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada child", answers=["Finn"]),
        select_relations=as_searched,
        evaluate_found={"decision": "filter", "groups": [1]},
        apply_conditions={"chosen": [1]},
    )
    record = await vog(model, **DEFAULTS)
    assert (shown(record), record["outcome"]) == (["Ben"], "grounded_inference")


async def test_where_the_filter_leaves_nothing_the_plan_is_revised(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada child", answers=["Finn"]),
        select_relations=as_searched,
        evaluate_found={"decision": "filter", "groups": [1]},
        apply_conditions={"fits": "none"},
        revise_ahead=revision("Ada child", answers=["Ben"]),
    )
    record = await vog(model, threshold=0, **DEFAULTS)
    assert "revise_ahead" in called(model)
    assert (shown(record), record["outcome"]) == (["Ben"], "grounded_inference")


async def test_a_plan_that_stopped_too_early_goes_on_from_where_it_is(vog: AskVoG) -> None:
    def end(prompt: Any) -> Any:
        return {**NONE_OF_THEM, "rationale": "A town."} if "Danube" not in prompt.case() else stop()

    model = playing(
        plan_steps=plan("Ada lives_in", answers=["Rhine"]),
        select_relations=as_searched,
        evaluate_found=end,
        revise_ahead=revision("Ulm river", answers=["Neckar"], first=2),
    )
    record = await vog(model, threshold=0, **DEFAULTS)
    [ahead] = asked(model, "revise_ahead")
    assert 'were not seen to answer the question: "A town."' in ahead.case()
    assert "Next: step 2 of at most 10\n" in ahead.case()
    assert '"Ulm" -river-> ?' in ahead.case()
    last = asked(model, "evaluate_found")[-1]
    assert "found: Ulm" in last.case()  # on the way
    assert (shown(record), record["outcome"]) == (["Danube"], "grounded")


async def test_a_plan_that_led_astray_may_begin_anew_at_its_topic(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada child", answers=["Rex"]),
        select_relations=as_searched,
        evaluate_found=lambda p: stop() if "Ulm" in p.case() else NONE_OF_THEM,
        revise_ahead=revision("Ada lives_in", answers=["Bonn"], first=2),
    )
    record = await vog(model, threshold=0, **DEFAULTS)
    [ahead] = asked(model, "revise_ahead")
    assert 'or anew at "Ada".' in ahead.case()
    assert '"Ada" -lives_in-> ?' in ahead.case()
    assert '"Ada" -child-> ?' not in ahead.case()
    assert "Ulm" in shown(record)
    bound = await vog(model, threshold=0, frontier="previous", **DEFAULTS)
    assert "anew" not in asked(model, "revise_ahead")[-1].case()
    assert bound["outcome"]


async def test_what_was_turned_down_is_not_asked_about_again(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in", answers=["Paris"]),
        select_relations=as_searched,
        evaluate_found=NONE_OF_THEM,
        revise_ahead=revision(answers=["Rome"], first=2),
    )
    record = await vog(model, threshold=0, **DEFAULTS)
    assert called(model).count("evaluate_found") == 1
    assert (shown(record), record["outcome"]) == (["Rome"], "parametric")


async def test_a_malformed_end_leaves_the_answers_of_the_plan(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada child", answers=["Cleo"]),
        select_relations=as_searched,
        evaluate_found=MalformedReply("what?"),
    )
    record = await vog(model, **DEFAULTS)
    assert "revise" not in nodes(record)
    assert (shown(record), record["outcome"]) == (["Cleo"], "grounded_inference")


async def test_what_the_end_has_turned_down_is_not_verified(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", "Ulm river Danube", answers=["Ulm"]),
        select_relations=as_searched,
        evaluate_found=NONE_OF_THEM,
    )
    record = await vog(model, revisions=0, **DEFAULTS)
    assert called(model).count("evaluate_found") == 1
    assert (shown(record), record["outcome"]) == (["Ulm"], "grounded_unverified")


async def test_of_several_topics_what_all_lead_to_needs_no_call(vog: AskVoG) -> None:
    kg = TOWNS + "e:finn r:child e:ben ."
    model = playing(
        plan_steps=plan("Ada child", answers=["Ben"]), select_relations=as_searched, evaluate_found=stop()
    )
    record = await vog(model, kg=kg, topics=("Ada", "Finn"), **DEFAULTS)
    assert (shown(record), record["outcome"]) == (["Ben"], "grounded")
    assert "evaluate_found" not in called(model)
    other = await vog(model, kg=kg, topics=("Ada", "Bonn"), **DEFAULTS)
    assert "evaluate_found" in called(model)
    assert other["outcome"] == "grounded_unverified"  # a topic is left out


async def test_nobody_chooses_on_the_way_what_the_end_tells_apart(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada child", "children lives_in", answers=["Ulm"]),
        select_relations=as_searched,
        evaluate_found=stop(),
    )
    record = await vog(model, **DEFAULTS)
    assert "select_entities" not in called(model)
    assert (sorted(map(str, shown(record))), record["outcome"]) == (["Bonn", "Ulm"], "grounded")


async def test_the_chain_is_held_to_what_was_kept_on_the_way(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada child Ben", "children lives_in", answers=["Ulm"]),
        select_relations=as_searched,
        evaluate_found=stop(),
    )
    record = await vog(model, suggestions="plan", width=1, k_min=1, **DEFAULTS)
    [end] = asked(model, "evaluate_found")
    assert 'Group 1: "Ada" -child-> ?1 (only "' in end.case()
    assert record["outcome"] == "grounded_inference"


async def test_values_are_shown_with_whose_they_are(vog: AskVoG) -> None:
    kg = TOWNS + "e:ben r:marriage e:m2 . e:m2 r:partner e:cleo ; r:year 1992 . e:ben r:born 1960 . "
    kg += "e:cleo r:born 1962 ."
    model = playing(
        plan_steps=plan("Ada child", "children born", answers=["1961"]),
        select_relations=as_searched,
        evaluate_found=stop("smallest"),
    )
    record = await vog(model, kg=kg, **DEFAULTS)
    assert '- "Ben" -born-> "1960"\n- "Cleo" -born-> "1962"' in asked(model, "evaluate_found")[0].case()
    assert (shown(record), record["outcome"]) == (["1960"], "grounded")
    married = playing(
        plan_steps=plan("people marriage", answers=["2000"]),
        select_relations=lambda p: as_searched(p) if p.frontier[0].end.name else take("year", "partner")(p),
        evaluate_found=stop(),
    )
    await vog(married, kg=kg, topics=("Ada", "Ben"), **DEFAULTS)
    case = asked(married, "evaluate_found")[0].case()
    assert '- "Ada" -marriage-> (a node without a name): -year-> "1990", -partner-> "Finn"' in case


async def test_a_step_that_finds_nothing_of_what_it_predicted_is_checked(vog: AskVoG) -> None:
    def ask(search: str) -> Any:
        return playing(
            plan_steps=plan(search, "children lives_in", answers=["Bonn"]),
            select_relations=as_searched,
            evaluate_found=stop(),
        )

    some, none = ask("Ada child Ben"), ask("Ada child Finn")
    record = await vog(some, **DEFAULTS)
    assert "verify_step" not in called(some)  # that it finds more is for the end to tell apart
    assert entries(record, "verify")[0]["reason"] == "it has found what it predicted"
    record = await vog(none, verifiers="model", **DEFAULTS)
    assert called(none).count("verify_step") == 1
    assert record["outcome"] == "grounded"
    unchecked: Record = await vog(some, **{**DEFAULTS, "exact_match": False, "verifiers": "nli"})
    assert entries(unchecked, "verify")[0]["signals"] == {"model": None, "nli": False}


async def test_a_step_is_revised_once_by_each_arm(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", "there river", answers=["Rhine"]),
        select_relations=as_searched,
        verify_step={"revise": True},
        revise_locally=revision("Ada lives_in Ulm", "there river", answers=["Rhine"]),
        revise_ahead=revision("Ada lives_in Ulm", "there river", answers=["Neckar"]),
        revise_globally=revision("Ada lives_in Ulm", "there river", answers=["Danube"]),
        evaluate_found=stop(),
    )
    record = await vog(model, threshold=1.1, **DEFAULTS)
    assert [entry["arm"] for entry in entries(record, "appraise")] == ["local", "lookahead", "global"]
    local = await vog(model, threshold=1.1, strategy="local", **DEFAULTS)
    assert [entry["arm"] for entry in entries(local, "appraise")] == ["local"]


async def test_a_revision_that_was_made_before_ends_the_revising(vog: AskVoG) -> None:
    same = revision("Ada lives_in Bonn", "there river", answers=["Rhine"])
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", "there river", answers=["Rhine"]),
        select_relations=as_searched,
        verify_step={"revise": True},
        revise_locally=same,
        revise_ahead=same,
        revise_globally=same,
        evaluate_found=stop(),
    )
    await vog(model, threshold=1.1, **DEFAULTS)
    assert called(model).count("revise_locally") == 1
    assert not {"revise_ahead", "revise_globally"} & set(called(model))


async def test_a_dead_end_costs_one_revision_and_is_tried_again_only_another_way(vog: AskVoG) -> None:
    def ask(search: str) -> Any:
        return playing(
            plan_steps=plan("Ada pet", answers=["Rex"]),
            select_relations=lambda p: {"relations": []} if "pet" in p.step.search else as_searched(p),
            revise_ahead=revision(search, answers=["Rex"]),
            evaluate_found=stop(),
        )

    same, other = ask("Ada pet"), ask("Ada lives_in")
    record = await vog(same, **DEFAULTS)
    assert called(same) == ["plan_steps", "select_relations", "revise_ahead"]
    assert (shown(record), record["outcome"]) == (["Rex"], "parametric")
    assert shown(await vog(other, **DEFAULTS)) == ["Ulm"]


async def test_a_dead_end_of_the_last_step_goes_to_the_end_with_what_was_found(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada child Ben", "children pet", answers=["Rex"]),
        select_relations=lambda p: {"relations": []} if "pet" in p.step.search else as_searched(p),
        evaluate_found=stop(),
    )
    record = await vog(model, **DEFAULTS)
    assert called(model) == ["plan_steps", "select_relations", "select_relations", "evaluate_found"]
    assert (sorted(map(str, shown(record))), record["outcome"]) == (["Ben", "Cleo"], "grounded")


async def test_a_search_that_finds_nothing_at_its_start_ends(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada pet", "pet name", answers=["Rex"]),
        select_relations={"relations": []},
        revise_ahead=revision("Ada pet", "pet name", answers=["Rex"]),
    )
    record = await vog(model, **DEFAULTS)
    assert called(model) == ["plan_steps", "select_relations", "revise_ahead"]
    assert record["outcome"] == "parametric"


async def test_what_is_not_the_answer_is_revised_once(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada child", answers=["Rex"]),
        select_relations=as_searched,
        evaluate_found=NONE_OF_THEM,
        revise_ahead=revision("Ada lives_in", answers=["Bonn"], first=2),
    )
    record = await vog(model, threshold=1.1, max_revisions=1, **DEFAULTS)
    assert called(model).count("revise_ahead") == 1
    assert [entry["taken"] for entry in entries(record, "appraise")] == ["lookahead"]


HOUSES = TOWNS + "e:ben r:floors 3 . e:cleo r:floors 7 ."
OWNED = plan("Ada child", "children floors", answers=["Rex"])


@pytest.mark.parametrize(
    ("said", "answers", "outcome"),
    [
        ({**stop("largest"), "node": 1}, ["Cleo"], "grounded"),
        ({**stop("smallest"), "node": 1}, ["Ben"], "grounded"),
        ({**stop("all"), "node": 1}, ["Ben", "Cleo"], "grounded"),
        ({**stop("count"), "node": 1}, ["2"], "grounded"),
        ({**stop("some", 2), "node": 1}, ["Cleo"], "grounded_inference"),
        ({**stop("largest"), "node": 2}, ["7"], "grounded"),
    ],
    ids=["largest", "smallest", "all", "count", "some", "the end"],
)
async def test_a_node_on_the_way_may_be_the_answer(
    vog: AskVoG, said: dict[str, Any], answers: list[str], outcome: str
) -> None:
    model = playing(plan_steps=OWNED, select_relations=as_searched, evaluate_found=said)
    record = await vog(model, kg=HOUSES, **DEFAULTS)
    assert (sorted(map(str, shown(record))), record["outcome"]) == (answers, outcome)
    assert record["query"]
    [path] = record["paths"]
    assert [step["relation"].rpartition("/")[2] for step in path] == ["child", "floors"]


def tallest(prompt: Any) -> dict[str, Any]:
    letter = next(letter for letter, each in prompt.known.lettered.items() if "floors" in str(each.hops))
    return {"extreme": "largest", "by": letter}


async def test_nodes_on_the_way_may_be_filtered(vog: AskVoG) -> None:
    model = playing(
        plan_steps=OWNED,
        select_relations=as_searched,
        evaluate_found={"decision": "filter", "groups": [1], "node": 1},
        apply_conditions=tallest,
    )
    record = await vog(model, kg=HOUSES, attributes=True, **DEFAULTS)
    assert (shown(record), record["outcome"]) == (["Cleo"], "grounded")
    assert [each["by"] for each in record["conditions"]] == ["graph"]


async def test_what_leads_to_a_topic_may_be_the_answer(vog: AskVoG) -> None:
    """The other topic is a condition that the graph decides; what leads to it is shown with it."""
    kg = TOWNS + "e:ben r:likes e:chess . e:cleo r:likes e:chess , e:go . e:chess rdfs:label 'Chess'@en . "
    kg += "e:go rdfs:label 'Go'@en . e:ada r:child e:ida . e:ida rdfs:label 'Ida'@en ; r:likes e:go ."
    model = playing(
        plan_steps=plan("Ada child", "children likes", answers=["Rex"]),
        select_relations=as_searched,
        evaluate_found=lambda p: {
            **stop("some", [str(end.term) for end in p.found[0].named].index("Chess") + 1),
            "node": 1,
        },
    )
    record = await vog(model, kg=kg, topics=("Ada", "Chess"), **DEFAULTS)
    assert '- "Ben" -likes-> "Chess"' in asked(model, "evaluate_found")[0].case()
    assert (sorted(map(str, shown(record))), record["outcome"]) == (["Ben", "Cleo"], "grounded")


async def test_a_node_that_no_chain_has_is_refused(vog: AskVoG) -> None:
    model = playing(plan_steps=OWNED, select_relations=as_searched, evaluate_found=stop())
    await vog(model, kg=HOUSES, **DEFAULTS)
    [end] = asked(model, "evaluate_found")
    end.check(Evaluation(decision="stop", groups=[1], node=2))
    for node in (3, -1):
        with pytest.raises(ValueError, match=f"no group has a node {node}"):
            end.check(Evaluation(decision="stop", groups=[1], node=node))
    with pytest.raises(ValueError, match="no group has a node 1"):
        replace(end, inner=False).check(Evaluation(decision="stop", groups=[1], node=1))


async def test_a_relation_may_be_said_to_be_the_whole_answer(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada child", answers=["Rex"]),
        select_relations=lambda p: {**as_searched(p), "then": "stop"},
    )
    record = await vog(model, **{**DEFAULTS, "outright_answers": True})
    assert called(model) == ["plan_steps", "select_relations"]
    assert '"then": "stop"' in asked(model, "select_relations")[0].case()
    assert (sorted(map(str, shown(record))), record["outcome"]) == (["Ben", "Cleo"], "grounded")


async def test_or_all_but_a_condition_on_what_it_leads_to(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada child", answers=["Rex"]),
        select_relations=lambda p: {**as_searched(p), "then": "filter"},
        apply_conditions=tallest,
    )
    record = await vog(model, kg=HOUSES, **{**DEFAULTS, "outright_answers": True})
    assert called(model) == ["plan_steps", "select_relations", "apply_conditions"]
    assert (shown(record), record["outcome"]) == (["Cleo"], "grounded")


async def test_where_that_condition_leaves_nothing_the_end_is_asked(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada child", answers=["Rex"]),
        select_relations=lambda p: {**as_searched(p), "then": "filter"},
        apply_conditions={"fits": "none"},
        revise_ahead=revision(answers=["Rex"], first=2),
        evaluate_found=stop(),
    )
    record = await vog(model, kg=HOUSES, threshold=0, **{**DEFAULTS, "outright_answers": True})
    assert called(model)[-3:] == ["apply_conditions", "revise_ahead", "evaluate_found"]
    assert sorted(map(str, shown(record))) == ["Ben", "Cleo"]


async def test_how_many_a_relation_leads_to_may_be_the_answer(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada child", answers=["3"]),
        select_relations=lambda p: {**as_searched(p), "then": "count"},
    )
    record = await vog(model, **{**DEFAULTS, "outright_answers": True})
    assert (called(model), shown(record)) == (["plan_steps", "select_relations"], ["2"])


@pytest.mark.parametrize(("topics", "searches"), [(("Ada", "Ben"), 1), (("Ada",), 2)])
async def test_what_is_not_the_end_is_not_asked_whether_it_is_all(
    vog: AskVoG, topics: tuple[str, ...], searches: int
) -> None:
    model = playing(
        plan_steps=plan("Ada child", *["children lives_in"] * (searches - 1), answers=["Rex"]),
        select_relations=lambda p: {**as_searched(p), "then": "stop"},
        evaluate_found=stop(),
    )
    await vog(model, topics=topics, **{**DEFAULTS, "outright_answers": True})
    assert '"then": "stop"' not in asked(model, "select_relations")[0].case()


@pytest.mark.parametrize("paired", [True, False])
async def test_a_hop_into_an_unnamed_node_is_offered_with_the_hop_out_of_it(
    vog: AskVoG, paired: bool
) -> None:
    model = playing(
        plan_steps=plan("Ada partner", answers=["Rex"]),
        select_relations=take(*["marriage"] * (not paired), "partner"),
        evaluate_found=stop(),
    )
    record = await vog(model, **{**DEFAULTS, "cross_mediators": paired})
    offered = [prompt.case() for prompt in asked(model, "select_relations")]
    drawn = '"Ada" -marriage-> (a node without a name) -partner-> ?\n'
    assert (drawn in offered[0]) == paired
    assert len(offered) == 1 + (not paired)
    assert "Finn" in shown(record)
    assert record["outcome"] == "grounded"


async def test_where_nothing_leads_on_no_revision_is_asked_for(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada born 1815", "then what", answers=["1815"]), select_relations=as_searched
    )
    record = await vog(model, kg=TOWNS + "e:ada r:born 1815 .", **DEFAULTS)
    assert called(model) == ["plan_steps", "select_relations"]
    assert (shown(record), record["outcome"]) == (["1815"], "grounded")


async def test_after_a_time_out_the_end_is_asked(vog: AskVoG, turtle: Callable[[str], Path]) -> None:
    slow = Failing(
        open_graph([turtle(TOWNS)]), "follow_relation", KGTimeout("slow"), lambda steps: "child" in str(steps)
    )
    model = playing(
        plan_steps=plan("Ada lives_in", answers=["Ulm"]),
        select_relations=take("lives_in", "child"),
        evaluate_found=stop(),
    )
    record = await vog(model, kg=slow, **DEFAULTS)
    assert called(model)[-1] == "evaluate_found"
    assert (shown(record), record["outcome"]) == (["Ulm"], "grounded")


async def test_the_budget_is_checked_before_each_call_of_the_end(vog: AskVoG) -> None:
    for calls in range(4):
        model = playing(
            plan_steps=plan("Ada child", answers=["Finn"]),
            select_relations=as_searched,
            evaluate_found={"decision": "filter", "groups": [1]},
            apply_conditions={"chosen": [1]},
        )
        record = await vog(model, budget={"llm_calls": calls}, **DEFAULTS)
        assert len(model.prompts) == record["usage"]["llm_calls"] == calls
        assert record["stopped_by"] == "llm_calls"


@pytest.mark.parametrize(("then", "free"), [("this_town river", True), ("Bonn river", False)])
async def test_another_name_than_predicted_is_no_reason_to_revise_unless_a_later_step_has_it(
    vog: AskVoG, then: str, free: bool
) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", then),
        select_relations=as_searched,
        evaluate_found=stop(),
        revise_locally=revision("Ulm river", first=2),
    )
    record = await vog(model, **DEFAULTS, strategy="local")
    [prompt] = asked(model, "verify_step")
    assert (ANY_NAME in prompt.case(), shown(record)) == (free, ["Danube"])
    assert len(asked(model, "revise_locally")) == (0 if free else 1)
    published = playing(
        plan_steps=plan("Ada lives_in Bonn", then),
        select_relations=as_searched,
        revise_locally=revision("Ulm river", first=2),
    )
    await vog(published, **PLAN_ANSWERS, strategy="local", revisions=1)
    assert not any(ANY_NAME in prompt.case() for prompt in asked(published, "verify_step"))
