"""Compose: one call, what follows where it was not enough, and who has decided what."""

from collections.abc import Callable
from typing import Any

import pytest

import kgqa
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.errors import ModelUnavailable
from kgqa.models.scripted import Line, ScriptedModel
from kgqa.prompts.compose_query import ComposeQuery, node_name
from kgqa.tests.support.doubles import shown

TEAM = """
e:team rdfs:label "Team" ; r:player e:ann, e:ben, e:cy ; r:city e:ulm .
e:ann rdfs:label "Ann" ; r:born "1961-05-03" ; r:home_town e:ulm ; r:wrote e:one .
e:ben rdfs:label "Ben" ; r:born "1970" ; r:home_town e:bonn ; r:wrote e:two .
e:cy rdfs:label "Cy" ; r:born "1985-01-01" ; r:home_town e:ulm ; r:wrote e:three .
e:ulm rdfs:label "Ulm" ; r:river e:danube . e:bonn rdfs:label "Bonn" ; r:river e:rhine .
e:one rdfs:label "One" . e:two rdfs:label "Two" . e:three rdfs:label "Three" .
e:danube rdfs:label "Danube" . e:rhine rdfs:label "Rhine" .
"""
QUESTION = "Which player of the Team was born after 1961?"

Open = Callable[[str], SparqlGraph]


def chain_number(prompt: ComposeQuery, *relations: str) -> int:
    """Return the number of the chain of these relations."""
    ways = [[hop.words for hop in each.chain.hops] for each in prompt.chains]
    return ways.index([*relations]) + 1


def letter(prompt: ComposeQuery, relation: str) -> str:
    """Return the letter of an attribute."""
    return next(name for name, each in prompt.lettered.items() if each.hops[0].words == relation)


def composing(*replies: Callable[[ComposeQuery], Line]) -> ScriptedModel:
    """A model that composes these queries, one after the other."""
    left = list(replies)
    return ScriptedModel(lambda prompt: left.pop(0)(prompt) if prompt.name == "compose_query" else {})


def players(prompt: ComposeQuery) -> dict[str, Any]:
    return {"chains": [[chain_number(prompt, "player")]]}


async def ask(graph: Any, model: ScriptedModel, question: str = QUESTION, **options: Any) -> kgqa.Record:
    options = {"allow_parametric": False, "explore": False, **options}
    given = {"topics": ["Team"], "method": "compose", **options}
    return await kgqa.aask(question, kg=graph, model=model, **given)


def nodes_of(record: kgqa.Record) -> list[str]:
    return [step["node"] for step in record["trace"]]


async def test_one_call_composes_a_query_that_the_graph_answers(graph: Open) -> None:
    def after(prompt: ComposeQuery) -> Line:
        stated = {"attribute": letter(prompt, "born"), "operator": ">", "value": "1961"}
        return {**players(prompt), "conditions": [stated]}

    record = await ask(graph(TEAM), composing(after))
    assert (shown(record), record["outcome"]) == (["Ben", "Cy"], "grounded")
    assert [each["by"] for each in record["conditions"]] == ["graph"]
    assert record["usage"]["llm_calls"] == 1
    assert nodes_of(record) == ["link", "exemplars", "retrieve", "compose", "compute", "answer"]


async def test_counts_and_extremes_are_computed(graph: Open) -> None:
    record = await ask(graph(TEAM), composing(lambda prompt: {**players(prompt), "count": True}))
    assert (shown(record), record["outcome"]) == (["3"], "grounded_unverified")
    assert [each["words"] for each in record["conditions"]] == ["count", "1961"]  # nobody asks how many
    oldest = composing(
        lambda prompt: {**players(prompt), "extreme": "smallest", "by": letter(prompt, "born")}
    )
    assert shown(await ask(graph(TEAM), oldest)) == ["Ann"]


