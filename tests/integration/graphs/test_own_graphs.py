"""Graphs as people have them, asked offline and without topics; and how their nodes are called."""

import gzip
import hashlib
import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest

import kgqa
from kgqa.kg.graph import KnowledgeGraph
from kgqa.runtime.record import Record
from kgqa.tests.support.cases import needs_data, tried
from kgqa.tests.support.own_graphs import (
    GRAPHS,
    PREFIXES,
    find_gold,
    missing,
    open_store,
    query_tables,
    read_questions,
    score,
)
from kgqa.tests.support.perfect import DATA

MIN_RIGHT = {"music": 11, "tbbt": 11, "recipes": 11, "pizza": 8, "northwind": 12, "plana": 11, "tadirah": 11}
"""Of the 12 questions about a graph, those that have to be right."""

CONCURRENCY = 4
MAX_NODES = 200  # of a graph, whose names are looked at

NAMING = {
    "music": "?node m:name ?name",
    "tbbt": """
        ?node schema:givenName ?given OPTIONAL { ?node schema:familyName ?family }
        BIND(COALESCE(CONCAT(?given, " ", ?family), ?given) AS ?name)""",
    "recipes": "?node a food:Recipe ; skos:definition ?name",
    "pizza": "?node rdfs:label ?name",
    "plana": "?node rdfs:label ?name",
    "tadirah": '?node skos:prefLabel ?name FILTER(LANG(?name) = "en")',
}
"""What names the nodes of a graph of RDF: in English, where they have names in several languages."""

COLUMNS = """
    SELECT companyName FROM customers UNION SELECT companyName FROM suppliers
    UNION SELECT companyName FROM shippers UNION SELECT productName FROM products
    UNION SELECT categoryName FROM categories UNION SELECT firstName || ' ' || lastName FROM employees"""
"""What names the rows of the tables."""


def tidy(name: str | None) -> str:
    """Return a name with single spaces, as it may be shown."""
    return " ".join((name or "").split())


def each_graph(graphs: Iterable[str] = GRAPHS) -> list[Any]:
    """Return the graphs to try, and those that are skipped, as they are not here."""
    absent = [graph for graph in graphs if missing(graph)]
    return [
        *(graph for graph in graphs if graph not in absent),
        *tried([(graph,) for graph in absent], missing),
    ]


@cache
def open_own(graph: str) -> KnowledgeGraph:
    return kgqa.open_graph([GRAPHS[graph]])


@cache
def ask_all(graph: str) -> list[tuple[Record, float]]:
    """Ask the questions about a graph, and return their records with the F1 of each."""
    asked = read_questions(graph)
    records = kgqa.batch(
        [each["question"] for each in asked], kg=open_own(graph), model="offline", concurrency=CONCURRENCY
    )
    golds = [find_gold(each, graph) for each in asked]
    return [(record, score(record["answers"], gold)) for record, gold in zip(records, golds, strict=True)]


@pytest.mark.parametrize("graph", each_graph())
def test_every_question_has_gold(graph: str) -> None:
    asked = read_questions(graph)
    assert [each["kind"] for each in asked] == ["value"] * 4 + ["class"] * 4 + ["entity"] * 4
    assert all(find_gold(each, graph) for each in asked)


@needs_data
def test_no_question_is_of_a_test_split() -> None:
    hashes = set(gzip.decompress((DATA / "test-question-hashes.txt.gz").read_bytes()).decode().split())
    for graph in GRAPHS:
        for each in read_questions(graph):
            text = unicodedata.normalize("NFKC", each["question"]).casefold()
            plain = re.sub("[^a-z0-9]+", " ", text).strip()
            assert hashlib.sha256(plain.encode()).hexdigest() not in hashes, each["id"]


@pytest.mark.parametrize("graph", each_graph())
def test_questions_are_answered_offline(graph: str) -> None:
    right = [record["question"] for record, f1 in ask_all(graph) if f1 == 1]
    assert len(right) >= MIN_RIGHT[graph], right


@pytest.mark.parametrize("graph", each_graph())
def test_what_is_grounded_is_right(graph: str) -> None:
    wrong = [
        record["question"] for record, f1 in ask_all(graph) if record["outcome"] == "grounded" and f1 < 1
    ]
    assert not wrong


@pytest.mark.parametrize("graph", each_graph(NAMING))
async def test_a_node_is_shown_by_the_text_that_names_it(graph: str) -> None:
    texts: dict[str, set[str]] = {}
    rows: Any = open_store(graph).query(
        f"{PREFIXES} SELECT ?node ?name {{ {NAMING[graph]} FILTER(ISIRI(?node)) }}"
    )
    for node, name in rows:
        texts.setdefault(node.value, set()).add(tidy(name.value))
    nodes = sorted(texts)[:: -(-len(texts) // MAX_NODES)]
    shown = await open_own(graph).names(nodes)
    assert {node: shown[node] for node in nodes if tidy(shown[node]) not in texts[node]} == {}


@pytest.mark.parametrize("graph", each_graph(["northwind"]))
async def test_a_row_is_found_by_its_name_and_shown_by_it(graph: str) -> None:
    names = sorted(query_tables(graph, COLUMNS))
    for name in names[:: -(-len(names) // MAX_NODES)]:
        found = await open_own(graph).find_entities(name)
        assert tidy(name) in {tidy(match.entity.name) for match in found}
