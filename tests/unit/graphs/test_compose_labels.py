"""Compose: no answer is grounded that the graph has not decided, and no odd reply loses a question."""

from collections.abc import Callable
from typing import Any

import pytest

import kgqa
from kgqa.kg.errors import KGTimeout
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.scripted import Line
from kgqa.prompts.compose_query import ComposeQuery
from kgqa.tests.support.doubles import shown
from kgqa.tests.unit.graphs.test_compose import ask, chain_number, composing, letter

TEAM = """
e:team rdfs:label "Team" ; r:player e:ann, e:ben, e:cy, e:dan ; r:city e:ulm .
e:ann rdfs:label "Ann" ; r:born "1961-05-03" ; r:home_town e:ulm ; r:wrote e:one .
e:ann r:nickname "Ace" ; r:goals 3 . e:cy r:nickname "Kit" ; r:goals 7 .
e:ben rdfs:label "Ben" ; r:born "1970" ; r:home_town e:bonn ; r:wrote e:two ; r:nickname "Boo" ; r:goals 10 .
e:cy rdfs:label "Cy" ; r:born "1985-01-01" ; r:home_town e:ulm ; r:wrote e:three .
e:dan rdfs:label "Dan" ; r:born "1990-01-01" ; r:home_town e:ulm ; r:goals 1 .
e:ulm rdfs:label "Ulm" ; r:river e:danube . e:bonn rdfs:label "Bonn" ; r:river e:rhine .
e:one rdfs:label "One" . e:two rdfs:label "Two" . e:three rdfs:label "Three" .
e:danube rdfs:label "Danube" . e:rhine rdfs:label "Rhine" .
e:club rdfs:label "Club" ; r:player e:zed, e:ann . e:zed rdfs:label "Zed" ; r:born "1950" .
e:lone rdfs:label "Lone" .
"""
PLAYED = """
e:ann a e:Player ; rdfs:label "Ann" . e:ben a e:Player ; rdfs:label "Ben" .
e:Player rdfs:label "player" . e:lone rdfs:label "Lone" .
"""

Open = Callable[[str], SparqlGraph]


def players(prompt: ComposeQuery, **more: Any) -> dict[str, Any]:
    return {"chains": [[chain_number(prompt, "player")]], **more}


def where(*stated: str) -> Callable[[ComposeQuery], Line]:
    """Compose the players of whom this is true: relation, operator, value."""
    parts = [each.split(maxsplit=2) for each in stated]
    return lambda prompt: players(
        prompt,
        conditions=[
            {"attribute": letter(prompt, of), "operator": operator, "value": "".join(value)}
            for of, operator, *value in parts
        ],
    )


async def once(graph: Any, query: Callable[[ComposeQuery], Line], question: str, **more: Any) -> kgqa.Record:
    return await ask(graph, composing(query), question, refines=0, **more)


def deciders(record: kgqa.Record) -> list[tuple[str, str | None]]:
    return [(each["words"], each["by"]) for each in record["conditions"]]


@pytest.mark.parametrize(
    ("question", "query", "found", "decided"),
    [
        (
            "Who of the Team was born under Gorbachev?",
            where("born > 1984"),
            ["Cy", "Dan"],
            "born > 1984",
        ),
        ("Who of the Team is older than the pope?", where("born < 1962"), ["Ann"], "born < 1962"),
        ("Who of the Team wrote a prize winner?", where("wrote = Three"), ["Cy"], "wrote = Three"),
        ("Who of the Team has a silly name?", where("nickname = Kit"), ["Cy"], "nickname = Kit"),
        ("Who is number 1 of the Team?", where("goals = 10"), ["Ben"], "goals = 10"),
    ],
)
async def test_what_only_the_model_knows_is_its_inference(
    graph: Open, question: str, query: Callable[[ComposeQuery], Line], found: list[str], decided: str
) -> None:
    record = await once(graph(TEAM), query, question)
    assert (shown(record), record["outcome"]) == (found, "grounded_inference")
    assert deciders(record) == [(decided, "model")]


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Who of the Team was born in the 1980s?", where("born >= 1980", "born < 1990")),
        ("Who of the Team has more than nine goals?", where("goals > 9")),
        ("Who of the Team is from Ulm?", where("home_town = Ulm")),
        ("Which of the Team's books is Three?", where("wrote = Three")),
    ],
)
async def test_what_the_question_says_is_decided_by_the_graph(
    graph: Open, question: str, query: Callable[[ComposeQuery], Line]
) -> None:
    record = await once(graph(TEAM), query, question)
    assert (record["outcome"], {by for _, by in deciders(record)}) == ("grounded", {"graph"})


@pytest.mark.parametrize(
    ("question", "query", "modifier"),
    [
        ("Who is the youngest of the Team with goals?", where("goals exists"), "youngest"),
        ("Who is the youngest of the Team but Ace?", where("nickname != Ace"), "youngest"),
        ("Who of the Team with more than 2 goals is not from Bonn?", where("goals > 2"), "not"),
    ],
)
async def test_a_cue_stays_open_where_a_condition_says_something_else(
    graph: Open, question: str, query: Callable[[ComposeQuery], Line], modifier: str
) -> None:
    record = await once(graph(TEAM), query, question)
    assert record["outcome"] == "grounded_unverified"
    assert (modifier, None) in deciders(record)


async def test_a_value_in_two_languages_is_chosen_as_one(graph: Open) -> None:
    def go(prompt: ComposeQuery) -> Line:
        return {"chains": [[chain_number(prompt, "motto")]], "chosen": ["Go"], "words": "the short one"}

    kg = graph('e:team rdfs:label "Team" ; r:motto "Go"@en, "Go"@de, "Stay" .')
    record = await once(kg, go, "What is the motto of Team?")
    assert (shown(record), record["outcome"]) == (["Go"], "grounded_inference")


