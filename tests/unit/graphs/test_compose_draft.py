"""Compose drafts what chains do not say: who decides it, and what follows where the draft fails."""

from collections.abc import Callable
from typing import Any

import pytest

import kgqa
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.scripted import Line, ScriptedModel
from kgqa.prompts.base import Prompt
from kgqa.prompts.compose_query import DRAFTS, ComposeQuery
from kgqa.tests.support.doubles import shown
from kgqa.tests.support.workshop import open_workshop

DRAFTED = ["describe", "draft", "validate", "run", "answer"]
PER_CITY = "SELECT ?city (COUNT(?m) AS ?n) { ?m a r:Maker ; r:city ?city } GROUP BY ?city ORDER BY ?city"
WRONG = {"sparql": "SELECT ?m { ?m r:town 'Ulm' }"}


@pytest.fixture(scope="module")
def workshop() -> SparqlGraph:
    return open_workshop()


def lines(**by_prompt: Line | list[Line] | Callable[[Any], Line]) -> ScriptedModel:
    """Return a model that writes queries: what it says to each prompt, by name; several lines in turn."""
    left = {name: list(said) if isinstance(said, list) else said for name, said in by_prompt.items()}

    def line(prompt: Prompt[Any]) -> Line:
        said = left.get(prompt.name, {"answers": []})
        if isinstance(said, list):
            return said.pop(0)
        return said(prompt) if callable(said) else said

    return ScriptedModel(line, writes_sparql=True)


def first_chain(prompt: ComposeQuery) -> Line:
    return {"chains": [[1]]}


async def ask(question: str, kg: Any, model: Any, **options: Any) -> kgqa.Record:
    return await kgqa.aask(question, kg=kg, model=model, method="compose", allow_parametric=False, **options)


def nodes(record: kgqa.Record) -> list[str]:
    return [entry["node"] for entry in record["trace"]]


def prompts(model: ScriptedModel) -> list[str]:
    return [prompt.name for prompt in model.prompts]


IN_ULM = "SELECT ?city (COUNT(?m) AS ?n) { ?m a r:Maker ; r:city ?city FILTER(?city = 'Ulm') } GROUP BY ?city"


@pytest.mark.parametrize(
    ("question", "query", "rows"),
    [
        ("How many makers has each city?", PER_CITY, [["Bonn", "1"], ["Ulm", "2"]]),
        ("How many makers are in Ulm?", IN_ULM, [["Ulm", "2"]]),
    ],
)
async def test_where_no_entity_is_named_the_draft_is_the_one_call(
    question: str, query: str, rows: list[list[str]], workshop: SparqlGraph
) -> None:
    model = lines(draft_query={"sparql": query, "columns": ["city", "makers"]})
    record = await ask(question, workshop, model)
    assert (prompts(model), record["usage"]["llm_calls"]) == (["draft_query"], 1)
    assert nodes(record)[-6:] == ["retrieve", *DRAFTED]
    table = record["table"]
    assert table is not None
    assert [[cell and cell["name"] for cell in row] for row in table["rows"]] == rows


async def test_the_record_of_a_draft_is_that_of_the_method_draft(workshop: SparqlGraph) -> None:
    records = [
        await kgqa.aask(
            "How many makers has each city?",
            kg=workshop,
            model=lines(draft_query={"sparql": PER_CITY}),
            method=method,
        )
        for method in ("compose", "draft")
    ]
    composed, drafted = ({**each, "trace": 0, "usage": 0, "config": 0, "method": 0} for each in records)
    assert composed == drafted
    assert composed["outcome"] == "grounded"
    assert composed["query"].endswith(PER_CITY)


async def test_where_an_entity_is_named_the_reply_decides(workshop: SparqlGraph) -> None:
    query = "SELECT (SUM(?w) AS ?n) { ?t r:madeBy e:m2 ; r:weight ?w }"
    model = lines(compose_query={"chains": [], "draft": True}, draft_query={"sparql": query})
    record = await ask("What is the total weight of the tools that Bolt makes?", workshop, model)
    assert prompts(model) == ["compose_query", "draft_query"]
    assert nodes(record)[-6:] == ["compose", *DRAFTED]
    assert shown(record) == ["19"]
    assert model.prompts[0].case().endswith(f"{DRAFTS}\nReply:")


async def test_what_is_counted_stands_where_a_draft_fails(workshop: SparqlGraph) -> None:
    counted = {"chains": [[1]], "count": True, "draft": True}
    model = lines(compose_query=counted, draft_query={"sparql": ""})
    record = await ask("How many tools does Bolt make?", workshop, model)
    assert (record["outcome"], len(record["answers"])) == ("grounded_unverified", 1)


async def test_what_is_missing_and_not_found_is_drafted(workshop: SparqlGraph) -> None:
    query = "SELECT (SUM(?w) AS ?n) { ?t r:madeBy e:m2 ; r:weight ?w }"
    model = lines(
        compose_query={"chains": [[1]], "missing": "zebras"},
        draft_query={"sparql": query, "unsaid": ["zebras"]},
    )
    record = await ask("What is the total weight of the tools that Bolt makes for zebras?", workshop, model)
    assert prompts(model) == ["compose_query", "draft_query"]
    assert nodes(record)[-7:] == ["compose", "retrieve", *DRAFTED]
    assert record["outcome"] == "grounded_unverified"


