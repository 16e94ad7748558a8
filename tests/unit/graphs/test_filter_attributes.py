"""Filters by attributes: conditions that the graph decides, for all candidates; picks only beside them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

import kgqa
from kgqa.kg.errors import KGTimeout
from kgqa.kg.proof.query import Aggregate
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Hop
from kgqa.models.scripted import Line, ScriptedModel
from kgqa.nodes import attributes, filter
from kgqa.priors.errors import EncoderError
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.state import VerifiedChain
from kgqa.tests.support.doubles import Flaky, shown
from kgqa.tests.support.guided import choose, playing

TEAM = """
e:team rdfs:label "Team" ; r:roster _:b1, _:b2, _:b3 .
_:b1 r:player e:ann ; r:number 22 . _:b2 r:player e:ben ; r:number 7 . _:b3 r:player e:cy ; r:number 9 .
e:ann rdfs:label "Ann" ; a e:Person ; r:born "1961-05-03" ; r:from e:ulm .
e:ben rdfs:label "Ben" ; a e:Person, e:Star ; r:born "1970" ; r:from e:bonn .
e:cy rdfs:label "Cy" ; a e:Person ; r:born "1985-01-01" ; r:from e:ulm .
e:ulm rdfs:label "Ulm" ; r:in e:land . e:bonn rdfs:label "Bonn" ; r:in e:land .
e:Person rdfs:label "Person" . e:land rdfs:label "Land" .
"""

QUESTION = "Which player of the Team with number 22 comes from Ulm?"

Open = Callable[[str], SparqlGraph]


def filtering(*replies: Line) -> ScriptedModel:
    """A model that goes from the team to its players, and filters them by these replies."""
    left = list(replies)

    def line(prompt: Any) -> Line:
        if prompt.name == "prune_relations":
            return choose("roster player", "roster")(prompt)
        if prompt.name == "verify_chain":
            return {"decision": "filter"}
        if prompt.name != "apply_conditions":
            return {"answers": []}
        reply = left.pop(0)
        return reply(prompt) if callable(reply) else reply

    return ScriptedModel(line)


def state(model: ScriptedModel) -> Any:
    return next(prompt for prompt in model.prompts if prompt.name == "apply_conditions")


def where(*conditions: tuple[str, str, str], **beside: Any) -> dict[str, Any]:
    keys = ("attribute", "operator", "value")
    return {"conditions": [dict(zip(keys, each, strict=True)) for each in conditions], **beside}


@pytest.fixture
def no_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    async def none(*_: Any) -> Any:
        raise EncoderError("there is none")

    monkeypatch.setattr(NodeRuntime, "encode", none)


async def ask(
    graph: Any, model: ScriptedModel, question: str = QUESTION, method: str = "cor", **options: Any
) -> kgqa.Record:
    options = {"allow_parametric": False, **options}
    return await kgqa.aask(question, topics=["Team"], kg=graph, model=model, method=method, **options)


async def test_the_filter_sees_what_the_graph_knows_and_what_the_question_names(graph: Open) -> None:
    model = filtering({"fits": "none"})
    await ask(graph(TEAM), model)
    lines = state(model).case().splitlines()
    assert lines[3:] == [
        'A. ?1 -number-> "22", "7", "9" (3 candidates)',
        'B. ?2 -from-> "Ulm", "Bonn" (3 candidates)',
        'C. ?2 -born-> "1961-05-03", "1970", "1985-01-01" (3 candidates)',
        "D. ?2 -label-> its name",
        'Types: "Star" (1 candidate)',
        'Found near the candidates: "22": A of "Ann"',
        'Found near the candidates: "Ulm": B of "Ann", B of "Cy"',
        "Candidates (3):",
        '1. "Ann" (A "22"; B "Ulm"; C "1961-05-03")',
        '2. "Ben" ("Star"; A "7"; B "Bonn"; C "1970")',
        '3. "Cy" (A "9"; B "Ulm"; C "1985-01-01")',
        "Reply:",
    ]


@pytest.mark.parametrize(
    ("reply", "answers"),
    [
        (where(("A", "=", "22")), ["Ann"]),
        (where(("B", "=", "Ulm"), ("A", "!=", "22")), ["Cy"]),
        (where(("B", "not exists", "Ulm")), ["Ben"]),
        (where(("", "type", "Star")), ["Ben"]),
        (where(("B", "=", "Ulm"), extreme="smallest", by="A"), ["Cy"]),
        ({"extreme": "smallest", "by": "C"}, ["Ann"]),
        ({"extreme": "second smallest", "by": "C"}, ["Ben"]),
        (where(("B", "=", "Ulm"), count=True), ["2"]),
        ({"count": True}, ["3"]),
        ({"fits": "all"}, ["Ann", "Ben", "Cy"]),
        ({"fits": "all", "count": True}, ["3"]),
    ],
)
async def test_conditions_are_decided_by_the_graph(graph: Open, reply: Any, answers: list[str]) -> None:
    asked = f"{QUESTION[:-1]} and came first?" if "extreme" in reply else QUESTION
    record = await ask(graph(TEAM), filtering(reply), asked)
    assert (shown(record), record["outcome"]) == (answers, "grounded")
    assert {condition["by"] for condition in record["conditions"]} <= {"graph"}


async def test_what_no_attribute_says_is_picked_and_inferred(graph: Open) -> None:
    record = await ask(graph(TEAM), filtering({"chosen": [2], "words": "the best"}))
    assert (shown(record), record["outcome"]) == (["Ben"], "grounded_inference")
    assert [(each["words"], each["by"]) for each in record["conditions"]] == [("the best", "model")]


async def test_a_number_that_the_question_does_not_say_is_the_models(graph: Open) -> None:
    record = await ask(graph(TEAM), filtering(where(("A", "=", "7"))))
    assert (shown(record), record["outcome"]) == (["Ben"], "grounded_inference")
    assert [each["by"] for each in record["conditions"]] == ["model"]


async def test_what_is_picked_beside_a_condition_meets_it(graph: Open) -> None:
    record = await ask(graph(TEAM), filtering(where(("B", "=", "Ulm"), chosen=[2, 3], words="the best")))
    assert (shown(record), record["outcome"]) == (["Cy"], "grounded_inference")
    assert [each["by"] for each in record["conditions"]] == ["graph", "model"]


@pytest.mark.parametrize(
    "reply", [{"fits": "none"}, where(("A", "=", "1000")), where(("A", "=", "22"), ("B", "=", "Bonn"))]
)
async def test_where_none_fits_the_search_turns_back(graph: Open, reply: Any) -> None:
    record = await ask(graph(TEAM), filtering(reply))
    assert (shown(record), record["outcome"]) == ([], "none")
    assert [entry["decision"] for entry in record["trace"] if entry["node"] == "filter"] == ["backtrack"]


async def test_what_has_no_value_fails_unless_the_reply_keeps_it(graph: Open) -> None:
    def line(prompt: Any, *, unknown: bool) -> Line:
        letter = next(name for name, each in prompt.known.lettered.items() if each.words == "born")
        stated = {"attribute": letter, "operator": "<", "value": "1969", "unknown": unknown}
        return {"conditions": [stated]}

    team = TEAM.replace('; r:born "1970"', "")
    for unknown, answers, by in ((False, ["Ann"], "graph"), (True, ["Ann", "Ben"], "model")):
        model = filtering(partial(line, unknown=unknown))
        record = await ask(graph(team), model, "Which player of the Team was born before 1969?")
        assert (shown(record), [each["by"] for each in record["conditions"]]) == (answers, [by])


async def test_a_part_of_the_name_of_what_candidates_have_is_checked(graph: Open) -> None:
    team = f"""{TEAM}
    e:ann r:plays e:lex . e:ben r:plays e:clark . e:cy r:plays e:lena .
    e:lex rdfs:label "Lex Luthor" . e:clark rdfs:label "Clark" . e:lena rdfs:label "Lena Luthor" .
    """

    def line(prompt: Any) -> Line:
        letter = next(name for name, each in prompt.known.lettered.items() if each.words == "plays")
        return where((letter, "contains", "Luthor"))

    record = await ask(graph(team), filtering(line), "Which player of the Team plays a Luthor?")
    assert (shown(record), record["outcome"]) == (["Ann", "Cy"], "grounded")


async def test_what_all_candidates_are_called_is_not_said_to_be_missing(graph: Open) -> None:
    store = graph("""
    e:team rdfs:label "Team" ; r:won e:a, e:b . e:series rdfs:label "World Series" .
    e:a rdfs:label "1959 World Series" ; r:games 6 . e:b rdfs:label "1963 World Series" ; r:games 4 .
    """)
    model = playing(
        prune_relations=choose("won"), verify_chain={"decision": "filter"}, apply_conditions={"fits": "none"}
    )
    await ask(store, model, "Which World Series did the Team win in 6 games?")
    assert "Not found" not in state(model).case()


async def test_a_name_is_compared_by_the_graph(graph: Open) -> None:
    asking = "Which players of the Team have an n in the name?"
    record = await ask(graph(TEAM), filtering(where(("D", "contains", "N"))), asking)
    assert (shown(record), record["outcome"]) == (["Ann", "Ben"], "grounded")
    assert [each["by"] for each in record["conditions"]] == ["graph"]


@pytest.mark.parametrize(
    ("replies", "answers"),
    [
        ([{"missing": "height"}], ["Ann", "Ben", "Cy"]),
        ([where(("B", "=", "Ulm"), missing="height")], ["Ann", "Cy"]),
        ([{}, {}], ["Ann", "Ben", "Cy"]),
        (["no reply"], ["Ann", "Ben", "Cy"]),
    ],
)
async def test_what_cannot_be_decided_stays_unverified(graph: Open, replies: Any, answers: list[str]) -> None:
    record = await ask(graph(TEAM), filtering(*replies))
    assert (shown(record), record["outcome"]) == (answers, "grounded_unverified")
    assert record["conditions"][-1]["by"] is None


async def test_what_is_missing_is_looked_for_among_what_was_not_shown(
    graph: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attributes, "MAX_SHOWN", 1)
    model = filtering({"missing": "born"}, where(extreme="smallest", by="C"))
    record = await ask(graph(TEAM), model, "Which of the Team is oldest?")
    first, second = (prompt for prompt in model.prompts if prompt.name == "apply_conditions")
    assert not first.final and second.final
    assert [each.words for each in second.known.listed] == [*(e.words for e in first.known.listed), "born"]
    assert (shown(record), record["outcome"]) == (["Ann"], "grounded")


@pytest.mark.usefixtures("no_encoder")
@pytest.mark.parametrize(("missing", "asked"), [("height", 1), ("number", 2)])
async def test_a_lone_attribute_is_shown_only_if_it_is_like_what_is_missing(
    graph: Open, monkeypatch: pytest.MonkeyPatch, missing: str, asked: int
) -> None:
    monkeypatch.setattr(attributes, "MAX_SHOWN", 1)
    model = filtering({"missing": missing}, {"missing": missing})
    await ask(graph(TEAM), model, "Which of the Team was born first?")
    prompts = [prompt for prompt in model.prompts if prompt.name == "apply_conditions"]
    assert len(prompts) == asked
    assert "born" in prompts[0].case() and ("number" in prompts[-1].case()) == (asked == 2)


def hub(ends: int) -> str:
    lines = (
        f'e:n{at:04} rdfs:label "{at:04} Doe" ; r:size {at} . _:b{at} r:player e:n{at:04} .'
        for at in range(ends)
    )
    rosters = ", ".join(f"_:b{at}" for at in range(ends))
    return f'e:team rdfs:label "Team" ; r:roster {rosters} .\n' + "\n".join(lines)


async def test_a_condition_is_of_all_candidates_shown_or_not(graph: Open) -> None:
    model = filtering(where(("A", ">=", "2990")))
    record = await ask(graph(hub(3_000)), model, "Which players have a size from 2990?")
    assert len(state(model).offered) < 3_000 and len(model.prompts) == 2
    assert (len(record["answers"]), record["outcome"]) == (10, "grounded")


async def test_a_lot_that_nobody_judged_leaves_it_unverified(graph: Open) -> None:
    model = filtering(where(("A", ">=", "2990"), chosen=[1], words="the best"))
    record = await ask(graph(hub(3_000)), model, "Which players have a size from 2990?")
    assert record["outcome"] == "grounded_unverified"
    best = {"chosen": [1, 2], "count": True, "words": "the best"}
    record = await ask(graph(hub(3_000)), filtering(best, "no reply", best))
    assert [entry["kept"] for entry in record["trace"] if "kept" in entry] == [2]
    assert None in [condition["by"] for condition in record["conditions"]]
    assert record["outcome"] != "grounded"


@pytest.mark.parametrize("first", [{"missing": "height"}, {"chosen": [1], "words": "the best"}])
async def test_a_condition_does_not_judge_what_an_earlier_lot_left(graph: Open, first: Any) -> None:
    model = filtering(first, where(("A", ">=", "2990")))
    record = await ask(graph(hub(3_000)), model, "Which players have a size from 2990?")
    assert (len(record["answers"]), record["outcome"]) == (10, "grounded_unverified")


async def test_a_count_that_any_lot_asks_for_is_of_what_the_graph_decides(graph: Open) -> None:
    model = filtering({"chosen": [1], "words": "the best", "count": True}, where(("A", ">=", "2990")))
    record = await ask(graph(hub(3_000)), model, "How many players have a size from 2990?")
    assert shown(record) == ["10"]


async def test_an_extreme_that_the_graph_has_decided_stays_where_the_rest_is_picked(
    graph: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    oldest = Aggregate("argmin", (Hop("http://t/r/born"),))
    judge_lots, aggregates = filter._judge_lots, []

    async def judge(prompt: Any, branch: VerifiedChain, *others: Any) -> Any:
        kept, limit, why = await judge_lots(prompt, replace(branch, aggregate=oldest), *others)
        aggregates.append(kept.aggregate)
        return kept, limit, why

    monkeypatch.setattr(filter, "_judge_lots", judge)
    await ask(graph(TEAM), filtering({"chosen": [2], "words": "the best"}))
    assert aggregates == [oldest]


@pytest.mark.parametrize("operation", ["chain_attributes", "link"])
async def test_where_attributes_take_too_long_candidates_are_picked(graph: Open, operation: str) -> None:
    model = filtering({"chosen": [1], "words": "number 22"})
    record = await ask(Flaky(graph(TEAM), operation, KGTimeout("slow")), model)
    assert shown(record) == ["Ann"]
    assert ("Attributes: none" in state(model).case()) == (operation == "chain_attributes")


@pytest.mark.usefixtures("no_encoder")
async def test_without_an_encoder_attributes_are_ordered_by_words(graph: Open) -> None:
    record = await ask(graph(TEAM), filtering(where(("A", "=", "22"))))
    assert shown(record) == ["Ann"]


async def test_without_attributes_names_are_chosen(graph: Open) -> None:
    def line(prompt: Any) -> Line:
        return filtering()._line(prompt) if prompt.name != "filter_candidates" else {"chosen": [1]}

    model = ScriptedModel(line)
    record = await ask(graph(TEAM), model, attributes=False)
    assert model.prompts[-1].name == "filter_candidates"
    assert (shown(record), record["outcome"]) == (["Ann"], "grounded_inference")


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Which was born on 3 May 1961?", "3 May 1961"),
        ("Which was born on May 3, 1961?", "May 3, 1961"),
        ("Which was born in May 1961?", "May 1961"),
        ("Which was born in 1961?", "1961"),
        ("Which was born on 1961-05-03?", "1961-05-03"),
        ("Which has the number '22'?", "22"),
        ("Which is from Ulm?", "Ulm"),
    ],
)
async def test_names_numbers_dates_and_quoted_text_are_looked_for(
    graph: Open, question: str, found: str
) -> None:
    model = filtering({"fits": "none"})
    await ask(graph(TEAM), model, question)
    assert f'Found near the candidates: "{found}"' in state(model).case()


async def test_what_is_not_found_is_said_and_topics_are_not_looked_for(graph: Open) -> None:
    model = filtering({"fits": "none"})
    await ask(graph(TEAM), model, "Which player of the Team has number 99, and lives in Land?")
    assert 'Not found near the candidates: "Land"' in state(model).case()
