"""No text changes the shape of a query that kgqa writes: it is refused as a term, or it is that term."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import given, settings, strategies as st
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue

from kgqa.kg.dialects import DIALECTS, FREEBASE, Dialect, LabelPredicates
from kgqa.kg.errors import KGRejected
from kgqa.kg.proof import compilation
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition, Pick
from kgqa.kg.proof.values import kind_of
from kgqa.kg.sparql import attributes, chain_queries, patterns, profile_queries, queries
from kgqa.kg.sparql.decoding import to_kg_error
from kgqa.kg.terms import Chain, Entity, Hop, Literal, is_id
from kgqa.tests.hostile.conftest import Tried

BITS = (
    *("m.0abc> ?p ?o } #", '" } ; DROP ALL #', "'''\"\"\"", "\\", "\\u0022", "\\\\u007D", "\\U0000003E"),
    *("\n", "\r", "\t", "\x00", "\ud800", "\ufeff", "\u2028", "\U0001f600", "?x", "$y", "<", ">", "{", "}"),
    *(
        "@en",
        "^^<http://x/y>",
        "wd:Q1 . } #",
        "#",
        "/*",
        "%3E",
        "&gt;",
        "_:b",
        "a" * 3000,
        ") UNION (",
        "`'",
    ),
)
TEXTS = st.one_of(st.text(max_size=30), st.lists(st.sampled_from(BITS), max_size=4).map("".join))
STARTS = ("http://x/", "", "_:", "m.", "wd:", "Q", "urn:x:", "http://rdf.freebase.com/ns/m.")


class Given(NamedTuple):
    """What a query is written of."""

    entity: Entity
    relation: str
    literal: Literal
    dialect: Dialect

    @property
    def hop(self) -> Hop:
        return Hop(self.relation)

    @property
    def chain(self) -> Chain:
        return Chain(self.entity, (self.hop,)).constrained_to([self.entity]).then(self.hop.inverse)

    @property
    def proven(self) -> AnswerQuery:
        return AnswerQuery(
            branches=(Branch(self.chain, (1, 2), fresh=True), Branch(Chain(self.entity), (2,))),
            returned=1,
            conditions=(
                Condition(1, (self.hop,), "=", self.literal),
                Condition(1, (self.hop, self.hop.inverse), "not exists", self.entity),
                Condition(1, (), "type", self.entity),
            ),
            aggregate=Aggregate("argmax", (self.hop,)),
            picked=(Pick(1, (self.entity,)), Pick(1, (self.literal, self.entity))),
        )

    @property
    def labels(self) -> LabelPredicates:
        labels = LabelPredicates((*self.dialect.labels, self.relation))
        labels.languages = ("en", self.literal.language)
        return labels


LIMITS = chain_queries.Limits.of(9)
WRITTEN: dict[str, Callable[[Given], str]] = {
    "write_iri": lambda x: f"ASK {{ ?s ?p {patterns.write_iri(x.entity.id)} }}",
    "serialise": lambda x: (
        f"SELECT * {{ ?s ?p {patterns.serialise(x.literal)}, {patterns.serialise(x.entity)} }}"
    ),
    "visit_chains": lambda x: chain_queries.visit_chains(
        [x.chain, Chain(x.entity)], x.labels, LIMITS, ends=True, hops=True
    ),
    "relations_past": lambda x: chain_queries.relations_past([x.chain, Chain(x.entity, (x.hop,))], LIMITS),
    "some_ends": lambda x: chain_queries.some_ends([x.hop], x.labels, 9),
    "names": lambda x: queries.names([x.entity.id], x.labels),
    "unlabelled_nodes": lambda x: queries.unlabelled_nodes(x.labels),
    "count_types": lambda _: queries.count_types(),
    "texts": lambda x: queries.texts(x.relation, 9),
    "restricted_properties": lambda _: queries.restricted_properties(),
    "facts_stated": lambda x: queries.facts_stated(x.hop),
    "count_classes": lambda x: profile_queries.count_classes(x.relation, 9),
    "some_members": lambda x: profile_queries.some_members([x.entity.id], [x.relation], 9),
    "some_subjects": lambda x: profile_queries.some_subjects([x.relation], 9),
    "facts_of": lambda x: profile_queries.facts_of([x.entity.id], 9),
    "objects_by": lambda x: profile_queries.objects_by([x.entity.id], [x.relation]),
    "some_values": lambda x: profile_queries.some_values(x.relation, 9),
    "terms": lambda x: profile_queries.terms([x.entity.id], [x.relation], 9),
    "count_relations_of": lambda x: profile_queries.count_relations_of([x.entity.id]),
    "superclasses": lambda _: profile_queries.superclasses(9),
    "count_members": lambda x: profile_queries.count_members(x.entity.id, [x.relation], 9),
    "void_partitions": lambda _: profile_queries.void_partitions(),
    "shapes": lambda _: profile_queries.shapes(),
    "literals": lambda x: queries.literals([x.literal]),
    "entity": lambda x: queries.entity(x.entity.id, x.labels),
    "twins": lambda x: queries.twins([(x.relation, x.literal), (x.relation, x.entity)], x.labels),
    "list_relations": lambda x: chain_queries.list_relations([x.entity.id]),
    "follow_relation": lambda x: queries.follow_relation([(x.entity.id, x.hop)], x.labels, 9),
    "follow_relations": lambda x: queries.follow_relations({x.hop: [x.entity.id]}, x.labels, 9),
    "relations_held": lambda x: chain_queries.relations_held(
        [x.chain], {True: [x.relation], False: [x.relation]}, LIMITS
    ),
    "relations_of": lambda x: chain_queries.relations_of(x.entity.id),
    "reached_ends": lambda x: chain_queries.reached_ends(x.chain, [x.entity], fresh=True),
    "trace_back": lambda x: chain_queries.trace_back(x.chain, [x.entity, x.literal], fresh=True),
    "trace_chain": lambda x: chain_queries.trace_chain(x.chain, [x.entity, x.literal], x.labels),
    "facts": lambda x: queries.facts(x.entity.id, x.dialect, x.labels, 9),
    "objects": lambda x: queries.objects(x.entity.id, [x.relation], x.labels),
    "predicates": lambda _: queries.predicates(),
    "both_ways": lambda _: queries.both_ways(),
    "relations_back": lambda x: queries.relations_back(x.relation, 9),
    "count_both_ways": lambda x: queries.count_both_ways(x.relation, x.relation),
    "count_upto": lambda _: queries.count_upto(9),
    "count_nodes": lambda _: queries.count_nodes(),
    "named_graphs": lambda _: queries.named_graphs(9),
    "wikibase_relation": lambda _: queries.wikibase_relation(),
    "count_named": lambda x: queries.count_named(x.labels),
    "all_names": lambda x: queries.all_names(x.relation),
    "called": lambda x: queries.called([x.literal], [x.relation], x.labels, 9),
    "count_relations": lambda x: queries.count_relations([x.entity.id], 9),
    "some_names": lambda x: queries.some_names(x.relation, 5),
    "names_hashed": lambda x: queries.names_hashed(x.relation, "0f"),
    "present": lambda x: queries.present([x.relation]),
    "count_labelled": lambda x: queries.count_labelled([x.relation]),
    "nodes": lambda _: queries.nodes(),
    "nodes_after": lambda x: chain_queries.nodes_after(x.chain, 2, 9, marked=True),
    "cut_query": lambda x: chain_queries.cut_query("ends", chain_queries.nodes_after(x.chain, 1, 9), 9),
    "attribute_values": lambda x: attributes.attribute_values(
        [(x.chain, {1: [x.hop, x.hop.inverse]})], [x.entity, x.literal], [x.relation], x.labels, LIMITS
    ),
    "write_query": lambda x: compilation.write_query(x.proven, [x.relation]),
}
TURNS = 24
"""Of so many functions one is parsed for a text; rdflib takes its time."""

STORE = ox.Store()
"""Has no facts: it reads a query as the stores of kgqa do."""

PARTS = ("http://plain/e", "http://plain/r", "plain", "http://plain/t", "de-plain")


@pytest.fixture(autouse=True)
def as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rdflib keep what a literal looks like."""
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)


