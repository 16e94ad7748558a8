"""Every method that asks a graph leaves the same record, wherever the graph is."""

import asyncio
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.evaluation.datasets import load
from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.records import topic_refs
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.graphs import METHODS, context_of
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.opening import open_graph
from kgqa.tests.support.cases import NO_DATA, server_missing, tried
from kgqa.tests.support.perfect import DATA
from kgqa.tests.unit.evaluation.simulation import family

pytestmark = pytest.mark.usefixtures("whole_profiles")

FREEBASE = "freebase/freebase_grasp_slice"
SETS = {
    "freebase/webqsp_grasp_slice": FREEBASE,
    "freebase/cwq_grasp_slice": FREEBASE,
    "wikidata/qald10_en_grasp_slice": "wikidata/wikidata_slice",
}
"""Question sets of the data folder, and their graphs."""

FAMILY = (
    family.question("rhine", "mother born_in river"),
    family.question("tim", "mother child"),
    family.question("ulm", "born_in"),
    family.question("60", "mother age"),
)

ASKED = 2
"""Questions of each set of the data folder."""

PATIENCE = 120.0
"""Seconds that a query may take: a search goes another way where one takes too long on a busy machine."""

ACCURACIES = (1.0, 0.7)
"""How often the model is right, of one question after the other."""

Open = Callable[[str, Path], KnowledgeGraph]

STORES = ("virtuoso", "oxigraph_server")
ASKING = [name for name in METHODS if context_of(name).asks_graph]
quietly = pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")


@pytest.fixture(scope="session")
def opened(request: pytest.FixtureRequest) -> Open:
    """Open a file in this process, or as a server has it; each once.

    What a slice of the data folder has is read here: a busy server takes minutes.
    """

    @cache
    def open_it(store: str, path: Path) -> KnowledgeGraph:
        if store == "embedded":
            return open_graph([path], deadline=PATIENCE)
        source = request.getfixturevalue(store)([path])
        with pytest.MonkeyPatch.context() as patch:
            if path.is_relative_to(DATA):
                known = asyncio.run(open_it("embedded", path).profile())
                patch.setattr("kgqa.kg.opening.kept_profile", lambda *_: known)
            return open_graph([source], deadline=PATIENCE)

    return open_it


@pytest.fixture(scope="session")
def family_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefixes = "@prefix e: <http://t/e/> . @prefix r: <http://t/r/> . "
    prefixes += "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    path = tmp_path_factory.mktemp("family") / "family.ttl"
    path.write_text(prefixes + family.FAMILY, encoding="utf-8")
    return path


@cache
def some(name: str) -> Sequence[Question]:
    """Questions of a set with a complete gold path, evenly spread."""
    every = [each for each in load(DATA / f"{name}.jsonl.gz").questions if each.paths]
    return every[:: len(every) // ASKED][:ASKED]


def told(record: Any) -> dict[str, Any]:
    """Leave out of a record its seconds and the name of the graph."""
    usage = {key: value for key, value in record["usage"].items() if not key.startswith("seconds")}
    config = {key: value for key, value in record["config"].items() if key not in ("kg", "hash")}
    whole = {**record, "usage": usage, "config": config}
    return unordered(whole) if record["method"] in {"sparql_qa", "draft"} else whole


def unordered(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out what depends on the order of rows, which a model's query does not ask for."""
    usage = {key: value for key, value in record["usage"].items() if "tokens" not in key}
    answers = sorted(record["answers"], key=str)
    return {"answers": answers, "usage": usage} | {
        key: record[key] for key in ("outcome", "topics", "config")
    }


async def differing(
    asked: Sequence[Question], method: str, embedded: KnowledgeGraph, served: KnowledgeGraph
) -> list[tuple[str, Any, Any]]:
    """Ask both; give what differs of the records. The model looks into the embedded graph both times."""
    differ = []
    for question, accuracy in zip(asked, cycle(ACCURACIES)):
        model = SimulatedModel(question, embedded, ErrorRates(accuracy=accuracy))
        given = {"topics": topic_refs(question), "method": method, "model": model, "id": question.id}
        here, there = [
            told(await kgqa.aask(question.text, kg=graph, **given)) for graph in (embedded, served)
        ]
        assert here["usage"]["kg_queries"] > 0
        parts = {key: value for key, value in here.items() if value != there[key]}
        differ += [(f"{question.id} {accuracy} {key}", value, there[key]) for key, value in parts.items()]
    return differ


def needed(method: str) -> None:
    if method == "sparql_qa" and find_spec("langchain_community") is None:
        pytest.skip("needs the extra peers")


@quietly
@pytest.mark.parametrize(
    ("store", "method"), tried(product(STORES, ASKING), lambda store, _: server_missing(store))
)
async def test_a_tiny_graph_has_the_same_records_on_a_server(opened, family_file, store, method) -> None:
    needed(method)
    embedded, served = [await asyncio.to_thread(opened, where, family_file) for where in ("embedded", store)]
    assert await differing(FAMILY, method, embedded, served) == []


@quietly
@pytest.mark.parametrize(
    ("store", "method", "name"),
    tried(
        product(STORES, ASKING, SETS),
        lambda store, *_: server_missing(store) or (None if DATA.is_dir() else NO_DATA),
    ),
)
async def test_public_questions_have_the_same_records_on_a_server(opened, store, method, name) -> None:
    needed(method)
    path = DATA / f"{SETS[name]}.nt.gz"
    embedded, served = [await asyncio.to_thread(opened, where, path) for where in ("embedded", store)]
    assert await differing(some(name), method, embedded, served) == []
