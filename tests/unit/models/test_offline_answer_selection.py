"""What the offline model makes of superlatives, comparisons and several topics."""

import gzip
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from kgqa.data import SAMPLE_GRAPH, SAMPLE_QUESTIONS
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.meter import metered
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql.intent import QuestionIntent, read_intent
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term
from kgqa.models.offline.answer_selection import select_answers, sort_key
from kgqa.models.offline.question_intent import intent_by_words
from kgqa.retrieval.candidate_chains import CandidateChain
from kgqa.retrieval.lookups import Lookups
from kgqa.tests.conftest import MEMO
from kgqa.tests.support.perfect import gold_paths

X = "http://x/"
XSD = "http://www.w3.org/2001/XMLSchema#"
SAMPLE = "https://kgqa.example/r/"

GRAPH = """
@prefix : <http://x/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:land rdfs:label "Land" ; :river :ilm, :saale, :ulster ; :tenure :t1, :t2, :t3 ; :game :g1, :g2 .
:ilm rdfs:label "Ilm" ; :length_km 128 ; :mean_discharge 5.9 ; :river_code 500 .
:saale rdfs:label "Saale" ; :length_km 413 ; :mean_discharge 117.0 ; :river_code 1 .
:ulster rdfs:label "Ulster" ; :length_km "57.2"^^xsd:decimal ; :mean_discharge 6 ; :river_code 2 .
:ulster :bridge :b1, :b2 .  :ilm :bridge :b3 .
:t1 :holder :ann ; :since "1990-05-01"^^xsd:date .
:t2 :holder :bob ; :since "1990-11-01"^^xsd:date .
:t3 :holder :ann ; :since "2001"^^xsd:gYear .
:ann rdfs:label "Ann" ; :record :r1 .  :bob rdfs:label "Bob" ; :record :r2 .
:r1 :wealth_dollars 3 .  :r2 :wealth_dollars 12 .
:g1 rdfs:label "1999 Cup" .  :g2 rdfs:label "2003 Cup" .
:cup rdfs:label "Cup" .  :bowl rdfs:label "Bowl" .
:w1 :of :cup ; :winner :ann ; :day "1999-07-01"^^xsd:date .
:w2 :of :cup ; :winner :bob ; :day "2003-07-01"^^xsd:date .
:w3 :of :bowl ; :winner :ann ; :day "2003-07-01"^^xsd:date .
:w4 :of :bowl ; :winner :ann ; :day "1999-07-01"^^xsd:date .
"""


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> SparqlGraph:
    path = tmp_path_factory.mktemp("asking") / "graph.ttl"
    path.write_text(GRAPH, "utf-8")
    return open_graph([path])


@pytest.fixture(scope="module")
def sample() -> SparqlGraph:
    return open_graph([SAMPLE_GRAPH])


def chain(topic: str, *path: str, space: str = X) -> Chain:
    hops = tuple(Hop(space + name.removeprefix("^"), forward=name[0] != "^") for name in path)
    return Chain(Entity(topic if ":" in topic else X + topic), hops)


async def settled(
    graph: KnowledgeGraph, asked: QuestionIntent, question: str, *chains: Chain
) -> frozenset[Term] | None:
    found = await candidates(graph, *chains)
    selected = await select_answers(asked, found, question, Lookups(graph), MEMO.encode)
    return selected.terms if selected else None


async def candidates(graph: KnowledgeGraph, *chains: Chain) -> dict[Entity, CandidateChain]:
    return {
        each.topic: CandidateChain(each, (await graph.follow_chain(each)).items, False) for each in chains
    }


def ids(terms: Iterable[Term] | None) -> set[str]:
    return {term.id.removeprefix(X) for term in terms or ()}


