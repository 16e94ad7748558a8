"""Wikidata's dialect: ids, the words of relations, what is noise."""

import pytest

from kgqa.kg.dialects import (
    DIALECTS,
    FB,
    FREEBASE,
    OWL,
    PLAIN,
    PROP,
    RDFS,
    SCHEMA_ORG,
    WD,
    WDT,
    WIKIDATA,
    detect_dialect,
    entity_iri,
    is_foreign,
    is_ignored,
)
from kgqa.kg.terms import Chain, Entity, Hop, Literal
from kgqa.tests.support.wikidata import FACTS

ADDA = Entity(f"{WD}Q1")


@pytest.mark.parametrize(
    ("text", "iri"),
    [
        ("Q42", f"{WD}Q42"),
        ("wd:Q42", f"{WD}Q42"),
        ("P40", f"{WD}P40"),
        ("L7", f"{WD}L7"),
        (f"{WD}Q42", f"{WD}Q42"),
        ("https://www.wikidata.org/wiki/Q42", f"{WD}Q42"),
        ("m.03_r3", f"{FB}m.03_r3"),
        ("ns:g.11b", f"{FB}g.11b"),
        ("/m/03_r3", f"{FB}m.03_r3"),
        ("https://rdf.freebase.com/ns/m.03_r3", f"{FB}m.03_r3"),
        ("Q0", None),
        ("Q42b", None),
        ("wdt:P40", None),
        ("M.I.A.", None),
        ("/people/person/parents", None),
        ("Douglas Adams", None),
        ("", None),
    ],
)
def test_an_id_stands_for_an_entity_of_one_kind_of_graph(text, iri):
    assert entity_iri(text) == iri
    assert [d.entity_iri(text) for d in DIALECTS.values()].count(None) == (3 if iri is None else 2)


@pytest.mark.parametrize(
    ("dialect", "text", "iris"),
    [
        (WIKIDATA, "P40", (f"{WDT}P40",)),
        (WIKIDATA, "wdt:P40", (f"{WDT}P40",)),
        (WIKIDATA, "p:P40", (f"{PROP}P40",)),
        (WIKIDATA, "ps:P40", (f"{PROP}statement/P40",)),
        (WIKIDATA, "pq:P40", (f"{PROP}qualifier/P40",)),
        (WIKIDATA, f"{PROP}P40", (f"{PROP}P40",)),
        (WIKIDATA, "child", ()),
        (WIKIDATA, "Q40", ()),
        (FREEBASE, "people.person.parents", (f"{FB}people.person.parents",)),
        (FREEBASE, "ns:people.person.parents", (f"{FB}people.person.parents",)),
        (FREEBASE, "/people/person/parents", (f"{FB}people.person.parents",)),
        (FREEBASE, "m.0abc", ()),
        (FREEBASE, "parents", ()),
        (PLAIN, "people.person.parents", ()),
    ],
)
def test_an_id_may_stand_for_relations(dialect, text, iris):
    assert dialect.relation_iris(text) == iris


def test_each_kind_of_relation_of_one_property_reads_differently():
    relations = [f"{PROP}{kind}P39" for kind in ("direct/", "", "statement/", "qualifier/")]
    shown = [WIKIDATA.relation_words(relation, "position held") for relation in relations]
    said = "position held"
    assert shown == [said, f"{said} (statement)", f"{said} (value)", f"{said} (qualifier)"]
    assert [WIKIDATA.relation_words(r, None) for r in relations] == ["wdt:P39", "p:P39", "ps:P39", "pq:P39"]
    assert {WIKIDATA.relation_entity(relation) for relation in relations} == {f"{WD}P39"}


def test_a_relation_that_its_iri_names_needs_no_entity():
    relation = f"{FB}people.person.parents"
    assert FREEBASE.relation_entity(relation) is None
    assert FREEBASE.relation_words(relation, "parents") == "people.person.parents"
    assert WIKIDATA.relation_entity(f"{RDFS}label") is None


@pytest.mark.parametrize(
    ("words", "noise"),
    [
        ("IMDb ID", True),
        ("Lake ID (Sweden)", True),
        ("ISO 3166-1 alpha-2 code", True),
        ("described at URL", True),
        ("X (Twitter) username", True),
        ("flag image", True),
        ("Commons category", True),
        ("topic's main category", True),
        ("category for alumni of educational institution", True),
        ("postal code", False),
        ("official website", False),
        ("coat of arms", False),
        ("Human Development Index", False),
        ("highest judicial authority", False),
        ("idiom", False),
        ("child", False),
        ("instance of", False),
    ],
)
def test_noise_is_told_by_the_words_of_a_relation(words, noise):
    assert WIKIDATA.ignores(f"{WDT}P9999", words) is noise
    assert not PLAIN.ignores("http://x/r/p", words)


