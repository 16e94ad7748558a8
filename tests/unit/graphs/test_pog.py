"""What PoG does at each turn, with a scripted model on tiny graphs."""

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import kgqa
from kgqa.graphs import pog
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.tests.support.frontier import go_on, numbers, pick, stop_at
from kgqa.tests.support.guided import FAMILY, playing, shown
from kgqa.tests.unit.graphs.test_cor import MEDIATED, nodes

Open = Callable[[str], SparqlGraph]


async def asked(graph: Any, model: Any, *topics: str, **options: Any) -> kgqa.Record:
    record = await kgqa.aask(
        "the question",
        topics=topics or ("Ada",),
        method="pog",
        kg=graph,
        model=model,
        **{"planning": "first", "reflection": "always", **options},
    )
    assert record.keys() == kgqa.Record.__annotations__.keys()
    return record


async def test_a_group_that_is_enough_is_the_answer_with_its_path(graph: Open) -> None:
    model = playing(pick_relations=pick("child"), assess_found=stop_at("child"))
    record = await asked(graph(FAMILY), model)
    assert (shown(record), record["outcome"]) == (["Ben", "Cleo"], "grounded")
    assert [step["relation"] for path in record["paths"] for step in path] == ["http://t/r/child"]
    assert nodes(record) == [
        *("link", "plan", "retrieve_relations", "prune", "expand", "verify", "answer"),
    ]


async def test_the_search_goes_on_from_what_the_reflection_keeps(graph: Open) -> None:
    def keep_ben(prompt: Any) -> dict[str, Any]:
        return {"go_on": [1], "keep": numbers(prompt.found, ["Ben"])}

    model = playing(
        pick_relations=pick("child", "child lives_in"),
        assess_found=stop_at("child lives_in"),
        reflect=keep_ben,
    )
    record = await asked(graph(FAMILY), model)
    assert shown(record) == ["Bonn"]


async def test_nodes_without_names_are_gone_through_without_a_verdict(graph: Open) -> None:
    model = playing(
        pick_relations=pick("membership", "membership member"),
        assess_found=stop_at("membership member", take="some", chosen=[2]),
    )
    record = await asked(graph(MEDIATED), model, "Club")
    assert shown(record) == ["Bob"]
    assert nodes(record).count("verify") == 1


async def test_chains_from_two_topics_meet(graph: Open) -> None:
    def meets(prompt: Any) -> dict[str, Any]:
        return {"decision": "stop", "groups": [next(n for n, g in enumerate(prompt.found, 1) if g.met)]}

    model = playing(pick_relations=pick("child", "^lives_in"), assess_found=meets)
    record = await asked(graph(FAMILY), model, "Ada", "Bonn")
    assert shown(record) == ["Ben"]
    assert len(record["paths"]) == 2


async def test_a_chain_that_is_done_waits_until_another_topics_meets_it(graph: Open) -> None:
    def meets(prompt: Any) -> dict[str, Any]:
        met = [n for n, g in enumerate(prompt.found, 1) if g.met]
        return {"decision": "stop", "groups": met[:1]} if met else {"decision": "forward"}

    model = playing(
        pick_relations=pick("child", "mayor", "^mayor ^lives_in", "^mayor"),
        assess_found=meets,
        reflect=go_on("^mayor"),
    )
    record = await asked(graph(FAMILY), model, "Ada", "Yan")
    assert shown(record) == ["Ben"]


async def test_reflection_comes_back_to_what_was_explored_before(graph: Open) -> None:
    model = playing(
        pick_relations=lambda prompt: (pick("pet") if _offers(prompt, "pet") else pick("child"))(prompt),
        assess_found=stop_at("child"),
        reflect=go_on(recall=[""]),
    )
    record = await asked(graph(FAMILY), model)
    assert shown(record) == ["Ben", "Cleo"]
    assert "backtrack" in nodes(record)


def _offers(prompt: Any, words: str) -> bool:
    return any(offer.hops[-1].words == words for offer in prompt.offers)


async def test_what_was_tried_is_not_offered_again(graph: Open) -> None:
    model = playing(
        pick_relations=pick("pet"),
        assess_found=stop_at("none"),
        reflect=go_on(recall=[""]),
        infer_from_evidence={"chosen": []},
    )
    await asked(graph(FAMILY), model)
    first, second = [p for p in model.prompts if p.name == "pick_relations"][:2]
    assert _offers(first, "pet") and not _offers(second, "pet")


