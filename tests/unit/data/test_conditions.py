"""The questions with conditions: each answer query gives its answers, on the graph and evaluated plainly."""

import gzip
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from pyoxigraph import Literal as Value, NamedNode, RdfFormat, parse

from kgqa.data import SAMPLE_GRAPH
from kgqa.evaluation.datasets import load
from kgqa.evaluation.question import Question
from kgqa.kg.dialects import RDF
from kgqa.kg.opening import open_graph
from kgqa.kg.proof.compilation import write_query
from kgqa.kg.proof.query import AnswerQuery, Function, Operator
from kgqa.kg.terms import Entity, Hop, Literal, Term
from kgqa.tests.support import proofs
from kgqa.tests.support.cases import NO_DATA
from kgqa.tests.support.perfect import DATA
from kgqa.tests.unit.prompts.test_instructions import HASHES, fingerprint

WORLDCUP = DATA / "worldcup" / "wc2014.nt.gz"
WORLDCUP_QUESTIONS = Path(__file__).with_name("worldcup_conditions.jsonl")
KINDS = {"number", "date", "extreme", "type", "not", "text", "count", "between"}

each_set = pytest.mark.parametrize(
    ("source", "graph"),
    [
        pytest.param("conditions", SAMPLE_GRAPH, id="sample"),
        pytest.param(
            WORLDCUP_QUESTIONS,
            WORLDCUP,
            id="worldcup",
            marks=pytest.mark.skipif(not WORLDCUP.is_file(), reason=NO_DATA),
        ),
    ],
)


@cache
def asked(source: str | Path) -> tuple[Question, ...]:
    return load(source).questions


def query_of(question: Question) -> AnswerQuery:
    assert question.query
    return question.query


def hops_of(query: AnswerQuery) -> Iterator[Hop]:
    for chain in (chain for branch in query.branches for chain in branch.chains):
        yield from chain.hops
    yield from (hop for condition in query.conditions for hop in condition.attribute)
    yield from query.aggregate.attribute if query.aggregate else ()


def read(graph: Path, relations: Iterable[str]) -> proofs.Triples:
    """Read the facts of some relations."""
    wanted = re.compile(r"<[^>]*> <(?:" + "|".join(map(re.escape, relations)) + ")>")
    lines = gzip.decompress(graph.read_bytes()).decode().splitlines(keepends=True)
    text = "".join(line for line in lines if wanted.match(line))
    found = parse(text, RdfFormat.N_TRIPLES)
    return frozenset((term(t.subject), t.predicate.value, term(t.object)) for t in found)


def term(node: NamedNode | Value) -> Term:
    if isinstance(node, NamedNode):
        return Entity(node.value)
    if node.language:
        return Literal(node.value, language=node.language)
    return Literal(node.value, node.datatype.value)


def ids(found: Iterable[Term]) -> set[str]:
    return {each.id for each in found}


@each_set
async def test_the_graph_and_a_plain_evaluation_give_the_gold_answers(
    source: str | Path, graph: Path
) -> None:
    queries = [query_of(question) for question in asked(source)]
    triples = read(graph, {f"{RDF}type", *(hop.relation for query in queries for hop in hops_of(query))})
    opened = open_graph([graph])
    for question, query in zip(asked(source), queries, strict=True):
        gold = {answer.id for answer in question.gold}
        assert ids((await opened.prove(query)).answers) == gold, question.text
        plain = proofs.answers(query, triples)
        assert ({str(plain)} if isinstance(plain, int) else ids(plain)) == gold, question.text


@each_set
def test_gold_paths_and_words_are_those_of_the_query(source: str | Path, graph: Path) -> None:
    del graph
    for question in asked(source):
        query = query_of(question)
        chains = [branch.chain for branch in query.branches]
        assert [chain.topic.id for chain in chains] == [topic.id for topic in question.topics]
        names = [tuple("^" * (not hop.forward) + hop.words for hop in chain.hops) for chain in chains]
        assert [(path.topic, path.relations) for path in question.paths] == [
            (chain.topic.id, relations) for chain, relations in zip(chains, names, strict=True)
        ]
        assert query.conditions or query.aggregate
        assert all(condition.words in question.text for condition in query.conditions)


def test_the_sparql_of_the_sample_is_that_of_the_query() -> None:
    for question in asked("conditions"):
        assert question.sparql == write_query(query_of(question), (f"{RDF}type",))


def test_the_readme_states_the_true_numbers() -> None:
    readme = SAMPLE_GRAPH.with_name("README.md").read_text(encoding="utf-8")
    kinds = Counter(question.kind for question in asked("conditions"))
    assert f"| questions with conditions | {kinds.total()} |" in readme
    assert all(f"| {kind} | {number} |" in readme for kind, number in kinds.items())


def test_there_are_150_of_every_kind_and_with_every_operator() -> None:
    questions = [*asked("conditions"), *asked(WORLDCUP_QUESTIONS)]
    assert len({question.text for question in questions}) == 150
    kinds = Counter(question.kind for question in questions)
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 10
    queries = [query_of(question) for question in questions]
    assert {condition.operator for query in queries for condition in query.conditions} == {
        *get_args(Operator)
    }
    functions = {query.aggregate.function for query in queries if query.aggregate}
    assert functions == {*get_args(Function)}


def test_none_is_a_test_question() -> None:
    if not HASHES.is_file():
        pytest.skip(NO_DATA)
    hashes = frozenset(gzip.decompress(HASHES.read_bytes()).decode().split())
    questions = (*asked("conditions"), *asked(WORLDCUP_QUESTIONS))
    assert not [question.text for question in questions if fingerprint(question.text) in hashes]
