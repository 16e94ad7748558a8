"""ChatModel against servers: a stub that misbehaves on cue, and a real small language model."""

import asyncio
import sqlite3
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from blockbuster import blockbuster_ctx
from langchain_core.messages import HumanMessage

import kgqa
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.models.chat import ChatModel
from kgqa.models.errors import MalformedReply, ModelUnavailable, UnknownModel
from kgqa.models.interface import ModelSettings, Usage
from kgqa.models.registry import MAX_REPLY_TOKENS
from kgqa.retries import RetryPolicy
from kgqa.tests.support.frontier import pruning
from kgqa.tests.support.model_stub import Answer, failed, said
from kgqa.tests.unit.models.pick import Pick

GOOD = '{"rationale": "", "numbers": [2], "sure": null}'


@pytest.fixture
def chat(stub):
    def make(**options):
        options = {"base_url": stub.url, "retries": RetryPolicy(pause=0.01, longest=0.5), **options}
        return ChatModel("openai:stub", **options)

    return make


def counts(usage: Usage) -> tuple[int, int, int, int, int]:
    return usage.llm_calls, usage.cached_calls, usage.unknown_calls, usage.input_tokens, usage.output_tokens


async def test_asks_once_with_instructions_first_and_a_strict_schema(chat, stub):
    stub.say(said(GOOD))
    answered = await chat(max_tokens=50).ask(Pick())
    assert answered.reply.numbers == [2]
    assert counts(answered.usage) == (1, 0, 0, 10, 4)
    assert answered.usage.seconds > 0
    [request] = stub.requests
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert request["messages"][0]["content"] == Pick.instructions
    assert request["messages"][1]["content"] == "Which is a city?"
    assert (request["temperature"], request["max_completion_tokens"]) == (0, 50)
    schema = request["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["required"] == ["rationale", "numbers", "sure"]
    assert schema["schema"]["additionalProperties"] is False


async def test_a_bad_reply_is_told_what_is_wrong_once(chat, stub):
    stub.say(said('{"numbers": [9]}'), said(GOOD))
    answered = await chat().ask(Pick())
    assert counts(answered.usage) == (2, 0, 0, 20, 8)
    told = stub.requests[1]["messages"]
    assert [message["role"] for message in told] == ["system", "user", "assistant", "user"]
    assert told[2]["content"] == '{"numbers": [9]}'
    assert "line 9 was not offered; choose from 1 to 5" in told[3]["content"]


@pytest.mark.parametrize(
    "text", ["", None, "I cannot say.", '{"numbers": [9]}', '{"numbers": "\\ud800"}', "\ud800"]
)
async def test_two_bad_replies_are_malformed_and_counted(chat, stub, text):
    stub.say(said(text))
    with pytest.raises(MalformedReply) as caught:
        await chat().ask(Pick())
    assert counts(caught.value.usage) == (2, 0, 0, 20, 8)
    assert str(caught.value).startswith("openai:stub: pick: ")
    assert "\n" not in str(caught.value)


async def test_a_reply_cut_short_is_used_if_it_can_be(chat, stub):
    stub.say(said('{"numbers": [1]', finish="length"))
    answered = await chat().ask(Pick())
    assert answered.reply.numbers == [1]
    assert counts(answered.usage) == (1, 0, 0, 10, 4)


@pytest.mark.parametrize("finish", ["length", "content_filter"])
@pytest.mark.parametrize("usage", [True, False])
async def test_a_reply_cut_short_counts(chat, stub, finish, usage):
    stub.say(said('{"rationale": "a long', finish=finish, usage=usage))
    with pytest.raises(MalformedReply) as caught:
        await chat().ask(Pick())
    assert counts(caught.value.usage) == ((2, 0, 0, 20, 8) if usage else (2, 0, 2, 0, 0))


async def test_tokens_that_are_not_reported_are_unknown(chat, stub):
    stub.say(said(GOOD, usage=False))
    assert counts((await chat().ask(Pick())).usage) == (1, 0, 1, 0, 0)


async def test_a_server_without_schemas_is_remembered(chat, stub):
    stub.refuse_schemas = True
    stub.say(said(f"Sure!\n```json\n{GOOD}\n```"))
    model = chat()
    assert counts((await model.ask(Pick())).usage) == (1, 0, 0, 10, 4)
    assert (await model.ask(Pick())).reply.numbers == [2]
    assert ["response_format" in request for request in stub.requests] == [True, False, False]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "System role not supported"),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
        (500, "Value is not callable: Only user and assistant roles are supported!"),
    ],
)
async def test_a_model_without_system_messages_is_told_all_by_the_user(chat, stub, caplog, status, words):
    stub.replies = lambda request: (
        failed(status, words) if request["messages"][0]["role"] == "system" else said(GOOD)
    )
    model = chat()
    for _ in range(2):
        assert (await model.ask(Pick())).reply.numbers == [2]
    asked = stub.requests[-1]["messages"]
    assert [message["role"] for message in asked] == ["user"]
    assert Pick().instructions in asked[0]["content"] and Pick().case() in asked[0]["content"]
    assert stub.requests[-2]["messages"] == asked  # remembered
    assert caplog.text.count("takes no system message") == 1


