"""Many questions at a time do not wait for one another's threads."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import pytest

import kgqa
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.tests.support.doubles import shown
from kgqa.tests.unit.evaluation.simulation import family

MANY, THREADS = 40, 2

needs_peers = pytest.mark.skipif(find_spec("langchain_community") is None, reason="needs the extra peers")
quietly = pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")


@quietly
@pytest.mark.parametrize("method", ["cor", "agent", pytest.param("sparql_qa", marks=needs_peers)])
async def test_a_pool_of_two_threads_is_enough_for_forty_questions(
    graph: Callable[[str], SparqlGraph], method: str
) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))
    kg = graph(family.FAMILY)
    model = SimulatedModel(family.question("rhine", "mother born_in river"), kg, ErrorRates(accuracy=1.0))
    asked = [
        kgqa.aask("Which river?", topics=["Ann"], method=method, kg=kg, model=model) for _ in range(MANY)
    ]
    async with asyncio.timeout(60):
        records = await asyncio.gather(*asked)
    assert [shown(record) for record in records] == [["Rhine"]] * MANY
