"""Values as a way in: what stands for them, what they lead to, which of them a question names."""

import pytest
from hypothesis import given, strategies as st

from kgqa.kg.linking.class_names import ClassNames
from kgqa.kg.pages import Mention
from kgqa.kg.profile.profile import HopEnds
from kgqa.kg.proof.query import AnswerQuery, Branch
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Triple, is_value_id, node_id, plain_term, value_node

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
COMPANY = f"""
:acme <{TYPE}> :Supplier ; rdfs:label "Acme Ltd" ; :city "Toulouse" ; :country "France" ; :code "FR" .
:bolt <{TYPE}> :Supplier ; rdfs:label "Bolt Inc" ; :city "Ulm" ; :country "Germany" ; :code "DE" .
:cobb <{TYPE}> :Wholesaler ; rdfs:label "Cobb" ; :city "Toulouse" ; :country "France" ; :code "FR" .
:saw <{TYPE}> :Tool ; rdfs:label "Saw" ; :soldBy :acme ; :maker "Bolt Inc" ; :colour "red" ; :year "1969" .
:saw :code "HEAR" .
:axe <{TYPE}> :Tool ; rdfs:label "Axe" ; :soldBy :bolt ; :colour "red" ; :kind "hand tool"@en .
:Wholesaler <http://www.w3.org/2000/01/rdf-schema#subClassOf> :Supplier ; rdfs:label "wholesaler"@en .
:Supplier <{TYPE}> <http://www.w3.org/2002/07/owl#Class> ; rdfs:label "supplier"@en, "Lieferant"@de .
:Tool <{TYPE}> <http://www.w3.org/2002/07/owl#Class> ; rdfs:comment "What work is done with." .
"""
TOULOUSE = value_node(Literal("Toulouse"))


def x(name):
    return Entity(f"http://x/{name}")


def hop(name):
    return Hop(f"http://x/{name.lstrip('^')}", not name.startswith("^"))


@pytest.fixture
def company(make_graph):
    return make_graph(COMPANY)


def terms():
    text = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
    language = st.sampled_from(["", "en", "de-AT"])
    datatype = st.sampled_from(["http://x/kind", "http://www.w3.org/2001/XMLSchema#gYear"])
    return st.one_of(st.builds(Literal, text, language=language), st.builds(Literal, text, datatype))


@given(terms())
def test_what_stands_for_a_value_is_read_as_this_value(value):
    node = value_node(value)
    assert plain_term(node) == value and node.name == value.value
    assert is_value_id(node.id) and node_id(value) == node.id


@given(st.text(st.sampled_from("a%@:2F-é"), max_size=12))
def test_what_stands_for_no_value_is_an_iri_like_any_other(rest):
    node = Entity(f"urn:kgqa:value:{rest}")
    value = plain_term(node)
    assert value == node or value_node(value) == node
    assert is_value_id(node.id) is (value != node)


async def test_a_value_leads_to_the_nodes_that_have_it(company):
    (visit,) = await company.visit_chains([Chain(TOULOUSE)])
    assert [end.term for end in visit.ends] == [Literal("Toulouse")]
    assert list(visit.hops) == [hop("^city")]
    chain = Chain(TOULOUSE, (hop("^city"), hop("^soldBy")))
    (visit,) = await company.visit_chains([chain])
    assert [end.term for end in visit.ends] == [x("saw")]
    facts = (
        Triple(x("acme"), hop("city").relation, Literal("Toulouse")),
        Triple(x("saw"), hop("soldBy").relation, x("acme")),
    )
    assert await company.trace_chain(chain, [x("saw")]) == [facts]
    assert await company.reached_ends(chain, [x("saw"), x("axe")]) == {x("saw")}
    assert (await company.names([TOULOUSE.id]))[TOULOUSE.id] == "Toulouse"
    assert await company.find_entities(TOULOUSE.id) and not await company.find_entities("urn:kgqa:value:Rome")


async def test_a_value_has_no_facts_of_its_own(company):
    forward = Chain(TOULOUSE, (hop("city"),))
    (visit,) = await company.visit_chains([forward])
    assert not visit.ends.items
    description = await company.describe(TOULOUSE.id)
    assert {term for _, term in description.facts} == {x("acme"), x("cobb")}


