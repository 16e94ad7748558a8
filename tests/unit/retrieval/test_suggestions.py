"""Questions made of a profile, and what the graph answers to them."""

from collections.abc import AsyncIterator

import pytest

from kgqa.kg.profile.profile import UNTYPED, ClassProfile, Profile, PropertyProfile, Wording
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Entity, Literal
from kgqa.retrieval.suggestions import MAX_ANSWERS, MAX_NAME_CHARS, QuestionMaker, Suggestion
from kgqa.tests.support.kg_fixtures import MakeGraph

XSD = "http://www.w3.org/2001/XMLSchema#"

SHOP = """
:saw a :Tool ; rdfs:label "Big Saw" ; :hasMaker :acme ; :width 7 ; :colour "red" ; :made_in :ulm .
:axe a :Tool ; rdfs:label "Axe" ; :hasMaker :acme, :best ; :width 9 ; :colour "blue" ; :made_in :ulm .
:acme a :ToolMaker ; rdfs:label "Acme" ; :city :ulm .
:best a :ToolMaker ; rdfs:label "Best" ; :city :ulm .
:ulm rdfs:label "Ulm" .
"""


def x(name: str) -> str:
    return f"http://x/{name}"


SAW, AXE = Entity(x("saw"), "Big Saw"), Entity(x("axe"), "Axe")

MAKER = PropertyProfile(x("hasMaker"), having=2, facts=3, ends={x("ToolMaker"): 3}, distinct=2)
MADE_IN = PropertyProfile(x("made_in"), having=2, facts=2, ends={UNTYPED: 2}, distinct=1)
COLOUR = PropertyProfile(
    x("colour"), 2, 2, distinct=2, values=(Literal("blue"), Literal("red")), is_enumeration=True
)
WIDTH = PropertyProfile(
    x("width"),
    2,
    2,
    distinct=2,
    least=Literal("7", f"{XSD}integer"),
    most=Literal("9", f"{XSD}integer"),
)
CITY = PropertyProfile(x("city"), 2, 2, ends={UNTYPED: 2}, distinct=1)

MAKERS = ClassProfile(x("ToolMaker"), 2, 2, examples=(Entity(x("acme"), "Acme"),), properties=(CITY,))


def tools(*properties: PropertyProfile, **fields: object) -> ClassProfile:
    given = {"id": x("Tool"), "examples": (SAW, AXE), **fields}
    return ClassProfile(members=2, read=2, properties=properties, **given)  # type: ignore[arg-type]


@pytest.fixture
def shop(make_graph: MakeGraph) -> SparqlGraph:
    return make_graph(SHOP)


async def asked(graph: SparqlGraph, *classes: ClassProfile) -> dict[str, list[str]]:
    """Return the questions of all kinds with the names of their answers."""
    kinds = QuestionMaker(graph, Profile(classes), classes).kinds()
    made = [each for kind in kinds for each in await collected(kind)]
    return {each.question: [str(answer) for answer in each.answers] for each in made}


async def collected(kind: AsyncIterator[Suggestion]) -> list[Suggestion]:
    return [each async for each in kind]


async def test_an_entity_is_asked_for_what_it_has(shop: SparqlGraph) -> None:
    made = await asked(shop, tools(MAKER))
    assert made["What is the maker of Big Saw?"] == ["Acme"]


async def test_several_answers_are_asked_for_in_the_plural(shop: SparqlGraph) -> None:
    made = await asked(shop, tools(MAKER, examples=(AXE,)))
    assert made["What are the makers of Axe?"] == ["Acme", "Best"]


async def test_a_relation_that_ends_in_a_preposition_is_no_noun(shop: SparqlGraph) -> None:
    made = await asked(shop, tools(MADE_IN))
    assert made["What is Big Saw made in?"] == ["Ulm"]
    assert made["Which tools are made in Ulm?"] == ["Axe", "Big Saw"]


async def test_members_are_asked_for_by_what_they_lead_to(shop: SparqlGraph) -> None:
    made = await asked(shop, tools(MAKER))
    assert made["Which tools have maker Acme?"] == ["Axe", "Big Saw"]


async def test_members_are_asked_for_by_a_value(shop: SparqlGraph) -> None:
    assert (await asked(shop, tools(COLOUR)))["Which tools have colour blue?"] == ["Axe"]


async def test_members_are_counted_and_listed(shop: SparqlGraph) -> None:
    made = await asked(shop, MAKERS)
    assert made["How many tool makers are there?"] == ["2"]
    assert made["Which tool makers are there?"] == ["Acme", "Best"]


async def test_members_of_subclasses_count(make_graph: MakeGraph) -> None:
    graph = make_graph(f'{SHOP} :hammer a :Hammer ; rdfs:label "Hammer" .')
    hammers = ClassProfile(x("Hammer"), 1, 1, superclasses=(x("Tool"),), examples=(Entity(x("hammer"), "H"),))
    assert (await asked(graph, tools(), hammers))["How many tools are there?"] == ["3"]


async def test_the_extreme_of_a_number_is_asked_for(shop: SparqlGraph) -> None:
    assert (await asked(shop, tools(WIDTH)))["Which tool has the highest width?"] == ["Axe"]