def test_every_function_that_writes_queries_is_tried() -> None:
    written = {
        name
        for module in (queries, chain_queries, attributes, profile_queries)
        for name, made in inspect.getmembers(module, inspect.isfunction)
        if made.__module__ == module.__name__
        and not name.startswith("_")
        and made.__annotations__["return"] is str
    }
    assert written == WRITTEN.keys() - {"write_iri", "serialise", "write_query"}


def shape(text: str, names: dict[str, str]) -> Any:
    """Return the algebra of a query, with a place-holder for each term that is one of ``names``."""

    def walk(node: Any) -> Any:
        if isinstance(node, CompValue):
            parts = ((key, walk(node[key])) for key in sorted(node) if key != "_vars")
            # rdflib orders triples by their terms
            return (node.name, *((k, sorted(v, key=str) if k == "triples" else v) for k, v in parts))
        if isinstance(node, dict):
            return sorted((walk(key), walk(value)) for key, value in node.items())
        if isinstance(node, list | tuple):
            return [walk(part) for part in node]
        if isinstance(node, rdflib.Literal):
            kind = node.datatype and names.get(str(node.datatype), str(node.datatype))
            tag = node.language and names.get(node.language, node.language)
            return f"literal {names.get(str(node), str(node))} {kind} {tag}"
        if isinstance(node, rdflib.BNode):
            return "blank"
        text = str(node)
        return f"{type(node).__name__} {names.get(text, text)}"

    return walk(translateQuery(parseQuery(text)).algebra)


