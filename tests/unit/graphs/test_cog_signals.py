"""Which failure CoG names, and which troubles are none: outages and malformed replies."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kgqa.kg.errors import KGError, KGMalformed, KGRejected, KGTimeout, KGUnavailable
from kgqa.kg.pages import Page
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.errors import ModelUnavailable
from kgqa.tests.support.guided import (
    FAMILY,
    FailingVisits,
    Shelf,
    along,
    asked,
    blame,
    choose,
    copied,
    decide,
    entries,
    nodes,
    playing,
    shown,
    signals,
)
from kgqa.tests.support.method_fixtures import AskCoG

Open = Callable[[str], SparqlGraph]

FOUND = {"decision": "forward", "finding": "something"}
NOTHING_FOUND = {"decision": "forward"}
GIVE_UP: dict[str, Any] = {"diagnose": {"step": 0}, "infer_from_evidence": {"chosen": []}}

AGED = 'e:ada rdfs:label "Ada"@en ; r:age 36 .'


def before_diagnosis(record: Any) -> str:
    """The node that led to the first diagnosis."""
    seen = nodes(record)
    return seen[seen.index("diagnose") - 1]


async def test_no_relation_that_is_chosen_is_no_candidates(cog: AskCoG) -> None:
    record = await cog(playing(prune_relations={"relations": []}, **GIVE_UP), always_ask=True)
    assert (signals(record), before_diagnosis(record)) == (["no_candidates"], "prune")


async def test_relations_that_were_all_turned_down_are_not_reviewed_unless_always_ask_says_so(
    cog: AskCoG,
) -> None:
    model = playing(prune_relations={"relations": []}, **GIVE_UP)
    record = await cog(model)
    assert (signals(record), entries(record, "diagnose")[0]["reason"]) == ([], "Ada leads nowhere")
    assert not asked(model, "diagnose")


async def test_no_relation_that_follows_is_no_candidates(cog: AskCoG) -> None:
    model = playing(prune_relations={"relations": [1]}, check_sufficiency=decide(age=FOUND), **GIVE_UP)
    record = await cog(model, kg=AGED)
    assert (signals(record), before_diagnosis(record)) == (["no_candidates"], "retrieve_relations")


async def test_no_relation_that_is_left_is_no_candidates(cog: AskCoG) -> None:
    model = playing(
        prune_relations={"relations": [1]},
        check_sufficiency=decide(),
        diagnose=lambda p: {"step": 0 if p.signal == "no_candidates" else 1},
    )
    record = await cog(model, kg=AGED)
    assert signals(record) == ["wrong_type"]
    assert entries(record, "rerank")[-1]["signal"] == "no_candidates"
    assert entries(record, "diagnose")[-1]["reason"] == "Ada leads nowhere"


async def test_nothing_at_the_end_of_a_chain_is_no_candidates(cog: AskCoG, graph: Open) -> None:
    """Of what a chain is held to, another client may have removed all."""
    gone = {**FOUND, "keep": [1]}
    model = playing(
        prune_relations=lambda p: choose("child" if not p.chain.hops else "lives_in")(p),
        check_sufficiency=decide(child=gone),
        **GIVE_UP,
    )
    record = await cog(model, kg=Emptied(graph(FAMILY)))
    assert (signals(record), entries(record, "verify")[-1]["signal"]) == (["no_candidates"], "no_candidates")


async def test_steps_that_find_nothing_are_no_gain(cog: AskCoG) -> None:
    model = playing(prune_relations=choose("child"), check_sufficiency=decide(child=NOTHING_FOUND), **GIVE_UP)
    record = await cog(model)
    assert (signals(record), entries(record, "verify")[-1]["signal"]) == (["no_gain"], "no_gain")
    assert entries(record, "verify")[-1]["chain"] == "Ada -child-> -child->"


async def test_one_step_that_finds_nothing_is_no_failure(cog: AskCoG) -> None:
    model = playing(
        prune_relations=lambda p: choose("lives_in" if p.chain.hops else "child")(p),
        check_sufficiency=decide(child=NOTHING_FOUND, lives_in="stop"),
    )
    record = await cog(model)
    assert (shown(record), signals(record)) == (["Bonn", "Ulm"], [])


async def test_a_finding_between_is_gain(cog: AskCoG) -> None:
    def check(prompt: Any) -> dict[str, Any]:
        replies = [NOTHING_FOUND, FOUND, NOTHING_FOUND, {"decision": "stop"}]
        return replies[prompt.chain.depth - 1]

    model = playing(prune_relations={"relations": [1]}, check_sufficiency=check)
    record = await cog(model)
    assert (record["outcome"], signals(record)) == ("grounded", [])


async def test_unnamed_nodes_are_no_stagnation(cog: AskCoG) -> None:
    unnamed = """
    e:ada rdfs:label "Ada"@en ; r:one e:x1 . e:x1 r:two e:x2 . e:x2 r:three e:x3 .
    e:x3 r:four e:ben . e:ben rdfs:label "Ben"@en .
    """
    model = playing(
        prune_relations=lambda p: choose(["one", "two", "three", "four"][p.chain.depth])(p),
        check_sufficiency=decide(four="stop"),
    )
    record = await cog(model, kg=unnamed)
    assert (shown(record), signals(record)) == (["Ben"], [])


async def test_candidates_of_the_wrong_kind_are_wrong_type(cog: AskCoG) -> None:
    record = await cog(playing(prune_relations=choose("pet"), check_sufficiency=decide(), **GIVE_UP))
    assert (signals(record), entries(record, "verify")[-1]["signal"]) == (["wrong_type"], "wrong_type")


async def test_a_chain_as_deep_as_allowed_is_insufficient(cog: AskCoG) -> None:
    model = playing(prune_relations=choose("child"), check_sufficiency=decide(child=FOUND), **GIVE_UP)
    record = await cog(model, depth=2)
    assert (signals(record), entries(record, "verify")[-1]["signal"]) == (["insufficient"], "insufficient")
    assert (record["outcome"], record["stopped_by"]) == ("none", "depth")


async def test_an_empty_filter_is_diagnosed(cog: AskCoG) -> None:
    model = playing(
        prune_relations=choose("child"),
        check_sufficiency=decide(child="filter", lives_in="stop"),
        apply_conditions={"fits": "none"},
        diagnose=blame(1, "lives_in"),
    )
    record = await cog(model)
    assert (shown(record), len(signals(record))) == (["Ulm"], 1)
    assert before_diagnosis(record) == "filter"


async def test_the_model_is_told_the_signal_and_what_was_reached(cog: AskCoG) -> None:
    model = playing(prune_relations=choose("child"), check_sufficiency=decide(), **GIVE_UP)
    await cog(model, copied("child lives_in"))
    [prompt] = asked(model, "diagnose")
    assert (prompt.signal, prompt.blueprint) == ("wrong_type", "child lives_in")
    [decided] = prompt.trajectory
    assert (decided.reached, decided.total) == (("Ben", "Cleo"), 2)


@pytest.mark.parametrize("error", [KGTimeout("slow"), KGRejected("no")])
async def test_an_outage_of_one_chain_costs_no_diagnosis(cog: AskCoG, graph: Open, error: KGError) -> None:
    model = playing(prune_relations=choose("child", "lives_in"), check_sufficiency=decide(lives_in="stop"))
    failing = FailingVisits(graph(FAMILY), "ends", error, along("child"))
    record = await cog(model, kg=failing)
    assert (shown(record), signals(record)) == (["Ulm"], [])
    assert entries(record, "diagnose")[0]["recalled"] == ["Ada -lives_in->"]
    assert record["usage"]["llm_calls"] == 3


async def test_an_outage_where_relations_are_looked_up_costs_no_diagnosis(cog: AskCoG, graph: Open) -> None:
    model = playing(
        prune_relations=choose("child", "lives_in"), check_sufficiency=decide(child=FOUND, lives_in="stop")
    )
    failing = FailingVisits(graph(FAMILY), "hops", KGTimeout("slow"), along("child"))
    record = await cog(model, kg=failing)
    assert (shown(record), signals(record)) == (["Ulm"], [])


@pytest.mark.parametrize("what", ["hops", "ends"])
async def test_a_graph_that_is_slow_throughout_is_unavailable(cog: AskCoG, graph: Open, what: str) -> None:
    model = playing(prune_relations=choose("child", "lives_in"))
    failing = FailingVisits(graph(FAMILY), what, KGTimeout("slow"), lambda chain: True)
    record = await cog(model, kg=failing)
    assert (record["outcome"], record["answers"], signals(record)) == ("kg_unavailable", [], [])
    assert "answer_directly" not in [prompt.name for prompt in model.prompts]


@pytest.mark.parametrize("error", [KGUnavailable("down"), KGMalformed("garbled")])
@pytest.mark.parametrize("what", ["hops", "ends"])
async def test_a_graph_that_is_away_ends_the_question(
    cog: AskCoG, graph: Open, what: str, error: KGError
) -> None:
    model = playing(prune_relations=choose("child"))
    record = await cog(model, kg=FailingVisits(graph(FAMILY), what, error, lambda chain: True))
    assert (record["outcome"], record["answers"]) == ("kg_unavailable", [])
    assert "diagnose" not in nodes(record)


ASKED = ["decompose", "adapt_blueprint", "prune_relations", "check_sufficiency", "apply_conditions"]


@pytest.mark.parametrize("prompt", [*ASKED, "diagnose", "infer_from_evidence", "answer_directly"])
async def test_a_model_that_is_away_ends_the_question(cog: AskCoG, prompt: str) -> None:
    """It goes once through all prompts: children are filtered, to none; homes are found, and given up."""
    good: dict[str, Any] = {
        "adapt_blueprint": {"branches": [["child"]]},
        "prune_relations": choose("child"),
        "check_sufficiency": decide(child="filter", lives_in=FOUND),
        "apply_conditions": {"fits": "none"},
        "diagnose": lambda p: blame(1, "lives_in")(p) if p.signal != "insufficient" else {"step": 0},
        "infer_from_evidence": {"chosen": []},
    }
    library = Shelf((0.5, [["child"]]))
    options: dict[str, Any] = {"depth": 1}
    whole = playing(**good)
    await cog(whole, library, **options)
    assert prompt in {asked.name for asked in whole.prompts}
    record = await cog(playing(**{**good, prompt: ModelUnavailable("down")}), library, **options)
    assert (record["outcome"], record["answers"]) == ("model_unavailable", [])


class Emptied:
    """A graph in which chains that are held lead nowhere."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    async def visit_chains(self, chains: Any, **asked: bool) -> Any:
        visits = await self._graph.visit_chains(chains, **asked)
        return [
            replace(v, ends=Page(())) if c.constraints else v for c, v in zip(chains, visits, strict=True)
        ]
