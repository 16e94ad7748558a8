"""IO, CoT and SC: the model alone, with the same record, budget and trace as any method."""

import asyncio
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from hypothesis import given, strategies as st
from langgraph.checkpoint.memory import InMemorySaver

import kgqa
from kgqa.evaluation.runs.evaluate import evaluate
from kgqa.graphs import sc
from kgqa.kg import opening
from kgqa.models.chat import ChatModel
from kgqa.models.errors import MalformedReply, ModelUnavailable
from kgqa.models.interface import Completion, Usage
from kgqa.models.registry import MAX_REPLY_TOKENS
from kgqa.models.scripted import Line, ScriptedModel
from kgqa.nodes.llm_only import sample
from kgqa.nodes.llm_only.vote import count_votes
from kgqa.prompts.base import Prompt, R
from kgqa.retries import RetryPolicy
from kgqa.tests.support import towns
from kgqa.tests.support.doubles import KEYS, SECONDS, shown, timeless
from kgqa.tests.support.model_stub import Answer, said, stubbed

ALONE = ("io", "cot", "sc")
QUESTION = "On which river does Ulm lie?"
DOWN = ModelUnavailable("it is down")


def saying(*samples: Line | Sequence[str]) -> ScriptedModel:
    """A model whose samples answer so, whatever comes first; IO and CoT have the first."""

    def line(prompt: Prompt[Any]) -> Line:
        said = samples[getattr(prompt, "sample", 0)]
        return said if isinstance(said, str | Exception) else {"reasoning": "so", "answers": list(said)}

    return ScriptedModel(line)


class Slow(ScriptedModel):
    """Takes a while for each reply, costs as told, and counts how many are asked side by side."""

    def __init__(
        self, script: ScriptedModel, cost: Usage | None = None, delays: Sequence[float] = ()
    ) -> None:
        super().__init__(script._line)
        self.cost, self.delays = cost or Usage(llm_calls=1), delays
        self.most = self.now = 0

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(self.delays[prompt.sample] if self.delays else 0.001)  # type: ignore[attr-defined]
        finally:
            self.now -= 1
        return Completion((await super().ask(prompt)).reply, self.cost)


async def ask(method: str, model: Any, **options: Any) -> kgqa.Record:
    record = await kgqa.aask(QUESTION, method=method, model=model, kg="/no/such/graph.ttl", **options)
    assert record.keys() == KEYS
    return record


def nodes(record: kgqa.Record) -> list[str]:
    return [entry["node"] for entry in record["trace"]]


@pytest.mark.parametrize(
    ("method", "steps", "prompt", "calls"),
    [
        ("io", ["ask", "answer"], "answer_briefly", 1),
        ("cot", ["reason", "answer"], "reason_aloud", 1),
        ("sc", ["sample", "vote"], "reason_aloud", 10),
    ],
)
async def test_an_answer_is_parametric_and_costs_what_the_formula_says(
    method: str, steps: list[str], prompt: str, calls: int
) -> None:
    model = saying(*[["Danube", "Iller"]] * calls)
    record = await ask(method, model)
    assert record["answers"] == [{"id": None, "name": "Danube"}, {"id": None, "name": "Iller"}]
    assert (record["outcome"], record["paths"], record["evidence"]) == ("parametric", [], [])
    assert (nodes(record), {asked.name for asked in model.prompts}) == (steps, {prompt})
    assert (record["usage"]["llm_calls"], record["usage"]["kg_queries"]) == (calls, 0)


@pytest.mark.parametrize("method", ALONE)
async def test_no_graph_is_opened(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "open_graph", lambda *_, **__: pytest.fail("it opens the graph"))
    with blockbuster_ctx():
        record = await ask(method, "offline")
    spent = record["usage"]["llm_calls"]
    assert (record["outcome"], record["answers"], spent) == ("model_unavailable", [], 0)
    assert record["trace"][0]["error"] == (
        "the offline model knows no facts; give a language model, as provider:name"
    )