@pytest.mark.parametrize(
    ("extreme", "said", "town"), [("smallest", "oldest", "Ulm"), ("second smallest", "second oldest", "Bonn")]
)
async def test_what_the_first_or_second_has_is_an_answer_of_the_graph(
    graph: Open, extreme: str, said: str, town: str
) -> None:
    def oldest(prompt: ComposeQuery) -> Line:
        by = {"extreme": extreme, "by": letter(prompt, "born")}
        return {**players(prompt), "answer": letter(prompt, "home_town"), **by}

    asked = f"Where was the {said} player of the Team born, in which town?"
    record = await ask(graph(TEAM), composing(oldest), asked)
    assert (shown(record), record["outcome"]) == ([town], "grounded")
    assert record["usage"]["llm_calls"] == 1


async def test_what_the_graph_does_not_know_of_a_node_may_be_let_pass(graph: Open) -> None:
    def after(prompt: ComposeQuery) -> Line:
        stated = {"attribute": letter(prompt, "born"), "operator": ">", "value": "1961", "unknown": True}
        return {**players(prompt), "conditions": [stated]}

    store = graph(TEAM + 'e:team r:player e:dan . e:dan rdfs:label "Dan" ; r:home_town e:ulm .')
    record = await ask(store, composing(after))
    assert (shown(record), record["outcome"]) == (["Ben", "Cy", "Dan"], "grounded_inference")


async def test_the_answer_may_be_a_node_on_the_way(graph: Open) -> None:
    def author(prompt: ComposeQuery) -> Line:
        number = chain_number(prompt, "player", "wrote")
        way = node_name(number, 1, prompt.chains[number - 1].chain)
        stated = {"attribute": f"?{number}", "operator": "=", "value": "Two"}
        return {"chains": [[number]], "answer": way, "conditions": [stated]}

    record = await ask(graph(TEAM), composing(author), "Which player of the Team wrote Two?")
    assert (shown(record), record["outcome"]) == (["Ben"], "grounded")


async def test_what_is_chosen_by_name_is_an_inference(graph: Open) -> None:
    kind = composing(lambda prompt: {**players(prompt), "chosen": ["Cy"], "words": "kind"})
    record = await ask(graph(TEAM), kind, "Which player of the Team is kind?")
    assert (shown(record), record["outcome"]) == (["Cy"], "grounded_inference")
    assert [each["by"] for each in record["conditions"]] == ["model"]


async def test_what_is_missing_is_looked_for_and_what_is_not_found_stays_unverified(graph: Open) -> None:
    def lost(prompt: ComposeQuery) -> Line:
        return {**players(prompt), "missing": "shoe size of the giraffe"}

    model = composing(lost, lost, lost)
    record = await ask(graph(TEAM), model)
    assert (shown(record), record["outcome"]) == (["Ann", "Ben", "Cy"], "grounded_unverified")
    assert nodes_of(record).count("retrieve") > 1


@pytest.mark.parametrize(("without", "answers"), [(False, ["Ann", "Ben", "Cy"]), (True, [])])
async def test_a_reply_can_say_that_there_is_no_answer_without_what_is_missing(
    graph: Open, without: bool, answers: list[str]
) -> None:
    def lost(prompt: ComposeQuery) -> Line:
        return {"chains": [], "missing": "kin"} if without else players(prompt)

    model = composing(lambda prompt: {**players(prompt), "missing": "wrote"}, lost)
    record = await ask(graph(TEAM), model, refines=1)
    assert (shown(record), len(model.prompts)) == (answers, 2)


@pytest.mark.parametrize("computed", [{"count": True}, {"extreme": "smallest"}])
async def test_what_a_condition_is_missing_from_is_not_counted_or_compared(
    graph: Open, computed: dict[str, Any]
) -> None:
    def lost(prompt: ComposeQuery) -> Line:
        by = {"by": letter(prompt, "born")} if "extreme" in computed else {}
        return {**players(prompt), "missing": "shoe size", **computed, **by}

    record = await ask(graph(TEAM), composing(lost, lost, lost), "How many players have big shoes?")
    assert (record["outcome"], record["answers"]) == ("none", [])


