"""What ToG does at each turn, with a scripted model on tiny graphs."""

from collections.abc import Callable
from typing import Any

import pytest

import kgqa
from kgqa.graphs import tog
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.priors.candidate_ranking import bm25_scores
from kgqa.tests.support.frontier import rate, stop_at
from kgqa.tests.support.guided import FAMILY, playing, shown
from kgqa.tests.unit.graphs.test_cor import MEDIATED, nodes

Open = Callable[[str], SparqlGraph]

STARS = "e:sky rdfs:label 'Sky'@en ; r:star " + ", ".join(f"e:s{n}" for n in range(9)) + " .\n"
STARS += "".join(
    f"e:s{n} rdfs:label 'Star {n}'@en ; r:moon e:m{n} . e:m{n} rdfs:label 'Moon {n}'@en .\n" for n in range(9)
)


async def asked(graph: Any, model: Any, topic: str = "Ada", **options: Any) -> kgqa.Record:
    """Ask with a beam of entities, unless the options say otherwise."""
    question = options.pop("question", "the question")
    options = {"method": "tog", "beam": "entities", **options}
    return await kgqa.aask(question, topics=[topic], kg=graph, model=model, **options)


def entries(record: kgqa.Record, node: str) -> list[dict[str, Any]]:
    return [entry for entry in record["trace"] if entry["node"] == node]


async def test_the_beam_is_scored_by_relation_and_entity(graph: Open) -> None:
    model = playing(
        score_relations=rate({"child": 0.8, "pet": 0.9}),
        score_entities=rate({"Ben": 0.5, "Cleo": 1.0}),
        assess_found=stop_at("child"),
    )
    record = await asked(graph(FAMILY), model, width=2)
    beam = entries(record, "rerank")[0]["beam"]
    assert beam == ["Ada -pet-> Rex 0.90", "Ada -child-> Cleo 0.80"]
    assert (shown(record), record["outcome"]) == (["Cleo"], "grounded_inference")


async def test_the_beam_goes_on_from_what_it_holds_alone(graph: Open) -> None:
    model = playing(
        score_relations=rate({"child": 1.0, "child lives_in": 1.0}),
        score_entities=rate({"Ben": 1.0}),
        assess_found=stop_at("child lives_in"),
    )
    assert shown(await asked(graph(FAMILY), model, width=1)) == ["Bonn"]


async def test_what_the_beam_cannot_hold_is_lost(graph: Open) -> None:
    model = playing(
        score_relations=rate({"star": 1.0, "star moon": 1.0}),
        score_entities=rate({f"{name} {n}": 1.0 for name in ("Star", "Moon") for n in range(9)}),
        assess_found=stop_at("star moon"),
    )
    assert len(shown(await asked(graph(STARS), model, "Sky", width=3))) == 3
    assert len(shown(await asked(graph(STARS), model, "Sky", width=9))) == 9


async def test_values_that_the_beam_has_chosen_are_an_inference(graph: Open) -> None:
    model = playing(
        score_relations=rate({"size": 1.0}),
        score_entities=rate({"1": 1.0, "3": 0.9}),
        assess_found=stop_at("size"),
    )
    sizes = "e:sky rdfs:label 'Sky'@en ; r:size 1, 2, 3, 4 ."
    record = await asked(graph(sizes), model, "Sky", width=2)
    assert (sorted(map(str, shown(record))), record["outcome"]) == (["1", "3"], "grounded_inference")


async def test_a_beam_of_chains_scores_no_entities_and_holds_all_of_them(graph: Open) -> None:
    model = playing(
        score_relations=rate({"star": 1.0, "star moon": 0.7}),
        assess_found=stop_at("star moon"),
    )
    record = await asked(graph(STARS), model, "Sky", beam="chains", width=1)
    assert (len(shown(record)), record["outcome"]) == (9, "grounded")
    assert {prompt.name for prompt in model.prompts} == {"assess_found"}  # one relation needs no score


async def test_a_beam_of_chains_holds_the_best_of_all(graph: Open) -> None:
    further = {"child child": 0.5, "child lives_in": 0.6, "lives_in mayor": 1.0}
    model = playing(
        score_relations=rate({"child": 0.9, "lives_in": 0.8, **further}),
        assess_found=stop_at("lives_in mayor"),
    )
    record = await asked(graph(FAMILY), model, beam="chains", width=2)
    assert [entry["beam"] for entry in entries(record, "rerank")] == [
        ["Ada -child-> 0.90", "Ada -lives_in-> 0.80"],
        ["Ada -lives_in-> -mayor-> 1.00", "Ada -child-> -lives_in-> 0.60"],
    ]
    assert shown(record) == ["Zed"]


