"""The simulated model as a model: determinism, cost, failures."""

import asyncio
import time
from dataclasses import replace

import pytest

import kgqa
from kgqa.evaluation.question import GoldPath
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.errors import KGTimeout
from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Entity
from kgqa.models.errors import MalformedReply, UnknownModel
from kgqa.prompts.answer_from_memory import AnswerBriefly, AnswerDirectly, ReasonAloud
from kgqa.prompts.base import Prompt, Reply
from kgqa.prompts.filter_candidates import FilterCandidates
from kgqa.tests.support.frontier import pruning
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, chain, named, question

ABOUT = question("bonn", "mother born_in")


@pytest.fixture
def family(graph):
    return graph(FAMILY)


def filtering(*ids: str, seen: str = "?") -> FilterCandidates:
    candidates = tuple(Candidate(Entity(f"http://t/e/{id}", id.capitalize())) for id in ids)
    return FilterCandidates(seen, chain("ann", "parent"), candidates)


async def test_the_name_says_how_often_it_errs(family) -> None:
    assert (
        SimulatedModel(ABOUT, family, ErrorRates(accuracy=0.8, seed=1)).name
        == "simulated:accuracy=0.8,seed=1"
    )


async def test_gold_answers_are_chosen_among_candidates(family) -> None:
    model = SimulatedModel(question("eve max"), family, ErrorRates())
    reply = (await model.ask(filtering("bob", "eve", "ida", "max"))).reply
    assert (reply.chosen, reply.count) == ([2, 4], False)
    assert (await model.ask(filtering("bob"))).reply.chosen == []


async def test_a_wrong_choice_of_entities_is_of_others(family) -> None:
    model = SimulatedModel(question("eve max"), family, ErrorRates(entity=1))
    assert (await model.ask(filtering("bob", "eve", "ida", "max"))).reply.chosen == [1, 3]
    assert (await model.ask(filtering("eve"))).reply.chosen == []
    assert len((await model.ask(filtering("bob", "ida", "ann"))).reply.chosen) == 1


async def test_only_candidates_that_are_shown_are_chosen(family) -> None:
    ids = [f"n{number}" for number in range(9_000)]
    about, prompt = question(f"{ids[3]} {ids[-1]}"), filtering(*ids)
    assert (await SimulatedModel(about, family, ErrorRates()).ask(prompt)).reply.chosen == [4]
    wrong = await SimulatedModel(about, family, ErrorRates(entity=1)).ask(prompt)
    assert max(wrong.reply.chosen) <= len(prompt.offered) < 9_000


async def test_from_memory_it_knows_as_much_as_stated(family) -> None:
    about = question("eve max")
    assert (await SimulatedModel(about, family, ErrorRates()).ask(AnswerDirectly("?"))).reply.answers == []
    knowing = await SimulatedModel(about, family, ErrorRates(memory=1)).ask(AnswerDirectly("?"))
    assert knowing.reply.answers == ["Eve", "Max"]
    known = [
        bool(
            (
                await SimulatedModel(about, family, ErrorRates(memory=0.3, seed=s)).ask(AnswerDirectly("?"))
            ).reply.answers
        )
        for s in range(200)
    ]
    assert 40 < sum(known) < 80  # 60, give or take three standard deviations of 6.5


async def test_what_it_knows_it_knows_however_it_is_asked(family) -> None:
    prompts = [AnswerDirectly("?"), AnswerBriefly("?"), *(ReasonAloud("?", sample=n) for n in range(4))]
    known = []
    for seed in range(20):
        model = SimulatedModel(question("eve max"), family, ErrorRates(memory=0.5, seed=seed))
        replies = [(await model.ask(prompt)).reply.answers for prompt in prompts]
        assert replies in ([["Eve", "Max"]] * 6, [[]] * 6)
        known.append(bool(replies[0]))
    assert {*known} == {True, False}


async def test_samples_are_malformed_each_for_itself(family) -> None:
    model = SimulatedModel(ABOUT, family, ErrorRates(format=0.5))
    asked = [model.ask(ReasonAloud("?", sample=n)) for n in range(20)]
    replies = await asyncio.gather(*asked, return_exceptions=True)
    assert 4 < sum(isinstance(reply, MalformedReply) for reply in replies) < 16  # 10, give or take 2.2 x 3


async def test_a_reply_does_not_depend_on_what_was_asked_before(family) -> None:
    errors = {"accuracy": 0.5, "judge": 0.5, "seed": 3}
    asked = ("mother", "friend", "parent", "mother born_in", "born_in", "likes")
    once = [await Interview(ABOUT, family, **errors).verify("ann", path) for path in asked]
    again = Interview(ABOUT, family, **errors)
    backwards = [await again.verify("ann", path) for path in reversed(asked)]
    assert backwards[::-1] == once
    together = Interview(ABOUT, family, **errors)
    assert await asyncio.gather(*(together.verify("ann", path) for path in asked)) == once


async def test_equal_steps_of_two_questions_are_drawn_apart(family) -> None:
    chosen = []
    for id in map(str, range(30)):
        model = SimulatedModel(replace(question("eve"), id=id), family, ErrorRates(entity=0.5))
        chosen.append(tuple((await model.ask(filtering("bob", "eve"))).reply.chosen))
    assert set(chosen) == {(1,), (2,)}


