"""PoG by default: the check plans and says where to go on; a reflection is asked where nothing leads on."""

from collections.abc import Callable
from typing import Any

import kgqa
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.tests.support.frontier import numbers, pick
from kgqa.tests.support.guided import FAMILY, asked, entries, nodes, playing, shown

Open = Callable[[str], SparqlGraph]


async def ask(graph: Open, model: Any, *topics: str, **options: Any) -> kgqa.Record:
    return await kgqa.aask(
        "the question", topics=topics or ("Ada",), method="pog", kg=graph(FAMILY), model=model, **options
    )


def going(prompt: Any) -> dict[str, Any]:
    """Go on from the first group until there is one of two hops."""
    if prompt.found[0].chain.depth == 2:
        return {"decision": "stop", "groups": [1]}
    said = {"subgoals": ["Find  her children.", "Find their town."], "known": ["Ben and Cleo.", ""]}
    return {"decision": "forward", "groups": [1], "chosen": numbers(prompt.found, ["Ben"]), **said}


async def test_a_check_that_goes_on_plans_and_says_from_where(graph: Open) -> None:
    model = playing(pick_relations=pick("child", "child lives_in"), assess_found=going)
    record = await ask(graph, model)
    assert shown(record) == ["Bonn"]
    names = ["pick_relations", "assess_found", "pick_relations", "assess_found"]
    assert [prompt.name for prompt in model.prompts] == names
    assert not {"plan", "reflect"} & {*nodes(record)}
    assert model.prompts[2].subgoals == ("Find her children.", "Find their town.")
    assert model.prompts[2].known == ("Ben and Cleo.", "")
    assert entries(record, "verify")[0]["subgoals"] == ["Find her children.", "Find their town."]


async def test_where_no_group_leads_on_the_model_reflects_on_what_can_be_chosen(graph: Open) -> None:
    def turn(prompt: Any) -> dict[str, Any]:
        return (
            {"decision": "stop", "groups": [1]}
            if prompt.found[0].chain.depth == 2
            else {"decision": "forward"}
        )

    model = playing(
        pick_relations=lambda p: pick("child lives_in" if p.offers[0].chain.depth == 2 else "pet", "child")(
            p
        ),
        assess_found=turn,
        reflect=lambda p: {"go_on": [], "recall": [2]},
    )
    await ask(graph, model)
    prompt = asked(model, "reflect")[0]
    assert prompt.found == ()
    assert [each.chain.depth for each in prompt.history] == [0, 1, 1]
    assert 'No group is left: "go_on" and "keep" stay empty.' in prompt.case()


async def test_a_dead_end_with_one_way_back_costs_no_call(graph: Open) -> None:
    def once(prompt: Any) -> dict[str, Any]:
        offered = {each.chain.hops[-1].words for each in prompt.offers}
        return pick("pet" if "pet" in offered else "child")(prompt)

    model = playing(
        pick_relations=lambda p: {"relations": []} if p.offers[0].chain.depth == 2 else once(p),
        assess_found=lambda p: (
            {"decision": "stop", "groups": [1]}
            if len(p.found[0].ends) == 2
            else {"decision": "forward", "groups": [1]}
        ),
    )
    record = await ask(graph, model)
    assert shown(record) == ["Ben", "Cleo"]
    assert not asked(model, "reflect")
    assert entries(record, "reflect")[0]["recalled"] == ["Ada"]


async def test_what_is_as_deep_as_allowed_is_not_gone_on_from(graph: Open) -> None:
    model = playing(
        pick_relations=pick("child"),
        assess_found={"decision": "forward", "groups": [1]},
        reflect={"go_on": []},
        infer_from_evidence={"chosen": []},
    )
    record = await ask(graph, model, depth=1)
    assert nodes(record).count("verify") == 1


async def test_chains_chosen_as_on_the_way_are_gone_on_from_without_a_check(graph: Open) -> None:
    model = playing(
        pick_relations=lambda p: (
            pick("child lives_in")(p) | {"then": "stop"}
            if p.offers[0].chain.depth == 2
            else pick("child")(p) | {"then": "forward"}
        )
    )
    record = await ask(graph, model)
    assert (shown(record), record["outcome"]) == (["Bonn", "Ulm"], "grounded")
    assert [prompt.name for prompt in model.prompts] == ["pick_relations", "pick_relations"]
    assert 'From "Ada" -child-> ?1 ("Ben", "Cleo"):' in model.prompts[1].case().splitlines()


async def test_how_many_chains_lead_to_may_be_the_answer(graph: Open) -> None:
    model = playing(pick_relations=lambda p: pick("child")(p) | {"then": "count"})
    record = await ask(graph, model)
    assert (shown(record), [prompt.name for prompt in model.prompts]) == (["2"], ["pick_relations"])


