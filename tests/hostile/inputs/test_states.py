"""States that a hand has edited: the next question does not suffer, a run that goes on says what is wrong."""

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from kgqa.graphs import context_of, graph_of
from kgqa.graphs.chat import Chat, graph as graph_of_chat
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.runtime.state import Input, StateError
from kgqa.tests.hostile.conftest import Tried

FAMILY = """
e:ada rdfs:label "Ada"@en ; r:child e:ben, e:cleo ; r:lives_in e:ulm .
e:ben rdfs:label "Ben"@en ; r:lives_in e:bonn .
e:cleo rdfs:label "Cleo"@en ; r:lives_in e:ulm .
e:ulm rdfs:label "Ulm"@en .
e:bonn rdfs:label "Bonn"@en .
"""

ASKED: Any = {"question": "Where do the children of Ada live?", "topics": ["Ada"]}
THREAD: Any = {"configurable": {"thread_id": "1"}}

METHODS = ("compose", "cor", "cog", "vog", "pog", "pog_egp", "tog")

ODD: tuple[Any, ...] = (
    *(5, [{}], {"a": 1}),
    *({"__overwrite__": 5}, {"__overwrite__": [{}]}, {"__overwrite__": None}),
)


@pytest.fixture
def kept(graph: Callable[[str], SparqlGraph]) -> Callable[[str], tuple[Any, Any]]:
    """Return what makes the graph of a method, with checkpoints, and its context."""

    def make(method: str) -> tuple[Any, Any]:
        context = context_of(method)(kg=graph(FAMILY), model="offline")
        return graph_of(method).builder.compile(checkpointer=InMemorySaver()), context

    return make


@pytest.mark.parametrize("method", METHODS)
async def test_a_state_of_any_shape_does_not_spoil_the_next_question(
    kept: Callable[[str], tuple[Any, Any]], tried: Tried, method: str
) -> None:
    steps, context = kept(method)
    first = await steps.ainvoke(ASKED, THREAD, context=context)
    keys = [key for key in steps.channels if key in steps.builder.schemas[steps.builder.state_schema]]
    for value in ODD:
        for key in set(keys) - set(Input.__annotations__):
            try:
                await steps.aupdate_state(THREAD, {key: value}, as_node="answer")
            except StateError as error:
                assert "\n" not in str(error)
        again = await steps.ainvoke(ASKED, THREAD, context=context)
        assert again["answers"] == first["answers"], value
        assert again["trace"] == first["trace"]
    tried(inputs=len(ODD) * len(keys), questions=len(ODD), records=len(ODD))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("entry", [{}, {"node": "link"}, {"a": 1}])
async def test_a_trace_that_no_node_has_written_is_told_in_one_line(
    kept: Callable[[str], tuple[Any, Any]], method: str, entry: Any
) -> None:
    steps, context = kept(method)
    first = next(name for name in steps.nodes if name != "__start__")
    await steps.ainvoke(ASKED, THREAD, context=context, interrupt_after=[first])
    await steps.aupdate_state(THREAD, {"trace": [entry]})
    with pytest.raises(StateError, match="an entry of the trace has a node and a decision"):
        await steps.ainvoke(None, THREAD, context=context)


@pytest.mark.parametrize("odd", [5, None, "x", [5], [{}], {"a": 1}, [{"type": "human", "content": 5}]])
async def test_messages_that_were_overwritten_do_not_spoil_the_conversation(
    graph: Callable[[str], Any], odd: Any
) -> None:
    chat, context = graph_of_chat.builder.compile(checkpointer=InMemorySaver()), Chat(kg=graph(FAMILY))
    said = {"messages": [("user", "Where does Ben live?")]}
    await chat.ainvoke(said, THREAD, context=context)
    await chat.aupdate_state(THREAD, {"messages": {"__overwrite__": odd}}, as_node="__start__")
    try:
        await chat.ainvoke(None, THREAD, context=context)
    except StateError as error:
        assert "\n" not in str(error)
    again = await chat.ainvoke(said, THREAD, context=context)
    assert again["messages"][-1].text.startswith("Ben lives in Bonn.\n")