async def test_a_malformed_reply_is_told_with_the_cost_of_both_turns(family) -> None:
    usual = (await SimulatedModel(ABOUT, family, ErrorRates()).ask(AnswerDirectly("?"))).usage
    with pytest.raises(MalformedReply, match="answer_directly: the reply is malformed") as caught:
        await SimulatedModel(ABOUT, family, ErrorRates(format=1)).ask(AnswerDirectly("?"))
    spent = caught.value.usage
    assert spent.llm_calls == 2
    assert spent.input_tokens == 2 * usual.input_tokens + usual.output_tokens
    assert spent.output_tokens == 2 * usual.output_tokens


async def test_tokens_are_estimated_from_the_characters(family) -> None:
    prompt = AnswerDirectly("Who?")
    answered = await SimulatedModel(question("eve"), family, ErrorRates(memory=1)).ask(prompt)
    said = '{"rationale":"","answers":["Eve"]}'
    assert answered.usage.llm_calls == 1
    assert answered.usage.output_tokens == 9  # 34 characters
    assert len(said) == 34
    assert answered.usage.input_tokens == -(-(len(prompt.instructions) + len(prompt.case())) // 4)
    assert answered.usage.seconds == 0


async def test_a_call_takes_as_long_as_stated(family) -> None:
    started = time.perf_counter()
    answered = await SimulatedModel(ABOUT, family, ErrorRates(latency=0.05)).ask(AnswerDirectly("?"))
    assert time.perf_counter() - started >= 0.05
    assert answered.usage.seconds == 0.05


class Riddle(Prompt[Reply]):
    """A kind of prompt that nobody simulates."""

    instructions = ""

    def case(self) -> str:
        return "What am I?"


async def test_a_prompt_that_nobody_simulates_is_refused(family) -> None:
    with pytest.raises(UnknownModel, match="no simulated model answers riddle prompts"):
        await SimulatedModel(ABOUT, family, ErrorRates()).ask(Riddle())


async def test_a_prompt_that_extends_one_is_answered_as_that_one(family) -> None:
    class Reworded(AnswerDirectly):
        instructions = "In other words."

    model = SimulatedModel(ABOUT, family, ErrorRates())
    assert (await model.ask(Reworded("?"))).reply == (await model.ask(AnswerDirectly("?"))).reply


async def test_a_graph_that_fails_in_time_leads_nowhere(family, monkeypatch) -> None:
    async def late(chain):
        raise KGTimeout("no answer within 30 s")

    hops = (await family.extend_chain(chain("ann"))).items
    monkeypatch.setattr(family, "follow_chain", late)
    model = SimulatedModel(ABOUT, family, ErrorRates())
    assert (await model.ask(pruning("?", chain("ann"), hops))).reply.relations == []


async def test_a_whole_question_is_answered_in_few_calls(family) -> None:
    model = SimulatedModel(question("de", "mother born_in country"), family, ErrorRates())
    record = await kgqa.aask("Which country?", topics=["Ann"], method="cor", kg=family, model=model)
    assert [answer["name"] for answer in record["answers"]] == ["Germany"]
    assert record["usage"]["llm_calls"] == 3
    assert record["config"]["model"] == "simulated"


async def test_two_topics_are_answered_where_their_ends_meet(family) -> None:
    paths = (GoldPath("http://t/e/ann", ("parent",)), GoldPath("http://t/e/bonn", ("^born_in",)))
    model = SimulatedModel(question("eve", topics=named("ann", "bonn"), paths=paths), family, ErrorRates())
    record = await kgqa.aask("Who?", topics=["Ann", "Bonn"], method="cor", kg=family, model=model)
    assert [answer["name"] for answer in record["answers"]] == ["Eve"]
    assert [(each["words"], each["by"]) for each in record["conditions"]] == [("born_in: Bonn", "graph")]


async def test_a_second_topic_that_has_no_path_is_passed_over_and_the_rest_filtered(family) -> None:
    about = question("eve", "parent", topics=named("ann", "rome"))
    record = await kgqa.aask(
        "Who?",
        topics=["Ann", "Rome"],
        method="cor",
        kg=family,
        model=SimulatedModel(about, family, ErrorRates()),
    )
    assert [answer["name"] for answer in record["answers"]] == ["Eve"]


@pytest.mark.parametrize("seed", range(12))
async def test_however_much_it_errs_every_reply_is_one_of_those_offered(family, seed: int) -> None:
    errors = ErrorRates(accuracy=0.3, recall=0.6, entity=0.5, judge=0.5, format=0.2, memory=0.3, seed=seed)
    about = question("eve", "parent", topics=named("ann", "bonn"))
    for filtering in (True, False):
        model = SimulatedModel(about, family, errors)
        record = await kgqa.aask(
            "Who?", topics=["Ann", "Bonn"], method="cor", kg=family, model=model, filtering=filtering
        )
        assert record["query"] or record["outcome"] in {"parametric", "none"}
        again = SimulatedModel(about, family, errors)
        same = await kgqa.aask(
            "Who?", topics=["Ann", "Bonn"], method="cor", kg=family, model=again, filtering=filtering
        )
        assert (same["answers"], same["trace"]) == (record["answers"], record["trace"])