def given_of(parts: tuple[str, ...], dialect: Dialect) -> Given:
    id, relation, value, datatype, tag = parts
    literal = Literal(value, language=tag) if tag else Literal(value, datatype)
    return Given(Entity(id), Hop(relation).relation, literal, dialect)


def shapes(parts: tuple[str, ...], dialect: Dialect, turn: int = 0, turns: int = 1) -> dict[str, Any]:
    made = given_of(parts, dialect)
    id, relation, value, datatype, tag = parts
    names = {value: "VALUE", relation: "RELATION", datatype: "TYPE", tag.lower(): "TAG", tag: "TAG"}
    names |= {f"{value}-": "DATES OF VALUE", patterns.write_iri(id)[1:-1]: "ENTITY"}
    return {name: shape(write(made), names) for name, write in [*WRITTEN.items()][turn::turns]}


def test_no_text_changes_the_shape_of_a_query(tried: Tried) -> None:
    @cache
    def plain(dialect: str, tagged: bool, turn: int) -> dict[str, Any]:
        return shapes((*PARTS[:4], PARTS[4] if tagged else ""), DIALECTS[dialect], turn, TURNS)

    counts = {"made": 0, "refused": 0}

    @settings(max_examples=90, deadline=None, derandomize=True, database=None)
    @given(
        place=st.integers(0, 4),
        start=st.sampled_from(STARTS),
        text=TEXTS,
        dialect=st.sampled_from([*DIALECTS.values()]),
        turn=st.integers(0, TURNS - 1),
    )
    def check(place: int, start: str, text: str, dialect: Dialect, turn: int) -> None:
        said = text if place in (2, 4) else start + text
        parts = tuple(said if at == place else part for at, part in enumerate(PARTS))
        if place != 4:
            parts = (*parts[:4], "")
        if len(set(parts)) < 5 or said in {" ", "en", ""} or kind_of(Literal(said)) != "text":
            return  # numbers and dates are compared as such
        try:
            made = given_of(parts, dialect)
        except ValueError as error:
            assert place != 2
            assert len(str(error).splitlines()) == 1
            assert len(str(error)) < 700
            counts["refused"] += 1
            return
        counts["made"] += 1
        assert shapes(parts, dialect, turn, TURNS) == plain(dialect.name, bool(parts[4]), turn)
        for write in WRITTEN.values():
            try:
                STORE.query(write(made))
            except (
                SyntaxError,
                UnicodeEncodeError,
            ) as error:  # an IRI or character that is none to the store
                assert isinstance(to_kg_error(error), KGRejected)

    check()
    assert min(counts.values()) > 20
    tried(inputs=sum(counts.values()))


def test_a_literal_comes_back_from_the_store_as_it_was(tried: Tried) -> None:
    counts = 0

    @settings(max_examples=150, deadline=None, derandomize=True, database=None)
    @given(TEXTS)
    def check(text: str) -> None:
        nonlocal counts
        try:
            text.encode()
        except UnicodeEncodeError:
            return
        counts += 1
        asked = f"SELECT ?x {{ VALUES ?x {{ {patterns.serialise(Literal(text))} }} }}"
        answer = STORE.query(asked)
        assert isinstance(answer, ox.QuerySolutions)
        assert [row["x"].value for row in answer] == [text]

    check()
    tried(inputs=counts)


def test_what_stands_for_an_id_in_any_kind_of_graph_is_one(tried: Tried) -> None:
    counts = 0

    @settings(max_examples=250, deadline=None, derandomize=True, database=None)
    @given(st.sampled_from((*STARTS, "/m/", "ns:m.", "P", "wdt:P")), TEXTS)
    def check(start: str, text: str) -> None:
        nonlocal counts
        counts += 1
        for dialect in DIALECTS.values():
            id = dialect.entity_iri(start + text)
            assert id is None or is_id(id)
            assert all(Hop(relation) for relation in dialect.relation_iris(start + text))
            if twins := dialect.twins_of(start + text if is_id(start + text) else f"{FREEBASE.labels[0]}x"):
                STORE.query(queries.twins(twins, dialect.labels))

    check()
    tried(inputs=counts)