async def test_what_is_found_is_what_is_missing_and_more_like_it_than_what_was_shown(graph: Open) -> None:
    def no_more(prompt: ComposeQuery) -> Line:
        raise AssertionError(prompt.case())

    record = await ask(
        graph(TEAM), composing(lambda prompt: {**players(prompt), "missing": "salary"}, no_more)
    )
    assert (record["outcome"], record["usage"]["llm_calls"]) == ("grounded_unverified", 1)
    [_, looked] = [step for step in record["trace"] if step["node"] == "retrieve"]
    assert (looked["looked_for"], looked["reason"]) == ("salary", "nothing like it was found")


async def test_a_query_that_gives_nothing_is_composed_anew(graph: Open) -> None:
    def never(prompt: ComposeQuery) -> Line:
        stated = {"attribute": letter(prompt, "born"), "operator": ">", "value": "2061"}
        return {**players(prompt), "conditions": [stated]}

    model = composing(never, players)
    record = await ask(graph(TEAM), model)
    assert shown(record) == ["Ann", "Ben", "Cy"]
    assert "Your query gives nothing" in model.prompts[-1].case()


async def test_it_is_composed_anew_as_often_as_said(graph: Open) -> None:
    def never(prompt: ComposeQuery) -> Line:
        stated = {"attribute": letter(prompt, "born"), "operator": ">", "value": "2061"}
        return {**players(prompt), "conditions": [stated]}

    record = await ask(graph(TEAM), composing(never, never), refines=1)
    assert (shown(record), record["usage"]["llm_calls"]) == ([], 2)


async def test_where_no_chain_leads_there_the_search_explores(graph: Open) -> None:
    def line(prompt: Any) -> Line:
        if prompt.name == "compose_query":
            return {"chains": []}
        if prompt.name == "prune_relations":
            return {"relations": [1]}
        return {"decision": "stop", "take": "all"}

    asked = "Which player does the Team have?"
    record = await ask(graph(TEAM), ScriptedModel(line), asked, explore=True)
    assert record["outcome"] == "grounded"
    assert "prune" in nodes_of(record)


async def test_an_outage_of_the_model_is_said(graph: Open) -> None:
    def gone(prompt: Any) -> Line:
        raise ModelUnavailable("gone")

    record = await ask(graph(TEAM), ScriptedModel(gone))
    assert (shown(record), record["outcome"]) == ([], "model_unavailable")


@pytest.mark.parametrize("limit", ["llm_calls", "kg_queries"])
async def test_a_budget_that_is_spent_is_said(graph: Open, limit: str) -> None:
    record = await ask(graph(TEAM), composing(players), budget={limit: 0})
    assert (shown(record), record["stopped_by"]) == ([], limit)


async def test_without_attributes_names_alone_are_shown(graph: Open) -> None:
    model = composing(players)
    await ask(graph(TEAM), model, attributes=False)
    assert not model.prompts[0].attributes


async def test_a_condition_for_what_a_topic_is_called_is_for_the_topic(graph: Open) -> None:
    def by_name(prompt: ComposeQuery) -> Line:
        stated = {"attribute": letter(prompt, "home"), "operator": "=", "value": "Ulm"}
        return {**players(prompt), "conditions": [stated]}

    store = graph(TEAM + 'e:ann r:home "Ulm" . e:ben r:home "Bonn" . e:cy r:home "Jena" .')
    record = await ask(
        store, composing(by_name), "Which player of the Team has a home in Ulm?", topics=["Team", "Ulm"]
    )
    assert (shown(record), record["outcome"]) == (["Ann"], "grounded")


async def test_a_chain_from_one_topic_to_another_is_offered(graph: Open) -> None:
    def between(prompt: ComposeQuery) -> Line:
        number = chain_number(prompt, "player", "home_town")
        return {"chains": [[number]], "answer": node_name(number, 1, prompt.chains[number - 1].chain)}

    store = graph("""
    e:team rdfs:label "Team" ; r:player e:ann . e:ann rdfs:label "Ann" ; r:home_town e:ulm .
    e:ulm rdfs:label "Ulm" .
    """)
    question = "Which player of the Team has the home town Ulm?"
    record = await ask(store, composing(between), question, topics=["Team", "Ulm"])
    assert shown(record) == ["Ann"]
