"""Every method that asks a graph leaves the same record of tables as of RDF with the same facts."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.records import topic_refs
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.opening import open_graph
from kgqa.kg.store.loading import QuadReader
from kgqa.kg.terms import local_name
from kgqa.tests.integration.graphs.test_on_endpoints import ASKING, differing, needed, quietly, told
from kgqa.tests.support import films
from kgqa.tests.support.cases import needs_data
from kgqa.tests.support.perfect import DATA, PerfectModel, questions

FORMS = {
    **{form: (films.triples_as_rdf, write, films.QUESTIONS) for form, write in films.TRIPLE_FORMS.items()},
    "mapped": (films.tables_as_rdf, films.mapped_tables, films.ABOUT_ROWS),
}


@pytest.fixture(params=FORMS)
def form(
    request: pytest.FixtureRequest, tmp_path: Path
) -> tuple[KnowledgeGraph, KnowledgeGraph, Sequence[Question]]:
    """The graph as RDF and as tables, and the questions."""
    write_rdf, write_tables, asked = FORMS[request.param]
    return open_graph([write_rdf(tmp_path)]), open_graph([write_tables(tmp_path)]), asked


@pytest.mark.parametrize("form_name", FORMS)
def test_the_facts_are_the_same(form_name: str, tmp_path: Path) -> None:
    write_rdf, write_tables, _ = FORMS[form_name]
    facts = [set(QuadReader([write(tmp_path)]).quads()) for write in (write_rdf, write_tables)]
    assert facts[0] == facts[1]


@quietly
@pytest.mark.parametrize("method", ASKING)
async def test_a_simulated_model_leaves_the_same_records(form, method: str) -> None:
    needed(method)
    rdf, tables, asked = form
    assert await differing(asked, method, rdf, tables) == []


@pytest.mark.parametrize("method", ["compose", "cor", "pog"])
async def test_a_perfect_model_is_right_on_tables(form, method: str) -> None:
    _, tables, asked = form
    for question in asked:
        model = SimulatedModel(question, tables, ErrorRates())
        record = await kgqa.aask(
            question.text, kg=tables, topics=topic_refs(question), method=method, model=model
        )
        assert {each["id"] for each in record["answers"]} == {gold.id for gold in question.gold}
        assert record["outcome"] == "grounded"


@pytest.mark.parametrize("method", ["compose", "cor", "cog", "vog", "pog", "pog_egp", "tog"])
async def test_the_offline_model_leaves_the_same_records(form, method: str) -> None:
    rdf, tables, asked = form
    for question in asked:
        here, there = [
            told(await kgqa.aask(question.text, kg=graph, method=method)) for graph in (rdf, tables)
        ]
        assert here == there
        assert here["answers"]


@needs_data
async def test_metaqa_as_a_table_of_names_has_the_same_answers(tmp_path: Path) -> None:
    """134,741 triples: some questions of each number of hops, asked of RDF and of the table."""
    file = DATA / "metaqa" / "metaqa.nt.gz"
    rdf = open_graph([file])
    table = open_graph([_as_names(file, tmp_path / "metaqa.csv")])
    model = PerfectModel()
    asked = [each for hops in "123" for each in questions(f"metaqa/metaqa-{hops}hop-test-sample")[::120]]
    assert len(asked) > 5
    for question in asked:
        names = []
        for graph, about in ((rdf, question), (table, _by_name(question))):
            model.question = about
            topics = about["topic_entities"]
            record = await kgqa.aask(about["question"], kg=graph, topics=topics, method="cor", model=model)
            assert record["outcome"] == "grounded"
            names.append({each["name"] for each in record["answers"]})
        assert names[0] == names[1] == {each["name"] for each in question["answers"]}


def _as_names(file: Path, path: Path) -> Path:
    triples = [quad.triple for quad in QuadReader([file]).quads()]
    names = {t.subject: t.object.value for t in triples if t.predicate.value.endswith("#label")}
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        for t in triples:
            if t.object in names:
                writer.writerow([names[t.subject], local_name(t.predicate.value), names[t.object]])
    return path


def _by_name(question: dict[str, Any]) -> dict[str, Any]:
    """Call topics and answers as a table of names does: films are called 1941, so years are entities."""
    changed = {**question}
    for key in ("topic_entities", "answers"):
        changed[key] = [{**each, "id": films.node(each["name"])} for each in question[key]]
    return changed