async def test_the_way_back_to_a_value_is_told_from_other_values(company):
    chain = Chain(TOULOUSE, (hop("^city"), hop("city")))
    (visit,) = await company.visit_chains([chain])
    assert [(str(end.term), end.returning) for end in visit.ends] == [("Toulouse", True)]
    country = Chain(TOULOUSE, (hop("^city"), hop("country")))
    query = AnswerQuery((Branch(country, (1, 2), fresh=True),), 2)
    proof = await company.prove(query)
    assert [str(term) for term in proof.answers] == ["France"]
    assert '<http://x/city> "Toulouse"' in proof.sparql


async def test_several_steps_from_values_are_followed(company):
    steps = [(TOULOUSE.id, hop("^city")), (value_node(Literal("red")).id, hop("^colour"))]
    for some in (steps, steps * 5):
        pages = await company.follow_relation(some)
        assert [{*page} for page in pages[:2]] == [{x("acme"), x("cobb")}, {x("axe"), x("saw")}]
    assert [*(await company.list_relations([TOULOUSE.id]))[TOULOUSE.id]] == [hop("^city")]


def named(mentions: list[Mention]) -> list[str]:
    return [f"{each.text}: {each.matches[0].entity.id.removeprefix('http://x/')}" for each in mentions]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which tools are sold in Toulouse?", ["tools: Tool", "Toulouse: urn:kgqa:value:Toulouse"]),
        ("who is in tolouse", ["tolouse: urn:kgqa:value:Toulouse"]),
        ("Which French suppliers are there?", ["French: urn:kgqa:value:France", "suppliers: Supplier"]),
        ("Who has the code FR?", ["FR: urn:kgqa:value:FR"]),
        ("Which is for fr?", []),
        ("What do I hear in Ulm?", ["Ulm: urn:kgqa:value:Ulm"]),
        ("who has hear", ["hear: urn:kgqa:value:HEAR"]),
        ("What are hand tools?", ["hand tools: urn:kgqa:value:hand%20tool@en"]),
        ("Who made what Bolt Inc has?", ["Bolt Inc: bolt"]),
        ("Which supplier is Acme Ltd?", ["supplier: Supplier", "Acme Ltd: acme"]),
        ("Where is the supplier Acme Ltd?", ["Acme Ltd: acme"]),
        ("Welcher Lieferant ist in Ulm?", ["Lieferant: Supplier", "Ulm: urn:kgqa:value:Ulm"]),
        ("Which city is red?", ["red: urn:kgqa:value:red"]),
    ],
)
async def test_a_question_names_entities_values_and_classes(company, question, expected):
    assert named(await company.link(question)) == expected


async def test_a_class_leads_to_its_members_and_those_of_its_subclasses(company):
    chain = Chain(x("Supplier"))
    (visit,) = await company.visit_chains([chain])
    (members,) = visit.hops
    found = await company.follow_chain(chain.then(members))
    assert {end.term for end in found} == {x("acme"), x("bolt"), x("cobb")}
    (visit,) = await company.visit_chains([Chain(x("Tool"))])
    assert list(visit.hops) == [Hop(TYPE, False)]


async def test_which_hops_lead_to_a_class_alone(company):
    profile = await company.profile()
    supplier = {"http://x/Supplier", "http://x/Wholesaler"}
    hops = ClassNames(profile).hops_to("http://x/Supplier")
    assert hop("soldBy") in hops and hop("^city") in hops and hop("^colour") not in hops
    assert HopEnds(profile).share(hop("^colour"), supplier) == 0.0


async def test_a_chain_without_hops_reaches_its_start_alone(company) -> None:
    assert await company.reached_ends(Chain(x("saw")), [x("saw"), x("axe"), x("nowhere")]) == {x("saw")}


async def test_by_a_value_between_there_is_no_path_rather_than_a_wrong_one(make_graph) -> None:
    kg = make_graph(":ada :year 1815 . :bob :year 1815 .")
    chain = Chain(x("ada"), (hop("year"), hop("^year")))
    assert x("bob") in {end.term for end in await kg.follow_chain(chain)}
    assert await kg.trace_chain(chain, [x("bob")]) == [()]
