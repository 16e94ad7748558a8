"""What a node has asked the model stands in the state after it, and in that state alone."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from kgqa.graphs import cor
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.errors import ModelUnavailable
from kgqa.models.scripted import ScriptedModel

FACTS = """
e:ada rdfs:label "Ada" ; r:lives_in e:ulm ; r:works_in e:bonn .
e:ulm rdfs:label "Ulm" . e:bonn rdfs:label "Bonn" .
"""


async def states(graph: SparqlGraph, *script: Any) -> dict[str, list[dict[str, Any]]]:
    """Run CoR on a thread, and return the exchanges in the state after each node that left some."""
    saved = cor.graph.builder.compile(checkpointer=InMemorySaver())
    context = cor.CoR(kg=graph, model=ScriptedModel(script), always_ask=True, outright_answers=False)
    config: Any = {"configurable": {"thread_id": "1"}}
    await saved.ainvoke({"question": "Where does Ada live?", "topics": ["Ada"]}, config, context=context)
    found = [state async for state in saved.aget_state_history(config)]
    after = {before.next[0]: state for state, before in pairwise(found)}
    return {node: state.values["exchanges"] for node, state in after.items() if "exchanges" in state.values}


async def test_prompt_and_reply_stand_in_the_state_after_the_node(
    graph: Callable[[str], SparqlGraph],
) -> None:
    script = ({"relations": [1]}, {"decision": "stop", "take": "all"})
    exchanges = await states(graph(FACTS), *script)
    assert list(reversed(exchanges)) == ["prune", "verify"]
    [pruned], [verified] = exchanges["prune"], exchanges["verify"]
    assert (pruned["prompt"], verified["prompt"]) == ("prune_relations", "verify_chain")
    assert 'Question: "Where does Ada live?"' in pruned["case"]
    assert pruned["instructions"] and pruned["instructions"] not in pruned["case"]
    assert json.loads(pruned["reply"])["relations"] == [1]
    assert json.loads(verified["reply"])["decision"] == "stop"


async def test_a_prompt_without_a_reply_stands_there_too(graph: Callable[[str], SparqlGraph]) -> None:
    [pruned] = (await states(graph(FACTS), ModelUnavailable("away")))["prune"]
    assert (pruned["prompt"], pruned["reply"]) == ("prune_relations", None)


async def test_a_record_has_none(graph: Callable[[str], SparqlGraph]) -> None:
    script = ScriptedModel(({"relations": [1]}, {"decision": "stop", "take": "all"}))
    context = cor.CoR(kg=graph(FACTS), model=script, always_ask=True, outright_answers=False)
    asked = {"question": "Where does Ada live?", "topics": ["Ada"]}
    assert "exchanges" not in await cor.graph.ainvoke(asked, context=context)
