"""Where a search runs dry, a method that may looks again from where it was."""

from collections.abc import Callable
from typing import Any

import pytest

import kgqa
from kgqa.kg.errors import KGTimeout
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.scripted import ScriptedModel
from kgqa.nodes.look_again import MAX_SECOND_LOOKS
from kgqa.tests.support import guided
from kgqa.tests.support.guided import decide
from kgqa.tests.support.method_fixtures import AskCoG
from kgqa.tests.unit.graphs.test_cor import FAMILY, choose, nodes, playing, shown

Open = Callable[[str], SparqlGraph]


def first(prompt: Any) -> dict[str, Any]:
    """Choose the first relation that is offered."""
    return {"relations": [1]}


def only(*relations: str) -> Callable[[Any], dict[str, Any]]:
    """Stop at the chain of these relations, go on along what begins it, turn back elsewhere."""

    def line(prompt: Any) -> dict[str, Any]:
        hops = tuple(("" if hop.forward else "^") + hop.words for hop in prompt.chain.hops)
        begins = hops == relations[: len(hops)]
        return {"decision": "stop" if hops == relations else "forward" if begins else "backtrack"}

    return line


async def ask(graph: SparqlGraph, model: ScriptedModel, method: str = "cor", **options: Any) -> kgqa.Record:
    topics = options.pop("topics", ["Ada"])
    return await kgqa.aask("the question", topics=topics, kg=graph, model=model, method=method, **options)


def chosen_from(model: ScriptedModel) -> list[str]:
    return [str(prompt.chain) for prompt in model.prompts if prompt.name == "prune_relations"]


async def test_a_method_looks_again_only_where_it_is_told_to(graph: Open) -> None:
    model = playing(first, only("lives_in"), recall=["somebody"])
    record = await ask(graph(FAMILY), model)
    assert (record["outcome"], "look_again" in nodes(record)) == ("parametric", False)
    record = await ask(graph(FAMILY), model, retry_search=True)
    assert (shown(record), record["outcome"]) == (["Ulm"], "grounded")


async def test_what_was_tried_is_left_out_of_a_second_look(graph: Open) -> None:
    model = playing(first, only("lives_in"))
    await ask(graph(FAMILY), model, retry_search=True)
    offered = [list(map(str, p.offers)) for p in model.prompts if p.name == "prune_relations"]
    assert offered == [
        ["-child->", "-employer->", "-lives_in->", "<-spouse-"],
        ["-employer->", "-lives_in->", "<-spouse-"],
        ["-lives_in->", "<-spouse-"],
    ]


async def test_the_last_chain_that_the_search_went_on_from_comes_first(graph: Open) -> None:
    model = playing(first, only("child", "lives_in"))
    record = await ask(graph(FAMILY), model, retry_search=True, cross_mediators=False)
    assert shown(record) == ["Bonn", "Ulm"]
    assert chosen_from(model) == ["Ada", *["Ada -child->"] * 3]


async def test_from_where_nothing_is_chosen_the_search_does_not_look_again(graph: Open) -> None:
    def verify(prompt: Any) -> dict[str, Any]:
        return {
            "decision": {"child": "forward", "lives_in": "stop"}.get(prompt.chain.hops[0].words, "backtrack")
        }

    model = playing(lambda p: {"relations": [] if p.chain.hops else [1]}, verify)
    record = await ask(graph(FAMILY), model, retry_search=True)
    assert shown(record) == ["Ulm"]
    assert chosen_from(model) == ["Ada", "Ada -child->", "Ada", "Ada"]


@pytest.mark.parametrize("relations", [30, 3])
async def test_looks_have_an_end(graph: Open, relations: int) -> None:
    many = " ".join(f"e:ada r:r{n:02} e:x{n} . e:x{n} rdfs:label 'X{n}' ." for n in range(relations))
    model = playing(first, lambda _: {"decision": "backtrack"})
    record = await ask(graph(f'e:ada rdfs:label "Ada" . {many}'), model, retry_search=True)
    assert record["outcome"] == "none"
    assert len([p for p in model.prompts if p.name == "verify_chain"]) == min(MAX_SECOND_LOOKS + 1, relations)


async def test_what_is_verified_is_not_looked_for_again(graph: Open) -> None:
    def verify(prompt: Any) -> dict[str, Any]:
        return {"decision": "stop" if str(prompt.chain.topic) == "Ada" else "backtrack"}

    model = playing(choose("child", "^employer"), verify)
    record = await ask(graph(FAMILY), model, topics=["Ada", "Mill"], retry_search=True)
    assert (shown(record), "look_again" in nodes(record)) == (["Ben", "Cleo"], False)


async def test_a_slow_graph_is_not_looked_at_for_ever(graph: Open) -> None:
    slow = guided.FailingVisits(graph(FAMILY), "hops", KGTimeout("slow"), lambda chain: True)
    record = await ask(slow, playing(first, only("lives_in")), retry_search=True)  # type: ignore[arg-type]
    assert record["outcome"] == "kg_unavailable"


async def test_cog_looks_again_before_it_infers(cog: AskCoG) -> None:
    model = guided.playing(
        prune_relations=first,
        check_sufficiency=decide(lives_in="stop"),
        diagnose={"step": 0},
        infer_from_evidence={"chosen": []},
    )
    assert (await cog(model))["outcome"] == "none"
    record = await cog(model, retry_search=True)
    assert (shown(record), record["outcome"]) == (["Ulm"], "grounded")
    assert nodes(record).count("look_again") == 2
