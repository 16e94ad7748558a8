"""What stands around a node's own work: what the trace says, what is counted, what an end is called."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, ToolException, tool
from langgraph.graph import END, START, StateGraph
from langgraph.types import Overwrite

from kgqa.kg.errors import KGRejected, KGUnavailable
from kgqa.kg.terms import XSD_STRING, Entity, Literal
from kgqa.models.errors import ModelUnavailable
from kgqa.models.interface import Usage
from kgqa.nodes.sparql_qa.state import SparqlQAState, SparqlQAUpdate
from kgqa.priors.errors import EncoderError
from kgqa.prompts.base import MAX_QUESTION_CHARS
from kgqa.runtime import node as steps
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.context import OptionError
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.record import zero_spend
from kgqa.runtime.search_context import SearchContext
from kgqa.runtime.state import Input, State, StateError, Update, initial_state

CALL = Usage(llm_calls=1, input_tokens=40, output_tokens=5, seconds=0.5)


class Looking(SearchContext):
    method = "looking"


OFF = Looking(kg="a.ttl", model="offline")
ON = OFF.model_copy(update={"retry_search": True})


@pytest.fixture(autouse=True)
def _model(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resources(context: Any) -> SimpleNamespace:
        return SimpleNamespace(model="the model", tools={})

    monkeypatch.setattr(steps, "open_resources", resources)


async def asking(state: State, runtime: NodeRuntime) -> Update:
    """Ask once."""

    async def answered(model: str) -> Any:
        return SimpleNamespace(usage=CALL)

    await runtime.call_model(answered)
    runtime.trace["heard"] = state["question"][:4]
    return {"decision": "filter", "truncated": True}


def failing(error: Exception) -> Any:
    async def fails(state: State, runtime: NodeRuntime) -> Update:
        raise error

    return fails


def asked(**state: Any) -> Any:
    """Make the state of a run that has begun."""
    given: Any = {"question": "Who?", "usage": zero_spend(), **state}
    return {"trace": [], **initial_state(given), **given}


async def taken(body: Any, state: Any = None, context: Any = OFF, **how: Any) -> dict[str, Any]:
    """Take one step as a node of a graph does."""
    looking = node("look", **how)(body).bind(Looking)
    return dict(await looking(state or asked(), SimpleNamespace(context=context)))  # type: ignore[arg-type]


async def test_a_step_tells_its_node_decision_note_and_tokens() -> None:
    update = await taken(asking)
    assert update["trace"] == [{"node": "look", "decision": "filter", "heard": "Who?", "tokens": [40, 5]}]
    assert (update["decision"], update["truncated"]) == ("filter", True)
    spent = {name: amount for name, amount in update["usage"].items() if amount and name != "seconds"}
    assert spent == {"llm_calls": 1, "input_tokens": 40, "output_tokens": 5, "seconds_llm": 0.5}
    assert 0 < update["usage"]["seconds"] < 5
    assert (update["last_node"], update["last_failure"]) == ("look", None)
    assert update.keys() == {"decision", "truncated", "trace", "usage", "last_node", "last_failure"}


async def test_a_step_that_decides_nothing_goes_forward() -> None:
    async def quiet(state: State, runtime: NodeRuntime) -> Update:
        return {}

    update = await taken(quiet)
    assert (update["decision"], update["trace"]) == ("forward", [{"node": "look", "decision": "forward"}])


@pytest.mark.parametrize(
    ("error", "ends", "noted"),
    [
        (BudgetExceeded("tokens"), {"stopped_by": "tokens"}, {"reason": "the budget of tokens is spent"}),
        (KGUnavailable("a"), {"outcome": "kg_unavailable"}, {"failure": "KGUnavailable", "error": "a"}),
        (
            ModelUnavailable("b"),
            {"outcome": "model_unavailable"},
            {"failure": "ModelUnavailable", "error": "b"},
        ),
        (EncoderError("c"), {"outcome": "model_unavailable"}, {"failure": "EncoderError", "error": "c"}),
    ],
)
async def test_what_ends_a_step_is_told(
    error: Exception, ends: dict[str, str], noted: dict[str, str]
) -> None:
    update = await taken(failing(error))
    assert {name: update[name] for name in ("decision", *ends)} == {"decision": "stop", **ends}
    assert update["trace"] == [{"node": "look", "decision": "stop", **noted}]
    assert update["last_failure"] == noted.get("failure")
    assert update.keys() == {"decision", *ends, "trace", "usage", "last_node", "last_failure"}


async def test_a_mistake_in_a_node_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        await taken(failing(ZeroDivisionError()))


async def test_what_the_question_has_cost_before_counts_in_a_step() -> None:
    spent = zero_spend() | {"llm_calls": 60}  # type: ignore[operator]
    assert (await taken(asking, asked(usage=spent)))["stopped_by"] == "llm_calls"
    spent["llm_calls"] = 59
    assert "stopped_by" not in await taken(asking, asked(usage=spent))


async def test_a_step_of_an_option_that_is_off_leaves_no_trace() -> None:
    assert await taken(asking, option="retry_search") == {"decision": "forward"}
    assert await taken(asking, context=None, option="retry_search") == {"decision": "forward"}
    assert len((await taken(asking, context=ON, option="retry_search"))["trace"]) == 1


async def test_a_step_that_opens_a_run_leaves_nothing_of_an_earlier_one() -> None:
    heard: dict[str, Any] = {}

    async def reads(state: State, runtime: NodeRuntime) -> Update:
        heard.update(state)
        return {"decision": "stop"}

    earlier = asked(
        trace=[{"node": "look", "decision": "stop"}],
        answers=[{"id": "1", "name": None}],
        id="q7",
        topics=["Ada"],
    )
    earlier["usage"] = zero_spend() | {"llm_calls": 60}
    update = await taken(reads, earlier, opens=True)
    assert heard.keys() <= {*Input.__annotations__, "usage"}
    assert (heard["question"], heard["id"], heard["topics"]) == ("Who?", "q7", ["Ada"])
    assert heard["usage"]["llm_calls"] == 0
    assert (update["record_id"], update["outcome"], update["memory"]) == ("q7", None, [])
    assert isinstance(update["trace"], Overwrite) and isinstance(update["usage"], Overwrite)
    assert update["trace"].value == [{"node": "look", "decision": "stop"}]
    assert update["usage"].value["seconds"] > 0

    first = await taken(reads, asked(), opens=True)
    assert first["trace"] == [{"node": "look", "decision": "stop"}]
    assert first["record_id"] != "q7"
    later = await taken(reads, earlier)
    assert heard["answers"] == earlier["answers"]
    assert later["trace"] == [{"node": "look", "decision": "stop"}]
    assert "record_id" not in later


async def test_a_run_on_the_thread_of_another_counts_from_nothing() -> None:
    builder = StateGraph(State, context_schema=Looking)
    opening, going = node("open", opens=True)(asking), node("go")(asking)
    builder.add_node("open", opening.bind(Looking))
    builder.add_node("go", going.bind(Looking))
    for edge in ((START, "open"), ("open", "go"), ("go", END)):
        builder.add_edge(*edge)
    graph: Any = builder.compile()
    first = await graph.ainvoke({"question": "Who?"}, context=OFF)
    again = await graph.ainvoke({**first, "question": "What?"}, context=OFF)
    for record, word in ((first, "Who?"), (again, "What")):
        assert [(entry["node"], entry["heard"]) for entry in record["trace"]] == [
            ("open", word),
            ("go", word),
        ]
        assert record["usage"]["llm_calls"] == 2


async def test_what_is_read_of_a_long_question_is_told_where_a_run_opens() -> None:
    long = asked(question="x" * (MAX_QUESTION_CHARS + 5))
    assert (await taken(asking, long, opens=True))["trace"][0]["unread"] == 5
    assert "unread" not in (await taken(asking, long))["trace"][0]
    assert "unread" not in (await taken(asking, opens=True))["trace"][0]


async def test_a_step_in_the_middle_takes_no_state_that_no_run_has_begun_in() -> None:
    nothing: Any = {"question": "Who?", "usage": zero_spend()}
    with pytest.raises(StateError, match="no run has begun"):
        await taken(asking, nothing)
    assert (await taken(asking, nothing, opens=True))["decision"] == "filter"


async def test_what_a_method_has_in_hand_goes_in_and_out_as_plain_json() -> None:
    seen: list[Any] = []

    async def rows(state: SparqlQAState, runtime: NodeRuntime) -> SparqlQAUpdate:
        seen.extend(state["rows"])
        return {"proved": [Literal("5")], "said": "five"}

    ulm = {"id": "http://x/ulm", "name": "Ulm"}
    looking: Any = node("look")(rows).bind(Looking, SparqlQAState)
    update = await looking(asked(rows=[ulm]), SimpleNamespace(context=OFF))
    assert seen == [Entity("http://x/ulm", "Ulm")]
    five = {"value": "5", "datatype": XSD_STRING, "language": ""}
    assert (update["proved"], update["said"]) == ([five], "five")


async def test_a_note_is_cut_where_it_is_long_and_a_query_is_not() -> None:
    async def noting(state: State, runtime: NodeRuntime) -> Update:
        runtime.trace |= {
            "why": "y" * 2_001,
            "short": "s" * 2_000,
            "query": "q" * 2_001,
            "numbers": [1] * 2_001,
        }
        return {}

    (entry,) = (await taken(noting))["trace"]
    assert (entry["why"], entry["short"]) == ("y" * 2_000 + "…", "s" * 2_000)
    assert (entry["query"], len(entry["numbers"])) == ("q" * 2_001, 2_001)


@pytest.mark.parametrize("given", ["cor", ["depth"], 3])
async def test_a_context_that_is_none_is_refused_by_its_type(given: object) -> None:
    with pytest.raises(
        OptionError, match=f"^a context holds options by their names; .* {type(given).__name__}$"
    ):
        await taken(asking, context=given)


@tool(response_format="content_and_artifact")
async def doubled(number: int) -> tuple[str, int]:
    """Return twice a number."""
    if number < 0:
        raise ToolException(f"no number {number}")
    return f"it is {2 * number}", 2 * number


class Plain(BaseTool):
    """A tool that is no function: it can only be called as LangChain calls one."""

    name: str = "plain"
    description: str = "Give three times a number."
    response_format: Any = "content_and_artifact"

    def _run(self, number: int) -> tuple[str, int]:
        return "", 3 * number


class Listener(AsyncCallbackHandler):
    def __init__(self) -> None:
        self.heard: list[str] = []

    async def on_tool_start(self, serialized: Any, input_str: str, **more: Any) -> None:
        self.heard.append(f"{serialized['name']} {input_str}")


async def used(tool: BaseTool, number: int, *listeners: Listener) -> Any:
    """Use a tool in a step of a graph that some listen to."""
    tool.handle_tool_error = True

    async def uses(_: Any) -> Any:
        return await steps._call_tool(tool, {"number": number})

    return await RunnableLambda(uses).ainvoke(0, {"callbacks": [*listeners]})


async def test_who_listens_hears_of_a_tool_and_gets_the_same_answer() -> None:
    listener = Listener()
    assert await used(doubled, 4) == await used(doubled, 4, listener) == 8
    assert await used(Plain(), 4) == 12
    assert listener.heard == ["doubled {'number': 4}"]


async def test_where_nobody_listens_langchain_keeps_no_account_of_a_tool(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accounts: list[Any] = []
    real = type(doubled).ainvoke

    async def ainvoke(self: Any, *given: Any, **more: Any) -> Any:
        accounts.append(given)
        return await real(self, *given, **more)

    monkeypatch.setattr(type(doubled), "ainvoke", ainvoke)
    assert await used(doubled, 4) == 8
    assert len(accounts) == 0
    assert await used(doubled, 4, Listener()) == 8
    assert len(accounts) == 1


@pytest.mark.parametrize("listeners", [0, 1])
async def test_what_a_tool_refuses_is_rejected_in_its_words(listeners: int) -> None:
    with pytest.raises(KGRejected, match=r"^no number -1$"):
        await used(doubled, -1, *(Listener() for _ in range(listeners)))


async def test_steps_side_by_side_count_for_themselves() -> None:
    one, other = await asyncio.gather(taken(asking), taken(failing(KGUnavailable("a"))))
    assert (one["usage"]["llm_calls"], other["usage"]["llm_calls"]) == (1, 0)
