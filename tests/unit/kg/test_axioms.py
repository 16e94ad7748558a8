"""Axioms as facts: what is derived of an ontology or a thesaurus, and proved by what its file says."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import given, settings, strategies as st

import kgqa
from kgqa.kg.dialects import OWL, RDF, RDFS, SKOS, XSD
from kgqa.kg.errors import KGRejected, KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql import queries
from kgqa.kg.sparql.derived import BROADER, DERIVED_GRAPH, NARROWER, SUBCLASS, some_values
from kgqa.kg.store.directory import load_files, load_text
from kgqa.kg.terms import Hop

ONTO = "http://t/o#"
PREFIXES = "".join(
    f"@prefix {prefix}: <{iri}> .\n"
    for prefix, iri in (("", ONTO), ("rdf", RDF), ("rdfs", RDFS), ("owl", OWL), ("skos", SKOS), ("xsd", XSD))
)
Facts = set[tuple[str, str, str]]


def some(relation: str, filler: str) -> str:
    return f"[ owl:onProperty :{relation} ; owl:someValuesFrom {filler} ]"


def every(classes: str) -> str:
    return f"[ owl:intersectionOf ( {classes} ) ]"


def either(classes: str) -> str:
    return f"[ owl:unionOf ( {classes} ) ]"


def local(term: object) -> str:
    return str(getattr(term, "value", term)).rpartition("#")[2]


def derived(store: ox.Store) -> Facts:
    """Return what was derived, restrictions by the local names of their properties."""
    quads = store.quads_for_pattern(None, None, None, ox.NamedNode(DERIVED_GRAPH))
    relations = {SUBCLASS: "subclass", BROADER: "broader", f"{BROADER}+": "all broader"}
    facts = ((q.subject, relations.get(q.predicate.value) or q.predicate.value, q.object) for q in quads)
    return {
        (local(s), local(relation), local(o))
        for s, relation, o in facts
        if not relation.startswith((NARROWER, "urn:kgqa:local"))
    }


@pytest.fixture
def derive(tmp_path: Path) -> Callable[[str], Facts]:
    def derive_of(axioms: str) -> Facts:
        (file := tmp_path / "onto.ttl").write_text(f"{PREFIXES}{axioms}")
        return derived(load_files([file])[0])

    return derive_of


AB = ("A", "subclass", "B")
CLASSES = "".join(f":{name} a owl:Class .\n" for name in "ABCDEF")


@pytest.mark.parametrize(
    ("axioms", "facts"),
    [
        (f":A rdfs:subClassOf {some('p', ':B')} .", {("A", "p", "B")}),
        (f":A owl:equivalentClass {some('p', ':B')} .", {("A", "p", "B")}),
        (":A rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue :b ] .", {("A", "p", "b")}),
        (f":A rdfs:subClassOf {every(':B ' + some('p', ':C'))} .", {AB, ("A", "p", "C")}),
        (f":A owl:equivalentClass {every(every(':B ' + some('p', ':C')))} .", {AB, ("A", "p", "C")}),
        (f":A rdfs:subClassOf {some('p', either(':B :C'))} .", {("A", "p", "B"), ("A", "p", "C")}),
        (f":A rdfs:subClassOf {some('p', every(':B ' + some('q', ':C')))} .", {("A", "p", "B")}),
        (f":A rdfs:subClassOf {either(':B :C')} .", set()),
        (":A rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom :B ] .", set()),
        (f":A rdfs:subClassOf {some('p', '[ owl:complementOf :B ]')} .", set()),
        (f":A rdfs:subClassOf [ owl:complementOf {some('p', ':B')} ] .", set()),
        (":A rdfs:subClassOf [ owl:onProperty [ owl:inverseOf :p ] ; owl:someValuesFrom :B ] .", set()),
        (f":A rdfs:subClassOf :B . :B rdfs:subClassOf {some('p', ':C')} .", {AB, ("B", "p", "C")}),
    ],
)  # fmt: skip
def test_axioms_are_facts_as_far_as_they_say_that_something_is_there(axioms, facts, derive) -> None:
    assert derive(f"{CLASSES}{axioms}") == facts


@pytest.mark.parametrize(
    ("bound", "holds"),
    [
        ("owl:minQualifiedCardinality 1", True),
        ("owl:qualifiedCardinality 2", True),
        ("owl:minQualifiedCardinality 0", False),
        ("owl:qualifiedCardinality 0", False),
        ("owl:maxQualifiedCardinality 3", False),
    ],
)
def test_a_bound_is_a_fact_where_it_says_that_there_is_one(bound, holds, derive) -> None:
    name, number = bound.split()
    written = f'{name} "{number}"^^xsd:nonNegativeInteger'
    found = derive(f"{CLASSES}:A rdfs:subClassOf [ owl:onProperty :p ; {written} ; owl:onClass :B ] .")
    assert found == ({("A", "p", "B")} if holds else set())


def test_classes_above_in_a_circle_are_each_others_but_not_their_own(derive) -> None:
    found = derive(f"{CLASSES}:A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :C rdfs:subClassOf :A .")
    assert found == {(one, "subclass", other) for one in "ABC" for other in "ABC" if one != other}


def test_a_list_that_loops_or_breaks_off_gives_what_it_holds(derive) -> None:
    loop = "_:l rdf:first :B ; rdf:rest _:m . _:m rdf:first :C ; rdf:rest _:l ."
    broken = "_:x rdf:first :D ; rdf:rest _:y ."
    axioms = ":A rdfs:subClassOf [ owl:intersectionOf _:l ] , [ owl:intersectionOf _:x ] ."
    assert derive(f"{CLASSES}{loop}{broken}{axioms}") == {("A", "subclass", each) for each in "BCD"}


def test_broader_and_narrower_say_the_same(derive) -> None:
    concepts = "".join(f":{name} a skos:Concept .\n" for name in "ABC")
    found = derive(f"{concepts}:A skos:broader :B . :C skos:narrower :B .")
    one_step = {("A", "broader", "B"), ("B", "broader", "C")}
    assert found == one_step | {(s, "all broader", o) for s, _, o in one_step} | {("A", "all broader", "C")}


def test_a_graph_with_members_of_its_classes_keeps_its_axioms_apart(derive) -> None:
    members = " ".join(f":m{number} a :A ." for number in range(9))
    assert not derive(f"{CLASSES}:A rdfs:subClassOf :B . {members}")


def test_the_axioms_themselves_are_no_relations_of_an_ontology(tmp_path: Path) -> None:
    (file := tmp_path / "onto.ttl").write_text(
        f"{PREFIXES}{CLASSES}:A rdfs:subClassOf {some('p', ':B')} , :C ."
    )
    graph = open_graph([file])
    assert [*graph.relations] == [SUBCLASS, some_values(f"{ONTO}p")]
    assert [*map(graph.relation_label, graph.relations)] == ["kind of", "p"]


async def test_a_written_query_is_told_what_the_file_says_in_place_of_a_derived_relation(
    tmp_path: Path,
) -> None:
    (file := tmp_path / "onto.ttl").write_text(f"{PREFIXES}{CLASSES}:A rdfs:subClassOf :B .")
    with pytest.raises(KGRejected, match=r"write: \?x .*subClassOf"):
        await open_graph([file]).select(f"SELECT ?a {{ ?a <{SUBCLASS}> ?b }}")


@pytest.mark.parametrize("name", ["a.owl", "a.rdf"])
def test_turtle_is_read_whatever_the_file_of_an_ontology_is_called(name, tmp_path: Path) -> None:
    (file := tmp_path / name).write_text(f"# made by hand\n{PREFIXES}:a :knows :b .")
    assert [*open_graph([file]).relations] == [f"{ONTO}knows"]


@pytest.mark.parametrize(
    ("name", "text", "syntax"),
    [
        ("a.owl", "Prefix(:=<http://t/o#>)\nOntology(<http://t/o>)", "functional syntax"),
        ("a.rdf", "# by hand\nPrefix: : <http://t/o#>\nOntology: <http://t/o>", "Manchester syntax"),
        ("a.owl", '<?xml version="1.0"?>\n<!-- by hand -->\n<Ontology ontologyIRI="http://t/o"/>', "OWL/XML"),
        ("a.obo", "format-version: 1.2", "OBO format"),
    ],
)
def test_what_is_no_rdf_gets_a_line_that_says_how_to_convert_it(name, text, syntax, tmp_path: Path) -> None:
    (file := tmp_path / name).write_text(text)
    with pytest.raises(KGUnavailable, match=f"{syntax}, which is no RDF; .* -o a.ttl"):
        open_graph([file])


def test_a_definition_is_what_something_is(tmp_path: Path) -> None:
    labels = ':A rdfs:label "wing bud" . :B rdfs:label "lateral plate" .'
    told = f'{labels} :A skos:definition "A swelling." . :A :develops :B . :B :grows :A .'
    (file := tmp_path / "g.ttl").write_text(PREFIXES + told)
    asked = [
        kgqa.ask(f"What is the {name}?", kg=str(file), model="offline")
        for name in ("wing bud", "lateral plate")
    ]
    assert [[answer["name"] for answer in each["answers"]] for each in asked] == [["A swelling."], []]


def test_blank_nodes_are_no_answers_and_the_query_says_so(tmp_path: Path) -> None:
    labels = ':a rdfs:label "Ann Miller" . :h rdfs:label "Long House" .'
    (file := tmp_path / "g.ttl").write_text(f"{PREFIXES}{labels} :a :owns :h , [ :colour 1 ] .")
    record = kgqa.ask("What does Ann Miller own?", kg=str(file), model="offline")
    assert [answer["name"] for answer in record["answers"]] == ["Long House"]
    replayed = rdflib.Graph().parse(file).query(record["query"])
    assert [local(answer) for (answer,) in replayed] == ["h"]


Expression = tuple[object, ...]
"""A kind, then what it is made of: a class's name, or a property, a number and expressions."""