async def test_a_draft_that_stays_wrong_leads_back_to_one_composed_query(workshop: SparqlGraph) -> None:
    model = lines(draft_query=WRONG, compose_query=first_chain)
    record = await ask("Which makers are in Ulm?", workshop, model, refines=1)
    assert prompts(model) == ["draft_query", "draft_query", "compose_query"]
    assert nodes(record)[-4:] == ["retrieve", "compose", "compute", "answer"]
    assert sorted(shown(record)) == ["Acme", "Cog"]
    assert DRAFTS not in model.prompts[-1].case()


@pytest.mark.parametrize(
    "draft",
    [
        {"sparql": "", "missing": "owners"},
        {"sparql": "SELECT ?m { ?m a r:Maker ; r:city ?c FILTER(?c > 'Z') }"},
        "no JSON at all",
    ],
)
async def test_a_draft_without_an_answer_leads_back_too(draft: Line, workshop: SparqlGraph) -> None:
    model = lines(draft_query=draft, compose_query=first_chain)
    record = await ask("Which makers are in Ulm?", workshop, model)
    assert (sorted(shown(record)), record["outcome"]) == (["Acme", "Cog"], "grounded")
    assert prompts(model).count("compose_query") == 1


@pytest.mark.parametrize(
    "reply", [{"chains": []}, {"chains": [[1]], "missing": "owners"}, {"chains": [], "draft": True}]
)
async def test_after_a_draft_nothing_is_composed_twice_and_nothing_explored(
    reply: Line, workshop: SparqlGraph
) -> None:
    model = lines(draft_query=WRONG, compose_query=reply)
    record = await ask("Which makers are in Ulm?", workshop, model, refines=0)
    assert prompts(model) == ["draft_query", "compose_query"]
    assert record["outcome"] in {"none", "grounded_unverified"}


async def test_what_was_composed_before_a_failed_draft_is_computed_and_unverified(
    workshop: SparqlGraph,
) -> None:
    reply = {"chains": [[1]], "draft": True}
    model = lines(compose_query=reply, draft_query=WRONG)
    record = await ask("What does Bolt make for each of the others?", workshop, model, refines=0)
    assert prompts(model) == ["compose_query", "draft_query"]
    assert nodes(record)[-3:] == ["retrieve", "compute", "answer"]
    assert (bool(record["answers"]), record["outcome"]) == (True, "grounded_unverified")


async def test_without_the_option_all_is_composed(workshop: SparqlGraph) -> None:
    model = lines(compose_query=lambda prompt: {"chains": [[1]], "draft": True})
    record = await ask("Which makers are in Ulm?", workshop, model, draft=False)
    assert prompts(model) == ["compose_query"]
    assert "describe" not in nodes(record)
    assert DRAFTS not in model.prompts[0].case()


async def test_a_model_that_writes_no_queries_composes(workshop: SparqlGraph) -> None:
    silent = ScriptedModel(lambda prompt: {"chains": [[1]]})
    record = await ask("Which makers are in Ulm?", workshop, silent)
    assert {"retrieve", "compose"} <= {*nodes(record)}
    assert "describe" not in nodes(record)
    assert sorted(shown(record)) == ["Acme", "Cog"]


@pytest.mark.parametrize(
    ("question", "expected", "drafted"),
    [
        ("Which makers are in Ulm?", ["Acme", "Cog"], []),  # sure of its chains
        ("How many tools has each maker?", ["Acme", "Bolt"], [True]),
        ("Which zebras does Bolt make?", ["Felling axe", "Fine saw", "Hatchet"], []),  # of a thing it names
    ],
)
async def test_offline_what_names_no_thing_is_drafted_where_chains_are_not_sure(
    question: str, expected: list[str], drafted: list[bool], workshop: SparqlGraph
) -> None:
    record = await ask(question, workshop, "offline")
    assert sorted(shown(record)) == expected
    assert ["missing" not in entry for entry in record["trace"] if entry["node"] == "draft"] == drafted


async def test_a_graph_without_classes_is_drafted_over(graph: Any) -> None:
    plain = graph('e:ann rdfs:label "Ann" ; r:born "1961" . e:ben rdfs:label "Ben" ; r:born "1970" .')
    model = lines(draft_query={"sparql": 'SELECT ?x { ?x r:born "1961" }'})
    record = await ask("Who was born in 1961?", plain, model)
    assert nodes(record)[-5:] == DRAFTED
    assert shown(record) == ["Ann"]


async def test_a_yes_or_no_about_classes_is_drafted_and_one_about_an_entity_is_claimed(
    workshop: SparqlGraph,
) -> None:
    model = lines(draft_query={"sparql": "ASK { ?m a r:Maker FILTER NOT EXISTS { ?t r:madeBy ?m } }"})
    record = await ask("Is there a maker without tools?", workshop, model)
    assert (prompts(model), shown(record), record["outcome"]) == (["draft_query"], ["yes"], "grounded")
    model = lines(judge_claim={"verdict": "yes", "favour": [1]})
    record = await ask("Is Acme in Ulm?", workshop, model)
    assert (prompts(model), shown(record)) == (["judge_claim"], ["yes"])
