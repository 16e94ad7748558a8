"""Attacks on what makes a record say grounded: each of these once did, though its query proves less."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.evaluation.question import EntityRef
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.grounding import check_grounding
from kgqa.kg.errors import KGTimeout
from kgqa.kg.opening import open_graph
from kgqa.kg.terms import Chain
from kgqa.models.scripted import ScriptedModel
from kgqa.tests.hostile.labels import club
from kgqa.tests.support.agents import answered, called, chat
from kgqa.tests.support.doubles import Flaky
from kgqa.tests.support.frontier import pick
from kgqa.tests.support.guided import FailingVisits, choose, playing
from kgqa.tests.support.model_stub import Stub, said, stubbed
from kgqa.tests.support.planned import plan, take
from kgqa.tools import make_tools

PREFIX = f"PREFIX e: <{club.E}> PREFIX r: <{club.R}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
WHO, HOW_MANY = "Who are the members of Club?", "How many members has Club?"
AVERAGE = "What is the average age of the members of Club?"
MEMBER = {"topic": "Club", "hops": ["member"], "conditions": []}

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
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))  # reading those of the machine takes longer than a test
    server.requests.clear()
    return server


async def check(record: kgqa.Record, graph: Any, *, is_seen: bool = True) -> None:
    """Hold that a record has answers, is not called grounded, and would be found out if it were."""
    assert record["answers"]
    assert record["outcome"] != "grounded"
    answers = tuple(EntityRef(answer["id"], answer["name"]) for answer in record["answers"])
    claimed: Any = {**record, "outcome": "grounded", "conditions": []}
    result = Result("1", record["question"], answers, "grounded", record=claimed)
    assert not is_seen or not (await check_grounding([result], graph))["1"]


@needs_peers
@quietly
@pytest.mark.parametrize(
    ("question", "select"),
    [
        (WHO, "?x WHERE { ?x a e:Person } # of e:club"),
        (WHO, '?x WHERE { ?x a e:Person FILTER("club" != "e:club") }'),
        (WHO, "DISTINCT ?x WHERE { ?x a e:Person OPTIONAL { e:club r:motto ?m } }"),
        (WHO, "DISTINCT ?x WHERE { ?x a e:Person . e:club r:motto ?m }"),
        (WHO, "DISTINCT ?x WHERE { { e:club r:member ?x } UNION { ?x r:age 30 } }"),
        (WHO, "?x WHERE { e:club r:member ?x } LIMIT 3"),
        (WHO, "?x WHERE { { SELECT ?x { e:club r:member ?x } LIMIT 3 } }"),
        (WHO, "?x WHERE { e:club r:member ?x FILTER(RAND() < 2) }"),
        (WHO, "?x WHERE { e:club r:member ?x VALUES ?x { e:m1 e:m2 } }"),
        (WHO, "?x WHERE { e:club r:member ?x FILTER(?x = e:m3) }"),
        (WHO, "?x WHERE { e:club r:member ?x . ?x r:age ?a FILTER(?a = 43) }"),
        (WHO, '?x WHERE { e:club r:member ?x . ?x rdfs:label "Member 07" }'),
        (WHO, '?x WHERE { e:club r:member ?x . ?x rdfs:label ?n FILTER REGEX(?n, "Member 07") }'),
        (WHO, "?x WHERE { e:club r:member ?x . ?x r:lives_in e:town3 }"),
        (WHO, "?x WHERE { e:club r:member ?x FILTER NOT EXISTS { ?x r:lives_in e:town3 } }"),
        (WHO, "(COUNT(?x) AS ?n) WHERE { e:club r:member ?x }"),
        (HOW_MANY, "DISTINCT ?n WHERE { e:club r:member ?m BIND(7 AS ?n) }"),
        ("What are the names of Club?", "?n WHERE { e:club r:friend ?m OPTIONAL { ?m rdfs:label ?n } }"),
        (AVERAGE, "DISTINCT ?a WHERE { e:club r:member/r:age ?a }"),
    ],
)
async def test_a_query_that_a_model_has_written(kg: Any, stub: Stub, question: str, select: str) -> None:
    query = f"{PREFIX}SELECT {select}"
    ids = [row[0] for row in (await kg.select(query)).rows if row[0]]
    named = await kg.visit_chains([Chain(id) for id in ids if id.id.startswith(club.E)])
    names = [str(end.term.name or end.term.id.rpartition("/")[2]) for visit in named for end in visit.ends]
    stub.say(said("SELECT"), said(query), said(", ".join([*names, *(str(id) for id in ids)])))
    record = await kgqa.aask(question, topics=["Club"], kg=kg, model=chat(stub), method="sparql_qa")
    await check(record, kg)


def where(attribute: str, operator: str, value: str) -> dict[str, Any]:
    stated = {"attribute": [attribute] if attribute else [], "operator": operator, "value": value}
    return {**MEMBER, "conditions": [stated]}


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("Who is the president of Club?", where("", "=", "<http://t/e/m3>")),
        ("Who is the president of Club?", where("", "!=", "<http://t/e/m3>")),
        ("Which members of Club are ours?", where("lives_in", "=", "<http://t/e/town2>")),
        ("Which members of Club are ours?", where("lives_in", "not exists", "<http://t/e/town2>")),
        ("Which members of Club are ours?", where("age", ">", "50")),
        ("Who is the president of Club?", {**MEMBER, "extreme": {"attribute": ["age"], "largest": True}}),
        ("Who are the ones of Club?", {**MEMBER, "meeting": [{"topic": "Guild", "hops": ["admits"]}]}),
    ],
)
async def test_what_an_agent_picks_by_conditions(
    kg: Any, stub: Stub, question: str, arguments: dict[str, Any]
) -> None:
    tool = next(each for each in make_tools(kg) if each.name == "filter_chain")
    found = await tool.ainvoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})
    stub.say(called((tool.name, arguments)), answered(*((end.id, str(end)) for end in found.artifact.ends)))
    record = await kgqa.aask(question, topics=["Club"], kg=kg, model=chat(stub), method="agent")
    await check(record, kg, is_seen="extreme" not in arguments)


async def test_what_an_agent_remembers_to_set_out_from(kg: Any, stub: Stub) -> None:
    river = ("follow_relation", {"entities": ["Hermit"], "relation": "river"})
    stub.say(called(river), answered(("http://t/e/danube", "Danube")))
    record = await kgqa.aask("Where is the famous one?", kg=kg, model=chat(stub), method="agent")
    await check(record, kg, is_seen=False)


@pytest.mark.parametrize(
    ("question", "topics", "verdict"),
    [
        ("Is Guild not seated in Town 1?", ["Guild", "Town 1"], "yes"),
        ("Isn't the first seat of Guild Town 1?", ["Guild", "Town 1"], "yes"),
        ("Is Guild the last to be seated in Town 1?", ["Guild", "Town 1"], "yes"),
        ("Was Guild seated in Town 1 in 1990?", ["Guild", "Town 1"], "yes"),
        ("Is Guild older than Town 1?", ["Guild", "Town 1"], "yes"),
        ("Do Town 1 and Town 3 lie in the same land?", ["Town 1", "Town 3"], "no"),
    ],
)
async def test_a_yes_or_no_that_asks_for_more_than_a_fact(
    kg: Any, question: str, topics: list[str], verdict: str
) -> None:
    def line(prompt: Any) -> Any:
        drawn = enumerate(map(str, prompt.offered), 1)
        telling = [at for at, each in drawn if "-seat-" in each or "-lies_in-" in each]
        return {"verdict": verdict, "favour" if verdict == "yes" else "against": telling}

    record = await kgqa.aask(question, topics=topics, kg=kg, model=ScriptedModel(line), method="cor")
    await check(record, kg)


@pytest.mark.parametrize("method", ["cor", "cog", "pog", "pog_egp"])
async def test_a_time_out_of_what_was_said_to_be_the_answer_as_well(kg: Any, method: str) -> None:
    """It is asked again what the chain is that was followed."""
    both, picked = choose("motto", "member"), pick("motto", "member")
    model = playing(
        prune_relations=lambda prompt: both(prompt) | {"then": "stop"},
        pick_relations=lambda prompt: picked(prompt) | {"then": "stop"},
        verify_chain={"decision": "stop"},
        check_sufficiency={"decision": "stop"},
        assess_found={"decision": "stop", "groups": [1]},
    )
    slow: Any = FailingVisits(
        kg, "ends", KGTimeout("slow"), lambda chain: any(hop.words == "member" for hop in chain.hops)
    )
    await kgqa.aask("What has Club?", topics=["Club"], kg=slow, model=model, method=method)
    judged = {"verify_chain", "check_sufficiency", "assess_found"}
    assert judged & {prompt.name for prompt in model.prompts}


async def test_a_time_out_of_one_of_the_ways_to_a_topic(turtle: Any) -> None:
    """Which way the question means is not left to what was in time."""
    graph = open_graph(
        [
            turtle(
                'e:ada rdfs:label "Ada" ; r:child e:ben, e:cleo . e:ulm rdfs:label "Ulm" .'
                'e:ben rdfs:label "Ben" ; r:born_in e:ulm . e:cleo rdfs:label "Cleo" ; r:lives_in e:ulm .'
            )
        ]
    )

    class Slow(Flaky):
        def __getattr__(self, name: str) -> Any:
            real = getattr(self._graph, name)

            async def prove(query: Any) -> Any:
                if any(hop.words == "born_in" for each in query.conditions for hop in each.attribute):
                    raise KGTimeout("slow")
                return await real(query)

            return prove if name == "prove" else real

    model = playing(
        prune_relations=choose("child"), verify_chain={"decision": "stop"}, connect_topic={"relation": 0}
    )
    slow: Any = Slow(graph, "")
    record = await kgqa.aask("Who?", topics=["Ada", "Ulm"], kg=slow, model=model, method="cor")
    assert "connect_topic" in [prompt.name for prompt in model.prompts]
    assert record["outcome"] != "grounded"


async def test_a_budget_that_ends_a_plan_leaves_what_it_predicts_a_guess(kg: Any) -> None:
    steps = plan("Guild seat", "seat lies_in", answers=["Town 1"])
    model = playing(
        plan_steps=steps,
        select_relations=take("seat", "lies_in"),
        verify_step={"revise": False, "observation": []},
    )
    asked: Any = {"topics": ["Guild"], "kg": kg, "model": model, "method": "vog", "conclude": False}
    whole = await kgqa.aask("In which land is Guild?", **asked)
    for limit in ("kg_queries", "llm_calls"):
        for most in range(1, whole["usage"][limit]):  # type: ignore[literal-required]
            record = await kgqa.aask("In which land is Guild?", **asked, budget={limit: most})
            steps_done = [entry["node"] for entry in record["trace"]].count("expand")
            assert steps_done > 1 or record["outcome"] != "grounded", (limit, most)