@pytest.mark.parametrize(
    ("relation", "ignored"),
    [
        (f"{WDT}P31", False),
        (f"{PROP}P39", False),
        (f"{PROP}statement/P39", False),
        (f"{PROP}qualifier/P580", False),
        (f"{WDT}P373", True),
        (f"{PROP}P373", True),
        (f"{PROP}statement/value/P569", True),
        (f"{PROP}statement/value-normalized/P569", True),
        (f"{PROP}qualifier/value/P580", True),
        (f"{PROP}direct-normalized/P646", True),
        ("http://www.w3.org/ns/prov#wasDerivedFrom", True),
        ("http://wikiba.se/ontology#rank", True),
        (f"{SCHEMA_ORG}about", True),
        (f"{RDFS}label", True),
    ],
)
def test_what_is_about_the_data_is_no_fact(relation, ignored):
    assert WIKIDATA.ignores(relation) is ignored


def test_a_relation_is_noise_by_its_own_dialect():
    assert is_ignored(f"{WDT}P373")
    assert not is_ignored(f"{SCHEMA_ORG}author")


def test_the_graph_tells_its_dialect():
    assert detect_dialect([f"{RDFS}label", f"{WDT}P31"]) is WIKIDATA
    assert detect_dialect([f"{PROP}statement/P39"]) is WIKIDATA
    assert all(detect_dialect([mark]) is dialect for dialect in DIALECTS.values() for mark in dialect.marks)


def test_names_are_english_then_of_all_languages_then_of_none():
    names = [(0, tag, f"in {tag}") for tag in ("de", "", "mul", "en-gb", "en")]
    assert [WIKIDATA.best(names[:last]) for last in range(1, 6)] == [
        "in de",
        "in ",
        "in mul",
        "in mul",
        "in en",
    ]


def test_ids_of_another_kind_of_graph_are_foreign():
    assert is_foreign("m.03_r3", "wikidata")
    assert is_foreign(f"{WD}Q42", "freebase")
    assert not is_foreign("Q42", "wikidata")
    assert not is_foreign("http://x/e/a", "wikidata")
    assert not is_foreign("m.03_r3", "plain")


def test_graphs_know_entities_of_each_other():
    assert FREEBASE.twins_of(f"{WD}Q42") == ((f"{OWL}sameAs", Entity(f"{WD}Q42")),)
    assert WIKIDATA.twins_of(f"{FB}m.0adda") == ((f"{WDT}P646", Literal("/m/0adda")),)
    assert [predicate for predicate, _ in WIKIDATA.twins_of(f"{FB}g.11b")] == [f"{WDT}P646", f"{WDT}P2671"]
    assert WIKIDATA.twins_of(f"{WD}Q42") == FREEBASE.twins_of(f"{FB}m.0adda") == PLAIN.twins_of("m.0") == ()


async def test_a_search_walks_facts_and_statements(make_graph):
    graph = make_graph(FACTS)
    hops = await graph.extend_chain(Chain(ADDA))
    words = {hop.words for hop in hops if hop.forward}
    assert words == {"instance of", "child", "position held", "position held (statement)"}
    statement = await graph.follow_chain(Chain(ADDA, (Hop(f"{PROP}P39"),)))
    assert [end.term.name for end in statement] == [None]
    onward = await graph.extend_chain(Chain(ADDA, (Hop(f"{PROP}P39"),)))
    assert {hop.words for hop in onward if hop.forward} == {"position held (value)", "start time (qualifier)"}


async def test_properties_name_relations_and_are_found_by_no_name(make_graph):
    graph = make_graph(FACTS)
    assert not [match for match in await graph.find_entities("child") if match.sure]
    assert (await graph.find_entities("Adda Noll"))[0].entity == ADDA
    assert (await graph.find_entities("Baroness Noll"))[0].entity == ADDA


@pytest.mark.parametrize("text", ["Q1", "wd:Q1", "https://www.wikidata.org/wiki/Q1", "/m/0adda", "m.0adda"])
async def test_an_entity_is_found_by_its_id_here_or_in_freebase(make_graph, text):
    found = await make_graph(FACTS).find_entities(text)
    assert [(match.entity.id, match.entity.name, match.how) for match in found] == [
        (ADDA.id, "Adda Noll", "id")
    ]


async def test_an_entity_of_freebase_is_found_by_its_id_in_wikidata(make_graph):
    same = f"<{OWL}sameAs> <{WD}Q1>"
    graph = make_graph(f'fb:m.0adda {same} ; fb:people.person.children fb:m.0b ; rdfs:label "Adda" .')
    assert [match.entity.id for match in await graph.find_entities("Q1")] == [f"{FB}m.0adda"]
    assert await graph.find_entities("Q2") == []