_names = st.sampled_from("ABCD").map(lambda name: ("class", name))
_properties, _numbers = st.sampled_from("pq"), st.integers(0, 2)


def _grow(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    parts = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.tuples(st.sampled_from(["some", "only"]), _properties, inner),
        st.tuples(st.sampled_from(["min", "max", "exactly"]), _properties, _numbers, inner),
        st.tuples(st.just("value"), _properties, st.sampled_from("xy")),
        st.tuples(st.sampled_from(["and", "or"]), parts),
        st.tuples(st.just("not"), inner),
    )


_axioms = st.lists(
    st.tuples(
        st.sampled_from("ABCD"),
        st.sampled_from(["subClassOf", "equivalentClass"]),
        st.recursive(_names, _grow, max_leaves=5),
    ),
    max_size=6,
)


def write_axioms(axioms: list[tuple[str, str, Expression]]) -> bytes:
    """Write axioms as N-Triples, with blank nodes for expressions and lists."""
    numbers, lines = count(), [f"<{ONTO}{name}> <{RDF}type> <{OWL}Class> ." for name in "ABCD"]

    def node(*facts: tuple[str, str]) -> str:
        blank = f"_:n{next(numbers)}"
        lines.extend(f"{blank} <{relation}> {value} ." for relation, value in facts)
        return blank

    def write(expression: Expression) -> str:
        kind, *rest = expression
        if kind == "class":
            return f"<{ONTO}{rest[0]}>"
        if kind == "not":
            return node((f"{OWL}complementOf", write(rest[0])))
        if kind in ("and", "or"):
            chained = f"<{RDF}nil>"
            for part in reversed(rest[0]):
                chained = node((f"{RDF}first", write(part)), (f"{RDF}rest", chained))
            return node((f"{OWL}{'intersectionOf' if kind == 'and' else 'unionOf'}", chained))
        on = (f"{OWL}onProperty", f"<{ONTO}{rest[0]}>")
        if kind == "value":
            return node(on, (f"{OWL}hasValue", f"<{ONTO}{rest[1]}>"))
        if kind in ("some", "only"):
            return node(on, (f"{OWL}{'some' if kind == 'some' else 'all'}ValuesFrom", write(rest[1])))
        bound = {"min": "minQualified", "max": "maxQualified", "exactly": "qualified"}[kind]
        number = f'"{rest[1]}"^^<{XSD}nonNegativeInteger>'
        return node(on, (f"{OWL}{bound}Cardinality", number), (f"{OWL}onClass", write(rest[2])))

    for name, relation, expression in axioms:
        space = RDFS if relation == "subClassOf" else OWL
        lines.append(f"<{ONTO}{name}> <{space}{relation}> {write(expression)} .")
    return "\n".join([*lines, ""]).encode()


