"""Words of a question that nothing of a query says are conditions that nobody has checked."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

import kgqa
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Entity
from kgqa.kg.text import fold, split_words
from kgqa.models.scripted import ScriptedModel
from kgqa.nodes.coverage import CLASS_MASK, _mask, _phrases
from kgqa.priors.errors import EncoderError
from kgqa.prompts.compose_query import ComposeQuery
from kgqa.runtime.node import NodeRuntime
from kgqa.tests.support.doubles import shown

SHOP = """
e:Car a owl:Class ; rdfs:label "car" .
e:beetle a e:Car ; rdfs:label "Beetle" ; r:made_by e:wolf ; r:region e:south .
e:golf a e:Car ; rdfs:label "Golf" ; r:made_by e:wolf ; r:region e:south .
e:wolf rdfs:label "Wolf" . e:south rdfs:label "Saxony" .
""".replace("owl:Class", "<http://www.w3.org/2002/07/owl#Class>")


def taking(relation: str) -> ScriptedModel:
    """A model that takes the chain of one relation from the first topic."""

    def reply(prompt: ComposeQuery) -> dict[str, object]:
        found = [at for at, each in enumerate(prompt.chains, 1) if each.chain.hops[-1].words == relation]
        members = [at for at, each in enumerate(prompt.chains, 1) if each.chain.topic.name == "car"]
        return {"chains": [found[:1], *([members[:1]] if members else [])]}

    return ScriptedModel(lambda prompt: reply(prompt) if prompt.name == "compose_query" else {})


@pytest.mark.parametrize(
    ("question", "relation", "open_words"),
    [
        ("Which cars are made by Wolf?", "made_by", []),
        ("Which red cars are made by Wolf?", "made_by", ["red"]),
        ("Which cars made by Wolf are red?", "made_by", ["red"]),
        ("Which cars by Wolf are red?", "made_by", ["red"]),
        ("Of which cars is Wolf proud?", "made_by", ["proud"]),
        ("Which cars come from Wolf?", "made_by", []),  # a relation may be paraphrased,
        ("Which cars belong to the region Saxony?", "region", []),  # or have a verb beside it;
        ("Which cars from Wolf won the Rally?", "made_by", ["rally"]),
        ("Which cars in the region of Saxony have a region?", "region", ["region"]),  # twice
        ("Which cars lie in the region that is the region Saxony?", "region", []),  # but of the same thing
        ("Which cars from Wolf won the WRC?", "made_by", ["wrc"]),
        ("WHICH CARS COME FROM WOLF?", "made_by", []),  # all in capitals tells no names
        ("Which cars from Wolf swim in rivers?", "made_by", ["swim"]),  # one phrase for each, and no name
        ("Which cars could I drive if I were loyal to Wolf?", "made_by", []),  # who asks restricts nothing
        ("Where does Saxony have region status?", "region", []),  # said in part by the relation
        ("Which oldest red cars are made by Wolf?", "made_by", ["oldest", "red"]),  # beside a modifier,
        ("Which 2 red cars are made by Wolf?", "made_by", ["red"]),  # and after a number
    ],
)
async def test_words_that_nothing_says_are_unverified(
    graph: Callable[[str], SparqlGraph], question: str, relation: str, open_words: list[str]
) -> None:
    record = await kgqa.aask(question, kg=graph(SHOP), model=taking(relation), explore=False)
    assert {*shown(record)} == {"Beetle", "Golf"}
    assert [each["words"] for each in record["conditions"] if each["by"] is None] == open_words
    assert record["outcome"] == ("grounded_unverified" if open_words else "grounded")


async def test_without_an_encoder_words_are_compared_by_their_stems(
    graph: Callable[[str], SparqlGraph], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none(*_: Any) -> Any:
        raise EncoderError("there is none")

    monkeypatch.setattr(NodeRuntime, "encode", none)
    given = {"kg": graph(SHOP), "model": taking("made_by"), "explore": False}
    asked = {"Which cars are made by Wolf?": "grounded", "Which red cars has Wolf?": "grounded_unverified"}
    assert {each: (await kgqa.aask(each, **given))["outcome"] for each in asked} == asked


def test_the_class_that_is_asked_for_is_told_from_other_names() -> None:
    names = {"hut": Entity("http://t/e/Hut"), "Club": Entity("http://t/e/club")}
    state: Any = {
        "question": "Which huts has the Club?",
        "classes": {"http://t/e/Hut": []},
        "topic_entities": [],
    }
    masked = _mask(names, state)
    assert masked == (f"Which {CLASS_MASK} has the [OTHER]?", 0)


@pytest.mark.parametrize(
    ("masked", "kind"),
    [("Which vans has [OTHER]?", True), ("How many vans has [OTHER]?", True), ("Has [OTHER] vans?", False)],
)
def test_how_many_asks_for_a_kind_as_which_does(masked: str, kind: bool) -> None:
    assert [each.is_kind for each in _phrases(masked)] == [kind]


@pytest.mark.parametrize(
    ("masked", "phrases"),
    [("Red [CLASS] by [OTHER]?", ["red"]), ("Red cars?", ["red cars"]), ("Identify the cars.", ["cars"])],
)
def test_a_first_word_counts_where_what_is_meant_follows(masked: str, phrases: list[str]) -> None:
    assert [*map(str, _phrases(masked))] == phrases


@given(st.text(max_size=80))
def test_phrases_of_any_text_are_words_of_it(text: str) -> None:
    words = [fold(word.text) for word in split_words(text)]
    assert all(word in words for each in _phrases(text) for word in each.words)
