"""What each query brings back from a graph of a dozen triples."""

from dataclasses import replace

import pyoxigraph as ox

from kgqa.kg.dialects import PLAIN, RDFS, SKOS, XSD, LabelPredicates
from kgqa.kg.sparql import chain_queries, queries
from kgqa.kg.terms import Chain, Entity, Hop, Literal

Row = tuple[str | None, ...]

TURTLE = f"""
@prefix : <http://x/> .
@prefix rdfs: <{RDFS}> .
@prefix skos: <{SKOS}> .
@prefix xsd: <{XSD}> .
:ulm :in :land ; rdfs:label "Ulm" ; skos:prefLabel "Ulm (town)"@en ; skos:altLabel "Hulma" ; :size 5 .
:bonn :in :land ; rdfs:label "Bonn"@en, "Bonna"@la ; :near "1.5"^^xsd:double, "far"^^xsd:double .
:land rdfs:label "Land" ; skos:altLabel "Ulm" ; :code "LD" .
:in rdfs:label "in" .
"""

LABEL, PREF, ALT = f"{RDFS}label", f"{SKOS}prefLabel", f"{SKOS}altLabel"


def x(name: str) -> str:
    return f"http://x/{name}"


def rows(text: str) -> list[Row]:
    """Ask the graph; IRIs of its own namespace are shown without it, nothing is None."""
    store = ox.Store()
    store.load(TURTLE.encode(), format=ox.RdfFormat.TURTLE)
    found = [
        tuple(None if term is None else term.value.removeprefix(x("")) for term in row)
        for row in store.query(text)
    ]
    return sorted(found, key=lambda row: [str(value) for value in row])


def test_an_entity_that_the_graph_knows_comes_with_its_names_by_rank() -> None:
    assert rows(queries.entity(x("ulm"), [LABEL, PREF])) == [
        ("ulm", "Ulm", "0"),
        ("ulm", "Ulm (town)", "1"),
    ]
    assert rows(queries.entity(x("in"), [LABEL])) == [("in", "in", None)]
    assert rows(queries.entity(x("land"), [])) == [("land", None, None)]
    assert rows(queries.entity(x("rome"), [LABEL])) == []


def test_names_come_in_the_languages_that_are_asked_for() -> None:
    labels = LabelPredicates([LABEL])
    assert [row[1] for row in rows(queries.names([x("bonn"), x("rome")], labels))] == ["Bonn", "Bonna", None]
    labels.languages = ("en", "de")
    assert [row[1] for row in rows(queries.names([x("bonn")], labels))] == ["Bonn"]


def test_twins_are_what_one_of_the_facts_is_said_of() -> None:
    known = [
        (x("code"), Literal("LD")),
        (x("size"), Literal("5", f"{XSD}integer")),
        (x("size"), Literal("6")),
    ]
    assert rows(queries.twins(known, [LABEL])) == [("land", "Land", None), ("ulm", "Ulm", None)]
    assert rows(queries.twins(known[2:], [LABEL])) == []


def test_who_is_called_something_comes_with_its_preferred_name() -> None:
    called = [Literal("Ulm"), Literal("Bonn", language="en"), Literal("Rome")]
    assert rows(queries.called(called, [LABEL, ALT], [LABEL], 9)) == [
        ("bonn", "Bonn", "Bonn", None),
        ("bonn", "Bonn", "Bonna", None),
        ("land", "Ulm", "Land", None),
        ("ulm", "Ulm", "Ulm", None),
    ]
    assert rows(queries.called(called, [ALT], [LABEL], 9)) == [("land", "Ulm", "Land", None)]
    assert len(rows(queries.called(called, [LABEL, ALT], [], 2))) == 2


def test_plain_strings_are_asked_for_with_and_without_their_type() -> None:
    # To Virtuoso these are two terms.
    text = queries.literals([Literal("LD"), Literal("Bonn", language="en")])
    assert f'VALUES ?end {{ "LD" "LD"^^<{XSD}string> "Bonn"@en }}' in text


