"""Chains that set out from anything, and from the classes that a question names."""

import pytest

from kgqa.kg.meter import metered
from kgqa.kg.proof.query import AnswerQuery, Branch
from kgqa.kg.sparql import chain_queries
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Triple
from kgqa.kg.text import in_singular

PEOPLE = """
:ann :age 31 ; :likes :ann, :bob ; rdfs:label "Ann"@en ; a :Person .
:bob :age 7 ; :likes :cy ; rdfs:label "Bob"@en ; a :Person, :ArtSchool .
:cy :likes :bob ; rdfs:label "Cy"@en . :firm :name "Person"@en ; rdfs:label "person"@en ; :likes :ann .
:Person rdfs:label "person"@en . :ArtSchool rdfs:label "art school"@en . :School rdfs:label "school"@en .
:dee a :School ; rdfs:label "Dee"@en .
"""

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def x(name):
    return Entity(f"http://x/{name}")


def anything(*hops):
    return Chain(ANY, tuple(Hop(f"http://x/{hop.lstrip('^')}", not hop.startswith("^")) for hop in hops))


@pytest.fixture
def people(make_graph):
    return make_graph(PEOPLE.replace(" a :", f" <{TYPE}> :"))


@pytest.mark.parametrize(
    ("hops", "names"),
    [
        (("^age",), "Ann Bob"),
        (("age",), "31 7"),
        (("likes",), "Ann Bob Cy"),
        (("^age", "likes"), "Ann Bob Cy"),
        (("^age", "likes", "likes"), "Ann Bob Cy"),
        (("^weighs",), ""),
    ],
)
async def test_it_leads_to_what_its_hops_lead_to_from_anywhere(people, hops, names):
    ends = await people.follow_chain(anything(*hops))
    assert " ".join(str(end.term) for end in ends) == names
    assert not ends.truncated and not any(end.returning for end in ends)
    terms = [end.term for end in ends]
    assert await people.reached_ends(anything(*hops), [*terms, x("firm")]) == {*terms}


async def test_every_relation_leads_on_from_anything_without_a_query(people):
    with metered() as meter:
        (visit,) = await people.visit_chains([Chain(ANY)])
    assert [str(hop) for hop in visit.hops] == [
        "-age->", "<-age-", "-likes->", "<-likes-", "-name->", "<-name-"
    ]  # fmt: skip
    assert not len(visit.ends) and not meter.queries


async def test_of_a_relation_with_many_facts_the_first_are_read_and_the_page_says_so(people, monkeypatch):
    monkeypatch.setattr(chain_queries, "MAX_TRIPLES_SCANNED", 4)
    for chain in (anything("likes"), anything("^likes", "likes")):
        (visit,) = await people.visit_chains([chain])
        assert visit.ends.truncated and visit.hops.truncated
    (visit,) = await people.visit_chains([anything("^age")])
    assert not visit.ends.truncated and not visit.hops.truncated


async def test_a_path_begins_where_it_sets_out_from(people):
    (path, none) = await people.trace_chain(anything("^age", "likes"), [x("cy"), x("firm")])
    age, likes = path
    assert (age.head, age.tail.value, none) == (x("bob"), "7", ())
    assert likes == Triple(x("bob"), "http://x/likes", x("cy"))


async def test_an_answer_query_has_a_blank_node_for_it(people):
    query = AnswerQuery((Branch(anything("^age"), (1,), fresh=True),), 1)
    proof = await people.prove(query)
    assert proof.sparql == "SELECT DISTINCT ?answer WHERE {\n  ?answer <http://x/age> [] .\n}"
    assert [str(term) for term in proof.answers] == ["Ann", "Bob"]


@pytest.mark.parametrize(
    ("question", "classes"),
    [
        ("Which persons like Ann?", "Person"),
        ("How many people are there?", "Person"),
        ("Which art school has most persons?", "ArtSchool Person"),
        ("Which schools and Art Schools are there?", "School ArtSchool"),
        ("Who is the oldest?", ""),
        ("", ""),
    ],
)
async def test_classes_are_found_by_their_names(people, question, classes):
    with metered() as meter:
        found = await people.find_classes(question)
    assert found == [Chain(x(name), (Hop(TYPE, False),)) for name in classes.split()]
    assert meter.queries <= 2


async def test_a_graph_without_types_has_no_classes(make_graph):
    graph = make_graph(':person rdfs:label "person"@en ; :likes :person .')
    with metered() as meter:
        assert await graph.find_classes("Which persons?") == []
    assert not meter.queries


def test_words_in_the_singular():
    assert in_singular("Which cities, boxes, classes and movies do glass houses have?") == (
        "Which city box class and movie do glass house have"
    )