RIVERS, HOLDERS = chain("land", "river"), chain("land", "tenure", "holder")


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Who is the mayor of Ulm?", QuestionIntent()),
        ("How many rivers are in Thuringia?", QuestionIntent("count")),
        ("Which lake of [ENT] is the deepest?", QuestionIntent("largest")),
        ("Which town of [ENT] has the fewest inhabitants?", QuestionIntent("smallest")),
        ("What is the oldest bridge of [ENT]?", QuestionIntent("smallest")),
        ("Which gas has been known longest?", QuestionIntent("smallest")),
        ("Which isotope of [ENT] lives longest?", QuestionIntent("largest")),
        ("Who was the last king of [ENT]?", QuestionIntent("largest")),
        ("What is the last name of [ENT]?", QuestionIntent()),
        ("Which films are at least as long as [ENT]?", QuestionIntent()),
        ("Which towns have more people than [ENT]?", QuestionIntent()),
        ("What is the second longest river of [ENT]?", QuestionIntent()),
        ("Who directed The Last Waltz?", QuestionIntent()),
        ("Which lies further east, [ENT] or [OTHER]?", QuestionIntent("largest", union=True)),
        (
            "Of the rivers of [ENT] and those of [OTHER], which is the shortest?",
            QuestionIntent("smallest", union=True),
        ),
    ],
)
def test_words_say_what_is_asked(question: str, asked: QuestionIntent) -> None:
    assert intent_by_words(question) == asked


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (Literal("9"), Literal("10.5")),
        (Literal("-3e2"), Literal("0")),
        (Literal("1999", f"{XSD}gYear"), Literal("1999-02-01", f"{XSD}date")),
        (Literal("1999-02"), Literal("1999-02-01")),
        (Literal("1999-02-01Z"), Literal("1999-02-01T10:00:00+01:00")),
        (Literal("-0044-03-15"), Literal("0014-08-19")),
    ],
)
def test_numbers_and_dates_have_a_place_in_one_order(less: Literal, more: Literal) -> None:
    before, after = sort_key(less), sort_key(more)
    assert before is not None
    assert after is not None
    assert before < after


@pytest.mark.parametrize("text", ["", "Ilm", "1-868", "12 km", "nan", "2003 Cup", "\uff19"])
def test_other_text_has_no_place(text: str) -> None:
    assert sort_key(Literal(text)) is None


async def test_where_all_is_asked_of_one_chain_nothing_restricts(graph: SparqlGraph) -> None:
    assert await settled(graph, QuestionIntent(), "Which rivers?", RIVERS) is None
    assert await settled(graph, QuestionIntent("count"), "How many rivers?", RIVERS) is None


async def test_the_relation_that_is_told_decides(graph: SparqlGraph) -> None:
    question = "Which river?"
    assert ids(await settled(graph, QuestionIntent("largest", "length_km"), question, RIVERS)) == {"saale"}
    assert ids(await settled(graph, QuestionIntent("smallest", "length_km"), question, RIVERS)) == {"ulster"}
    assert ids(await settled(graph, QuestionIntent("largest", "river_code"), question, RIVERS)) == {"ilm"}


async def test_values_that_are_nodes_are_counted(graph: SparqlGraph) -> None:
    assert ids(await settled(graph, QuestionIntent("largest", "bridge"), "Which river?", RIVERS)) == {
        "ulster"
    }
    assert ids(await settled(graph, QuestionIntent("largest", "holder", back=1), "Who?", HOLDERS)) == {"ann"}


async def test_a_mediator_s_date_decides_between_its_ends(graph: SparqlGraph) -> None:
    assert ids(await settled(graph, QuestionIntent("largest", "since", back=1), "Who?", HOLDERS)) == {"ann"}
    assert ids(await settled(graph, QuestionIntent("smallest", "since", back=1), "Who?", HOLDERS)) == {"ann"}
    one = QuestionIntent("smallest", "since", back=1)
    held = HOLDERS.upto(1).constrained_to([Entity(f"{X}t2"), Entity(f"{X}t3")]).then(HOLDERS.hops[1])
    assert ids(await settled(graph, one, "Who?", held)) == {"bob"}


async def test_several_relations_lead_to_a_value_beside_the_chain(graph: SparqlGraph) -> None:
    asked = QuestionIntent("largest", "record/wealth_dollars")
    assert ids(await settled(graph, asked, "Who?", HOLDERS)) == {"bob"}


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("Which river of [ENT] is the longest?", {"saale"}),
        ("Which river of [ENT] is the shortest?", {"ulster"}),
        ("Which river of [ENT] carries the least water, by mean discharge?", {"ilm"}),
        ("Which river of [ENT] has the smallest code?", {"saale"}),
    ],
)
async def test_without_a_relation_the_attribute_nearest_in_words_decides(
    graph: SparqlGraph, question: str, best: set[str]
) -> None:
    assert ids(await settled(graph, intent_by_words(question), question, RIVERS)) == best