def refusing(**parameters):
    """A server that refuses parameters, each in its words, and answers what comes without them."""

    def answer(request):
        refused = next((words for name, words in parameters.items() if name in request), None)
        return failed(400, refused) if refused else said(GOOD)

    return answer


O4_MINI = {
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead.",
    "temperature": "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default "
    "(1) value is supported.",
}


async def test_what_a_model_refuses_is_left_out_and_remembered(chat, stub, caplog):
    """o4-mini refuses any temperature, and its limit of a reply is called max_completion_tokens."""
    stub.replies = refusing(**O4_MINI)
    model = chat(max_tokens=50)
    assert counts((await model.ask(Pick())).usage) == (1, 0, 0, 10, 4)
    assert (await model.with_settings(ModelSettings(0.5, 60)).ask(Pick(temperature=0.7))).reply.numbers == [2]
    assert ["temperature" in request for request in stub.requests] == [True, False, False]
    assert [request["max_completion_tokens"] for request in stub.requests] == [50, 50, 60]
    assert all("response_format" in request for request in stub.requests)
    assert caplog.text.count("openai:stub refuses temperature (Unsupported value") == 1
    assert (await model.turn([HumanMessage("Who?")])).message.text == GOOD
    assert len(stub.requests) == 4


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("max_completion_tokens", "Unrecognized request argument supplied: max_completion_tokens"),
        ("max_completion_tokens", "Extra inputs are not permitted: ['body', 'max_completion_tokens']"),
        ("top_p", "`top_p` is deprecated for this model."),
    ],
)
async def test_any_parameter_may_be_refused(chat, stub, name, words):
    stub.replies = refusing(**{name: words})
    model = chat().with_settings(ModelSettings(0.0, 50, arguments={"top_p": 0.9, "seed": 7}))
    for _ in range(2):
        assert (await model.ask(Pick())).reply.numbers == [2]
    sent = [
        {*request} & {"temperature", "max_completion_tokens", "top_p", "seed"} for request in stub.requests
    ]
    assert [name in each for each in sent] == [True, False, False]
    assert [len(each) for each in sent] == [4, 3, 3]
    assert stub.requests[0]["seed"] == 7


async def test_a_value_that_is_wrong_is_told(chat, stub):
    stub.say(failed(400, "Invalid 'temperature': expected a value <= 2, but got 3 instead."))
    with pytest.raises(ModelUnavailable, match="refuses the request"):
        await chat(temperature=3).ask(Pick())
    assert all("temperature" in request for request in stub.requests)


async def test_settings_are_of_the_one_who_asks(chat, stub, tmp_path):
    """One connection serves all; the cache tells their replies apart."""
    stub.say(said(GOOD))
    model = chat(cache=tmp_path / "cache", max_tokens=2048)
    ways = [ModelSettings(0.0, 2048), ModelSettings(None, None), ModelSettings(0.3, 1024)]
    ways.append(ModelSettings(0.3, 1024, arguments={"seed": 7}))
    for times in (1, 0):
        for way in ways:
            assert (await model.with_settings(way).ask(Pick())).usage.llm_calls == times
    assert (await model.ask(Pick())).usage.cached_calls == 1
    sent = [(each.get("temperature"), each.get("max_completion_tokens")) for each in stub.requests]
    assert sent == [(0, 2048), (None, None), (0.3, 1024), (0.3, 1024)]


