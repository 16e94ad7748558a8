"""What VoG makes of odd graphs, odd replies, caps and failures."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa.kg.errors import KGTimeout
from kgqa.kg.opening import open_graph
from kgqa.kg.terms import Entity, Hop, Path as Way
from kgqa.models.errors import MalformedReply
from kgqa.nodes.vog.expand import _is_repeated
from kgqa.tests.support.guided import Failing
from kgqa.tests.support.method_fixtures import AskVoG
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

BROKEN = MalformedReply("no plan")


def many(relation: str, size: int, head: str = "ada") -> str:
    """Write so many named nodes that an entity has by one relation."""
    names = [f"{relation}{number:03}" for number in range(size)]
    linked = ", ".join(f"e:{name}" for name in names)
    labels = "\n".join(f'e:{name} rdfs:label "{name}"@en .' for name in names)
    return f"e:{head} r:{relation} {linked} .\n{labels}\n"


async def test_without_revisions_a_call_for_one_is_passed_over(vog: AskVoG) -> None:
    for options in ({"revisions": 0}, {"max_revisions": 0}):
        for relations in (take("lives_in"), {"relations": []}):
            model = playing(
                plan_steps=plan("Ada lives_in Bonn", answers=["Bonn"]),
                select_relations=relations,
                verify_step={"revise": True},
            )
            assert {"choose_arm", "revise"}.isdisjoint(nodes(await vog(model, **options)))


async def test_a_number_that_counts_something_else_is_not_proved(vog: AskVoG) -> None:
    earlier = plan("Ada child", "children pet", answers=["2"])
    single = plan("Ada lives_in Ulm", answers=["1"])
    mediators = plan("Ada lives_in Ulm", "Ada marriage", answers=["2"])
    for planned in (earlier, single, mediators):
        model = playing(plan_steps=planned, select_relations=as_searched, revise_ahead=BROKEN)
        record = await vog(model, kg=TOWNS + "e:ada r:marriage e:m2 . e:m2 r:partner e:ben .")
        assert record["outcome"] == "parametric", planned


async def test_a_crossing_that_leads_nowhere_leaves_the_frontier_as_it_was(vog: AskVoG) -> None:
    def relations(prompt: Any) -> Any:
        return as_searched(prompt) if prompt.frontier[0].end.name else {"relations": []}

    model = playing(
        plan_steps=plan("Ada marriage", "she lives_in Ulm", answers=["Ulm"]),
        select_relations=relations,
        revise_ahead=BROKEN,
    )
    record = await vog(model)
    assert (shown(record), record["outcome"]) == (["Ulm"], "grounded")
    [ahead] = [prompt for prompt in model.prompts if prompt.name == "revise_ahead"]
    assert [str(path) for path in ahead.frontier] == ["Ada"]


async def test_a_literal_that_looks_like_an_id_is_no_node_to_go_on_from(vog: AskVoG) -> None:
    kg = TOWNS + '\ne:ada r:sees e:ulm, "http://t/e/ulm" .\n'
    model = playing(
        plan_steps=plan("Ada sees Ulm", "Ulm river", answers=["Danube"]), select_relations=as_searched
    )
    record = await vog(model, kg=kg)
    assert (shown(record), record["outcome"]) == (["Danube"], "grounded")


async def test_a_value_is_an_answer(vog: AskVoG) -> None:
    model = playing(plan_steps=plan("Ada born", answers=["1815"]), select_relations=as_searched)
    record = await vog(model, kg=TOWNS + "e:ada r:born 1815 .")
    assert (record["answers"], record["outcome"]) == ([{"id": "1815", "name": "1815"}], "grounded")


async def test_looking_an_answer_up_is_held_to_the_budget_and_tells_a_time_out(
    vog: AskVoG, turtle: Callable[[str], Path]
) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", answers=["Ulm on Danube"]), select_relations=as_searched
    )
    whole = await vog(model)
    assert (whole["outcome"], whole["stopped_by"]) == ("parametric", None)
    cut = await vog(model, budget={"kg_queries": whole["usage"]["kg_queries"] - 1})
    assert (cut["outcome"], cut["stopped_by"]) == ("parametric", "kg_queries")
    slow = Failing(
        open_graph([turtle(TOWNS)]), "find_entities", KGTimeout("slow"), lambda text: "Danube" in str(text)
    )
    record = await vog(model, kg=slow)
    assert (record["outcome"], record["answers"]) == ("kg_unavailable", [])


async def test_a_malformed_revision_is_never_accepted(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", answers=["Bonn"]),
        select_relations=take("lives_in"),
        revise_locally=BROKEN,
        revise_ahead=BROKEN,
        revise_globally=BROKEN,
    )
    record = await vog(model, threshold=0)
    assert [entry["accepted"] for entry in entries(record, "appraise")] == [False] * 4


async def test_a_right_prediction_among_many_facts_is_no_contradiction(vog: AskVoG) -> None:
    model = playing(plan_steps=plan("Ada child child080", answers=["child080"]), select_relations=as_searched)
    record = await vog(model, kg='e:ada rdfs:label "Ada"@en .\n' + many("child", 100))
    assert entries(record, "verify")[0]["signals"] == {"model": False, "nli": False}
    assert (shown(record), record["outcome"]) == (["child080"], "grounded_inference")


async def test_facts_of_every_step_are_shown(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", "Ulm street", answers=["yes"], whether=True),
        select_relations=as_searched,
        judge_claim={"verdict": "yes", "favour": [1]},
    )
    await vog(model, kg=TOWNS + many("street", 90, head="ulm"))
    [asked] = [prompt for prompt in model.prompts if prompt.name == "judge_claim"]
    assert '"Ada" -lives_in-> "Ulm"' in asked.case()


async def test_a_plan_that_is_cut_short_ends_there(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", "x pet", "y z", answers=["Ulm"]),
        select_relations=as_searched,
        revise_ahead={"first": 2, "steps": [], "answers": ["Ulm"]},
    )
    record = await vog(model)
    assert (shown(record), record["outcome"]) == (["Ulm"], "grounded")
    assert [entry["step"] for entry in entries(record, "retrieve_relations")] == [1, 2]


async def test_a_step_of_which_the_graph_did_not_answer_all_is_not_empty(
    vog: AskVoG, turtle: Callable[[str], Path]
) -> None:
    slow = Failing(
        open_graph([turtle(TOWNS)]),
        "follow_relation",
        KGTimeout("slow"),
        lambda steps: "lives_in" in str(steps),
    )

    def relations(prompt: Any) -> Any:
        return take("lives_in", "marriage")(prompt) if prompt.frontier[0].end.name else {"relations": []}

    record = await vog(
        playing(plan_steps=plan("Ada lives_in Ulm", answers=["Ulm"]), select_relations=relations), kg=slow
    )
    assert {"choose_arm", "revise"}.isdisjoint(nodes(record))
    assert record["outcome"] == "kg_unavailable"


async def test_of_two_by_one_name_the_chosen_one_is_the_answer(vog: AskVoG) -> None:
    kg = 'e:ada rdfs:label "Ada"@en ; r:child e:b1, e:b2 .\n'
    kg += 'e:b1 rdfs:label "Ben"@en . e:b2 rdfs:label "Ben"@en .\n'
    model = playing(
        plan_steps=plan("Ada child", answers=["Ben"]),
        select_relations=as_searched,
        select_entities={"keep": "some", "chosen": [2]},
    )
    assert [answer["id"] for answer in (await vog(model, kg=kg))["answers"]] == ["http://t/e/b2"]


def test_a_loop_is_told_from_going_on() -> None:
    ada, ben, child = (
        Entity("http://t/e/ada", "Ada"),
        Entity("http://t/e/ben", "Ben"),
        Hop("http://t/r/child"),
    )
    one = Way(ada).then(child, ben)
    state: Any = {"topic_entities": [ada], "feedback": [[one]]}
    assert _is_repeated(state, [one.then(child.inverse, ada)], by_hop=False)
    assert not _is_repeated(state, [one.then(child, Entity("http://t/e/dora", "Dora"))], by_hop=False)


@pytest.mark.parametrize("by_hop", [False, True])
def test_back_by_way_of_a_node_without_a_name_is_a_loop_where_each_hop_is_a_step(by_hop: bool) -> None:
    """Appendix B.1: E_rep is 1 where an entity is revisited."""
    ada, marriage = Entity("http://t/e/ada", "Ada"), Hop("http://t/r/marriage")
    one = Way(ada).then(marriage, Entity("http://t/e/m"))
    state: Any = {"topic_entities": [ada], "feedback": [[one]]}
    assert _is_repeated(state, [one.then(marriage.inverse, ada)], by_hop=by_hop) == by_hop


@pytest.mark.parametrize("whether", [False, True])
@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("search", ["Ada child", "Ada marriage", "Ada pet"])
async def test_calls_stay_within_the_bound_of_table_13(
    vog: AskVoG, width: int, whether: bool, search: str
) -> None:
    revisions, steps = 2, [search, "there lives_in"]

    def every(prompt: Any) -> Any:
        return {"relations": [] if "pet" in search else list(range(1, len(prompt.offers) + 1))}

    worst = {**revision(*steps, answers=["yes"]), "whether": whether}
    model = playing(
        plan_steps=plan(*steps, answers=["yes"], whether=whether),
        select_relations=lambda p: {
            "relations": list(range(1, len(p.offers) + 1)) if "pet" not in search else []
        },
        verify_step={"revise": True},
        revise_locally=worst,
        revise_ahead=worst,
        revise_globally=worst,
        judge_claim={"verdict": "yes", "favour": [1]},
    )
    kg = TOWNS + "".join(many(relation, 3) for relation in ("likes", "owns", "knows", "reads"))
    record = await vog(model, kg=kg, width=width, k_min=1, revisions=revisions, threshold=1)
    depth = len(entries(record, "advance"))
    assert len(model.prompts) <= 1 + depth * (2 * width + 1 + revisions)


async def test_thousands_of_ends_do_not_hold_the_loop(vog: AskVoG) -> None:
    model = playing(plan_steps=plan("Ada child", answers=["child003"]), select_relations=as_searched)
    record = await vog(
        model, kg='e:ada rdfs:label "Ada"@en .\n' + many("child", 4000), budget={"seconds": 20}
    )
    assert (record["outcome"], record["stopped_by"]) == ("grounded_inference", None)
    assert entries(record, "expand")[0]["truncated"]


@pytest.mark.parametrize(
    "options",
    [
        {"reward": "task"},
        {"reward": "confidence"},
        {"ablate_reward": "quality"},
        {"ablate_reward": "validation"},
    ],
)
async def test_what_a_reward_is_made_of_is_an_option(vog: AskVoG, options: dict[str, Any]) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", answers=["Bonn"]),
        select_relations=take("lives_in"),
        revise_locally=revision("Ada lives_in Bonn", answers=["Bonn"]),
    )
    usual, other = [
        entries(await vog(model, strategy="local", revisions=1, **given), "appraise")[0]
        for given in ({}, options)
    ]
    assert usual["reward"] != other["reward"]
    assert usual["metrics"] == other["metrics"]