@pytest.mark.parametrize("method", ALONE)
async def test_topics_stand_in_the_record_as_they_were_given(method: str) -> None:
    topics: Any = ["Ulm", "http://t/e/ulm", {"id": "http://t/e/iller", "name": "Iller"}]
    record = await ask(method, saying(*[["Danube"]] * 10), topics=topics)
    assert record["topics"] == [
        {"id": None, "name": "Ulm"},
        {"id": "http://t/e/ulm", "name": None},
        {"id": "http://t/e/iller", "name": "Iller"},
    ]


async def test_the_reasoning_is_in_the_trace() -> None:
    record = await ask("cot", saying(["Danube"]))
    assert record["trace"][0]["samples"] == [{"reasoning": "so", "answers": ["Danube"]}]


@pytest.mark.parametrize(
    ("samples", "votes", "elected"),
    [
        ([["Ulm"], ["Bonn"], ["Ulm"]], {"Ulm": 2, "Bonn": 1}, ["Ulm"]),
        ([["1,000"], ["7"], ["1000.0"]], {"1,000": 2, "7": 1}, ["1,000"]),
        ([["Ulm"], ["Bonn"], ["Bonn"], ["Ulm"]], {"Ulm": 2, "Bonn": 2}, ["Ulm"]),  # a tie: the earliest
        ([["Kiel"], ["Ulm"], ["Bonn"], ["ULM."]], {"Ulm": 2, "Kiel": 1, "Bonn": 1}, ["Ulm"]),  # a plurality
        ([[], ["Unknown"], [], ["Ulm"]], {"Ulm": 1}, ["Ulm"]),  # who abstains has no vote
        ([[], ["nothing"]], {}, []),
        ([], {}, []),
        ([["Ulm", "ulm", "Bonn"], ["Kiel"], ["Kiel"]], {"Kiel": 2, "Ulm": 1, "Bonn": 1}, ["Kiel"]),
        ([["A", "B"], ["B", "C"], ["B", "A"]], {"B": 3, "A": 2, "C": 1}, ["B", "A"]),  # lists: each by itself
        ([["A", "B"], ["C", "D"]], {"A": 1, "B": 1, "C": 1, "D": 1}, ["A", "B"]),
        ([["A", "B"], ["C"], ["B"], ["D"]], {"B": 2, "A": 1, "C": 1, "D": 1}, ["B"]),  # half is no majority
    ],
)
def test_votes(samples: list[list[str]], votes: dict[str, int], elected: list[str]) -> None:
    counts, winners = count_votes(samples)
    assert (list(counts.items()), winners) == (list(votes.items()), elected)


@given(st.lists(st.sampled_from(["Ulm", "Bonn", "Kiel", "1e3"]), min_size=1, max_size=12))
def test_of_single_answers_the_plurality_is_elected(answers: list[str]) -> None:
    assert count_votes([[answer] for answer in answers])[1] == [Counter(answers).most_common(1)[0][0]]


@given(st.lists(st.lists(st.text("AB1.,é "), max_size=3), max_size=5))
def test_what_is_elected_was_said_and_nothing_voted_out_has_more_votes(samples: list[list[str]]) -> None:
    votes, elected = count_votes(samples)
    assert set(elected) <= {answer.strip() for sample in samples for answer in sample}
    assert bool(elected) == bool(votes)
    others = [votes[name] for name in votes if name not in elected]
    assert min((votes[name] for name in elected), default=0) >= max(others, default=0)
    assert len(set(elected)) == len(elected)


async def test_the_trace_has_the_votes() -> None:
    record = await ask("sc", saying(["Danube"], ["Iller"], ["danube"]), samples=3)
    assert record["trace"][1]["votes"] == {"Danube": 2, "Iller": 1}
    assert shown(record) == ["Danube"]


async def test_samples_are_asked_side_by_side_at_their_own_temperature() -> None:
    model = Slow(saying(*[["Danube"]] * 10), delays=[0.5] * 10)
    await ask("sc", model)
    assert model.most == 10
    asked: list[Any] = model.prompts
    assert {(prompt.sample, prompt.temperature) for prompt in asked} == {(at, 0.7) for at in range(10)}


