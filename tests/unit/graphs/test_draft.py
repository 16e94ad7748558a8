"""Draft: a query is written, checked, run, and written anew where it is wrong."""

from typing import Any

import pytest

import kgqa
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.errors import ModelUnavailable
from kgqa.models.scripted import Line, ScriptedModel
from kgqa.tests.support.doubles import KEYS, shown
from kgqa.tests.support.workshop import E, open_workshop

R = "http://t/r/"


@pytest.fixture(scope="module")
def workshop() -> SparqlGraph:
    return open_workshop()


def drafted(sparql: str, **said: Any) -> dict[str, Any]:
    return {"reading": "as it says", "sparql": sparql, **said}


async def ask(question: str, kg: Any, *replies: Line, **options: Any) -> tuple[kgqa.Record, ScriptedModel]:
    model = ScriptedModel(replies)
    record = await kgqa.aask(question, kg=kg, model=model, method="draft", allow_parametric=False, **options)
    assert record.keys() == KEYS
    return record, model


def nodes(record: kgqa.Record) -> list[str]:
    return [entry["node"] for entry in record["trace"]]


async def test_rows_of_a_right_query_are_grounded(workshop: SparqlGraph) -> None:
    record, model = await ask(
        "Which makers are in Ulm?", workshop, drafted("SELECT ?m { ?m a r:Maker ; r:city 'Ulm' }")
    )
    print(model.prompts[0].case())
    print(record)