async def test_options_of_a_method_say_how_its_model_is_asked(stub, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
    stub.say(said('{"answers": ["Ulm"]}'))
    asked = {"method": "io", "model": "openai:stub"}
    record = await kgqa.aask("Where?", **asked, temperature=0.3, max_tokens=7, model_arguments={"seed": 1})
    other = await kgqa.aask("Where?", **asked, temperature=None)
    assert [answer["name"] for answer in record["answers"]] == ["Ulm"]
    [first, second] = stub.requests
    assert (first["temperature"], first["max_completion_tokens"], first["seed"]) == (0.3, 7, 1)
    assert ("temperature" in second, second["max_completion_tokens"]) == (False, MAX_REPLY_TOKENS)
    assert record["config"]["model_arguments"] == {"seed": 1}
    assert record["config"]["hash"] != other["config"]["hash"]


async def test_a_slow_model_can_have_more_time(chat, stub):
    stub.say(Answer(body=said(GOOD).body, delay=0.3))
    model = chat(timeout=0.1, retries=RetryPolicy(attempts=1))
    with pytest.raises(ModelUnavailable, match=r"within 0\.1 s; try again or allow more time"):
        await model.ask(Pick())
    assert (await model.with_settings(ModelSettings(timeout=60)).ask(Pick())).reply.numbers == [2]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "refuses the request (400: no)"),
        (401, "refuses the key; set the right one (OPENAI_API_KEY)"),
        (403, "does not let this key use the model"),
        (404, "knows no such model; check its name and the address (OPENAI_BASE_URL)"),
        (422, "refuses the request (422: no)"),
    ],
)
async def test_refusals_are_told_at_once_in_one_line(chat, stub, status, words):
    stub.say(failed(status))
    with pytest.raises(ModelUnavailable) as caught:
        await chat().ask(Pick())
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert counts(caught.value.usage) == (0, 0, 0, 0, 0)
    plain = [request for request in stub.requests if "response_format" not in request]
    assert len(plain) <= 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_passing_trouble_is_tried_again_and_free(chat, stub, status):
    stub.say(failed(status), failed(status), said(GOOD))
    assert counts((await chat().ask(Pick())).usage) == (1, 0, 0, 10, 4)
    stub.say(failed(status))
    stub.requests.clear()
    with pytest.raises(ModelUnavailable):
        await chat().ask(Pick())
    assert len(stub.requests) == 3


async def test_waits_as_long_as_the_server_asks(chat, stub):
    stub.say(failed(429, Retry_After="0.3"), said(GOOD))
    started = time.perf_counter()
    await chat().ask(Pick())
    assert time.perf_counter() - started >= 0.3


@pytest.mark.parametrize(
    "wait", ["3600", format_datetime(datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=36500), usegmt=True)]
)
async def test_gives_up_if_the_server_asks_for_too_long(chat, stub, wait):
    stub.say(failed(429, Retry_After=wait), said(GOOD))
    with pytest.raises(ModelUnavailable, match=r"refuses more calls for now.*it asks for"):
        await chat().ask(Pick())
    assert len(stub.requests) == 1


async def test_no_reply_in_time_counts_as_unknown(chat, stub):
    stub.say(Answer(delay=0.5, body={}))
    with pytest.raises(ModelUnavailable, match=r"no reply from .* within 0\.05 s") as caught:
        await chat(timeout=0.05).ask(Pick())
    assert counts(caught.value.usage) == (3, 0, 3, 0, 0)


async def test_nobody_there(chat):
    with pytest.raises(ModelUnavailable, match=r"cannot reach http://127\.0\.0\.1:9/v1; check the network"):
        await chat(base_url="http://user:secret@127.0.0.1:9/v1").ask(Pick())


@pytest.mark.parametrize("body", ["not JSON", "", "[]", "{}", '{"choices": []}', '{"choices": [{}]}', "null"])
async def test_an_answer_that_is_none_is_an_outage(chat, stub, body):
    stub.say(Answer(body=body))
    with pytest.raises((ModelUnavailable, MalformedReply)) as caught:
        await chat().ask(Pick())
    assert "\n" not in str(caught.value)


async def test_many_at_once(chat, stub):
    stub.say(said(GOOD))
    model = chat()
    answers = await asyncio.gather(*(model.ask(Pick(f"question {n}")) for n in range(40)))
    assert len(stub.requests) == len(answers) == 40


def test_one_model_serves_several_event_loops(chat, stub):
    stub.say(said(GOOD))
    model = chat()
    for _ in range(3):
        assert asyncio.run(model.ask(Pick())).reply.numbers == [2]
    assert not model._clients._of_loop


async def test_never_blocks_the_event_loop(chat, stub, tmp_path):
    stub.say(said("{"), said(GOOD), failed(500), said(GOOD))
    first, second = chat(cache=tmp_path / "cache"), chat(cache=tmp_path / "cache")
    with blockbuster_ctx():
        await first.ask(Pick())
        await second.ask(Pick())
        await asyncio.to_thread(lambda: asyncio.run(first.ask(Pick("other"))))


