"""Attacks on what makes a record say grounded: each of these once was, and its query or answers say less."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.evaluation.question import EntityRef
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.grounding import check_grounding
from kgqa.kg.opening import open_graph
from kgqa.models.scripted import ScriptedModel
from kgqa.tests.hostile.labels import club
from kgqa.tests.support.agents import answered, called, chat
from kgqa.tests.support.model_stub import Stub, said, stubbed

PREFIX = f"PREFIX e: <{club.E}> PREFIX r: <{club.R}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
MEMBERS = "Who are the members of Club?"

needs_peers = pytest.mark.skipif(find_spec("langchain_community") is None, reason="needs the extra peers")
quietly = pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")


@pytest.fixture(scope="module")
def kg(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return open_graph([club.write(tmp_path_factory.mktemp("club"))])


@pytest.fixture(scope="module")
def server() -> Iterator[Stub]:
    with stubbed() as server:
        yield server


@pytest.fixture
def stub(server: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stub:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    server.requests.clear()
    return server


async def unfounded(record: kgqa.Record, graph: Any) -> bool:
    """Return whether a record does not say grounded, and is found out if it says so all the same."""
    claimed = {**record, "outcome": "grounded"}
    answers = tuple(EntityRef(answer["id"], answer["name"]) for answer in record["answers"])
    result = Result("1", record["question"], answers, "grounded", record=claimed)
    found = await check_grounding([result], graph)
    print(record["outcome"], record["conditions"], len(answers), found)
    return record["outcome"] != "grounded" and not found["1"]


@needs_peers
@quietly
@pytest.mark.parametrize(
    ("question", "body", "text"),
    [
        (MEMBERS, "SELECT ?x WHERE { ?x a e:Person } # of e:club", None),
        (MEMBERS, 'SELECT ?x WHERE { ?x a e:Person FILTER("club" != "e:club") }', None),
        (MEMBERS, "SELECT ?x WHERE { ?x a e:Person OPTIONAL { e:club r:motto ?m } }", None),
        (MEMBERS, "SELECT ?x WHERE { ?x a e:Person . e:club r:motto ?m }", None),
        (MEMBERS, "SELECT ?x WHERE { e:club r:member ?x } LIMIT 3", None),
        (MEMBERS, "SELECT ?x WHERE { e:club r:member ?x VALUES ?x { e:m1 e:m2 } }", None),
        (MEMBERS, "SELECT ?x WHERE { e:club r:member ?x FILTER(?x = e:m3) }", None),
        (MEMBERS, "SELECT ?x WHERE { e:club r:member ?x . ?x r:age ?a FILTER(?a = 43) }", None),
        (MEMBERS, 'SELECT ?x WHERE { e:club r:member ?x . ?x rdfs:label "Member 07" }', None),
        (MEMBERS, "SELECT ?x WHERE { e:club r:member ?x . ?x r:lives_in e:town3 }", None),
        (MEMBERS, "SELECT (COUNT(?x) AS ?n) WHERE { e:club r:member ?x }", "90"),
        ("How many members has Club?", "SELECT ?n WHERE { e:club r:member ?m BIND(7 AS ?n) }", "7"),
        ("How many members has Club?", "SELECT (COUNT(?x)+1 AS ?n) WHERE { e:club r:member ?x }", "91"),
        (
            "What are the names of Club?",
            "SELECT ?n WHERE { e:club r:friend ?m OPTIONAL { ?m rdfs:label ?n } }",
            None,
        ),
        (
            "What is the average age of the members of Club?",
            "SELECT ?a WHERE { e:club r:member/r:age ?a }",
            None,
        ),
    ],
)
async def test_a_query_that_a_model_writes(
    kg: Any, stub: Stub, question: str, body: str, text: str | None
) -> None:
    rows = open_graph
    table = await kg.select(PREFIX + body)
    names = text or ", ".join(
        [
            str(row[0].name or row[0].id.rpartition("/")[2])
            if not row[0].id.startswith(club.E)
            else _name(row[0].id)
            for row in table.rows
            if row[0]
        ]
    )
    claimed = []
    stub.say(*claimed, said("SELECT"), said(PREFIX + body), said(names))
    record = await kgqa.aask(question, topics=["Club"], kg=kg, model=chat(stub), method="sparql_qa")
    assert await unfounded(record, kg), record["query"]


def _name(id: str) -> str:
    local = id.rpartition("/")[2]
    if local[0] == "m" and local[1:].isdecimal():
        return f"Member {int(local[1:]):02}" if int(local[1:]) % 12 else local
    return local


AGENT = (
    (
        "Who is the president of Club?",
        (
            "filter_chain",
            {
                "topic": "Club",
                "hops": ["member"],
                "conditions": [{"attribute": ["label"], "operator": "=", "value": "Member 03"}],
            },
        ),
        [("http://t/e/m3", "Member 03")],
    ),
    (
        "Who is the president of Club?",
        (
            "filter_chain",
            {
                "topic": "Club",
                "hops": ["member"],
                "conditions": [{"attribute": [], "operator": "=", "value": "<http://t/e/m3>"}],
            },
        ),
        [("http://t/e/m3", "Member 03")],
    ),
    (
        "Which friends of Club are ours?",
        (
            "filter_chain",
            {
                "topic": "Club",
                "hops": ["friend"],
                "conditions": [{"attribute": ["lives_in"], "operator": "=", "value": "<http://t/e/town2>"}],
            },
        ),
        None,
    ),
    (
        "Which friends of Club are ours?",
        (
            "filter_chain",
            {
                "topic": "Club",
                "hops": ["friend"],
                "conditions": [{"attribute": ["age"], "operator": ">", "value": "50"}],
            },
        ),
        None,
    ),
    (
        "Who is the president of Club?",
        (
            "filter_chain",
            {
                "topic": "Club",
                "hops": ["member"],
                "conditions": [],
                "extreme": {"attribute": ["age"], "largest": True},
            },
        ),
        None,
    ),
)


@pytest.mark.parametrize(("question", "call", "answers"), AGENT)
async def test_an_agent_that_picks_by_conditions(
    kg: Any, stub: Stub, question: str, call: Any, answers: Any
) -> None:
    from kgqa.tools import make_tools

    if answers is None:
        tool = next(each for each in make_tools(kg) if each.name == call[0])
        message = await tool.ainvoke({"type": "tool_call", "id": "1", "name": call[0], "args": call[1]})
        answers = [(each.id, each.name or each.id) for each in message.artifact.ends]
    stub.say(called(call), answered(*answers))
    record = await kgqa.aask(question, topics=["Club"], kg=kg, model=chat(stub), method="agent")
    assert await unfounded(record, kg), record["query"]


@pytest.mark.parametrize("topics", [None, ["Club"]])
async def test_an_agent_that_sets_out_from_what_it_remembers(kg: Any, stub: Stub, topics: Any) -> None:
    calls = [("follow_relation", {"entities": ["Hermit"], "relation": "river"})]
    if topics:
        calls = [
            (
                "filter_chain",
                {
                    "topic": "Club",
                    "hops": ["member"],
                    "conditions": [],
                    "meeting": [{"topic": "Guild", "hops": ["admits"]}],
                },
            )
        ]
        answers = [(f"http://t/e/m{n}", f"Member {n:02}") for n in range(1, 90, 2)]
    else:
        answers = [("http://t/e/danube", "Danube")]
    stub.say(called(*calls), answered(*answers))
    given = {"topics": topics} if topics else {}
    record = await kgqa.aask("Which are the famous ones?", kg=kg, model=chat(stub), method="agent", **given)
    assert await unfounded(record, kg), record["query"]


@pytest.mark.parametrize(
    ("question", "topics", "verdict", "relation"),
    [
        ("Is Guild not seated in Town 1?", ["Guild", "Town 1"], "yes", "seat"),
        ("Isn't the first seat of Guild Town 1?", ["Guild", "Town 1"], "yes", "seat"),
        ("Is Guild the last to be seated in Town 1?", ["Guild", "Town 1"], "yes", "seat"),
        ("Was Guild seated in Town 1 in 1990?", ["Guild", "Town 1"], "yes", "seat"),
        ("Is Guild older than Town 1?", ["Guild", "Town 1"], "yes", "seat"),
        ("Do Town 1 and Town 3 lie in the same land?", ["Town 1", "Town 3"], "no", "lies_in"),
    ],
)
async def test_a_claim(kg: Any, question: str, topics: Any, verdict: str, relation: str) -> None:
    def line(prompt: Any) -> Any:
        if prompt.name != "judge_claim":
            return {"relations": [1], "decision": "backtrack", "chosen": [], "answers": []}
        of = [n for n, each in enumerate(prompt.offered, 1) if f"{relation}" in str(each)]
        assert of, list(map(str, prompt.offered))
        return {"verdict": verdict, "favour" if verdict == "yes" else "against": of}

    record = await kgqa.aask(question, topics=topics, kg=kg, model=ScriptedModel(line), method="cor")
    assert record["answers"], record["trace"]
    assert await unfounded(record, kg), record["query"]
