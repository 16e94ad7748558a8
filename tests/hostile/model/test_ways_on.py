"""Whatever a model replies, and whenever, every method goes on and ends in one complete record."""

from itertools import cycle
from typing import Any

import pytest

from kgqa.graphs import METHODS
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.errors import MalformedReply
from kgqa.models.interface import Usage
from kgqa.models.scripted import ScriptedModel
from kgqa.prompts.base import Prompt
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.model.asking import PROMPTED, SEARCHING, SPOKEN, UNLIMITED, ask, simulated, spent
from kgqa.tests.hostile.model.replies import static
from kgqa.tests.hostile.model.willing import Habit, reply
from kgqa.tests.support.agents import chat
from kgqa.tests.support.model_stub import Stub, said
from kgqa.tests.unit.prompts.samples import WORKED

HABITS = {
    "picks all, goes on": Habit(),
    "picks nothing": Habit("none", ("forward", "some", "unknown"), times=1, truth=False),
    "turns back": Habit("first", ("backtrack", "forward", "drop", "no")),
    "picks the last, filters": Habit("last", ("filter", "some", "count")),
    "says much": Habit("all", ("stop", "others"), "x" * 400, 8),
    "stops": Habit("none", ("stop", "largest", "yes"), "Ulm", 1),
}

NONSENSE = [*dict.fromkeys(text for _, text in static()[::45]), "x" * 1_000_000]


class Broken:
    """A model that is right, but for one of its replies."""

    name = "broken"

    def __init__(self, model: Any, at: int, instead: Habit | None) -> None:
        self._model, self._at, self._instead, self.asked = model, at, instead, 0

    async def ask(self, prompt: Prompt[Any]) -> Any:
        self.asked += 1
        if self.asked != self._at:
            return await self._model.ask(prompt)
        if self._instead is None:
            raise MalformedReply(f"{prompt.name}: nonsense", Usage(llm_calls=2))
        return await ScriptedModel([reply(prompt, self._instead)]).ask(prompt)


def test_there_is_a_reply_of_every_habit_to_every_prompt() -> None:
    for worked in WORKED:
        assert all(reply(worked, habit) for habit in HABITS.values())


@pytest.mark.parametrize("method", PROMPTED)
async def test_one_bad_reply_in_any_place(family: SparqlGraph, method: str, tried: Tried) -> None:
    """The k-th reply, for each k of the run, is malformed, or valid and of no use."""
    at, number, habits = 0, 0, cycle(HABITS.values())
    model = Broken(simulated(family), 0, None)
    while at <= model.asked:
        at += 1
        for instead in (None, next(habits)):
            model = Broken(simulated(family), at, instead)
            record = await ask(method, family, model)
            assert record["stopped_by"] in (None, "depth")
            number += 1
    assert at < 60
    tried(inputs=number, questions=number, records=number)


@pytest.mark.parametrize("method", PROMPTED)
async def test_a_model_that_never_helps_comes_to_an_end_without_a_budget(
    family: SparqlGraph, method: str, tried: Tried
) -> None:
    options = {"retry_search": True} if method in SEARCHING else {}
    for habit in HABITS.values():
        model = ScriptedModel(lambda prompt, habit=habit: reply(prompt, habit))
        record = await ask(method, family, model, budget=UNLIMITED, **options)
        assert len(record["trace"]) < 1_000 and record["usage"]["llm_calls"] < 300
        assert not any("error" in entry for entry in record["trace"])
    tried(inputs=len(HABITS), questions=len(HABITS), records=len(HABITS))


@pytest.mark.parametrize("method", METHODS)
async def test_a_model_that_talks_nonsense_for_ever(
    family: SparqlGraph, stub: Stub, method: str, tried: Tried
) -> None:
    """Over HTTP, with several budgets: no answer is made up, and no limit passed by two calls."""
    budgets: list[dict[str, float]] = [{}, {"llm_calls": 3}, {"tokens": 30}, {"kg_queries": 2}]
    options = {"samples": 3} if method == "sc" else {}
    for text, budget in zip(NONSENSE, cycle(budgets), strict=False):
        stub.say(said(text))
        record = await ask(method, family, chat(stub), budget=budget, **options)
        assert record["outcome"] in ("none", "grounded", "grounded_inference", "grounded_unverified")
        within = {"llm_calls": 3, "tokens": 30 + 14, "kg_queries": 3}
        assert all(spent(record)[name] <= within[name] for name in budget)
    tried(inputs=len(NONSENSE), questions=len(NONSENSE), records=len(NONSENSE))


@pytest.mark.parametrize("method", SPOKEN)
async def test_a_conversation_of_nonsense_is_cut_by_its_depth(
    family: SparqlGraph, stub: Stub, method: str
) -> None:
    stub.say(said("I think so."))
    record = await ask(method, family, chat(stub), budget=UNLIMITED)
    assert record["usage"]["llm_calls"] < 10 and record["outcome"] == "none"
