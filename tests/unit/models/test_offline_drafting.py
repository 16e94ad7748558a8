"""The offline model drafts: each slot of a question, each computation, and what it declines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kgqa

LIBRARY = """
@prefix : <http://x/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:ulm a :Publisher ; rdfs:label "Ulmer" ; :city "Ulm" .
:rhein a :Publisher ; rdfs:label "Rhein" ; :city "Bonn" .
:main a :Publisher ; rdfs:label "Main" ; :city "Ulm" .
:ada a :Author ; rdfs:label "Ada" ; :born "1970-01-02"^^xsd:date .
:ben a :Author ; rdfs:label "Ben" ; :born "1980-05-06"^^xsd:date ; :email "ben@x.org" .
:b1 a :Book ; rdfs:label "Alpha" ; :writer :ada , :ben ; :publisher :ulm ; :pages 100 ; :cost :p1 ;
    :printed true ; :issued "1999-03-01"^^xsd:date .
:b2 a :Book ; rdfs:label "Beta" ; :writer :ada ; :publisher :ulm ; :pages 300 ; :cost :p2 ;
    :printed false ; :issued "2005-03-01"^^xsd:date .
:b3 a :Book ; rdfs:label "Gamma" ; :writer :ada ; :publisher :rhein ; :pages 200 ; :cost :p3 ;
    :printed true ; :issued "2010-03-01"^^xsd:date .
:b4 a :Book ; rdfs:label "Delta" ; :writer :ben ; :publisher :main ; :pages 40 ; :cost :p4 ;
    :printed true ; :issued "2015-03-01"^^xsd:date .
:p1 a :Cost ; :amount 9 ; :unit "EUR" . :p2 a :Cost ; :amount 30 ; :unit "EUR" .
:p3 a :Cost ; :amount 5 ; :unit "EUR" . :p4 a :Cost ; :amount 12 ; :unit "EUR" .
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path: Path = tmp_path_factory.mktemp("library") / "library.ttl"
    path.write_text(LIBRARY, "utf-8")
    yield str(path)


async def ask(question: str, library: str) -> kgqa.Record:
    return await kgqa.aask(question, kg=library, model="offline", method="draft", allow_parametric=False)


def rows(record: kgqa.Record) -> list[tuple[Any, ...]]:
    table = record["table"]
    if table is None:
        return [(answer["name"],) for answer in record["answers"]]
    return [tuple(cell and cell["name"] for cell in row) for row in table["rows"]]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # members, by a value, an entity, a bound
        ("List all publishers.", [("Main",), ("Rhein",), ("Ulmer",)]),
        ("Which publishers are in Ulm?", [("Main",), ("Ulmer",)]),
        ("Which books were written by Ben?", [("Alpha",), ("Delta",)]),
        ("Which books have more than 150 pages?", [("Beta",), ("Gamma",)]),
        ("Which books were issued before 2006?", [("Alpha",), ("Beta",)]),
        ("Which books cost more than 10?", [("Beta",), ("Delta",)]),
        ("Which books are printed?", [("Alpha",), ("Delta",), ("Gamma",)]),
        # what is denied: a value, a join, an attribute
        ("Which publishers are not in Ulm?", [("Rhein",)]),
        ("Which books were not written by Ben?", [("Beta",), ("Gamma",)]),
        ("Which books not written by Ben have more than 200 pages?", [("Beta",)]),
        ("Which authors have no email?", [("Ada",)]),
        ("How many books are not from publishers in Ulm?", [("1",)]),
        # what is one join away
        ("Which books are from publishers in Ulm?", [("Alpha",), ("Beta",), ("Delta",)]),
        # counts
        ("How many books are there?", [("4",)]),
        ("How many books did Ada write?", [("3",)]),
        # one number of all
        ("What is the average number of pages of books?", [("160",)]),
        ("What is the total of pages of books by Ben?", [("140",)]),
        ("What is the maximum of pages?", [("300",)]),
        # extremes
        ("Which book has the most pages?", [("Beta",)]),
        ("What is the cheapest book?", [("Gamma",)]),
        ("Which 2 books have the most pages?", [("Beta",), ("Gamma",)]),
        ("What is the second most expensive book?", [("Delta",)]),
        ("Which publisher has published the most books?", [("Ulmer",)]),
        ("Which city has the most publishers?", [("Ulm",)]),
        # groups
        ("How many books does each author have?", [("Ada", "3"), ("Ben", "2")]),
        ("What is the average of pages per publisher?", [("Main", "40"), ("Rhein", "200"), ("Ulmer", "200")]),
        ("Which authors have written more than two books?", [("Ada",)]),
        # several columns
        ("List the publishers with their city", [("Main", "Ulm"), ("Rhein", "Bonn"), ("Ulmer", "Ulm")]),
        ("List the authors with their email", [("Ada", None), ("Ben", "ben@x.org")]),
        (
            "List all books with their cost",
            [("Alpha", "9"), ("Beta", "30"), ("Delta", "12"), ("Gamma", "5")],
        ),
    ],
)
async def test_what_is_computed_is_drafted(
    question: str, expected: list[tuple[str | None, ...]], library: str
) -> None:
    record = await ask(question, library)
    assert (sorted(rows(record), key=str), record["outcome"]) == (expected, "grounded"), record["query"]


async def test_things_between_which_or_stands_are_one_condition(library: str) -> None:
    record = await ask("Which books are from Main or Rhein or Ulmer?", library)
    assert sorted(rows(record)) == [("Alpha",), ("Beta",), ("Delta",), ("Gamma",)]


@pytest.mark.parametrize(
    "question",
    [
        "Which book has the highest weight?",  # no attribute is like it
        "Which is the most?",
        "Which planets orbit the sun and have rings of ice?",
        "Which books are published in Narnia?",  # the graph has no such thing, and nothing else is named
        "What is the price of the DVD?",
        # whether the second is denied, too, and what is ranked, is not sure
        "Which books are not by Ada and Ben?",
        "Which publishers are not in Ulm and Bonn?",
        "Which publishers without books by Ben have the most books?",
    ],
)
async def test_what_nothing_says_is_declined(question: str, library: str) -> None:
    record = await ask(question, library)
    assert (record["answers"], record["outcome"], record["query"]) == ([], "none", None)


@pytest.mark.parametrize(
    ("question", "unsaid"),
    [
        ("Which books do not have more than 150 pages?", "not"),
        ("Which purple books were written by Ben?", "purple"),
        ("For each publisher, which book is the most expensive?", "book"),
        ("Which 3 colour book has the most pages?", "3"),
        ("Which is the longest book of the cheapest?", "cheapest"),
    ],
)
async def test_a_word_that_is_left_unsaid_is_told_and_nothing_is_grounded(
    question: str, unsaid: str, library: str
) -> None:
    record = await ask(question, library)
    assert record["outcome"] != "grounded"
    assert any(unsaid in each["words"] for each in record["conditions"] if each["by"] is None) or not rows(
        record
    )


async def test_the_graph_is_told_by_the_prompt_and_asked_nothing(library: str) -> None:
    record = await ask("How many books does each author have?", library)
    assert (record["usage"]["model_queries"], record["usage"]["llm_calls"]) == (0, 0)
    assert record["table"] is not None
    assert record["table"]["columns"] == ["Author", "count of Book"]