def evaluate(axioms: list[tuple[str, str, Expression]]) -> Facts:
    """Return the facts of axioms by a plain evaluation of their expressions."""

    def parts(expression: Expression) -> Iterator[Expression]:
        yield from (
            (p for each in expression[1] for p in parts(each)) if expression[0] == "and" else [expression]
        )

    def fillers(expression: Expression) -> Iterator[str]:
        if expression[0] == "class":
            yield expression[1]
        elif expression[0] in ("and", "or"):
            yield from (filler for each in expression[1] for filler in fillers(each))

    facts: Facts = set()
    for name, _, expression in axioms:
        for kind, *rest in parts(expression):
            if kind == "class":
                facts.add((name, "subclass", rest[0]))
            elif kind == "value":
                facts.add((name, rest[0], rest[1]))
            elif kind == "some" or (kind in ("min", "exactly") and rest[1] > 0):
                facts |= {(name, rest[0], filler) for filler in fillers(rest[-1])}
    while (
        more := {
            (a, "subclass", c)
            for a, r, b in facts
            for b2, r2, c in facts
            if b == b2 and r == r2 == "subclass"
        }
        - facts
    ):
        facts |= more
    return {fact for fact in facts if fact[1] != "subclass" or fact[0] != fact[2]}


@settings(max_examples=20, deadline=None)
@given(_axioms)
def test_any_axioms_are_the_facts_of_a_plain_evaluation_wherever_they_are_asked_for(axioms) -> None:
    text, expected = write_axioms(axioms), evaluate(axioms)
    assert derived(load_text(text, "axioms")[0]) == expected
    original, other = ox.Store(), rdflib.Graph()
    original.load(text, ox.RdfFormat.N_TRIPLES)
    other.parse(data=text, format="nt")
    for name, relation in (
        ("subclass", SUBCLASS),
        ("p", some_values(f"{ONTO}p")),
        ("q", some_values(f"{ONTO}q")),
    ):
        query = queries.facts_stated(Hop(relation))
        stated = {(s, o) for s, each, o in expected if each == name}
        assert {(local(s), local(o)) for s, o in original.query(query)} == stated
        assert {(local(s), local(o)) for s, o in other.query(query)} == stated


