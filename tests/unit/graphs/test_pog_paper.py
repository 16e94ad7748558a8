"""PoG and PoG-EGP as published: a frontier of entities, a call for each choice, paths tried one by one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kgqa
from kgqa.evaluation.simulation import ErrorRates
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.runtime import resources
from kgqa.runtime.search_context import ONE_STEP_A_TIME
from kgqa.tests.support.frontier import pick, stop_at
from kgqa.tests.support.guided import FAMILY, asked, entries, playing, shown
from kgqa.tests.unit.evaluation.simulation.public import answered, graph_of, questions
from kgqa.tests.unit.graphs.test_cor import MEDIATED, nodes

Open = Callable[[str], SparqlGraph]

ROUND = ("retrieve_relations", "prune", "expand", "choose_entities", "update_memory", "verify")


async def ask(graph: Any, model: Any, *topics: str, **options: Any) -> kgqa.Record:
    given = {"method": "pog", "kg": graph, "model": model, "frontier": "entities"} | ONE_STEP_A_TIME | options
    return await kgqa.aask("the question", topics=topics or ("Ada",), **given)


def take(*names: str) -> Callable[[Any], dict[str, Any]]:
    """Choose the candidates of these names."""

    def line(prompt: Any) -> dict[str, Any]:
        found = [number for number, each in enumerate(prompt.candidates, 1) if each.term.name in names]
        return {"chosen": found}

    return line


def recall(*names: str) -> Callable[[Any], dict[str, Any]]:
    """Come back to the entities of these names."""

    def name(chain: Any) -> str | None:
        return chain.steps[-1][1][0].name if chain.hops else chain.topic.name

    return lambda prompt: {"recall": [n for n, each in enumerate(prompt.offered, 1) if name(each) in names]}


def players(**policies: Any) -> Any:
    usual: dict[str, Any] = {
        "pick_relations": pick("child", "child lives_in"),
        "choose_entities": take("Ben", "Cleo"),
        "update_memory": {"known": ["noted"]},
        "evaluate_found": stop_at("child lives_in"),
        "judge_direction": {"add": False},
    }
    return playing(**{**usual, **policies})


async def test_each_choice_of_a_round_is_a_call_of_its_own(graph: Open) -> None:
    model = players()
    record = await ask(graph(FAMILY), model)
    assert (shown(record), record["outcome"]) == (["Bonn", "Ulm"], "grounded")
    assert nodes(record) == ["link", "plan", *ROUND, "reflect", *ROUND, "answer"]
    assert [prompt.name for prompt in model.prompts] == [
        *(
            "decompose",
            "pick_relations",
            "choose_entities",
            "update_memory",
            "evaluate_found",
            "judge_direction",
        ),
        # relations of Ben and of Cleo; of two groups with one entity each nothing is chosen
        *("pick_relations", "pick_relations", "update_memory", "evaluate_found"),
    ]


async def test_the_memory_of_a_round_is_what_the_next_one_begins_with(graph: Open) -> None:
    model = players()
    await ask(graph(FAMILY), model)
    first, second = asked(model, "update_memory")
    assert (first.known, second.known) == ((), ("noted",))
    assert {prompt.known for prompt in asked(model, "evaluate_found")} == {("noted",)}


async def test_the_frontier_is_what_was_chosen_of_a_relation(graph: Open) -> None:
    record = await ask(graph(FAMILY), players(choose_entities=take("Ben")))
    assert shown(record) == ["Bonn"]


async def test_what_several_entities_lead_to_by_one_relation_is_one_group_beside_its_triples(
    graph: Open,
) -> None:
    model = players()
    await ask(graph(FAMILY), model)
    first, second = asked(model, "evaluate_found")
    assert (len(first.found), first.triples) == (1, ())
    assert [end.term.name for end in second.found[0].named] == ["Bonn", "Ulm"]
    assert [[end.term.name for end in each.named] for each in second.triples] == [["Bonn"], ["Ulm"]]


async def test_reflection_adds_entities_of_the_whole_history_to_the_next_round(graph: Open) -> None:
    answers = iter([{"add": False}, {"add": True}])
    model = players(
        pick_relations=pick("child", "child child", "child lives_in"),
        choose_entities=take("Cleo"),
        evaluate_found=stop_at("child child"),
        judge_direction=lambda _: next(answers),
        recall_entities=recall("Ben"),
    )
    record = await ask(graph(FAMILY), model)
    assert shown(record) == ["Dora"]
    (prompt,) = asked(model, "recall_entities")
    # the topic, both of whom one was chosen, and where she lives, which is explored next
    assert len(prompt.offered) == 3
    assert nodes(record).count("backtrack") == 1
    # E_D united with E_add
    assert entries(record, "retrieve_relations")[2]["frontier"] == [
        "Ada -child-> (only Cleo) -lives_in-> (only Ulm)",
        "Ada -child-> (only Ben)",
    ]
    assert entries(record, "prune")[2]["chosen"] == [
        "Ada -child-> (only Ben) -child->",
        "Ada -child-> (only Ben) -lives_in->",
    ]


async def test_the_pool_is_all_that_was_reached_however_long_the_history(graph: Open) -> None:
    crowd = "e:ada rdfs:label 'Ada'@en ; r:knows " + ", ".join(f"e:p{n}" for n in range(40)) + " .\n"
    crowd += "".join(f"e:p{n} rdfs:label 'Person {n:03}'@en .\n" for n in range(40))
    model = players(
        pick_relations=pick("knows"),
        choose_entities={"chosen": [1]},
        evaluate_found={"decision": "forward"},
        judge_direction={"add": True},
        recall_entities={"recall": []},
        infer_from_evidence={"chosen": []},
    )
    await ask(graph(crowd), model)
    assert (
        len(asked(model, "recall_entities")[0].offered) == 40
    )  # and the topic, without the one that is next


async def test_no_reflection_comes_back_more_often_than_allowed(graph: Open) -> None:
    model = players(
        evaluate_found={"decision": "forward"},
        judge_direction={"add": True},
        recall_entities=recall("Ada"),
        infer_from_evidence={"chosen": []},
    )
    record = await ask(graph(FAMILY), model, reflections=1)
    assert nodes(record).count("backtrack") == 1


async def test_after_the_last_round_the_model_answers_from_memory(graph: Open) -> None:
    model = players(evaluate_found={"decision": "forward"}, answer_directly={"answers": ["Rome"]})
    record = await ask(graph(FAMILY), model, depth=2)
    assert (shown(record), record["outcome"]) == (["Rome"], "parametric")
    assert nodes(record) == ["link", "plan", *ROUND, "reflect", *ROUND, "reflect", "answer"]


async def test_what_the_model_knows_besides_is_an_answer_of_its_own(graph: Open) -> None:
    model = players(evaluate_found={"decision": "stop", "answers": ["Rome"]})
    record = await ask(graph(FAMILY), model)
    assert (shown(record), record["outcome"]) == (["Rome"], "parametric")
    assert [asked(model, name)[0].own_knowledge for name in ("update_memory", "evaluate_found")] == [
        True,
        True,
    ]
    model = players(infer_from_evidence={"chosen": []})
    await ask(graph(FAMILY), model, allow_parametric=False)
    assert {p.own_knowledge for p in asked(model, "update_memory") + asked(model, "evaluate_found")} == {
        False
    }


async def test_a_half_stop_may_answer_from_what_the_model_knows(graph: Open) -> None:
    """Also where nothing was found that it could go by."""
    model = players(choose_entities={"chosen": []}, infer_from_evidence={"chosen": [], "answers": ["Rome"]})
    record = await ask(graph(FAMILY), model)
    assert (shown(record), record["outcome"]) == (["Rome"], "parametric")


async def test_where_nothing_is_chosen_the_search_ends_with_what_it_found(graph: Open) -> None:
    model = players(choose_entities={"chosen": []}, infer_from_evidence={"chosen": []})
    record = await ask(graph(FAMILY), model)
    assert nodes(record) == ["link", "plan", *ROUND[:4], "reflect", "look_again", "infer", "answer"]


async def test_nodes_without_names_are_gone_through_without_a_verdict(graph: Open) -> None:
    model = players(
        pick_relations=pick("membership", "membership member"), evaluate_found=stop_at("membership member")
    )
    record = await ask(graph(MEDIATED), model, "Club")
    assert entries(record, "choose_entities")[0]["decision"] == "refine"
    assert nodes(record).count("verify") == 1
    assert len(asked(model, "pick_relations")) > 2  # one for each of them


async def test_a_large_group_is_screened_by_the_encoder_of_entities(
    graph: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str | None] = []

    async def encode(context: Any, texts: Any, encoder: str | None = None) -> Any:
        given.append(encoder)
        return np.array([[float("007" in text), 0.1] for text in texts[:-1]] + [[1.0, 0.0]], np.float32)

    monkeypatch.setattr("kgqa.runtime.node.encode", encode)
    crowd = "e:ada rdfs:label 'Ada'@en ; r:knows " + ", ".join(f"e:p{n}" for n in range(20)) + " .\n"
    crowd += "".join(f"e:p{n} rdfs:label 'Person {n:03}'@en .\n" for n in range(20))
    model = players(
        pick_relations=pick("knows"), choose_entities={"chosen": [1]}, evaluate_found=stop_at("knows")
    )
    record = await ask(graph(crowd), model, width=1, entity_encoder="small")
    assert (shown(record), given) == (["Person 007"], ["small"])
    assert resources.encode is not encode


@pytest.mark.parametrize("prompt", ["choose_entities", "update_memory", "evaluate_found", "judge_direction"])
async def test_every_malformed_reply_has_a_way_on(graph: Open, prompt: str) -> None:
    first = iter(["not JSON"])

    def stumbling(given: Any) -> Any:
        usual = {
            "choose_entities": take("Ben", "Cleo"),
            "update_memory": {"known": ["noted"]},
            "evaluate_found": stop_at("child lives_in"),
            "judge_direction": {"add": False},
        }[prompt]
        return next(first, None) or (usual(given) if callable(usual) else usual)

    record = await ask(graph(FAMILY), players(**{prompt: stumbling}))
    assert shown(record) == ["Bonn", "Ulm"]


async def test_a_perfect_model_answers_as_by_chains_with_more_calls() -> None:
    few, opened = questions("sample", most=12), graph_of("sample")
    results = await answered(few, opened, ErrorRates(), method="pog", frontier="entities")
    # of more than ten nodes without a name ten are gone through
    assert sum(score.f1 for _, score in results) > 11.5
    chains = await answered(few, opened, ErrorRates(), method="pog")
    calls = [sum(record["usage"]["llm_calls"] for record, _ in each) for each in (results, chains)]
    assert calls[0] > calls[1]