def test_literals_are_those_that_something_has() -> None:
    wanted = [Literal("5", f"{XSD}integer"), Literal("5"), Literal("Bonn", language="en"), Literal("Bonn")]
    assert rows(queries.literals(wanted)) == [("5",), ("Bonn",)]


def test_predicates_that_are_there_are_told_by_their_place() -> None:
    assert rows(queries.present([LABEL, x("population"), x("in"), x("land")])) == [("0",), ("2",)]


def test_triples_around_nodes_are_counted_by_relation_up_to_a_limit() -> None:
    ids = [x("ulm"), x("land"), x("rome")]
    counted = rows(queries.count_relations(ids, 9))
    assert {row[0] for row in counted} == {"land", "ulm"}
    assert sum(int(row[3] or 0) for row in counted if row[0] == "ulm") == 5
    assert ("land", "in", "0", "2") in counted
    assert sum(int(row[3] or 0) for row in rows(queries.count_relations(ids[:1], 2))) == 2


def test_nodes_are_listed_literals_left_out() -> None:
    assert rows(queries.nodes()) == [("bonn",), ("in",), ("land",), ("ulm",)]


def test_nodes_names_and_triples_are_counted_relations_left_out() -> None:
    assert rows(queries.count_nodes()) == [("3",)]
    assert rows(queries.count_named([LABEL])) == [("3",)]
    assert rows(queries.count_named([PREF, x("code")])) == [("2",)]
    assert rows(queries.count_labelled([LABEL])) == [("4",)]
    assert rows(queries.count_upto(4)) == [("4",)]
    assert rows(queries.count_upto(99)) == [("14",)]
    assert ("in", "2") in rows(queries.predicates())


def test_relations_that_facts_have_both_ways_are_counted() -> None:
    more = ":ann :wife :bob . :bob :husband :ann . :cy :wife :dan . :dan :husband :cy . :eve :wife :eve ."
    store = ox.Store()
    store.load(f"@prefix : <{x('')}> . {more}".encode(), format=ox.RdfFormat.TURTLE)
    found = {
        tuple(term.value.removeprefix(x("")) for term in row) for row in store.query(queries.both_ways())
    }
    assert found == {("wife", "husband", "2"), ("husband", "wife", "2")}


def test_all_names_of_a_predicate_come() -> None:
    assert rows(queries.all_names(ALT)) == [("Hulma", "ulm"), ("Ulm", "land")]


def test_objects_are_those_of_the_predicates() -> None:
    assert rows(queries.objects(x("ulm"), [x("in"), x("size")], [LABEL])) == [
        ("in", "land", "Land", None),
        ("size", "5", None, None),
    ]


def test_facts_leave_out_what_the_dialect_ignores() -> None:
    everything = replace(PLAIN, ignored_prefixes=(), ignored_parts=())
    assert [row[0] for row in rows(queries.facts(x("ulm"), everything, [LABEL], 9))] == ["in", "size"]
    prefix = replace(everything, ignored_prefixes=(x("si"),))
    assert rows(queries.facts(x("ulm"), prefix, [LABEL], 9)) == [("in", "1", "land", "Land", None)]
    part = replace(everything, ignored_parts=("/in",))
    assert rows(queries.facts(x("land"), part, [LABEL], 9)) == [("code", "1", "LD", None, None)]
    assert [row[:3] for row in rows(queries.facts(x("land"), everything, [], 2))] == [
        ("code", "1", "LD"),
        ("in", "0", "bonn"),
        ("in", "0", "ulm"),
    ]


def test_a_number_that_servers_write_in_several_ways_is_traced_by_its_value() -> None:
    chain = Chain(Entity(x("bonn")), (Hop(x("near")),))
    number, text = Literal("15e-1", f"{XSD}double"), Literal("far", f"{XSD}double")
    assert {row[0] for row in rows(chain_queries.trace_chain(chain, [number, text], []))} == {"1.5", "far"}
    for odd in ("far", "inf", "nan"):
        assert f'"{odd}"^^' not in chain_queries.trace_chain(chain, [Literal(odd, f"{XSD}double")], [])
