"""``GET /text2sparql``: the protocol of the challenge, over plain HTTP."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pyoxigraph
import pytest
from starlette.applications import Starlette

from kgqa.runtime.server_limits import InputLimits, Limits, activate_limits
from kgqa.serving.text2sparql import text2sparql_route
from kgqa.tests.support.doubles import FAMILY

DATASET = "https://challenge.example/2025/family/"

CHILDREN = "Who are Ada's children?"


@pytest.fixture
def family(turtle: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    file = turtle(FAMILY)
    monkeypatch.setenv("KGQA_KG", str(file))
    monkeypatch.setenv("KGQA_MODEL", "offline")
    monkeypatch.setenv("KGQA_DATASETS", json.dumps({DATASET: str(file), "gone": "nowhere.ttl"}))
    activate_limits(Limits(asked=InputLimits(90, 9, 90)))
    yield file
    activate_limits(Limits())


async def get(**parameters: str) -> httpx.Response:
    app = httpx.ASGITransport(Starlette(routes=[text2sparql_route()]))
    async with httpx.AsyncClient(transport=app, base_url="http://t") as client:
        return await client.get("/text2sparql", params=parameters)


async def test_the_query_gives_the_answers_to_any_client(family: Path) -> None:
    reply = (await get(dataset=DATASET, question=CHILDREN)).json()
    assert {**reply, "query": ""} == {"dataset": DATASET, "question": CHILDREN, "query": ""}
    store = pyoxigraph.Store()
    store.load(path=family)
    rows = store.query(reply["query"])
    assert isinstance(rows, pyoxigraph.QuerySolutions)
    assert {row[0].value for row in rows} == {"http://t/e/ben", "http://t/e/cleo"}


async def test_a_served_graph_is_a_dataset_by_its_name(family: Path) -> None:
    assert (await get(dataset=str(family), question=CHILDREN)).json()["query"]


async def test_where_nothing_is_answered_the_query_is_empty(family: Path) -> None:
    reply = await get(dataset=DATASET, question="Which opera did Ada sing?")
    assert (reply.status_code, reply.json()["query"]) == (200, "")


@pytest.mark.parametrize(
    ("dataset", "question", "status", "said"),
    [
        ("other", CHILDREN, 404, "no dataset is called 'other' here; there are: "),
        (DATASET, " ", 422, "the question is empty"),
        (DATASET, "x" * 99, 422, "the question is longer than 90 characters"),
        ("gone", CHILDREN, 503, "No answer: the knowledge graph is unavailable (no such file: nowhere.ttl"),
    ],
)
async def test_what_is_wrong_is_no_answer(
    family: Path, dataset: str, question: str, status: int, said: str
) -> None:
    reply = await get(dataset=dataset, question=question)
    assert (reply.status_code, reply.json()["detail"][: len(said)]) == (status, said)