async def test_a_cached_reply_is_free_and_told_apart(chat, stub, tmp_path):
    stub.say(said("{"), said(GOOD))
    path = tmp_path / "cache"
    assert counts((await chat(cache=path).ask(Pick())).usage) == (2, 0, 0, 20, 8)
    again = await chat(cache=path, timeout=7).ask(Pick())
    assert again.reply.numbers == [2]
    assert counts(again.usage) == (0, 2, 0, 0, 0)
    assert len(stub.requests) == 2


async def test_a_malformed_reply_is_not_served_for_ever(chat, stub, tmp_path):
    stub.say(said("{"), said("{"), said(GOOD))
    model = chat(cache=tmp_path / "cache")
    with pytest.raises(MalformedReply):
        await model.ask(Pick())
    assert counts((await model.ask(Pick())).usage) == (1, 0, 0, 10, 4)


@pytest.mark.parametrize("outage", [failed(500), failed(401), Answer(body="no JSON")])
async def test_an_outage_is_not_cached(chat, stub, tmp_path, outage):
    stub.say(outage)
    model = chat(cache=tmp_path / "cache")
    with pytest.raises(ModelUnavailable):
        await model.ask(Pick())
    stub.say(said(GOOD))
    assert counts((await model.ask(Pick())).usage) == (1, 0, 0, 10, 4)


async def test_the_cache_tells_calls_apart(chat, stub, tmp_path, monkeypatch):
    stub.say(said(GOOD))
    path = tmp_path / "cache"
    asked = [
        (chat(cache=path), Pick()),
        (chat(cache=path), Pick("Another?")),
        (chat(cache=path), Pick(sample=1)),
        (chat(cache=path), Pick(temperature=0.7)),
        (chat(cache=path, temperature=0.7), Pick()),
        (chat(cache=path, max_tokens=9), Pick()),
        (ChatModel("openai:other", base_url=stub.url, cache=path), Pick()),
    ]
    monkeypatch.setenv("OPENAI_BASE_URL", stub.url.replace("127.0.0.1", "localhost"))
    asked.append((ChatModel("openai:stub", cache=path), Pick()))
    for model, prompt in asked:
        assert counts((await model.ask(prompt)).usage)[:2] == (1, 0)
    for model, prompt in asked:
        assert counts((await model.ask(prompt)).usage)[:2] == (0, 1)
    assert stub.requests[3]["temperature"] == 0.7


async def test_a_cache_that_breaks_is_a_miss(chat, stub, tmp_path, caplog):
    stub.say(said(GOOD))
    path = tmp_path / "cache"
    model = chat(cache=path)
    await model.ask(Pick())
    with sqlite3.connect(path) as database:
        database.execute("UPDATE replies SET reply = '{\"version\": 99}'")
    database.close()
    assert (await model.ask(Pick())).usage.llm_calls == 1
    for side in tmp_path.iterdir():
        side.write_bytes(b"no database" * 1000)
    assert (await model.ask(Pick())).usage.llm_calls == 1
    assert "cannot be used" in caplog.text
    with pytest.raises(UnknownModel, match=r"cannot use .* as a cache"):
        chat(cache=path)


SCHOOL = pruning(
    "In which city did the composer of Vltava go to school?",
    Chain(Entity("http://x/v", "Vltava")),
    (Hop("http://x/composed_by"), Hop("http://x/key_signature"), Hop("http://x/recorded_work", False)),
)


async def test_a_real_model_over_the_wire(llm_server):
    model = ChatModel("openai:smollm2", base_url=llm_server, max_tokens=120)
    try:
        usage = (await model.ask(SCHOOL)).usage
    except MalformedReply as error:
        usage = error.usage
    assert usage.llm_calls in {1, 2}
    assert usage.unknown_calls == 0
    assert usage.input_tokens > 100 and usage.output_tokens > 1
    assert not model._learned.plain


async def test_a_real_model_keeps_to_the_schema(llm_server):
    model = ChatModel("openai:smollm2", base_url=llm_server, max_tokens=400)
    answered = await model.ask(Pick("Name three numbers between 1 and 5, and nothing else.", offered=10**9))
    assert all(isinstance(number, int) for number in answered.reply.numbers)


async def test_a_real_server_refuses_what_is_too_long(llm_server):
    model = ChatModel("openai:smollm2", base_url=llm_server, max_tokens=20)
    with pytest.raises(ModelUnavailable, match="refuses the request"):
        await model.ask(Pick("word " * 20_000))