async def test_more_candidates_than_one_prompt_shows_are_filtered(graph: Open) -> None:
    crowd = "e:ada rdfs:label 'Ada'@en ; r:knows " + ", ".join(f"e:p{n}" for n in range(150)) + " .\n"
    crowd += "".join(f"e:p{n} rdfs:label 'Person {n:03}'@en .\n" for n in range(150))
    model = playing(
        pick_relations=pick("knows"),
        assess_found={"decision": "filter", "groups": [1]},
        apply_conditions=lambda prompt: {"chosen": [len(prompt.candidates)]},
    )
    record = await asked(graph(crowd), model)
    assert shown(record) == ["Person 149"]


async def test_a_second_look_begins_where_the_search_last_went_on(graph: Open) -> None:
    tries = iter(["child spouse", "child lives_in"])
    model = playing(
        pick_relations=lambda prompt: pick("child" if not prompt.offers[0].start.hops else next(tries))(
            prompt
        ),
        assess_found=stop_at("child lives_in"),
        reflect=go_on("child"),
        infer_from_evidence={"chosen": []},
    )
    record = await asked(graph(FAMILY), model, reflections=0, retry_search=True)
    assert shown(record) == ["Bonn", "Ulm"]
    assert nodes(record).count("look_again") == 1
    tries = iter(["child spouse", "child lives_in"])
    assert (await asked(graph(FAMILY), model, reflections=0))["outcome"] == "none"


async def test_reflections_are_limited(graph: Open) -> None:
    model = playing(
        pick_relations=lambda _: {"relations": [1]},
        assess_found=stop_at("none"),
        reflect=go_on(recall=[""]),
        infer_from_evidence={"chosen": []},
    )
    record = await asked(graph(FAMILY), model, reflections=2)
    assert nodes(record).count("backtrack") == 2
    assert record["outcome"] == "none"


async def test_a_search_that_runs_dry_infers_and_says_so(graph: Open) -> None:
    model = playing(
        pick_relations=pick("child"),
        assess_found=stop_at("none"),
        reflect=go_on(),
        infer_from_evidence={"chosen": [2]},
    )
    record = await asked(graph(FAMILY), model)
    assert (shown(record), record["outcome"]) == (["Cleo"], "grounded_inference")


@pytest.mark.parametrize(
    ("prompt", "outcome"),
    [
        ("decompose", "grounded"),
        ("pick_relations", "none"),
        ("assess_found", "grounded"),
        ("reflect", "grounded"),
    ],
)
async def test_every_malformed_reply_has_a_way_on(graph: Open, prompt: str, outcome: str) -> None:
    policies: dict[str, Any] = {
        "pick_relations": pick("child", "child lives_in"),
        "assess_found": stop_at("child lives_in"),
        "reflect": go_on("child"),
        "infer_from_evidence": {"chosen": []},
    }
    first = iter(["not JSON"])
    proper = policies.get(prompt, {"subgoals": ["the goal"]})

    def stumbling(asked: Any) -> Any:
        line = next(first, None)
        return line or (proper(asked) if callable(proper) else proper)

    record = await asked(graph(FAMILY), playing(**{**policies, prompt: stumbling}))
    assert record["outcome"] == outcome


async def test_a_budget_that_ends_leaves_the_evidence_at_hand(graph: Open) -> None:
    model = playing(pick_relations=pick("child"), assess_found=stop_at("child"))
    record = await asked(graph(FAMILY), model, budget={"llm_calls": 2})
    assert (shown(record), record["stopped_by"]) == (["Ben", "Cleo"], "llm_calls")


async def test_a_second_question_on_a_thread_begins_anew(graph: Open) -> None:
    model = playing(pick_relations=pick("child"), assess_found=stop_at("child"))
    kg = graph(FAMILY)
    compiled = pog.graph.builder.compile(checkpointer=InMemorySaver())
    context = pog.PoG(kg=kg, model=model)
    config: Any = {"configurable": {"thread_id": "1"}}
    for topic, children in (("Ada", ["Ben", "Cleo"]), ("Ben", ["Dora"])):
        given: Any = {"question": f"children of {topic}", "topics": [topic]}
        record: Any = await compiled.ainvoke(given, config, context=context)
        assert shown(record) == children


def test_the_drawing_is_the_figure(snapshot: Any) -> None:
    assert pog.graph.get_graph().draw_mermaid() == snapshot