@pytest.mark.parametrize(
    ("question", "best"),
    [("Who was the latest holder?", {"ann"}), ("Which of the holders is the richest?", {"bob"})],
)
async def test_the_attribute_may_be_a_mediator_s_or_lie_beside_the_chain(
    graph: SparqlGraph, question: str, best: set[str]
) -> None:
    assert ids(await settled(graph, intent_by_words(question), question, HOLDERS)) == best


async def test_a_relation_that_the_graph_lacks_leaves_it_to_the_words(graph: SparqlGraph) -> None:
    question = "Which river of [ENT] is the longest?"
    assert ids(await settled(graph, QuestionIntent("largest", "tonnage"), question, RIVERS)) == {"saale"}


async def test_what_no_attribute_fits_is_not_restricted(graph: SparqlGraph) -> None:
    assert await settled(graph, QuestionIntent("largest"), "Which lies furthest north?", RIVERS) is None


async def test_an_end_that_is_a_value_is_its_own(graph: SparqlGraph) -> None:
    days = chain("cup", "^of", "day")
    assert ids(await settled(graph, QuestionIntent("largest"), "When was the last cup?", days)) == {
        "2003-07-01"
    }


async def test_ends_that_only_name_a_year_are_told_apart_by_it(graph: SparqlGraph) -> None:
    games = chain("land", "game")
    question = "What was the last game of [ENT]?"
    assert ids(await settled(graph, intent_by_words(question), question, games)) == {"g2"}


async def test_several_chains_share_their_answers(graph: SparqlGraph) -> None:
    winners = chain("cup", "^of", "winner"), chain("bowl", "^of", "winner")
    assert ids(await settled(graph, QuestionIntent(), "Who won both?", *winners)) == {"ann"}
    assert await settled(graph, QuestionIntent(union=True), "Who won either?", *winners) is None


async def test_chains_that_go_on_alike_meet_at_the_node_in_common(graph: SparqlGraph) -> None:
    """Ann won the cup once, and both her prizes' days are days of other prizes."""
    days = chain("cup", "^of", "day"), chain("ann", "^winner", "day")
    assert ids(await settled(graph, QuestionIntent(), "When did Ann win the cup?", *days)) == {"1999-07-01"}


async def test_a_comparison_is_between_the_ends_of_all_chains(graph: SparqlGraph) -> None:
    both = chain("w2", "winner"), chain("w1", "winner")
    asked = QuestionIntent("largest", "record/wealth_dollars", union=True)
    assert ids(await settled(graph, asked, "Who is richer?", *both)) == {"bob"}
    assert ids(await settled(graph, QuestionIntent("largest", asked.by), "Who is richer?", *both)) == {"bob"}


async def test_settling_takes_few_queries_and_no_word_of_the_values(graph: SparqlGraph) -> None:
    texts: list[str] = []

    def encode(batch: Any) -> np.ndarray:
        texts.extend(batch)
        return MEMO.encode(batch)

    rivers = await candidates(graph, RIVERS)
    with metered() as meter:
        await select_answers(QuestionIntent("largest"), rivers, "Which is longest?", Lookups(graph), encode)
    assert meter.queries <= 5
    assert not {"128", "413"} & set(texts)


def _questions() -> list[dict[str, Any]]:
    lines = map(json.loads, gzip.decompress(SAMPLE_QUESTIONS.read_bytes()).splitlines())
    wanted = {"superlative", "comparison", "intersection"}
    return [line for line in lines if line["split"] == "train" and line["kind"] in wanted]


@pytest.mark.parametrize("told", [True, False], ids=["by its query", "by its words"])
async def test_the_sample_s_questions_are_settled(sample: SparqlGraph, told: bool) -> None:
    for line in _questions():
        asked = read_intent(line["sparql"]) if told else intent_by_words(line["question"])
        chains = [chain(topic, *path, space=SAMPLE) for topic, path in gold_paths(line).items()]
        answers = await settled(sample, asked, line["question"], *chains)
        assert ids(answers) == {answer["id"] for answer in line["answers"]}, line["question"]