async def test_three_calls_of_five_samples_vote_with_what_is_there() -> None:
    model = Slow(saying(["Iller"], ["Danube"], ["Danube"], ["Iller"], ["Iller"]))
    record = await ask("sc", model, samples=5, budget={"llm_calls": 3})
    assert (record["stopped_by"], record["usage"]["llm_calls"], len(model.prompts)) == ("llm_calls", 3, 3)
    assert (record["outcome"], shown(record)) == ("parametric", ["Danube"])
    assert record["trace"][0]["decision"] == "stop"


@pytest.mark.parametrize("limit", [0, 1, 4, 7, 13, 25])
async def test_no_more_than_one_prompt_goes_over_the_limit_of_calls(limit: int) -> None:
    model = Slow(saying(*[["Danube"]] * 30), Usage(llm_calls=sample.MAX_CALLS_PER_PROMPT))
    record = await ask("sc", model, samples=30, budget={"llm_calls": limit})
    assert len(model.prompts) == -(-limit // sample.MAX_CALLS_PER_PROMPT)
    assert record["stopped_by"] == "llm_calls"


@pytest.mark.parametrize(("limit", "prompts"), [(0, 0), (1, 1), (5000, 2), (20_000, 5)])
async def test_no_more_than_one_prompt_goes_over_the_limit_of_tokens(limit: int, prompts: int) -> None:
    model = Slow(saying(*[["Danube"]] * 9), Usage(llm_calls=1, input_tokens=2500, output_tokens=2000))
    record = await ask("sc", model, samples=9, budget={"tokens": limit})
    assert (record["stopped_by"], len(model.prompts)) == ("tokens", prompts)


async def test_samples_that_are_in_the_cache_cost_no_budget() -> None:
    model = Slow(saying(*[["Danube"]] * 5), Usage(cached_calls=1))
    record = await ask("sc", model, samples=5, budget={"llm_calls": 1})
    assert (record["stopped_by"], record["usage"]["cached_calls"]) == (None, 5)


async def test_seconds_end_the_samples_that_are_late() -> None:
    model = Slow(saying(["Iller"], ["Danube"], ["Iller"]), delays=[0.001, 30, 30])
    record = await ask("sc", model, samples=3, budget={"seconds": 0.3})
    assert (record["stopped_by"], shown(record)) == ("seconds", ["Iller"])


@pytest.mark.parametrize("method", ALONE)
async def test_an_outage_is_no_empty_answer(method: str) -> None:
    record = await ask(method, saying(*[DOWN] * 10))
    assert (record["outcome"], record["answers"]) == ("model_unavailable", [])
    assert record["trace"][0]["failure"] == "ModelUnavailable"


@pytest.mark.parametrize("method", ALONE)
async def test_a_model_that_nobody_knows(method: str) -> None:
    assert (await ask(method, "nobody:knows"))["outcome"] == "model_unavailable"


async def test_what_was_said_before_an_outage_votes() -> None:
    record = await ask("sc", saying(["Danube"], DOWN, ["Danube"]), samples=3)
    assert (record["outcome"], shown(record)) == ("parametric", ["Danube"])
    assert (record["trace"][0]["failure"], record["trace"][0]["lost"]) == ("ModelUnavailable", 1)


async def test_after_an_outage_nobody_is_asked() -> None:
    model = saying(DOWN, ["Danube"], ["Danube"])
    await ask("sc", model, samples=3, budget={"llm_calls": sample.MAX_CALLS_PER_PROMPT})
    assert len(model.prompts) == 1


async def test_a_malformed_sample_is_left_out() -> None:
    record = await ask("sc", saying("rambling", ["Iller"], MalformedReply("so so"), ["Danube"]), samples=4)
    assert (record["outcome"], shown(record), record["trace"][0]["lost"]) == ("parametric", ["Iller"], 2)


@pytest.mark.parametrize("method", ALONE)
async def test_malformed_replies_alone_are_no_outage(method: str) -> None:
    record = await ask(method, saying(*["rambling"] * 10))
    assert (record["outcome"], record["answers"]) == ("none", [])
    assert record["trace"][0]["failure"] == "MalformedReply"


@pytest.mark.parametrize("method", ALONE)
async def test_a_model_may_not_know(method: str) -> None:
    record = await ask(method, saying(*[["unknown"]] * 10))
    assert (record["outcome"], record["answers"]) == ("none", [])
    assert record["trace"][-1]["reason"] == "the model does not know"


async def test_a_run_leaves_nothing_to_the_next_on_its_thread() -> None:
    graph = sc.graph.builder.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    known, mute = saying(*[["Danube"]] * 3), saying(*["rambling"] * 3)
    first: Any = {"question": "One?", "topics": ["Ulm"]}
    await graph.ainvoke(first, config, context=sc.SC(model=known, samples=3))
    record = await graph.ainvoke({"question": "Two?"}, config, context=sc.SC(model=mute, samples=3))
    assert (record["outcome"], record["topics"], len(record["trace"])) == ("none", [], 2)


async def test_each_sample_has_a_row_of_its_own_in_the_cache(tmp_path: Path) -> None:
    file = tmp_path / "replies.sqlite"
    replies: list[Answer] = [
        said(f'{{"reasoning": "", "answers": ["{name}"]}}')
        for name in ("Iller", "Danube", "Iller", "Rhine", "Lech")
    ]
    with stubbed() as stub:
        stub.say(*replies)
        model = ChatModel("openai:stub", base_url=stub.url, cache=file, retries=RetryPolicy(pause=0.01))
        first = await ask("sc", model, samples=5)
        assert [request["temperature"] for request in stub.requests] == [0.7] * 5
        with closing(sqlite3.connect(file)) as database:
            assert database.execute("SELECT count(DISTINCT reply) FROM replies").fetchone() == (5,)
        again = await ask("sc", model, samples=5)
        assert len(stub.requests) == 5
        await ask("cot", model)
        assert (len(stub.requests), stub.requests[-1]["temperature"]) == (6, 0)
    assert first["trace"][1]["votes"]["Iller"] == 2
    assert (shown(first), shown(again)) == (["Iller"], ["Iller"])
    assert (first["usage"]["llm_calls"], again["usage"]["llm_calls"], again["usage"]["cached_calls"]) == (
        5,
        0,
        5,
    )
    assert [entry.get("votes") for entry in first["trace"]] == [
        entry.get("votes") for entry in again["trace"]
    ]


async def test_the_same_question_has_the_same_record() -> None:
    one, other = [timeless(await ask("sc", saying(["Iller"], ["Danube"]), samples=2)) for _ in range(2)]
    assert one["config"].pop("model") != ""
    other["config"].pop("model")
    assert one == other
    assert not {*SECONDS} & one["usage"].keys()


async def test_a_simulated_model_knows_no_more_by_thinking_aloud(
    tmp_path: Path, turtle: Callable[[str], Path]
) -> None:
    """It knows the answer or does not, however often it is asked: what samples disagree in is malformed."""
    asked: dict[str, Any] = {"dataset": towns.write(tmp_path / "towns.jsonl"), "kg": turtle(towns.graph())}
    right: dict[str, set[str]] = {}
    model = "simulated:memory=0.6,format=0.3"
    for method in ALONE:
        out = tmp_path / method
        ran = await evaluate(out=out, method=method, model=model, **asked)
        assert ran.metrics is not None
        records = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
        assert [record["usage"]["kg_queries"] for record in records] == [0] * towns.TOWNS
        right[method] = {record["id"] for record in records if record["answers"]}
        assert ran.metrics["hits_at_1"]["value"] == pytest.approx(len(right[method]) / towns.TOWNS)
    assert right["io"] < right["sc"] > right["cot"] > set()
    assert 0 < len(right["sc"]) < towns.TOWNS


def test_room_is_reckoned_with_what_a_prompt_may_cost() -> None:
    assert (2 * RetryPolicy().attempts, MAX_REPLY_TOKENS) == (
        sample.MAX_CALLS_PER_PROMPT,
        sample.MAX_REPLY_TOKENS,
    )
