"""What a model says reaches neither SPARQL, nor files, nor anything but the text of the record."""

import json
from typing import Any

import pytest

from kgqa.evaluation.result import OUTAGE_OUTCOMES
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.scripted import ScriptedModel
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.model.answers import ARGUMENTS, call, calling
from kgqa.tests.hostile.model.asking import PROMPTED, ask
from kgqa.tests.hostile.model.willing import Habit, reply
from kgqa.tests.support.agents import answered, called, chat, entry
from kgqa.tests.support.model_stub import Answer, Stub, said

MARK = "Zqx7"

PLANTED = (
    f'{MARK}" }} UNION {{ ?s ?p ?o }} #',
    f"<http://t/r/{MARK}>",
    f"http://t/e/{MARK}",
    f"^{MARK}> ?p ?o }} ; DROP ALL #",
    f"../../{MARK}/../etc/passwd",
    f"{{{MARK}}} %s ${{{MARK}}} {{{{{MARK}}}}}",
)

HABITS = [
    Habit("all", ("forward", "all", "drop"), PLANTED[0]),
    Habit("first", ("backtrack", "some"), PLANTED[1]),
    Habit("last", ("filter", "others"), PLANTED[2]),
    Habit("all", ("stop", "count", "yes"), PLANTED[3], truth=False),
    Habit("none", ("forward", "no"), PLANTED[4], times=1),
    Habit("first", ("stop", "some", "unknown"), PLANTED[5], times=8),
]