async def test_two_hops_are_asked_for_in_one_question(shop: SparqlGraph) -> None:
    single = PropertyProfile(x("hasMaker"), having=2, facts=2, ends={x("ToolMaker"): 2})
    made = await asked(shop, tools(single), MAKERS)
    assert made["What is the city of the maker of Big Saw?"] == ["Ulm"]


async def test_values_of_an_entity_are_counted_where_there_are_several(shop: SparqlGraph) -> None:
    made = await asked(shop, tools(MAKER))
    assert made["How many makers does Axe have?"] == ["2"]
    assert "How many makers does Big Saw have?" not in made


async def test_nodes_without_a_class_are_asked_about_too(shop: SparqlGraph) -> None:
    made = await asked(shop, tools(MAKER, id=UNTYPED))
    assert made["What has maker Acme?"] == ["Axe", "Big Saw"]
    assert not any(question.startswith("How many") and "there" in question for question in made)


async def test_names_of_the_graph_are_used_before_those_of_iris(
    make_graph: MakeGraph,
) -> None:
    graph = make_graph(':saw a :Tool ; rdfs:label "Saw" ; :P1 :ulm . :ulm rdfs:label "Ulm" .')
    owner = tools(PropertyProfile(x("P1"), 1, 1, ends={UNTYPED: 1}), examples=(Entity(x("saw"), "Saw"),))
    named = Profile((owner,), {x("P1"): Wording((Literal("origin", language="en"),))})
    made = [each for kind in QuestionMaker(graph, named, [owner]).kinds() for each in await collected(kind)]
    assert "What is the origin of Saw?" in [each.question for each in made]


async def test_neither_names_nor_identifiers_nor_long_texts_are_asked_for(shop: SparqlGraph) -> None:
    long = PropertyProfile(x("width"), 2, 2, values=(Literal("w" * (MAX_NAME_CHARS + 1)),))
    made = await asked(shop, tools(COLOUR, MAKER, long, naming=(x("colour"),), identifiers=(x("hasMaker"),)))
    assert set(made) == {"How many tools are there?", "Which tools are there?"}


async def test_a_question_with_too_many_answers_is_none(make_graph: MakeGraph) -> None:
    several = "".join(
        f':t{n} a :Tool ; rdfs:label "Tool {n}" ; :colour "red" .' for n in range(MAX_ANSWERS + 1)
    )
    assert set(await asked(make_graph(several), tools(COLOUR))) == {"How many tools are there?"}


async def test_what_is_called_by_an_id_is_not_asked_for(make_graph: MakeGraph) -> None:
    graph = make_graph(':saw a :Tool ; rdfs:label "Saw" ; :P27 :ulm . :ulm rdfs:label "Ulm" .')
    made = await asked(graph, tools(PropertyProfile(x("P27"), 1, 1, ends={UNTYPED: 1}), examples=(SAW,)))
    assert not any("p27" in question for question in made)


async def test_what_is_said_of_the_data_is_not_asked_for(make_graph: MakeGraph) -> None:
    reviewed = "http://rdf.freebase.com/ns/freebase.valuenotation.is_reviewed"
    kind = "http://rdf.freebase.com/ns/common.topic.notable_types"
    graph = make_graph(
        f':saw <{kind}> :Tool ; rdfs:label "Saw" ; <{reviewed}> :ulm . :ulm rdfs:label "Ulm" .'
    )
    assert graph.dialect == "freebase"
    made = await asked(graph, tools(PropertyProfile(reviewed, 1, 1, ends={UNTYPED: 1})))
    assert not any("reviewed" in question for question in made)


async def test_a_value_that_is_no_text_of_words_is_not_asked_by(make_graph: MakeGraph) -> None:
    graph = make_graph(':euro a :Tool ; rdfs:label "Euro" ; :sign "€", "EUR" .')
    signs = PropertyProfile(x("sign"), 1, 2, values=(Literal("€"), Literal("EUR")), is_enumeration=True)
    made = await asked(graph, tools(signs, examples=(Entity(x("euro"), "Euro"),)))
    assert "Which tools have sign EUR?" in made and "Which tools have sign €?" not in made


async def test_a_name_that_several_have_is_passed_over(make_graph: MakeGraph) -> None:
    graph = make_graph(f'{SHOP} :other a :City ; rdfs:label "Big Saw" .')
    made = await asked(graph, tools(MAKER))
    assert "What are the makers of Axe?" in made and "What is the maker of Big Saw?" not in made


async def test_numbers_are_not_counted(make_graph: MakeGraph) -> None:
    graph = make_graph(':saw a :Tool ; rdfs:label "Big Saw" ; :width 7, 8 .')
    width = PropertyProfile(x("width"), 1, 2, least=Literal("7"), most=Literal("8"))
    assert "How many widths does Big Saw have?" not in await asked(graph, tools(width, examples=(SAW,)))


async def test_classes_that_were_read_whole_are_counted_first(shop: SparqlGraph) -> None:
    large = ClassProfile(x("Tool"), 2000, 2, examples=(SAW,))
    made = [question for question in await asked(shop, large, MAKERS) if question.endswith("are there?")]
    assert made[0] == "How many tool makers are there?"
