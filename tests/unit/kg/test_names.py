"""find_entities: ids, exact, folded, misspelt and alike names."""

import numpy as np
import pytest

from kgqa.kg.linking.name_index import EntityNames
from kgqa.kg.terms import Hop

FACT = {Hop("http://x/r"): 1}

GRAPH = """
:e1 rdfs:label "Tom Hanks"@en ; :r :e2, :e3 . :e2 rdfs:label "The Battery" . :e3 rdfs:label "Battery" .
:e4 rdfs:label "Irène Jacob"@fr ; skos:altLabel "La Jacob"@fr . :e5 rdfs:label "Bonnie & Clyde" .
:e6 rdfs:label "battery" . :e7 :r [] . :r rdfs:label "Tom" .
:s1 rdfs:label "Springfield" .
:s2 rdfs:label "Springfield" ; :r :e1, :e2, :e3 . :s3 rdfs:label "Springfield" ; :r :e1 .
fb:m.0abc rdfs:label "Opaque" .
"""


async def first(graph, text):
    found = (await graph.find_entities(text, 1))[0]
    return found.entity.id.rpartition("/")[2], found.how


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://x/e1", ("e1", "id")),
        ("<http://x/e1>", ("e1", "id")),
        ("http://x/e7", ("e7", "id")),
        ("_:b1", ("_:b1", "id")),
        ("m.0abc", ("m.0abc", "id")),
        ("ns:m.0abc", ("m.0abc", "id")),
        ("Tom Hanks", ("e1", "exact")),
        ("La Jacob", ("e4", "exact")),
        ("The Battery", ("e2", "exact")),
        ("Battery", ("e3", "exact")),
        ("battery", ("e6", "exact")),
        ("  tom   HANKS ", ("e1", "normalised")),
        ("irene jacob", ("e4", "normalised")),
        ("bonnie and clyde", ("e5", "normalised")),
        ("Bonnie & Clyde!", ("e5", "normalised")),
        ("Tom Hnks", ("e1", "fuzzy")),
        ("Hanks, Tom", ("e1", "fuzzy")),
        ("Hanks", ("e1", "fuzzy")),
    ],
)
async def test_find(make_graph, text, expected):
    assert await first(make_graph(GRAPH), text) == expected


async def test_equal_names_order_by_triples_then_id(make_graph):
    found = await make_graph(GRAPH).find_entities("springfield")
    assert [match.entity.id for match in found[:3]] == ["http://x/s2", "http://x/s3", "http://x/s1"]


async def test_scores_fall(make_graph):
    scores = [match.score for match in await make_graph(GRAPH).find_entities("the battery")]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] <= scores[0] <= 1


@pytest.mark.parametrize("text", ["", "   ", "???", "zqxjkv", "\ud800", "\x00", "http://x/none", "a" * 5_000])
async def test_nothing_found(make_graph, text):
    assert await make_graph(GRAPH).find_entities(text) == []


async def test_a_relation_is_no_entity(make_graph):
    found = await make_graph(GRAPH).find_entities("Tom")
    assert "http://x/r" not in [match.entity.id for match in found]


async def test_matches_carry_the_preferred_name(make_graph):
    assert (await make_graph(GRAPH).find_entities("La Jacob"))[0].entity.name == "Irène Jacob"


async def test_limit(make_graph):
    assert len(await make_graph(GRAPH).find_entities("springfield", 2)) == 2


async def test_a_graph_without_labels_is_found_by_local_names(make_graph):
    graph = make_graph("<http://x/Tom_Hanks> :r <http://x/Some_Film> .")
    assert await first(graph, "tom hanks") == ("Tom_Hanks", "normalised")


def encode(texts):
    """Similar are texts that share the topic of water."""
    rows = np.array([[1.0, 0.1] if {"sea", "ocean"} & set(text.split()) else [0.0, 1.0] for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("size", [10, 6_000])
def test_alike_in_meaning(size):
    names = [("http://x/sea", "Deep sea"), *((f"http://x/{i}", f"hill {i}") for i in range(size))]
    index = EntityNames(dict.fromkeys(dict(names), FACT), dict(names), {}).index(encode)
    assert (index.find("sea ocean", 1)[0].entity.id, index.find("sea ocean", 1)[0].how) == (
        "http://x/sea",
        "embedding",
    )


def test_encoding_happens_once_per_name():
    calls = []

    def counting(texts):
        calls.extend(texts)
        return encode(texts)

    names = [(f"http://x/{i}", f"hill {i}") for i in range(5)]
    index = EntityNames(dict.fromkeys(dict(names), FACT), dict(names), {}).index(counting)
    index.find("ocean")
    index.find("ocean")
    assert sorted(calls) == sorted([*(f"hill {i}" for i in range(5)), "ocean", "ocean"])


@pytest.mark.parametrize("text", ["Tom Hnks", "Hanks, Tom", "Iren Jacob"])
def test_in_a_large_graph_names_are_compared_that_share_letters(monkeypatch, text):
    names = {"http://x/1": "Tom Hanks", "http://x/2": "Irène Jacob", "http://x/3": "Bonnie & Clyde"}
    index = EntityNames(dict.fromkeys(names, FACT), names, {}).index()
    small = index.find(text)
    monkeypatch.setattr("kgqa.kg.linking.name_table.MAX_KEYS_COMPARED", 0)
    assert index.find(text)[0] == small[0]