async def test_the_graph_decides_a_condition_at_the_end_of_a_beam_of_chains(graph: Open) -> None:
    model = playing(
        score_relations=rate({"star": 1.0}),
        assess_found=stop_at("star", decision="filter"),
        apply_conditions={"extreme": "largest", "by": "A"},
    )
    sizes = "".join(f"e:s{n} r:size {n} . " for n in range(9))
    record = await asked(graph(STARS + sizes), model, "Sky", beam="chains", question="The largest star?")
    assert (shown(record), record["outcome"]) == (["Star 8"], "grounded")
    assert [each["by"] for each in record["conditions"]] == ["graph"]


async def test_nodes_without_names_share_the_score_of_their_relation(graph: Open) -> None:
    model = playing(
        score_relations=rate({"membership": 1.0, "membership member": 1.0}),
        score_entities=rate({"Ann": 1.0, "Bob": 1.0}),
        assess_found=stop_at("membership member"),
    )
    record = await asked(graph(MEDIATED), model, "Club", cross_mediators=False)
    assert [entry.split()[-1] for entry in entries(record, "rerank")[0]["beam"]] == ["0.50", "0.50"]
    assert sorted(map(str, shown(record))) == ["Ann", "Bob"]


async def test_a_beam_of_one_holds_one_of_the_nodes_without_names(graph: Open) -> None:
    model = playing(
        score_relations=rate({"membership": 1.0, "membership member": 1.0}),
        score_entities=rate({"Ann": 1.0, "Bob": 1.0}),
        assess_found=stop_at("membership member"),
    )
    assert shown(await asked(graph(MEDIATED), model, "Club", width=1)) == ["Ann"]


async def test_a_search_that_ends_without_enough_infers(graph: Open) -> None:
    model = playing(
        score_relations=rate({"child": 1.0, "child lives_in": 1.0}),
        score_entities=rate({"Ben": 1.0, "Cleo": 0.5, "Bonn": 1.0}),
        assess_found=stop_at("never"),
        infer_from_evidence={"chosen": [1]},
    )
    record = await asked(graph(FAMILY), model, depth=2)
    assert record["outcome"] == "grounded_inference"
    assert nodes(record).count("verify") == 2


async def test_nothing_that_promises_anything_ends_the_search(graph: Open) -> None:
    model = playing(score_relations={"scores": [{"number": 1, "score": 0.0}]})
    record = await asked(graph(FAMILY), model)
    assert record["outcome"] == "none"
    assert "expand" not in nodes(record)


async def test_words_can_score_in_place_of_the_model(graph: Open) -> None:
    model = playing(assess_found=stop_at("child"))
    record = await asked(graph(FAMILY), model, pruning="bm25", question="Which child is Ben?", width=1)
    assert shown(record) == ["Ben"]
    assert [prompt.name for prompt in model.prompts] == ["assess_found"]


async def test_entities_drawn_at_random_are_the_same_each_time(graph: Open) -> None:
    async def drawn() -> list[str | None]:
        model = playing(score_relations=rate({"star": 1.0}), assess_found=stop_at("star"))
        return shown(await asked(graph(STARS), model, "Sky", pruning="random", beam="entities"))

    assert await drawn() == await drawn()
    assert len(await drawn()) == 3


@pytest.mark.parametrize("prompt", ["score_relations", "score_entities", "assess_found"])
async def test_every_malformed_reply_has_a_way_on(graph: Open, prompt: str) -> None:
    policies: dict[str, Any] = {
        "score_relations": rate({"child": 1.0}),
        "score_entities": rate({"Ben": 1.0}),
        "assess_found": stop_at("child"),
        "infer_from_evidence": {"chosen": []},
    }
    record = await asked(graph(FAMILY), playing(**{**policies, prompt: "not JSON"}))
    assert record["outcome"] == ("grounded" if prompt == "score_entities" else "none")


def test_bm25_is_by_shared_words() -> None:
    assert bm25_scores(["place of birth", "film director"], "Where is the director?") == [0.0, 1.0]
    assert bm25_scores(["place of birth"], "?") == [0.0]
    assert bm25_scores(["", ""], "a question") == [0.0, 0.0]


def test_the_drawing_is_the_figure(snapshot: Any) -> None:
    assert tog.graph.get_graph().draw_mermaid() == snapshot
