"""Topics that are only conditions: beside a node of the chain that stands, without a chain of their own."""

from collections.abc import Callable
from typing import Any

import pytest

import kgqa
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.tests.support.frontier import pick, stop_at
from kgqa.tests.support.guided import FAMILY, asked, choose, decide, entries, nodes, playing, shown

Open = Callable[[str], SparqlGraph]

TWO_WAYS = (
    FAMILY + "e:ben r:born_in e:ulm . e:dora r:child e:cleo . e:ulm r:twin e:bonn .\n"
)  # Ben was born in Ulm, Cleo lives there


def verifying(**by_last: Any) -> Any:
    return playing(
        prune_relations=choose("child"),
        verify_chain=lambda p: {"decision": by_last.get(p.chain.hops[-1].words, "backtrack")},
        connect_topic=lambda p: {"relation": 1},
        apply_conditions={"chosen": [1]},
    )


async def ask(
    graph: Open, model: Any, *topics: str, kg: str = FAMILY, method: str = "cor", **options: Any
) -> kgqa.Record:
    return await kgqa.aask("the question", topics=topics, kg=graph(kg), model=model, method=method, **options)


async def test_a_neighbour_of_the_ends_is_a_condition_that_the_graph_decides(graph: Open) -> None:
    model = verifying(child="stop")
    record = await ask(graph, model, "Ada", "Ulm")
    assert (shown(record), record["outcome"]) == (["Cleo"], "grounded")
    assert [prompt.name for prompt in model.prompts] == ["prune_relations", "verify_chain"]
    assert [(each["words"], each["by"]) for each in record["conditions"]] == [("lives_in: Ulm", "graph")]
    [entry] = entries(record, "refine")
    assert (entry["condition"], entry["ends"], entry["decision"]) == ("lives_in: Ulm", 1, "stop")
    assert [str(topic) for topic in model.prompts[1].awaited] == ["Ulm"]


async def test_a_node_on_the_way_may_have_the_topic_beside_it(graph: Open) -> None:
    model = playing(
        prune_relations=lambda p: choose("lives_in" if p.chain.hops else "child")(p),
        verify_chain=lambda p: {"decision": "stop" if p.chain.depth == 2 else "forward"},
        connect_topic=lambda p: {"relation": [place for place, _ in p.offers].index(1) + 1},
    )
    record = await ask(graph, model, "Ada", "Dora")
    assert shown(record) == ["Bonn"]  # where the child lives whose child is Dora
    assert [each["words"] for each in record["conditions"]] == ["child: Dora"]


async def test_a_topic_that_was_passed_over_is_tried_once_another_chain_stands(graph: Open) -> None:
    model = playing(
        prune_relations=lambda p: choose("child")(p) if str(p.chain.topic) == "Ada" else {"relations": []},
        verify_chain={"decision": "stop"},
    )
    record = await ask(graph, model, "Ulm", "Ada")
    assert (shown(record), record["outcome"]) == (["Cleo"], "grounded")


async def test_of_several_relations_the_model_says_which(graph: Open) -> None:
    for number, names in ((1, ["Ben"]), (2, ["Cleo"])):
        model = verifying(child="stop")
        model = playing(
            prune_relations=choose("child"),
            verify_chain={"decision": "stop"},
            connect_topic={"relation": number},
        )
        record = await ask(graph, model, "Ada", "Ulm", kg=TWO_WAYS)
        assert shown(record) == names
        [prompt] = asked(model, "connect_topic")
        assert [(place, hop.words) for place, hop in prompt.offers] == [(1, "born_in"), (1, "lives_in")]


@pytest.mark.parametrize("reply", [{"relation": 0}, "no reply at all"])
async def test_where_it_means_none_the_topic_has_a_chain_of_its_own(graph: Open, reply: Any) -> None:
    model = playing(
        prune_relations=lambda p: choose("child" if str(p.chain.topic) == "Ada" else "^lives_in")(p),
        verify_chain={"decision": "stop"},
        connect_topic=reply,
    )
    record = await ask(graph, model, "Ada", "Ulm", kg=TWO_WAYS)
    assert shown(record) == ["Cleo"]
    assert len(record["paths"]) == 2


