"""Whatever fails in the graph or the model, a question ends in one complete record that says so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.kg.errors import KGError, KGMalformed, KGRejected, KGTimeout, KGUnavailable
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.errors import MalformedReply, ModelUnavailable, UnknownModel
from kgqa.models.interface import Usage
from kgqa.models.scripted import ScriptedModel
from kgqa.priors import encoder
from kgqa.priors.errors import EncoderError
from kgqa.tests.support.doubles import FAMILY, KEYS, QUESTION, Flaky, children, grandchildren, shown

Open = Callable[[str], SparqlGraph]

PROMPTS = ["prune_relations", "verify_chain", "apply_conditions"]


async def run(
    graph: Any, model: Any, topics: tuple[str, ...] = ("Ada",), method: str = "cor", **options: Any
) -> kgqa.Record:
    record = await kgqa.aask(QUESTION, topics=topics, kg=graph, model=model, method=method, **options)
    assert record.keys() == KEYS
    return record


def errors(record: kgqa.Record) -> list[str]:
    return [f"{entry['failure']}: {entry['error']}" for entry in record["trace"] if "failure" in entry]


@pytest.mark.parametrize("error", [KGUnavailable, KGMalformed, KGTimeout, KGRejected])
@pytest.mark.parametrize(("operation", "topics"), [("find_entities", ("Ada",)), ("link", ())])
async def test_a_graph_that_fails_to_link(
    graph: Open, operation: str, topics: tuple[str, ...], error: type[KGError]
) -> None:
    record = await run(Flaky(graph(FAMILY), operation, error("broken")), children(), topics)
    assert (record["outcome"], record["answers"]) == ("kg_unavailable", [])
    assert errors(record) == [f"{error.__name__}: broken"]


@pytest.mark.parametrize("error", [KGUnavailable, KGMalformed])
@pytest.mark.parametrize("operations", ["visit_chains", "visit_chains extend_chain"])
async def test_a_graph_that_fails_on_the_way(graph: Open, operations: str, error: type[KGError]) -> None:
    record = await run(Flaky(graph(FAMILY), operations, error("broken")), children())
    assert (record["outcome"], record["answers"]) == ("kg_unavailable", [])


@pytest.mark.parametrize("operations", ["visit_chains", "visit_chains extend_chain"])
async def test_a_time_out_turns_back_and_is_no_empty_result(graph: Open, operations: str) -> None:
    record = await run(
        Flaky(graph(FAMILY), operations, KGTimeout("slow")), children(), allow_parametric=False
    )
    assert "backtrack" in [entry["node"] for entry in record["trace"]]
    assert record["outcome"] == "kg_unavailable"


async def test_after_a_time_out_the_model_s_memory_is_not_asked(graph: Open) -> None:
    model = children(answer_directly={"answers": ["Ben"]})
    record = await run(Flaky(graph(FAMILY), "visit_chains", KGTimeout("slow")), model)
    assert (record["outcome"], record["answers"]) == ("kg_unavailable", [])


@pytest.mark.parametrize("error", [KGTimeout, KGUnavailable])
@pytest.mark.parametrize(("known", "outcome"), [(["Ben"], "parametric"), ([], "kg_unavailable")])
async def test_the_paper_falls_back_after_any_failed_search(
    graph: Open, error: type[KGError], known: list[str], outcome: str
) -> None:
    kg = Flaky(graph(FAMILY), "visit_chains", error("broken"))
    model = children(answer_directly={"answers": known})
    record = await run(kg, model, allow_parametric="always")
    assert (record["outcome"], shown(record)) == (outcome, known)


async def test_the_paper_falls_back_without_a_topic_but_not_without_a_model(graph: Open) -> None:
    model = children(answer_directly={"answers": ["Ben"]})
    record = await run(graph(FAMILY), model, ("Nobody at all",), allow_parametric="always")
    assert (record["outcome"], shown(record)) == ("parametric", ["Ben"])
    model = children(prune_relations=ModelUnavailable("down"), answer_directly={"answers": ["Ben"]})
    record = await run(graph(FAMILY), model, allow_parametric="always")
    assert (record["outcome"], record["answers"]) == ("model_unavailable", [])


@pytest.mark.parametrize("operations", ["visit_chains", "visit_chains extend_chain"])
async def test_a_refused_query_turns_back(graph: Open, operations: str) -> None:
    record = await run(Flaky(graph(FAMILY), operations, KGRejected("no")), children(), allow_parametric=False)
    assert "backtrack" in [entry["node"] for entry in record["trace"]]
    assert errors(record) == ["KGRejected: no"]


@pytest.mark.parametrize("error", [KGUnavailable, KGTimeout, KGRejected, KGMalformed])
async def test_an_answer_outlives_the_failure_of_its_evidence(graph: Open, error: type[KGError]) -> None:
    failing = Flaky(graph(FAMILY), "trace_answers trace_chain", error("broken"))
    record = await run(failing, grandchildren())
    assert (record["outcome"], shown(record), record["evidence"]) == ("grounded", ["Dora"], [])
    assert record["trace"][-1]["evidence"] == "left out: broken"


async def test_a_chain_is_traced_where_the_query_as_a_whole_is_too_much(graph: Open) -> None:
    record = await run(Flaky(graph(FAMILY), "trace_answers", KGTimeout("slow")), grandchildren())
    assert [fact["tail"]["name"] for fact in record["evidence"]] == ["Ben", "Dora"]


async def test_a_graph_that_is_not_there(tmp_path: Path) -> None:
    record = await run(str(tmp_path / "none.ttl"), children())
    assert record["outcome"] == "kg_unavailable"


async def test_a_graph_that_is_no_graph(tmp_path: Path) -> None:
    (tmp_path / "broken.ttl").write_text("<a> <b")
    record = await run(str(tmp_path / "broken.ttl"), children())
    assert record["outcome"] == "kg_unavailable"


@pytest.mark.parametrize("prompt", PROMPTS)
async def test_a_model_that_is_away(graph: Open, prompt: str) -> None:
    model = children("filter", **{prompt: ModelUnavailable("down", Usage(llm_calls=2, unknown_calls=2))})
    record = await run(graph(FAMILY), model)
    assert (record["outcome"], record["answers"]) == ("model_unavailable", [])
    assert record["usage"]["unknown_calls"] == 2


async def test_a_model_that_is_away_when_its_memory_is_asked(graph: Open) -> None:
    model = children(prune_relations={"relations": []}, answer_directly=ModelUnavailable("down"))
    record = await run(graph(FAMILY), model)
    assert (record["outcome"], record["answers"]) == ("model_unavailable", [])


@pytest.mark.parametrize("prompt", PROMPTS)
async def test_a_malformed_reply_is_no_outage(graph: Open, prompt: str) -> None:
    model = children("filter", **{prompt: MalformedReply("rambling", Usage(llm_calls=2))})
    record = await run(graph(FAMILY), model, allow_parametric=False)
    nothing, unjudged = ("none", set()), ("grounded_unverified", {"Ben", "Cleo"})
    expected = unjudged if prompt == "apply_conditions" else nothing
    assert (record["outcome"], {*shown(record)}) == expected
    assert "MalformedReply: rambling" in errors(record)


async def test_a_malformed_reply_from_memory(graph: Open) -> None:
    model = children(prune_relations={"relations": []}, answer_directly=MalformedReply("rambling"))
    record = await run(graph(FAMILY), model)
    assert (record["outcome"], record["answers"]) == ("none", [])


async def test_a_model_that_nobody_knows(graph: Open) -> None:
    record = await run(graph(FAMILY), "nobody:knows")
    assert record["outcome"] == "model_unavailable"
    assert errors(record)[0].startswith(UnknownModel.__name__)


async def test_an_encoder_that_nobody_knows(
    turtle: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str | None) -> None:
        raise EncoderError(f"cannot open the encoder {name}")

    monkeypatch.setattr(encoder, "open_encoder", refuse)
    record = await run(str(turtle(FAMILY)), "offline", encoder="nobody")
    assert record["outcome"] == "model_unavailable"
    assert errors(record) == ["EncoderError: cannot open the encoder nobody"]


@pytest.mark.parametrize("error", [TimeoutError("late"), ConnectionError("gone"), OSError(28, "no room")])
async def test_what_anybody_s_graph_or_model_raises_is_an_outage(graph: Open, error: OSError) -> None:
    said = f"{type(error).__name__}: {error}"
    record = await run(Flaky(graph(FAMILY), "visit_chains", error), children())
    assert record["outcome"] == "kg_unavailable"
    assert f"KGUnavailable: {said}" in errors(record)
    record = await run(graph(FAMILY), ScriptedModel([error]))
    assert (record["outcome"], errors(record)) == ("model_unavailable", [f"ModelUnavailable: {said}"])


async def test_a_topic_is_looked_up_once_and_kept_where_the_budget_ends(graph: Open) -> None:
    opened = graph(FAMILY)
    record = await run(opened, children(), ("Ada",) * 50)
    assert [topic["name"] for topic in record["topics"]] == ["Ada"]
    unknown = tuple(f"nobody {n}" for n in range(20))
    record = await run(opened, children(), ("Ada", *unknown), budget={"kg_queries": 6})
    assert [topic["name"] for topic in record["topics"]] == ["Ada"]
    assert record["stopped_by"] == "kg_queries"
