"""Chains near topics, found for a whole question or for what is missing."""

import pytest

from kgqa.kg.meter import metered
from kgqa.kg.sparql.derived import BROADER
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import ANY, Chain, Entity, Hop
from kgqa.retrieval.lookups import MAX_QUERIES, Lookups
from kgqa.retrieval.retriever import Retriever
from kgqa.tests.conftest import MEMO

ANN = Entity("http://t/e/ann", "Ann")
CHILD, BORN, LEADS, MAYOR = (Hop(f"http://t/r/{name}") for name in ("child", "born_in", "led_by", "mayor"))


@pytest.fixture
def family(graph) -> SparqlGraph:
    store: SparqlGraph = graph("""
    e:ann rdfs:label "Ann" ; r:child e:bob ; r:employer e:firm . e:firm rdfs:label "Firm" .
    e:bob rdfs:label "Bob" ; r:born_in e:ulm . e:ulm rdfs:label "Ulm" ; r:mayor e:eve .
    e:eve rdfs:label "Eve" .
    """)
    return store


def likeliest(found, topic: Entity = ANN) -> Chain:
    return max(found.chains[topic], key=lambda each: each.share).chain


async def test_the_chain_that_says_the_question_is_the_likeliest(family: SparqlGraph) -> None:
    with metered() as meter:
        found = await Retriever(family, MEMO.encode).retrieve(
            "Where was the child of Ann born?", [ANN], Lookups(family)
        )
    assert likeliest(found) == Chain(ANN, (CHILD, BORN))
    assert meter.queries <= MAX_QUERIES
    (best,) = [each for each in found.chains[ANN] if each.chain == likeliest(found)]
    assert best.moves == ((CHILD,), (BORN,)) and best.named_between == 1
    assert [str(end.term) for end in found.ends[Chain(ANN, (CHILD,))]] == ["Bob"]


async def test_a_topic_is_known_by_the_name_that_the_question_has_for_it(graph) -> None:
    store = graph("""
    e:ann <http://www.w3.org/2004/02/skos/core#altLabel> "Lady Roundabout" .
    e:ann rdfs:label "Ann" ; r:led_by e:bob ; r:child e:eve .
    e:bob rdfs:label "Bob" . e:eve rdfs:label "Eve" .
    """)
    question, by_name = "Who is the child of Lady Roundabout?", "Who is the child of Ann?"
    retriever = Retriever(store, MEMO.encode)
    found = await retriever.retrieve(question, [ANN], Lookups(store))
    assert found.masked == {ANN: "Who is the child of [ENT]?"}
    assert found.names == {ANN: "Lady Roundabout"}
    as_named = await retriever.retrieve(by_name, [ANN], Lookups(store))
    assert found.chains == as_named.chains
    assert as_named.names == {ANN: "Ann"}


async def test_from_a_class_that_is_given_as_the_topic_chains_set_out_to_its_members(graph) -> None:
    store = graph("""
    e:ulm a e:Town ; rdfs:label "Ulm" ; r:mayor e:eve . e:eve rdfs:label "Eve" . e:Town rdfs:label "town" .
    """)
    town = Entity("http://t/e/Town", "town")
    found = await Retriever(store, MEMO.encode).retrieve("mayors of towns?", [town], Lookups(store))
    members = Chain(town, (Hop("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", False),))
    assert [each.chain for each in found.chains[town]][:2] == [members, members.then(MAYOR)]


async def test_what_is_missing_is_looked_for_from_the_end_of_a_chain(family: SparqlGraph) -> None:
    start = Chain(ANN, (CHILD, BORN))
    found = await Retriever(family, MEMO.encode).retrieve("mayor", [ANN], Lookups(family, [start]))
    assert likeliest(found) == start.then(MAYOR)
    assert all(each.chain.hops[:2] == start.hops for each in found.chains[ANN])


async def test_the_same_is_found_again(family: SparqlGraph) -> None:
    retriever = Retriever(family, MEMO.encode)
    one, two = [await retriever.retrieve("Who is Ann's child?", [ANN], Lookups(family)) for _ in range(2)]
    assert one.chains == two.chains


async def test_without_topics_chains_set_out_from_anything(family: SparqlGraph) -> None:
    with metered() as meter:
        found = await Retriever(family, MEMO.encode).retrieve("Who is a mayor?", [], Lookups(family))
    assert [*found.chains] == [ANY] and meter.queries <= MAX_QUERIES
    assert likeliest(found, ANY) == Chain(ANY, (MAYOR,))


async def test_without_topics_chains_set_out_from_classes(graph) -> None:
    store = graph("""
    e:ulm a e:Town ; rdfs:label "Ulm" ; r:mayor e:eve . e:eve rdfs:label "Eve" . e:Town rdfs:label "town" .
    """)
    with metered() as meter:
        found = await Retriever(store, MEMO.encode).retrieve("mayors of towns?", [], Lookups(store))
    (town,) = found.chains
    members = Chain(town, (Hop("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", False),))
    assert [each.chain for each in found.chains[town]][:2] == [members, members.then(MAYOR)]
    assert meter.queries <= MAX_QUERIES


async def test_one_step_comes_before_any_number_of_steps_unless_levels_are_asked_for(graph) -> None:
    store = graph("""
    @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
    e:oak a skos:Concept ; skos:prefLabel "Oak" ; skos:broader e:tree .
    e:tree a skos:Concept ; skos:prefLabel "Tree" ; skos:broader e:plant .
    e:plant a skos:Concept ; skos:prefLabel "Plant" .
    """)
    oak = Entity("http://t/e/oak", "Oak")
    for question, relation in (
        ("What is the broader concept of Oak?", BROADER),
        ("What is broader than Oak at any level?", f"{BROADER}+"),
    ):
        found = await Retriever(store, MEMO.encode).retrieve(question, [oak], Lookups(store))
        assert likeliest(found, oak).hops[0].relation == relation


async def test_a_chain_does_not_go_away_and_back_to_the_things_that_are_asked_for(graph) -> None:
    store = graph(
        '@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . e:south rdfs:label "South" . '
        + "".join(
            f'e:t{n} a e:Town ; rdfs:label "T{n}" ; r:region e:south . '
            f'e:w{n % 2} a e:Worker ; rdfs:label "W{n % 2}" ; r:town e:t{n} . '
            for n in range(6)
        )
    )
    south = Entity("http://t/e/south", "South")
    found = await Retriever(store, MEMO.encode).retrieve(
        "Which towns belong to the South region?", [south], Lookups(store)
    )
    assert [str(hop) for hop in likeliest(found, south).hops] == ["<-region-"]


async def test_things_that_are_asked_for_are_what_a_relation_called_so_leads_to(graph) -> None:
    store = graph("""
    e:mild rdfs:label "Mild" . e:feta rdfs:label "Feta" ; r:spiciness e:mild .
    e:veneto rdfs:label "Veneto" ; r:has_topping e:feta .
    """)
    mild = Entity("http://t/e/mild", "Mild")
    found = await Retriever(store, MEMO.encode).retrieve("Which toppings are Mild?", [mild], Lookups(store))
    assert [str(hop) for hop in likeliest(found, mild).hops] == ["<-spiciness-"]