async def test_topics_of_one_list_are_an_inference(graph: Open) -> None:
    def united(prompt: ComposeQuery) -> Line:
        ways = [each.chain for each in prompt.chains]
        direct = [
            number for number, way in enumerate(ways, 1) if [hop.words for hop in way.hops] == ["player"]
        ]
        return {"chains": [direct]}

    record = await once(graph(TEAM), united, "Who played for Team and Club?", topics=["Team", "Club"])
    assert (shown(record), record["outcome"]) == (["Ann", "Ben", "Cy", "Dan", "Zed"], "grounded_inference")


async def test_a_topic_that_leads_nowhere_is_said_where_a_class_is_asked(graph: Open) -> None:
    record = await once(
        graph(PLAYED), lambda _: {"chains": [[1]]}, "Which player is Lone's brother?", topics=["Lone"]
    )
    assert record["outcome"] == "grounded_unverified"
    assert deciders(record) == [("Lone", None), ("brother", None)]


@pytest.mark.parametrize(
    "query",
    [
        lambda prompt: players(prompt, answer=f"?{chain_number(prompt, 'city')}"),
        lambda prompt: players(
            prompt,
            conditions=[{"attribute": letter(prompt, "home_town"), "operator": "type", "value": "man"}],
        ),
    ],
    ids=["a node of a chain that was not taken", "a type of an attribute"],
)
async def test_what_is_not_meant_so_is_refused(graph: Open, query: Callable[[ComposeQuery], Line]) -> None:
    record = await once(graph(TEAM), query, "In which city does the Team play?")
    assert record["answers"] == []


async def test_of_a_node_on_the_way_the_rest_of_the_chain_is_true_whatever_is_asked_of_it(
    graph: Open,
) -> None:
    def births(prompt: ComposeQuery) -> Line:
        return {"chains": [[chain_number(prompt, "player", "wrote")]], "answer": letter(prompt, "born")}

    record = await once(graph(TEAM), births, "When were those of the Team who wrote born?")
    assert shown(record) == ["1961-05-03", "1970", "1985-01-01"]  # Dan wrote nothing


async def test_who_has_most_where_a_chain_leads_to_the_number(graph: Open) -> None:
    def scorer(prompt: ComposeQuery) -> Line:
        number = next(
            number
            for number, each in enumerate(prompt.chains, 1)
            if [hop.words for hop in each.chain.hops] == ["player", "goals"]
        )
        return {"chains": [[number]], "answer": f"?{number}a", "extreme": "largest", "by": f"?{number}"}

    record = await once(graph(TEAM), scorer, "Who of the Team has the most goals?")
    assert (shown(record), record["outcome"]) == (["Ben"], "grounded")


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (
            lambda prompt: {
                "chains": [[chain_number(prompt, "player", "wrote"), chain_number(prompt, "player")]],
                "answer": f"?{chain_number(prompt, 'player', 'wrote')}a",
            },
            "it makes no sense: only one alternative",
        ),
        (lambda prompt: {"chains": [[chain_number(prompt, "player")]] * 101}, "it makes no sense: "),
    ],
)
async def test_a_query_that_makes_no_sense_is_composed_anew(
    graph: Open, query: Callable[[ComposeQuery], Line], why: str
) -> None:
    model = composing(query, players)
    record = await ask(graph(TEAM), model, "Who plays for the Team?")
    assert model.prompts[-1].empty.startswith(why)
    assert (shown(record), record["outcome"]) == (["Ann", "Ben", "Cy", "Dan"], "grounded")


async def test_a_query_that_takes_too_long_is_not_called_empty(
    graph: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = graph(TEAM)

    async def prove(*_: Any, **__: Any) -> Any:
        raise KGTimeout("too slow")

    monkeypatch.setattr(slow, "prove", prove)
    model = composing(players, players)
    await ask(slow, model, "Who plays for the Team?", refines=1)
    assert model.prompts[-1].empty == "it takes too long"


@pytest.mark.parametrize("second", [{"chains": [[99]]}, {"chains": []}], ids=["malformed", "no chain"])
async def test_the_query_before_stands_where_no_other_is_composed(graph: Open, second: Line) -> None:
    model = composing(
        lambda prompt: players(prompt, missing="river"), lambda _: second, *[lambda _: second] * 3
    )
    record = await ask(graph(TEAM), model, "Who plays for the Team by the river?", refines=1)
    assert (shown(record), record["outcome"]) == (["Ann", "Ben", "Cy", "Dan"], "grounded_unverified")


async def test_what_is_missing_is_cut(graph: Open) -> None:
    model = composing(lambda prompt: players(prompt, missing="word " * 9_000), players)
    record = await ask(graph(TEAM), model, "Who plays for the Team?", refines=1)
    assert all(len(step.get("missing", "")) <= 120 for step in record["trace"])
    assert shown(record) == ["Ann", "Ben", "Cy", "Dan"]


@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
async def test_which_ends_are_read_first_does_not_change_a_query(graph: Open, first: bool) -> None:
    names = [f"p{number:03}" for number in range(400)]
    people = "".join(f'e:{name} rdfs:label "P {name}" . ' for name in names)
    crowd = graph(
        f'e:team rdfs:label "Team" ; r:player {", ".join(f"e:{name}" for name in names)} .\n{people}'
    )
    topic = f"P {names[0 if first else -1]}"

    def mates(prompt: ComposeQuery) -> Line:
        return {"chains": [[chain_number(prompt, "player", "player")]]}

    record = await once(crowd, mates, "Who are team mates of the player?", topics=[topic])
    assert topic not in shown(record) and len(record["answers"]) == 399
