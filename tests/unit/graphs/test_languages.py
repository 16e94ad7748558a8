"""Questions in any language: linked, shown and answered in it, else asked in that of the graph's names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.scripted import ScriptedModel
from kgqa.tests.support.countries import LANGUAGES, named_in
from kgqa.tests.support.doubles import shown

Open = Callable[[str], SparqlGraph]

GERMAN = "Wie heißt die Hauptstadt von Österreich?"
TOLD = (
    "the question is in German and the graph's names are in English: "
    "with a language model it would be asked in English"
)


@pytest.mark.parametrize(
    ("question", "topic", "answer", "outcome"),
    [
        ("Quelle est la capitale de l'Autriche ?", "Autriche", "Vienne", "grounded"),
        ("奥地利的首都是什么？", "奥地利", "维也纳", "grounded_unverified"),  # the encoder reads no Chinese
        ("What is the capital of Austria?", "Austria", "Vienna", "grounded"),
    ],
)
async def test_a_question_is_answered_offline_in_its_language(
    graph: Open, question: str, topic: str, answer: str, outcome: str
) -> None:
    record = await kgqa.aask(question, kg=graph(named_in(*LANGUAGES)), model="offline")
    assert [each["name"] for each in record["topics"]] == [topic]
    assert (shown(record), record["outcome"]) == ([answer], outcome)
    assert not {"language", "translated"} & record["trace"][0].keys()


async def test_german_relations_are_found_by_german_words(graph: Open) -> None:
    facts = named_in("de").replace("r:capital", "r:hauptstadt")
    record = await kgqa.aask(GERMAN, kg=graph(facts), model="offline")
    assert (shown(record), record["outcome"]) == (["Wien"], "grounded")


def translating(*texts: str | None) -> ScriptedModel:
    """A model that translates so, and goes on to the capital and stops there."""
    left = list(texts)

    def line(prompt: Any) -> Any:
        if prompt.name == "translate_question":
            return {"question": left.pop(0)}
        replies = {"prune_relations": {"relations": [1]}, "verify_chain": {"decision": "stop"}}
        return replies.get(prompt.name, {"answers": []})

    return ScriptedModel(line)


def asked_for(model: ScriptedModel) -> list[str]:
    return [prompt.name for prompt in model.prompts]


async def test_a_question_in_another_language_is_asked_once_in_that_of_the_names(graph: Open) -> None:
    model = translating("What is the capital of Austria?")
    record = await kgqa.aask(GERMAN, kg=graph(named_in("en")), model=model, method="cor")
    assert asked_for(model).count("translate_question") == 1
    assert model.prompts[0].language == "English"
    assert {prompt.question for prompt in model.prompts[1:]} == {"What is the capital of Austria?"}
    assert record["question"] == GERMAN
    assert all(f'As it was asked: "{GERMAN}"' in prompt.case() for prompt in model.prompts[1:])
    assert record["trace"][0]["translated"] == "What is the capital of Austria?"
    assert (shown(record), record["usage"]["llm_calls"]) == (["Vienna"], len(model.prompts))


async def test_a_question_in_english_is_asked_in_the_language_of_the_names(graph: Open) -> None:
    model = translating("Was ist die Hauptstadt von Österreich?")
    record = await kgqa.aask(
        "What is the capital of Austria?", kg=graph(named_in("de")), model=model, method="cor"
    )
    assert model.prompts[0].language == "German"
    assert shown(record) == ["Wien"]


async def test_without_a_language_model_names_are_tried_and_one_line_says_so(graph: Open) -> None:
    record = await kgqa.aask("Wo liegt Berlin?", kg=graph(named_in("en")), model="offline", method="cor")
    assert [topic["name"] for topic in record["topics"]] == ["Berlin"]
    assert record["trace"][0]["language"] == TOLD
    assert TOLD in str(record)
    assert record["usage"]["llm_calls"] == 0


@pytest.mark.parametrize("reply", [None, "  "])
async def test_a_question_that_cannot_be_translated_is_asked_as_it_is(graph: Open, reply: str | None) -> None:
    model = translating(reply)
    record = await kgqa.aask("Wo liegt Berlin?", kg=graph(named_in("en")), model=model, method="cor")
    assert record["trace"][0]["language"] == TOLD
    assert {prompt.question for prompt in model.prompts} == {"Wo liegt Berlin?"}


async def test_a_preset_of_a_paper_has_no_call_more(graph: Open) -> None:
    model = translating()
    await kgqa.aask(
        GERMAN, kg=graph(named_in("en")), model=model, method="cor", preset="paper", topics=["Austria"]
    )
    assert asked_for(model) and "translate_question" not in asked_for(model)


@pytest.mark.parametrize(
    ("card", "calls"),
    [("language: [multilingual, de, en]", 0), ("language: de", 0), ("language: en", 1), ("license: mit", 1)],
)
async def test_an_encoder_that_knows_the_language_by_its_card_spares_the_translation(
    graph: Open, tmp_path: Path, card: str, calls: int
) -> None:
    (tmp_path / "README.md").write_text(f"---\n{card}\n---\n# An encoder\n", encoding="utf-8")
    model = translating("Where is Berlin?")
    given = {"kg": graph(named_in("en")), "model": model, "method": "cor"}
    await kgqa.aask("Wo liegt Berlin?", encoder=str(tmp_path), **given)
    assert asked_for(model).count("translate_question") == calls
