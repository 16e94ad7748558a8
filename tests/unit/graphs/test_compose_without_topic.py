"""Compose on questions that name no topic: from a class that they name, or from anything."""

from typing import Any

import pytest

import kgqa
from kgqa.kg.terms import ANY
from kgqa.models.scripted import ScriptedModel

PLAYERS = """
e:ann rdfs:label "Ann" ; r:wears_number 10 ; r:is_aged 31 ; r:plays_for e:ulm .
e:bob rdfs:label "Bob" ; r:wears_number 10 ; r:is_aged 43 ; r:plays_for e:bonn .
e:cy rdfs:label "Cy" ; r:wears_number 7 ; r:is_aged 19 ; r:plays_for e:ulm .
e:ulm rdfs:label "Ulm" . e:bonn rdfs:label "Bonn" .
"""

TYPED = """
e:ann a e:Player . e:bob a e:Player . e:cy a e:Player . e:Player rdfs:label "player" .
e:ulm a e:Town . e:bonn a e:Town . e:Town rdfs:label "town" .
"""


def composed(*lines: Any) -> ScriptedModel:
    """A model that composes queries one after another, of the chain and the attributes that it looks for."""
    left = list(lines)

    def line(prompt: Any) -> Any:
        if prompt.name != "compose_query":
            return {"relations": [], "answers": []}
        chain, conditions, extreme = left.pop(0)
        drawn = [" ".join(map(str, each.chain.hops)) for each in prompt.chains]
        letters = {each.attribute.words: letter for letter, each in prompt.lettered.items()}
        return {
            "chains": [[drawn.index(chain) + 1]] if chain else [],
            "conditions": [{"attribute": letters[a], "operator": o, "value": v} for a, o, v in conditions],
            "extreme": "largest" if extreme else "none",
            "by": letters[extreme] if extreme else "",
        }

    return ScriptedModel(line)


def ask(question: str, kg: Any, model: ScriptedModel, **options: Any) -> Any:
    return kgqa.ask(question, kg=kg, model=model, **{"method": "compose", **options})


def named(terms: Any) -> list[str]:
    return [each["name"] for each in terms]


ISOTOPES = """
e:Element rdfs:label "element" . e:Isotope rdfs:label "isotope" .
e:neon a e:Element ; rdfs:label "Neon" ; r:row e:1 ; r:block e:2 ; r:phase e:3 ; r:shell e:4 ; r:colour e:5 .
e:iron a e:Element ; rdfs:label "Iron" ; r:row e:6 ; r:block e:7 ; r:phase e:8 ; r:shell e:9 ; r:colour e:0 .
e:1 rdfs:label "1" . e:2 rdfs:label "2" . e:3 rdfs:label "3" . e:4 rdfs:label "4" . e:5 rdfs:label "5" .
e:6 rdfs:label "6" . e:7 rdfs:label "7" . e:8 rdfs:label "8" . e:9 rdfs:label "9" . e:0 rdfs:label "0" .
e:n20 a e:Isotope ; rdfs:label "Neon-20" ; r:isotope_of e:neon ; r:found 1913 .
e:f56 a e:Isotope ; rdfs:label "Iron-56" ; r:isotope_of e:iron ; r:found 1923 .
"""

TEN = ("<-wears_number-", [("wears_number", "=", "10")], "")


@pytest.mark.parametrize(
    ("question", "line", "answers"),
    [
        ("Who wears number 10?", TEN, ["Ann", "Bob"]),
        ("Who is the oldest?", ("<-is_aged-", [], "is_aged"), ["Bob"]),
        ("For what do they play?", ("-plays_for->", [], ""), ["Bonn", "Ulm"]),
        (
            "Who is the oldest who wears number 10?",
            ("<-wears_number-", [("wears_number", "=", "10")], "is_aged"),
            ["Bob"],
        ),
    ],
)
def test_from_anything(graph: Any, question: str, line: Any, answers: list[str]) -> None:
    record = ask(question, graph(PLAYERS), composed(line))
    assert (named(record["answers"]), record["outcome"], record["topics"]) == (answers, "grounded", [])
    assert "[]" in record["query"] and record["usage"]["llm_calls"] == 1


def test_the_facts_and_paths_begin_where_it_has_set_out_from(graph: Any) -> None:
    record = ask("Who is the oldest?", graph(PLAYERS), composed(("<-is_aged-", [], "is_aged")))
    ((step,),) = record["paths"]
    assert (step["head"]["name"], step["forward"], step["tail"]["name"]) == ("43", False, "Bob")
    assert [(fact["head"]["name"], fact["tail"]["name"]) for fact in record["evidence"]] == [("Bob", "43")]
    assert ANY.id not in str(record["paths"]) + str(record["evidence"]) + record["query"]


@pytest.mark.parametrize("question", ["Which players wear number 10?", "Which player has number 10?"])
def test_from_the_class_that_the_question_names(graph: Any, question: str) -> None:
    record = ask(question, graph(PLAYERS + TYPED), composed(("<-type-", *TEN[1:])))
    assert (named(record["answers"]), record["outcome"]) == (["Ann", "Bob"], "grounded")
    assert named(record["topics"]) == ["player"]


def test_all_of_a_class(graph: Any) -> None:
    record = ask("Which towns are there?", graph(PLAYERS + TYPED), composed(("<-type-", [], "")))
    assert (named(record["answers"]), record["outcome"]) == (["Bonn", "Ulm"], "grounded")


def test_where_what_was_found_leads_nowhere_it_sets_out_from_anything(graph: Any) -> None:
    """Ulm is no topic of this question; after its chains, and the next of them, were turned down."""
    nothing = ("", [], "")
    model = composed(nothing, nothing, TEN)
    record = ask("Who wears number 10 in Ulm?", graph(PLAYERS + "e:cy r:born e:ulm ."), model)
    assert (named(record["answers"]), record["outcome"]) == (["Ann", "Bob"], "grounded_unverified")
    record = ask("Who?", graph(PLAYERS), composed(nothing, nothing, nothing), topics=["Ulm"])
    chains = [chain for entry in record["trace"] for chain in entry.get("chains", ())]
    assert chains and not [chain for chain in chains if chain.startswith("anything")]


def test_without_an_answer_nothing_is_explored(graph: Any) -> None:
    nothing = ("", [], "")
    record = ask("Who is the oldest?", graph(PLAYERS), composed(nothing, nothing, nothing))
    assert (record["answers"], record["outcome"]) == ([], "none")
    assert not [entry for entry in record["trace"] if entry["node"] == "retrieve_relations"]


@pytest.mark.parametrize("options", [{"method": "cor"}, {"topics": ["Nobody"]}])
def test_otherwise_no_topic_is_no_answer(graph: Any, options: dict[str, Any]) -> None:
    record = ask("Who is the oldest?", graph(PLAYERS), composed(), **options)
    assert (record["answers"], record["outcome"]) == ([], "none")
    assert [entry["node"] for entry in record["trace"]] == ["link", "answer"]


def test_attributes_are_read_of_chains_from_each_topic(graph: Any) -> None:
    line = ("<-type- -isotope_of->", [("found", "=", "1913")], "")
    question = "Of which elements were isotopes found in 1913?"
    record = ask(question, graph(ISOTOPES), composed(line), topics=["element", "isotope"])
    assert named(record["answers"]) == ["Neon"]
