"""Ten questions are suggested of each graph, whatever its kind, and are answered by the graph itself."""

from pathlib import Path

import pytest

from kgqa.api import KG, MAX_SUGGESTIONS, asuggest
from kgqa.tests.support.perfect import DATA

PATIENCE_SECONDS = 600.0  # a machine may be busy with other tests

GRAPHS = {
    "company": ["text2sparql/prod-inst.ttl.gz"],
    "freebase": ["freebase/freebase_grasp_slice.nt.gz"],
    "wikidata": ["wikidata/wikidata_slice.nt.gz"],
    "tables": ["own/northwind"],
    "ontology": ["own/pizza.owl.gz"],
}


async def is_suggested(kg: KG) -> bool:
    """Return whether as many questions as are wanted are suggested, each answered by the graph itself."""
    found = [record async for record in asuggest(kg, seconds=PATIENCE_SECONDS)]
    questions = {record["question"] for record in found}
    return len(questions) == MAX_SUGGESTIONS and {record["outcome"] for record in found} == {"grounded"}


async def test_ten_questions_are_suggested_of_the_sample() -> None:
    assert await is_suggested("sample")


@pytest.mark.parametrize("graph", GRAPHS)
async def test_ten_questions_are_suggested_of(graph: str) -> None:
    files = [Path(DATA, each) for each in GRAPHS[graph]]
    if absent := [str(each) for each in files if not each.exists()]:
        pytest.skip(f"not here: {', '.join(absent)}")
    assert await is_suggested(files)