UNKNOWN = (
    FAMILY
    + "e:ada r:child e:fay , e:gil , e:hal . "
    + " ".join(f'e:{name} rdfs:label "{name.title()}" .' for name in ("fay", "gil", "hal"))
)  # of whom nobody says where they live


@pytest.mark.parametrize(("relation", "names"), [(1, ["Cleo"]), (0, ["Ben", "Cleo", "Fay", "Gil", "Hal"])])
async def test_where_facts_may_be_missing_the_model_is_asked(
    graph: Open, relation: int, names: list[str]
) -> None:
    model = playing(
        prune_relations=lambda p: choose("child")(p) if str(p.chain.topic) == "Ada" else {"relations": []},
        verify_chain={"decision": "stop"},
        connect_topic={"relation": relation},
    )
    record = await ask(graph, model, "Ada", "Ulm", kg=UNKNOWN)
    assert shown(record) == names
    assert record["outcome"] == ("grounded" if relation else "grounded_unverified")
    [prompt] = asked(model, "connect_topic")
    assert (
        '1. ?1 -lives_in-> "Ulm" (true of 1 of 5 candidates: "Cleo"; 3 have no such relation)'
        in prompt.case()
    )


async def test_a_topic_that_the_question_does_not_speak_of_plays_no_part(graph: Open) -> None:
    model = playing(
        prune_relations=choose("child"), verify_chain={"decision": "stop"}, connect_topic={"relation": -1}
    )
    record = await ask(graph, model, "Ada", "Ulm", kg=TWO_WAYS)
    assert (sorted(filter(None, shown(record))), record["outcome"]) == (
        ["Ben", "Cleo"],
        "grounded_unverified",
    )
    assert [prompt.name for prompt in model.prompts] == ["prune_relations", "verify_chain", "connect_topic"]
    lines = model.prompts[-1].case().splitlines()
    assert '1. ?1 -born_in-> "Ulm" (true of 1 of 2 candidates: "Ben"; 1 has no such relation)' in lines


async def test_a_filter_shows_the_conditions_that_hold(graph: Open) -> None:
    for attributes in (True, False):
        model = playing(
            prune_relations=choose("child"),
            verify_chain={"decision": "filter"},
            apply_conditions={"fits": "all"},
            filter_candidates={"chosen": [1]},
        )
        await ask(graph, model, "Ada", "Ulm", attributes=attributes)
        assert 'All candidates meet: ?1 -lives_in-> "Ulm"' in model.prompts[-1].case().splitlines()


async def test_what_is_no_neighbour_is_searched_from(graph: Open) -> None:
    model = playing(
        prune_relations=lambda p: choose("child" if str(p.chain.topic) == "Ada" else "^pet")(p),
        verify_chain={"decision": "stop"},
    )
    record = await ask(graph, model, "Ada", "Yan")
    assert "condition" not in entries(record, "refine")[0]
    assert nodes(record).count("retrieve_relations") > 1


async def test_what_is_left_to_filter_is_filtered(graph: Open) -> None:
    model = verifying(child="filter")
    record = await ask(graph, model, "Ada", "Ulm")
    assert shown(record) == ["Cleo"]
    assert model.prompts[-1].name == "apply_conditions"
    assert [str(each.term) for each in model.prompts[-1].candidates] == ["Cleo"]


async def test_cog_and_pog_do_likewise(graph: Open) -> None:
    model = playing(prune_relations=choose("child"), check_sufficiency=decide(child="stop"))
    record = await ask(graph, model, "Ada", "Ulm", method="cog")
    assert (shown(record), record["outcome"]) == (["Cleo"], "grounded")
    model = playing(pick_relations=pick("child"), assess_found=stop_at("child"))
    record = await ask(graph, model, "Ada", "Ulm", method="pog")
    assert (shown(record), record["outcome"]) == (["Cleo"], "grounded")