class Listening:
    """An executor that keeps what it is asked."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._executor, name)

    async def query(self, text: str, **options: Any) -> Any:
        self.asked.append(text)
        return await self._executor.query(text, **options)


@pytest.fixture
def listening(family: SparqlGraph, monkeypatch: pytest.MonkeyPatch) -> Listening:
    """The executor of the family, listened to."""
    executor = Listening(family._executor)
    monkeypatch.setattr(family, "_executor", executor)
    return executor


@pytest.mark.parametrize("method", PROMPTED)
async def test_no_word_of_a_model_is_in_a_query(
    family: SparqlGraph, listening: Listening, method: str, tried: Tried
) -> None:
    for habit in HABITS:
        model = ScriptedModel(lambda prompt, habit=habit: reply(prompt, habit))
        options = {"max_revisions": 4} if method == "vog" else {}
        record = await ask(method, family, model, **options)
        assert record["outcome"] not in OUTAGE_OUTCOMES
        assert all(MARK not in (answer["id"] or "") for answer in record["answers"])
    assert listening.asked or method in ("io", "cot", "sc")
    assert not [text for text in listening.asked if MARK.lower() in text.lower()]
    tried(inputs=len(HABITS), questions=len(HABITS), records=len(HABITS))


HOSTILE: list[tuple[str, Any]] = [
    *(("find_entities", {"name": text}) for text in PLANTED),
    *(("follow_relation", {"entities": ["Ann"], "relation": text}) for text in PLANTED[:3]),
    *(("describe_entity", {"entity": text}) for text in PLANTED[:3]),
    *(("follow_chain", {"topic": "Ann", "hops": ["parent", text]}) for text in PLANTED),
    *(("follow_chain", {"topic": "Ann", "hops": ["parent"], "held": {"1": [text]}}) for text in PLANTED[:3]),
    ("find_entities", {"name": "A" * 200_000}),
    ("find_entities", {"name": "a\u0315\u0300" * 30_000}),
    ("find_entities", {"name": "Ann", "limit": 10**30}),
    ("find_entities", {"name": "Ann", "limit": -1}),
    ("find_entities", {"name": "Ann", "\ud800": "\ud800"}),
    ("find_entities", {"name": "\ud800"}),
    ("find_entities", {"name": ["Ann"]}),
    ("find_entities", {"name": None}),
    ("find_entities", {}),
    ("find_entities", {"name": "Ann", "config": {}, "run_manager": 1, "self": 1}),
    ("follow_chain", {"topic": "Ann", "hops": ["parent"] * 2_000}),
    ("follow_chain", {"topic": "Ann", "hops": ["parent"], "held": {"1": "Eve"}}),
    ("follow_chain", {"topic": "Ann", "hops": ["parent"], "held": {"99": ["Eve"]}}),
    ("follow_relation", {"entities": ["http://t/e/nobody"], "relation": "parent"}),
    ("follow_relation", {"entities": [], "relation": "parent"}),
    ("follow_relation", {"entities": ["\x00"], "relation": "\x00"}),
    ("run_select", {"query": "SELECT * { ?s ?p ?o }"}),
    ("__import__", {"name": "os"}),
    ("\ud800", {}),
    ("x" * 20_000, {}),
    ("", {}),
    ("Answer", {"answers": 5}),
    ("Answer", {"answers": [{"id": "\ud800", "name": "\ud800"}]}),
    ("Answer", {"answers": [{"id": f"http://t/e/{MARK}", "name": MARK}]}),
    ("Answer", {"answers": [{"id": None, "name": "n" * 200_000}]}),
    ("Answer", {"answers": [{"id": None, "name": f"n{n}"} for n in range(9_000)]}),
]


async def test_whatever_an_agent_gives_its_tools(
    family: SparqlGraph, listening: Listening, stub: Stub, tried: Tried
) -> None:
    """It is told what is wrong, or its words are the text of a literal; its record is complete."""
    model = chat(stub)
    for name, arguments in HOSTILE:
        stub.say(called((name, arguments)), answered((None, "Eve")))
        record = await ask("agent", family, model)
        assert record["outcome"] == "parametric"
        assert len(json.dumps(record)) < 50_000
    raw = [calling(call(arguments)) for arguments in ARGUMENTS]
    raw += [calling(call('{"name": "Ann"}', id=id)) for id in (None, "", "\ud800", "x" * 1_000)]
    raw += [calling(*[call("{}", f"tool {n}") for n in range(1_000)]), said("\ud800").body]
    for body in raw:
        stub.say(Answer(body=body), answered((None, "Eve")))
        record = await ask("agent", family, model)
        assert record["outcome"] in ("parametric", "model_unavailable")
        assert len(json.dumps(record)) < 50_000
    iris = [
        text for text in listening.asked if f"<http://t/r/{MARK}>" in text or f"<http://t/e/{MARK}>" in text
    ]
    assert {text for text in listening.asked if MARK in text} <= {*iris}
    tried(inputs=len(HOSTILE) + len(raw), questions=len(HOSTILE) + len(raw), records=len(HOSTILE) + len(raw))


async def test_calls_beyond_reason_in_one_turn_are_passed_over(family: SparqlGraph, stub: Stub) -> None:
    stub.say(called(*[("find_entities", {"name": "Ann"})] * 1_000), answered((None, "Eve")))
    record = await ask("agent", family, chat(stub))
    assert record["usage"]["kg_queries"] < 60
    assert len(entry(record, "act")["turns"]) < 60
    sent = stub.requests[-1]["messages"]
    calls = [each["id"] for message in sent for each in message.get("tool_calls") or ()]
    assert len({*calls}) == len(calls) == 50
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == calls


QUERIES = (
    f"SELECT * {{ ?s ?p '{MARK}' }}",
    *("SELECT", "UPDATE", "DELETE WHERE { ?s ?p ?o }", "LOAD <file:///etc/passwd>"),
    "SELECT * FROM <file:///etc/passwd> { ?s ?p ?o }",
    "SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }",
    "SELECT * {" + "{" * 5_000 + "}" * 5_000 + "}",
    "SELECT * { ?s ?p ?o FILTER(1" + "+1" * 20_000 + "=2) }",
    *("SELECT {prompt} {schema} %s", "\ud800", "S" * 1_000_000),
)


@pytest.mark.parametrize("text", QUERIES, ids=range(len(QUERIES)))
async def test_a_query_that_a_model_writes_is_read_only_or_refused(
    family: SparqlGraph, listening: Listening, stub: Stub, text: str
) -> None:
    stub.say(said(text))
    record = await ask("sparql_qa", family, chat(stub), allow_parametric=False)
    assert record["outcome"] in ("none", "grounded", "grounded_unverified")
    own = [asked for asked in listening.asked if asked == text]
    assert len(own) <= text.startswith("SELECT * { ?s ?p '")
    assert (await family.info()).triples == 35


async def test_what_a_model_says_is_cut_in_the_trace(family: SparqlGraph) -> None:
    long = json.dumps({"rationale": "x" * 90_000, "relations": [1]})
    record = await ask("cor", family, ScriptedModel(lambda prompt: long), allow_parametric=False)
    reasons = [len(entry["reason"]) for entry in record["trace"] if "reason" in entry]
    assert reasons and max(reasons) < 2_100


def test_marks_that_pile_up_cost_no_more_than_others() -> None:
    import time

    from kgqa.evaluation.scoring.matching import name_key
    from kgqa.kg.text import fold
    from kgqa.priors.answer_agreement import answer_key

    started = time.process_time()
    for marks in ("\u0315\u0300", "\u0345\u0300\u0316", "\uff9e\u0300", "\u0301"):
        for read in (fold, lambda text: answer_key([text]), name_key):
            read("か" + marks * (90_000 // len(marks)))
    assert time.process_time() - started < 2
    assert fold("Zürich" + "\u0301" * 5) == fold("Zurich")