ONION_OR_CHEESE = f"{some('hasTopping', ':Onion')} , {some('hasTopping', either(':Brie :Feta'))}"
MENU = f"""{PREFIXES}
:hasTopping a owl:ObjectProperty . :Pizza a owl:Class . :Cheese a owl:Class . :Onion a owl:Class .
:Rustica a owl:Class ; rdfs:subClassOf :Pizza , {ONION_OR_CHEESE} .
:Bianca a owl:Class ; rdfs:subClassOf :Pizza , {some("hasTopping", ":Feta")} .
:Brie a owl:Class ; rdfs:subClassOf :Cheese . :Feta a owl:Class ; rdfs:subClassOf :Cheese .
"""


@pytest.mark.parametrize(
    ("question", "answers", "drawn"),
    [
        ("Which toppings does Rustica have?", {"Brie", "Feta", "Onion"}, "Rustica -has topping-> ?"),
        ("Which kinds of cheese are there?", {"Brie", "Feta"}, "Cheese <-kind of- ?"),
    ],
)
def test_a_question_of_an_ontology_is_proved_by_its_file(question, answers, drawn, tmp_path: Path) -> None:
    (file := tmp_path / "menu.ttl").write_text(MENU)
    record = kgqa.ask(question, kg=str(file), model="offline")
    assert {local(answer["id"]) for answer in record["answers"]} == answers
    assert record["outcome"] == "grounded"
    assert drawn in str(record)
    assert all(fact["relation"].startswith("urn:kgqa:") for fact in record["evidence"])
    assert "urn:kgqa:some" not in record["query"]
    replayed = rdflib.Graph().parse(file).query(record["query"])
    assert {local(answer) for (answer,) in replayed} == answers
