"""What a search over a frontier does where graph, model or budget let it down (PoG and ToG)."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import kgqa
from kgqa.kg.errors import KGError, KGRejected, KGTimeout
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain
from kgqa.tests.support.frontier import go_on, pick, rate, stop_at
from kgqa.tests.support.guided import FAMILY, FailingVisits, playing, shown
from kgqa.tests.unit.graphs.test_cor import nodes

Open = Callable[[str], SparqlGraph]

CROWD = "e:sky rdfs:label 'Sky'@en ; r:star " + ", ".join(f"e:s{n}" for n in range(150)) + " .\n"
CROWD += "e:map rdfs:label 'Map'@en ; r:shows " + ", ".join(f"e:s{n}" for n in range(150)) + " .\n"
CROWD += "".join(f"e:s{n} rdfs:label 'Star {n:03}'@en .\n" for n in range(150))


class Batchless:
    """A graph that can visit one chain at a time only."""

    def __init__(self, graph: SparqlGraph) -> None:
        self._graph = graph

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    async def visit_chains(self, chains: Sequence[Chain], **asked: bool) -> Any:
        if len(chains) > 1:
            raise KGTimeout("too much at once")
        return await self._graph.visit_chains(chains, **asked)


async def asked(graph: Any, model: Any, *topics: str, method: str = "pog", **options: Any) -> kgqa.Record:
    given = topics or ("Ada",)
    return await kgqa.aask("the question", topics=given, method=method, kg=graph, model=model, **options)


@pytest.mark.parametrize(("method", "calls"), [("pog", 5), ("pog", 6), ("tog", 4)])
async def test_what_a_filter_has_rejected_is_no_answer(graph: Open, method: str, calls: int) -> None:
    model = playing(
        pick_relations=pick("star", "shows"),
        score_relations=rate({"star": 1.0, "shows": 1.0}),
        score_entities=rate({f"Star {n:03}": 1.0 for n in range(150)}),
        assess_found={"decision": "filter", "groups": [1]},
        apply_conditions={"fits": "none"},
        reflect=go_on(),
        infer_from_evidence={"chosen": []},
    )
    options: dict[str, Any] = {"width": 50} if method == "tog" else {}
    record = await asked(
        graph(CROWD), model, "Sky", "Map", method=method, budget={"llm_calls": calls}, **options
    )
    assert "filter" in nodes(record)
    assert (shown(record), record["outcome"]) == ([], "none")


@pytest.mark.parametrize("method", ["pog", "tog"])
@pytest.mark.parametrize("error", [KGTimeout("slow"), KGRejected("no")])
async def test_a_point_that_fails_is_not_looked_from_again(graph: Open, method: str, error: KGError) -> None:
    model = playing(
        pick_relations=pick("child"),
        reflect=go_on("child"),
        score_relations=rate({"child": 0.9}),
        score_entities=rate({"Ben": 0.9, "Cleo": 0.9}),
        assess_found=stop_at("none"),
        infer_from_evidence={"chosen": []},
    )
    failing = FailingVisits(graph(FAMILY), "hops", error, lambda chain: bool(chain.hops))
    record = await asked(failing, model, method=method, retry_search=True)
    assert nodes(record).count("look_again") <= 5
    assert record["outcome"] == ("kg_unavailable" if isinstance(error, KGTimeout) else "none")


async def test_a_time_out_of_all_chains_together_is_no_failure(graph: Open) -> None:
    model = playing(
        pick_relations=pick("child", "pet"),
        assess_found=stop_at("none"),
        reflect=go_on(),
        infer_from_evidence={"chosen": []},
    )
    record = await asked(Batchless(graph(FAMILY)), model)
    assert record["outcome"] == "none"
    assert "pet->: 1" in str(record["trace"])


async def test_ends_are_found_where_what_leads_on_takes_too_long(graph: Open) -> None:
    model = playing(pick_relations=pick("child"), assess_found=stop_at("child"))
    failing = FailingVisits(graph(FAMILY), "hops", KGTimeout("slow"), lambda chain: bool(chain.hops))
    record = await asked(failing, model)
    assert (shown(record), record["outcome"]) == (["Ben", "Cleo"], "grounded")


async def test_a_group_in_which_nothing_fits_may_still_lead_on(graph: Open) -> None:
    def assess(prompt: Any) -> dict[str, Any]:
        here = prompt.found[0].chain.depth
        return {"decision": "filter" if here == 1 else "stop", "groups": [1]}

    model = playing(
        pick_relations=pick("child", "child lives_in"),
        assess_found=assess,
        apply_conditions={"fits": "none"},
        reflect=go_on("child"),
    )
    assert shown(await asked(graph(FAMILY), model, reflections=0)) == ["Bonn", "Ulm"]


@pytest.mark.parametrize(("beam", "calls"), [("chains", 1), ("entities", 1), ("entities", 2)])
async def test_a_budget_that_ends_before_the_verdict_leaves_what_the_beam_holds(
    graph: Open, beam: str, calls: int
) -> None:
    model = playing(
        score_relations=rate({"child": 1.0}),
        score_entities=rate({"Ben": 1.0, "Cleo": 1.0}),
        assess_found=stop_at("child"),
    )
    options = {"method": "tog", "beam": beam, "budget": {"llm_calls": calls}}
    record = await asked(graph(FAMILY), model, **options)
    assert (shown(record), record["stopped_by"]) == (["Ben", "Cleo"], "llm_calls")


@pytest.mark.parametrize(("method", "calls"), [("pog", 2), ("tog", 2)])
async def test_what_was_judged_not_to_be_enough_is_no_evidence_at_hand(
    graph: Open, method: str, calls: int
) -> None:
    model = playing(
        pick_relations=pick("child"),
        score_relations=rate({"child": 1.0}),
        score_entities=rate({"Ben": 1.0, "Cleo": 1.0}),
        assess_found=stop_at("none"),
    )
    record = await asked(graph(FAMILY), model, method=method, budget={"llm_calls": calls})
    assert "verify" in nodes(record)
    assert (shown(record), record["stopped_by"]) == ([], "llm_calls")


async def test_names_that_share_no_word_with_the_question_score_alike(graph: Open) -> None:
    model = playing(assess_found=stop_at("child"))
    record = await kgqa.aask(
        "Who is a child of Ada?", topics=["Ada"], method="tog", kg=graph(FAMILY), model=model, pruning="bm25"
    )
    assert {"Ben", "Cleo"} <= {*shown(record)}


async def test_what_cannot_follow_any_more_is_not_reflected_on(graph: Open) -> None:
    model = playing(
        pick_relations=pick("child"),
        assess_found=stop_at("none"),
        infer_from_evidence={"chosen": [1]},
    )
    record = await asked(graph(FAMILY), model, depth=1, reflections=0)
    assert record["outcome"] == "grounded_inference"
    assert [prompt.name for prompt in model.prompts if prompt.name == "reflect"] == []
