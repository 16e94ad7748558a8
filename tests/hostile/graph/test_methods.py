"""Whatever a graph holds, every method ends in a complete record of answers that are in the graph."""

import json
import unicodedata
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, get_args

import pytest

import kgqa
from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.grounding import check_grounding
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.graphs import METHODS
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.runtime.record import FROM_GRAPH, Outcome
from kgqa.tests.conftest import MEMO
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.graph.graph import NAMES, ODD, ORDERS, VALUES, E, crowd, hostile_graph
from kgqa.tests.hostile.graph.heard import Heard, Obedient
from kgqa.tools.text import MAX_TEXT_CHARS

PROMPT = 265_000
"""Characters that the largest of all prompts may have (`tests/unit/prompts/test_quoting.py`)."""

CROWD = 400
"""Neighbours, relations, bearers of one name."""

SEARCHING = ("compose", "cor", "cog", "vog", "pog", "pog_egp", "tog")

UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}

WAYS = (("knows",), ("knows", "next"), ("value",), ("wed", "to", "at"), ("odd", "back"), ("^back",))
"""To hostile names, onward from them, to literals, past nodes without names, to odd IRIs, by self-loops."""

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("find_entities", {"name": ORDERS[1]}),
    ("describe_entity", {"entity": "Ada", "limit": 1000}),
    ("list_relations", {"entities": [f"<{E}ada>"] + [f"<{iri}>" for iri in ODD]}),
    ("extend_chain", {"topic": "Ada", "hops": []}),
    ("follow_relation", {"entities": ["Ada"], "relation": "odd"}),
    ("follow_chain", {"topic": "Ada", "hops": ["knows", "next"]}),
    ("follow_chain", {"topic": "Ada", "hops": ["value"]}),
)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> SparqlGraph:
    path = tmp_path_factory.mktemp("hostile") / "graph.nt"
    path.write_bytes(hostile_graph())
    return open_graph([path], encode=MEMO.encode)


@pytest.fixture(scope="module")
def kg(graph: SparqlGraph) -> SparqlGraph:
    return graph


def question(way: tuple[str, ...]) -> Question:
    gold = ((EntityRef(f"{E}n1", ORDERS[1]),),)
    return Question(
        "q", "What does Ada know?", (EntityRef(f"{E}ada", "Ada"),), gold, (GoldPath(f"{E}ada", way),)
    )


def models(graph: SparqlGraph) -> Iterator[tuple[Any, tuple[str, ...]]]:
    astray = ErrorRates(accuracy=0.5, recall=1.0, judge=0.5, entity=0.4, format=0.1)
    for way in WAYS:
        yield SimulatedModel(question(way), graph, ErrorRates(recall=1.0)), way
        yield SimulatedModel(question(way), graph, astray), way
    yield Obedient(*CALLS), WAYS[0]


@pytest.mark.parametrize("method", [each for each in METHODS if each != "draft"])  # which nobody simulates
async def test_every_question_ends_in_a_record_of_the_graph(
    graph: SparqlGraph, kg: str, method: str, tried: Tried
) -> None:
    if method == "sparql_qa" and find_spec("langchain_community") is None:
        pytest.skip("needs the extra peers")
    asked, results = 0, []
    for model, way in models(graph):
        heard = Heard(model)
        for topics in (["Ada"], [NAMES[1], f"{E}ada"], []) if way == WAYS[0] else (["Ada"],):
            record = await kgqa.aask(question(way).text, topics=topics, kg=kg, model=heard, method=method)
            results.append(complete(record, f"{method} {asked}"))
            asked += 1
        assert_prompts_are_safe(heard)
    grounded = [result for result in results if result.outcome == "grounded"]
    assert {None, True} >= set((await check_grounding(grounded, graph)).values())
    assert method in ("io", "cot", "sc") or any(result.outcome in FROM_GRAPH for result in results)
    tried(questions=asked, records=len(results), inputs=len(NAMES) + len(VALUES) + len(ODD))


@pytest.mark.parametrize("method", SEARCHING)
async def test_without_a_language_model_it_is_no_different(kg: str, method: str, tried: Tried) -> None:
    record = await kgqa.aask("What does Ada know?", topics=["Ada"], kg=kg, model="offline", method=method)
    complete(record, method)
    assert record["outcome"] in {*FROM_GRAPH, "grounded_unverified"}  # others are called Ada, too
    tried(questions=1, records=1)


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A graph of more neighbours, relations and bearers of one name than a page holds."""
    path = tmp_path_factory.mktemp("crowd") / "graph.nt"
    path.write_bytes(crowd(CROWD))
    return open_graph([path], rows=CROWD // 2)


@pytest.mark.parametrize("method", METHODS)
async def test_crowds_do_not_lengthen_prompts(crowded: str, method: str, tried: Tried) -> None:
    if method == "sparql_qa" and find_spec("langchain_community") is None:
        pytest.skip("needs the extra peers")
    for topic in ("Ada", "Same"):
        heard = Heard(Obedient(*CALLS))
        question = f"Whom does {topic} know?"
        record = await kgqa.aask(question, topics=[topic], kg=crowded, model=heard, method=method)
        complete(record, method)
        assert_prompts_are_safe(heard)
    tried(questions=2, records=2, inputs=3)


def complete(record: kgqa.Record, id: str) -> Result:
    """Hold a record against its schema, and what it says against itself."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    assert json.loads(text.encode()) == record
    assert record.keys() == kgqa.Record.__annotations__.keys()
    assert record["outcome"] in get_args(Outcome) and "unavailable" not in record["outcome"], record["trace"]
    from_memory = record["outcome"] == "parametric"
    assert from_memory or all(answer["id"] is not None or not answer["name"] for answer in record["answers"])
    assert from_memory or "X" not in {answer["name"] for answer in record["answers"]}
    named = [answer for answer in record["answers"] if answer["name"] != answer["id"]]
    assert all(len(answer["name"] or "") <= 1_000 for answer in named)
    assert len(json.dumps(record["trace"])) < 100_000
    answers = tuple(EntityRef(answer["id"], answer["name"]) for answer in record["answers"])
    return Result(id, record["question"], answers, record["outcome"], record=record)


def assert_prompts_are_safe(heard: Heard) -> None:
    """No text of the graph makes a prompt long, adds a line to it, or hides in it."""
    for name, text in heard.prompts:
        assert len(text) <= PROMPT, name
    for kind, text in heard.messages:
        assert len(text) <= MAX_TEXT_CHARS + 10_000, kind
    for name, text in (*heard.prompts, *heard.messages):
        unseen = {char for char in text if unicodedata.category(char) in UNSEEN} - {"\n"}
        assert not unseen, (name, unseen)
        lines = {line.strip() for line in text.splitlines()}
        orders = {line.strip() for order in ORDERS for line in order.splitlines()} - {""}
        assert orders.isdisjoint(lines), (name, orders & lines)