async def test_chains_of_all_topics_are_accepted_where_they_meet(graph: Open) -> None:
    model = playing(pick_relations=lambda p: pick("child", "^lives_in")(p) | {"then": "stop"})
    record = await ask(graph, model, "Ada", "Ulm")
    assert (shown(record), record["outcome"]) == (["Cleo"], "grounded")
    assert [prompt.name for prompt in model.prompts] == ["pick_relations"]


async def test_chains_that_do_not_meet_are_checked_whatever_was_said(graph: Open) -> None:
    model = playing(
        pick_relations=lambda p: pick("pet", "^lives_in")(p) | {"then": "stop"},
        assess_found={"decision": "stop", "groups": [1]},
    )
    await ask(graph, model, "Ada", "Ulm")
    assert [prompt.name for prompt in model.prompts][:2] == ["pick_relations", "assess_found"]


async def test_what_another_topic_has_led_to_is_said_where_no_group_shows_it(graph: Open) -> None:
    def turn(prompt: Any) -> dict[str, Any]:
        deep = prompt.found[0].chain.depth == 2
        return {"decision": "stop", "groups": [1]} if deep else {"decision": "forward", "groups": [1]}

    model = playing(
        pick_relations=lambda p: pick(
            *(["child lives_in"] if p.offers[0].chain.depth == 2 else ["child", "country"])
        )(p),
        assess_found=turn,
    )
    graph_ = FAMILY + 'e:rome rdfs:label "Rome"@en ; r:country e:italy . e:italy rdfs:label "Italy"@en .'
    await kgqa.aask("the question", topics=["Ada", "Rome"], method="pog", kg=graph(graph_), model=model)
    lines = [prompt.case().splitlines() for prompt in asked(model, "assess_found")]
    line = '"Rome" -country-> ?1 led only to "Italy"'
    assert (line in lines[0], line in lines[1]) == (False, True)


async def test_a_reflection_says_what_led_nowhere(graph: Open) -> None:
    model = playing(
        pick_relations=lambda p: pick("pet")(p) if len(p.offers) > 2 else {"relations": []},
        assess_found=lambda p: {"decision": "forward", "groups": [1]},
        reflect={"go_on": []},
        infer_from_evidence={"chosen": []},
    )
    await ask(graph, model, "Ada", "Bonn")
    assert '"Ada" -pet-> ?1 led only to "Rex"' in asked(model, "reflect")[0].case().splitlines()


async def test_what_a_topic_led_to_is_said_where_its_new_chain_has_no_names(graph: Open) -> None:
    def turn(prompt: Any) -> dict[str, Any]:
        deep = prompt.found[0].chain.depth == 2
        return {"decision": "stop", "groups": [1]} if deep else {"decision": "forward", "groups": [1, 2]}

    def relations(prompt: Any) -> Any:
        deep = prompt.offers[0].chain.depth == 2
        return pick(*(["child lives_in", "country ruled"] if deep else ["child", "country"]))(prompt)

    model = playing(pick_relations=relations, assess_found=turn)
    rome = 'e:rome rdfs:label "Rome"@en ; r:country e:italy . e:italy rdfs:label "Italy"@en ; '
    rome += "r:ruled e:n1 ; r:coast e:sea . e:n1 r:since 1861 ; r:until 1946 ."
    await kgqa.aask(
        "the question",
        topics=["Ada", "Rome"],
        method="pog",
        kg=graph(FAMILY + rome),
        model=model,
        cross_mediators=False,
    )
    lines = [prompt.case().splitlines() for prompt in asked(model, "assess_found")]
    assert '"Rome" -country-> ?1 led only to "Italy"' in lines[1]


async def test_a_topic_from_which_nothing_more_was_chosen_is_no_dead_end(graph: Open) -> None:
    chosen: list[Any] = []

    def relations(prompt: Any) -> Any:
        chosen.append(prompt)
        return pick("pet")(prompt) if len(chosen) == 1 else {"relations": []}

    model = playing(
        pick_relations=relations,
        assess_found=lambda p: {"decision": "forward", "groups": [1]},
        reflect=lambda p: {"go_on": [], "recall": [1]},
        infer_from_evidence={"chosen": []},
    )
    await ask(graph, model, "Ada", "Bonn", "Ulm", reflections=2)
    lines = asked(model, "reflect")[-1].case().splitlines()
    assert '"Ada" -pet-> ?1 led only to "Rex"' in lines
    assert not [line for line in lines if line.endswith("led to nothing further")]
